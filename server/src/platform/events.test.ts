import { setTimeout } from 'node:timers/promises';
import { changePassword, changeUsername, logout, register } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import type { InstallationTopic, Topic } from '@palisade/contract/endpoint';
import { EVENTS_CLOSED, eventsChannel, type LiveEvent } from '@palisade/contract/events';
import { addRule } from '@palisade/contract/firewall';
import { deleteScan } from '@palisade/contract/quarantine';
import { createSession, joinSession } from '@palisade/contract/remote';
import { endSession, listSessions } from '@palisade/contract/sessions';
import { setupConfig } from '@palisade/contract/setup';
import { assignSubscription, createTemplate, requestPlan } from '@palisade/contract/subscription';
import { changeUser, deleteUser } from '@palisade/contract/users';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, PDF } from '@palisade/scanner/test/files';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { replyOf, startListeningApp } from '#test/harness.ts';
import { listenAs, openSocket } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';
import { SOCKET_LIMITS, type SocketLimits } from './channels/channel-service.ts';
import { openSockets } from './channels/socket-request.ts';
import { connectionLimits } from './connections.ts';
import { createMemoryCounters } from './counters.ts';
import { serveEvents } from './events.ts';
import { createHttp, PATIENCE } from './http.ts';
import { newId } from './id.ts';
import { createSessions } from './session.ts';
import { createMemoryTopics } from './topics/memory-topics.ts';
import { personTopic } from './topics/topics.ts';

const isChangeOf = (filename: string) => (event: LiveEvent) => event.kind === 'scan_changed' && event.scan.filename === filename;

describe('the events socket', async () => {
  const app = await startListeningApp();

  test("reports events of a person's files to that person only", async () => {
    const [maria, other] = await Promise.all([app.signIn(), app.signIn()]);
    const [hers, theirs] = await Promise.all([listenAs(app, maria.token), listenAs(app, other.token)]);
    const record = await scanned(app, maria.token, 'eicar.com', EICAR);
    await hers.event((event) => event.kind === 'alerts_changed');
    const changes = hers.events().filter((event) => event.kind === 'scan_changed');
    expect(changes.map(({ scan }) => scan.scan_status)).toEqual(['pending', 'infected']);
    expect(changes.at(-1)?.scan).toEqual(record);
    await scanned(app, other.token, 'theirs.pdf', PDF);
    await theirs.event(isChangeOf('theirs.pdf'));
    expect(theirs.events().some(isChangeOf('eicar.com'))).toBe(false);
    expect(hers.events().some(isChangeOf('theirs.pdf'))).toBe(false);
  });

  test("reports a person's own changes, and others' changes for them, to that person only", async () => {
    // The first account is the administrator's.
    const boss = await startListeningApp();
    const admin = await boss.signIn('boss');
    const [maria, other] = [await boss.signIn('maria'), await boss.signIn('omar')];
    const [hers, theirs] = [await listenAs(boss, maria.token), await listenAs(boss, other.token)];
    const changes = () => hers.events().flatMap((event) => (event.kind === 'changed' ? [event.topic] : []));
    const told = (topic: Topic) => hers.event((event) => event.kind === 'changed' && event.topic === topic);

    await boss.call(addRule, { token: maria.token, body: { rule_name: 'Web' } });
    await told('rules');
    await boss.call(sendMessage, { token: maria.token, body: { message: 'Hello', sender: 'user' } });
    // A message is sent itself.
    await hers.event((event) => event.kind === 'chat_message' && event.message.message === 'Hello');
    await boss.call(changeUsername, { token: maria.token, body: { username: 'mary' } });
    await told('account');
    const { session_code } = replyOf(await boss.call(createSession, { token: maria.token }));
    await told('remote');
    replyOf(await boss.call(joinSession, { token: admin.token, body: { session_code } }));
    await eventually(() => expect(changes().filter((topic) => topic === 'remote')).toHaveLength(2));
    const plan = { plan_name: 'Solo', price: 1, duration_months: 12, max_devices: 5, is_premium: true, features: [] } as const;
    replyOf(
      await boss.call(assignSubscription, { token: admin.token, body: { user_email: maria.email, ...plan, features: [] } }),
    );
    await told('subscription');
    expect(changes()).toEqual(['rules', 'account', 'remote', 'remote', 'subscription']);

    // A refusal changes nothing, and reading does not either.
    expect((await boss.call(addRule, { token: maria.token, body: { rule_name: '' } })).status).toBe(422);
    await boss.call(addRule, { token: other.token, body: { rule_name: 'Theirs' } });
    await theirs.event((event) => event.kind === 'changed' && event.topic === 'rules');
    expect(theirs.events()).toHaveLength(1);
    expect(changes()).toHaveLength(5);
  });

  test('reports waiting work to administrators, common news to everybody, and a change by an administrator to its person', async () => {
    const boss = await startListeningApp();
    const admin = await boss.signIn('boss');
    const maria = await boss.signIn('maria');
    const [theirs, hers] = [await listenAs(boss, admin.token), await listenAs(boss, maria.token)];
    const told = (topic: Topic | InstallationTopic) => (event: LiveEvent) => event.kind === 'changed' && event.topic === topic;

    const template = { template_name: 'Family', base_price: 5, duration_months: 12, max_devices: 1, is_premium: true } as const;
    const created = replyOf(await boss.call(createTemplate, { token: admin.token, body: { ...template, features: [] } }));
    await hers.event(told('plans'));
    replyOf(await boss.call(requestPlan, { token: maria.token, body: { template_id: created.template.id } }));
    await theirs.event(told('waiting'));
    const omar = { email: 'omar@example.com', username: 'omar', password: 'a long enough password' };
    replyOf(await boss.call(register, { body: omar }));
    await theirs.event(told('people'));
    const client_info = { company_name: 'Harbour IT', support_phone: '', support_email: '' };
    const setup = { client_info, setup_type: 'basic_installation' as const, timestamp: '2026-11-20T10:00:00.000Z' };
    await boss.call(setupConfig, { token: admin.token, body: setup });
    await Promise.all([hers.event(told('provider')), theirs.event(told('provider'))]);
    const before = hers.events().filter(told('account')).length;
    await boss.call(changeUser, { token: admin.token, body: { user_id: maria.id, role: 'support' } });
    await eventually(() => expect(hers.events().filter(told('account'))).toHaveLength(before + 1));
    expect(hers.events().some((event) => told('waiting')(event) || told('people')(event))).toBe(false);
  });

  test('tells every page of a person that a scan is gone', async () => {
    const { token } = await app.signIn();
    const pages = await Promise.all([listenAs(app, token), listenAs(app, token)]);
    const { id } = await scanned(app, token, 'letter.pdf', PDF);
    await app.call(deleteScan, { token, params: { id } });
    for (const page of pages) await page.event((event) => event.kind === 'scan_removed' && event.scan_id === id);
  });

  // proves: asvs-14.2.1
  test('refuses a token in the address', async () => {
    const { token } = await app.signIn();
    await expect(openSocket(app, { path: `/events?access_token=${token}` })).rejects.toThrow('refused with 400');
  });

  // proves: asvs-4.4.2, security-28
  test('refuses a page of another site, and takes its own', async () => {
    await expect(openSocket(app, { origin: 'https://evil.example' })).rejects.toThrow('refused with 403');
    await expect(openSocket(app, { origin: 'null' })).rejects.toThrow('refused with 403');
    const own = await openSocket(app, { origin: app.url });
    own.leave();
  });

  test('is no address for a plain request, and no other address is a socket', async () => {
    expect((await app.fetch(`/api/events`)).status).toBe(404);
    await expect(openSocket(app, { path: '/health' })).rejects.toThrow('refused with 200');
    await expect(openSocket(app, { path: '/nowhere' })).rejects.toThrow('refused with 404');
  });

  test.each([
    ['a token that nobody has', EVENTS_CLOSED.unauthenticated, JSON.stringify({ kind: 'hello', access_token: 'x'.repeat(43) })],
    ['something that is no frame', EVENTS_CLOSED.malformed, 'hello?'],
    ['a frame before hello', EVENTS_CLOSED.malformed, JSON.stringify({ kind: 'pong' })],
    ['a frame of more than a kilobyte', 1009, JSON.stringify({ kind: 'hello', access_token: 'x'.repeat(2000) })],
  ])('closes on %s', async (_, code, frame) => {
    const socket = await openSocket(app);
    socket.say(frame);
    expect(await socket.closed).toBe(code);
    expect(socket.frames).toEqual([]);
  });

  // proves: security-26
  test('closes when its session ends: signed out, ended from elsewhere, or by a new password', async () => {
    const person = await app.signIn();
    const again = async () => (await app.signIn(person.email.split('@')[0])).token;
    const [second, third] = [await again(), await again()];
    const sockets = await Promise.all([person.token, second, third].map((token) => listenAs(app, token)));
    const codeOf = async (index: number, act: () => Promise<unknown>) => {
      await act();
      return await sockets[index]?.closed;
    };

    expect(await codeOf(0, () => app.call(logout, { token: person.token }))).toBe(EVENTS_CLOSED.unauthenticated);
    const sessions = replyOf(await app.call(listSessions, { token: second }));
    const elsewhere = sessions.find(({ current }) => !current)?.id ?? '';
    expect(
      await codeOf(2, () =>
        app.call(endSession, { token: second, params: { id: elsewhere }, body: { password: person.password } }),
      ),
    ).toBe(EVENTS_CLOSED.unauthenticated);
    const last = await again();
    const change = { current_password: person.password, new_password: 'another long password' };
    expect(await codeOf(1, () => app.call(changePassword, { token: last, body: change }))).toBe(EVENTS_CLOSED.unauthenticated);
  });

  test('does not report a deletion that fails', async () => {
    const [admin, person] = [await app.signIn('boss', 'admin'), await app.signIn()];
    const socket = await listenAs(app, person.token);
    const { id } = person;
    const { database } = app.app;
    await sql`create table holds (user_id text references users (id))`.execute(database);
    onTestFinished(async () => void (await sql`drop table if exists holds`.execute(database)));
    await sql`insert into holds values (${id})`.execute(database);
    const body = { user_id: id, password: admin.password, confirmation: person.email };
    expect((await app.call(deleteUser, { token: admin.token, body })).status).toBe(500);
    expect(await Promise.race([socket.closed, setTimeout(200, 'open')])).toBe('open');
    await sql`drop table holds`.execute(database);
    replyOf(await app.call(deleteUser, { token: admin.token, body }));
    expect(await socket.closed).toBe(EVENTS_CLOSED.account_deleted);
  });

  test('sends missed events after a gap, in order and once, and says when it no longer has them', async () => {
    const { token } = await app.signIn();
    const before = await listenAs(app, token);
    await scanned(app, token, 'one.pdf', PDF);
    const seen = await before.event((event) => event.kind === 'scan_changed' && event.scan.scan_status === 'clean');
    before.leave();
    await before.closed;
    // Each with bytes of its own: known bytes have their verdict at once.
    for (const name of ['two.pdf', 'three.pdf']) await scanned(app, token, name, Buffer.concat([PDF, Buffer.from(name)]));

    const resumed = await listenAs(app, token, seen.id ?? '');
    expect(await resumed.welcomed()).toMatchObject({ missed: false, cursor: seen.id });
    // Each verdict once; one that took long was sent as pending first.
    const verdicts = resumed
      .events()
      .flatMap((event) => (event.kind === 'scan_changed' && event.scan.scan_status === 'clean' ? [event.scan.filename] : []));
    expect(verdicts).toEqual(['two.pdf', 'three.pdf']);
    const fresh = await listenAs(app, token);
    const { cursor, missed } = await fresh.welcomed();
    expect({ missed, events: fresh.events() }).toEqual({ missed: false, events: [] });
    const atCursor = await listenAs(app, token, cursor);
    expect({ ...(await atCursor.welcomed()), events: atCursor.events() }).toMatchObject({ missed: false, events: [] });

    const stranger = await listenAs(app, token, '01890a5d-ac96-774b-bcce-b302099a8057');
    expect(await stranger.welcomed()).toMatchObject({ missed: true });
  });
});

const user = { id: newId(), username: 'maria', email: 'maria@example.com', role: 'customer' } as const;

/** The socket alone, where every token is a session of its own; `looked_up` has the size of each lookup of sessions. */
async function serveAlone(limits: SocketLimits, isLiving = true) {
  const topics = createMemoryTopics();
  const fastify = await createHttp({
    logger: pino({ level: 'silent' }),
    trusted_proxies: [],
    patience: PATIENCE,
    public_url: undefined,
    channels: [eventsChannel],
    connections: connectionLimits(),
    isShared: () => false,
    exposure: 'local',
    onArrival: () => {},
  });
  const looked_up: number[] = [];
  const sessions = {
    resolve: () =>
      Promise.resolve({
        id: newId(),
        user,
        began: null,
        is_held: false,
        is_unproven: false,
        registered_at: '2026-11-20T10:00:00.000Z',
      }),
    living(session_ids: readonly string[]) {
      looked_up.push(session_ids.length);
      return Promise.resolve(new Set(isLiving ? session_ids : []));
    },
    onEnd: () => () => {},
    onChange: () => () => {},
  };
  const opening = { rate: { count: 1_000_000, period_ms: 60_000 }, counters: createMemoryCounters({ now: Date.now }) };
  const held = () => Promise.resolve(new Set<string>());
  /** A desk without staff. */
  const desk = {
    mayHearStaff: () => false,
    find: () => Promise.resolve(undefined),
    arrive: () => () => {},
    open: () => () => {},
    typing: () => Promise.resolve(),
  };
  const remote = { onWelcome: () => {}, sit: () => ({ onFrame: () => {}, isOfStaff: () => false, leave: () => {} }) };
  const parts = { topics, present: () => [], held, desk, remote, opening, limits, public_url: undefined };
  await openSockets(fastify, [eventsChannel]);
  const events = serveEvents({ fastify, sessions }, parts);
  const url = await fastify.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    events.close();
    await fastify.close();
  });
  return { topics, fastify, url, looked_up };
}

test('a session that ended while its page was being let in is looked up at once, not at the next heartbeat', async () => {
  const { url } = await serveAlone({ ...SOCKET_LIMITS, heartbeat_ms: 600_000 }, false);
  const page = await openSocket({ url });
  page.say({ kind: 'hello', access_token: 'token' });
  await page.welcomed();
  expect(await page.closed).toBe(EVENTS_CLOSED.unauthenticated);
});

test('a socket is no request under way: a server that stops does not wait for it', async () => {
  const app = await startListeningApp();
  const { token } = await app.signIn();
  const page = await listenAs(app, token);
  expect(await app.app.drain.finish(10_000)).toBe(0);
  page.leave();
});

// proves: attack-C.17-2
test('heartbeats are spread over their time, and sessions are looked up many at a time', async () => {
  const count = 300;
  const { url, looked_up } = await serveAlone({
    ...SOCKET_LIMITS,
    heartbeat_ms: 2_000,
    sockets_per_principal: count,
    strangers_per_source: count,
  });
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket({ url })));
  for (const socket of sockets) socket.say({ kind: 'hello', access_token: 'token' });
  await Promise.all(sockets.map((socket) => socket.welcomed()));
  await eventually(() => expect(looked_up.reduce((sum, some) => sum + some, 0)).toBeGreaterThanOrEqual(count));
  // Those who came at once are few questions, and none is about more than the database takes at once.
  expect(looked_up.length).toBeLessThan(count / 2);
  expect(Math.max(...looked_up)).toBeLessThanOrEqual(500);
  looked_up.length = 0;
  const pinged = () => sockets.filter(({ frames }) => frames.some(({ kind }) => kind === 'ping')).length;
  await eventually(() => expect(pinged()).toBe(count));
  // Each moment is that of a few: with all of them in one, this would be 300.
  expect(Math.max(...looked_up)).toBeLessThanOrEqual(count / 10);
  for (const socket of sockets) socket.leave();
});

// proves: support-fault-8
test('a page that does not read is dropped, and no other waits for it', async () => {
  const { topics, fastify, url } = await serveAlone({ ...SOCKET_LIMITS, waiting_bytes: 64 * 1024 });
  const tell = () => topics.publish(personTopic(user.id), { kind: 'scan_removed', scan_id: newId() });

  const [reader, sleeper] = await Promise.all([listenAs({ url }, 'token'), listenAs({ url }, 'token')]);
  sleeper.sleep();
  // More than the buffers of both kernels hold, in steps that the reader can follow.
  for (let told = 0; fastify.websocketServer.clients.size === 2; told += 1) {
    expect(told).toBeLessThan(2_000_000);
    tell();
    if (told % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(fastify.websocketServer.clients.size).toBe(1);
  const heard = reader.frames.length;
  tell();
  await eventually(() => expect(reader.frames.length).toBeGreaterThan(heard));
});

describe('within its limits, the events socket', async () => {
  const limits = { ...SOCKET_LIMITS, hello_ms: 500, heartbeat_ms: 500, sockets_per_principal: 2 };
  const app = await startListeningApp({ surroundings: { events_limits: limits } });
  const { token } = await app.signIn();

  test('closes on a page that does not say who it is', async () => {
    const silent = await Promise.all([openSocket(app), openSocket(app), openSocket(app)]);
    expect(await Promise.all(silent.map(({ closed }) => closed))).toEqual(Array(3).fill(EVENTS_CLOSED.silent));
    (await listenAs(app, token)).leave();
  });

  test('asks for a sign of life, keeps the page that answers, and drops the one that does not', async () => {
    const live = await listenAs(app, token);
    const mute = await openSocket(app, { mute: true });
    mute.say({ kind: 'hello', access_token: token });
    // 1006: it was cut, not closed.
    expect(await mute.closed).toBe(1006);
    const pings = () => live.frames.filter(({ kind }) => kind === 'ping').length;
    const so_far = pings();
    expect(so_far).toBeGreaterThan(0);
    await scanned(app, token, 'still-here.pdf', PDF);
    await live.event(isChangeOf('still-here.pdf'));
    live.leave();
    await live.closed;
  });
});

describe('among sockets that say nothing', async () => {
  const limits = { ...SOCKET_LIMITS, hello_ms: 60_000, strangers: 12, strangers_per_source: 5 };
  const environment = { TRUSTED_PROXIES: '127.0.0.1', LIMITS: 'sockets.source=100/1d' };
  const app = await startListeningApp({ environment, surroundings: { events_limits: limits } });
  const { token } = await app.signIn();
  const open = (sockets: number, forwarded_for: string) =>
    Promise.all(Array.from({ length: sockets }, () => openSocket(app, { forwarded_for })));
  const served = () => app.app.fastify.websocketServer.clients.size;

  // proves: attack-C.17-1, support-bad-input-10
  test('everybody else gets in, from the same source too, and other sources keep theirs', async () => {
    const other = await openSocket(app, { forwarded_for: '203.0.113.9' });
    let closed = 0;
    let other_closed = false;
    void other.closed.then(() => {
      other_closed = true;
    });
    for (const socket of await open(60, '203.0.113.1'))
      void socket.closed.then((code) => {
        if (code === EVENTS_CLOSED.silent) closed += 1;
      });
    const [same, elsewhere] = [
      await openSocket(app, { forwarded_for: '203.0.113.1' }),
      await openSocket(app, { forwarded_for: '203.0.113.2' }),
    ];
    for (const socket of [same, elsewhere]) {
      socket.say({ kind: 'hello', access_token: token });
      await socket.welcomed();
    }
    await eventually(() => expect(closed).toBeGreaterThanOrEqual(55));
    await eventually(() => expect(served()).toBeLessThanOrEqual(8));
    expect(other_closed).toBe(false);
    for (const socket of [same, elsewhere]) socket.leave();
  });

  test('of many sources no more are kept than in all, and the longest silent go', async () => {
    const first = await open(2, '203.0.113.30');
    for (let source = 31; source < 36; source += 1) await open(4, `203.0.113.${source}`);
    expect(await Promise.all(first.map(({ closed }) => closed))).toEqual(Array(2).fill(EVENTS_CLOSED.silent));
    const page = await openSocket(app, { forwarded_for: '203.0.113.40' });
    page.say({ kind: 'hello', access_token: token });
    await page.welcomed();
    await eventually(() => expect(served()).toBeLessThanOrEqual(limits.strangers + 1));
    page.leave();
  });

  test('a source opens no more of them in a time than it may', async () => {
    await open(100, '203.0.113.50');
    await expect(openSocket(app, { forwarded_for: '203.0.113.50' })).rejects.toThrow('refused with 429');
    (await openSocket(app, { forwarded_for: '203.0.113.51' })).leave();
  });

  test('compresses no frame, and counts all frames before hello, protocol pings too', async () => {
    const socket = await openSocket(app);
    expect(socket.extensions).toBe('');
    // One after the other: ws cuts a connection without a code when it has too many answers to send at once. The one too many is not answered.
    for (let count = 0; count < eventsChannel.frames_per_heartbeat; count += 1) await socket.ping();
    void socket.ping();
    expect(await socket.closed).toBe(EVENTS_CLOSED.malformed);
    const talker = await openSocket(app);
    talker.say({ kind: 'hello', access_token: 'x'.repeat(43) });
    for (let count = 0; count < 100; count += 1) talker.say({ kind: 'pong' });
    expect([EVENTS_CLOSED.malformed, EVENTS_CLOSED.unauthenticated]).toContain(await talker.closed);
    expect(talker.frames).toEqual([]);
  });
});

// proves: attack-C.17-2
test('sessions are looked up in one question for 500 of them', async () => {
  const app = await startListeningApp();
  let questions = 0;
  const database = app.app.database.$pickTables<'sessions' | 'users'>().withPlugin({
    transformQuery({ node }) {
      questions += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  const { token } = await app.signIn();
  const sessions = createSessions({
    database,
    lacksFactor: () => Promise.resolve(false),
    lacksProof: () => false,
    now: Date.now,
  });
  const id = (await sessions.resolve(token))?.id ?? '';
  const others = Array.from({ length: 499 }, () => newId());
  questions = 0;
  expect(await sessions.living([id, ...others])).toEqual(new Set([id]));
  expect(questions).toBe(1);
  expect(await sessions.living([...others, newId(), id])).toEqual(new Set([id]));
  expect(questions).toBe(3);
});
