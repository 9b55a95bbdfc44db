import { changePassword, logout } from '@palisade/contract/auth';
import { EVENTS_CLOSED, type LiveEvent } from '@palisade/contract/events';
import { endSession, listSessions } from '@palisade/contract/sessions';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { EICAR, PDF } from '#test/files.ts';
import { replyOf, startTestApp } from '#test/harness.ts';
import { listenAs, openSocket } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';
import { createBus } from './bus.ts';
import { EVENTS_LIMITS, serveEvents } from './events.ts';
import { createHttp, PATIENCE } from './http.ts';
import { newId } from './id.ts';

const isChangeOf = (filename: string) => (event: LiveEvent) => event.kind === 'scan_changed' && event.scan.filename === filename;

describe('the events socket', async () => {
  const app = await startTestApp();

  test('tells a person what happens to their files, and nobody else', async () => {
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

  test('refuses a token in the address', async () => {
    const { token } = await app.signIn();
    await expect(openSocket(app, { path: `/events?access_token=${token}` })).rejects.toThrow('refused with 400');
  });

  test('refuses a page of another site, and takes its own', async () => {
    await expect(openSocket(app, { origin: 'https://evil.example' })).rejects.toThrow('refused with 403');
    await expect(openSocket(app, { origin: 'null' })).rejects.toThrow('refused with 403');
    const own = await openSocket(app, { origin: app.url });
    own.leave();
  });

  test('is no address for a plain request, and no other address is a socket', async () => {
    expect((await fetch(`${app.url}/api/events`)).status).toBe(404);
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

  test('closes on a second hello, and on a flood', async () => {
    const { token } = await app.signIn();
    const twice = await listenAs(app, token);
    twice.say({ kind: 'hello', access_token: token });
    expect(await twice.closed).toBe(EVENTS_CLOSED.malformed);
    const flooding = await listenAs(app, token);
    for (let count = 0; count < 100; count += 1) flooding.say({ kind: 'pong' });
    expect(await flooding.closed).toBe(EVENTS_CLOSED.malformed);
  });

  test('closes within a second when its session ends: signed out, ended from elsewhere, or by a new password', async () => {
    const person = await app.signIn();
    const again = async () => (await app.signIn(person.email.split('@')[0])).token;
    const [second, third] = [await again(), await again()];
    const sockets = await Promise.all([person.token, second, third].map((token) => listenAs(app, token)));
    const codeOf = async (index: number, act: () => Promise<unknown>) => {
      const began = performance.now();
      await act();
      const code = await sockets[index]?.closed;
      expect(performance.now() - began).toBeLessThan(1000);
      return code;
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

  test('tells after a gap what came in it, in order and once, and says when it no longer knows', async () => {
    const { token } = await app.signIn();
    const before = await listenAs(app, token);
    await scanned(app, token, 'one.pdf', PDF);
    const seen = await before.event((event) => event.kind === 'scan_changed' && event.scan.scan_status === 'clean');
    before.leave();
    await before.closed;
    // Each with bytes of its own: what is known already has its verdict at once.
    for (const name of ['two.pdf', 'three.pdf']) await scanned(app, token, name, Buffer.concat([PDF, Buffer.from(name)]));

    const resumed = await listenAs(app, token, seen.id ?? '');
    expect(await resumed.welcomed()).toMatchObject({ missed: false, cursor: seen.id });
    expect(resumed.events().flatMap((event) => (event.kind === 'scan_changed' ? [event.scan.filename] : []))).toEqual([
      'two.pdf',
      'two.pdf',
      'three.pdf',
      'three.pdf',
    ]);
    const fresh = await listenAs(app, token);
    const { cursor, missed } = await fresh.welcomed();
    expect({ missed, events: fresh.events() }).toEqual({ missed: false, events: [] });
    const atCursor = await listenAs(app, token, cursor);
    expect({ ...(await atCursor.welcomed()), events: atCursor.events() }).toMatchObject({ missed: false, events: [] });

    const stranger = await listenAs(app, token, '01890a5d-ac96-774b-bcce-b302099a8057');
    expect(await stranger.welcomed()).toMatchObject({ missed: true });
  });
});

test('a page that does not read is dropped, and nobody else waits for it', async () => {
  const bus = createBus();
  const fastify = await createHttp({
    logger: pino({ level: 'silent' }),
    trusted_proxies: [],
    patience: PATIENCE,
    public_url: undefined,
    exposure: 'local',
    onArrival: () => {},
  });
  const user = { id: newId(), username: 'maria', email: 'maria@example.com', role: 'customer' } as const;
  const sessions = {
    resolve: () => Promise.resolve({ id: newId(), user, began: null, is_held: false, is_unproven: false }),
    lives: () => Promise.resolve(true),
    isHeld: () => Promise.resolve(false),
    onEnd: () => () => {},
    onChange: () => () => {},
  };
  const parts = { bus, present: () => [], limits: { ...EVENTS_LIMITS, waiting_bytes: 64 * 1024 }, public_url: undefined };
  const events = await serveEvents({ fastify, sessions }, parts);
  const url = await fastify.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    events.close();
    await fastify.close();
  });
  const tell = () => bus.publish(user.id, { kind: 'scan_removed', scan_id: newId() });

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
  await vi.waitFor(() => expect(reader.frames.length).toBeGreaterThan(heard));
});

describe('within its limits, the events socket', async () => {
  const limits = { ...EVENTS_LIMITS, hello_ms: 500, heartbeat_ms: 500, sockets_per_person: 2, strangers: 3 };
  const app = await startTestApp({ surroundings: { events_limits: limits } });
  const { token } = await app.signIn();

  test('closes on a page that does not say who it is, and takes no more than a few of them', async () => {
    const silent = await Promise.all([openSocket(app), openSocket(app), openSocket(app)]);
    await expect(openSocket(app)).rejects.toThrow('refused with 429');
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

  test('lets a person have no more than a few pages', async () => {
    const [first, second] = [await listenAs(app, token), await listenAs(app, token)];
    const third = await openSocket(app);
    third.say({ kind: 'hello', access_token: token });
    expect(await third.closed).toBe(EVENTS_CLOSED.too_many);
    first.leave();
    await first.closed;
    (await listenAs(app, token)).leave();
    second.leave();
  });

  test('closes on a session that another server has ended', async () => {
    const person = await app.signIn();
    const socket = await listenAs(app, person.token);
    await app.app.database.deleteFrom('sessions').execute();
    expect(await socket.closed).toBe(EVENTS_CLOSED.unauthenticated);
  });
});
