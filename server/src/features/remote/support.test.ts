import { createHmac } from 'node:crypto';
import { listAlerts } from '@palisade/contract/anti-hacking';
import { checkAudit, listActivity } from '@palisade/contract/audit';
import { TOTAL_HEADER } from '@palisade/contract/fields';
import { deleteAccount } from '@palisade/contract/privacy';
import {
  cancelSession,
  completeJoined,
  createSession,
  joinSession,
  listJoined,
  listRemoteSessions,
  SESSION_LIMITS,
} from '@palisade/contract/remote';
import {
  approveSession,
  exportSessionAudit,
  listSessionAudit,
  listSessionMessages,
  rateSession,
  readIce,
  readSession,
  reaffirmSession,
  reportSession,
  writeSessionMessage,
} from '@palisade/contract/remote-session';
import {
  endOverseenSession,
  listOverseenAudit,
  listOverseenSessions,
  readSessionCustomer,
  writeNotes,
} from '@palisade/contract/remote-staff';
import { changeUser } from '@palisade/contract/users';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { givePremium } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const SECOND_MS = 1_000;
const START = Date.parse('2026-11-20T10:00:00Z');
const clock = { now: START };
const TURN = {
  TURN_URL: 'stun:turn.example.com:3478,turn:turn.example.com:3478?transport=udp',
  TURN_SECRET: 'a-secret-that-both-have',
};
const app = await startTestApp({ environment: TURN, surroundings: { now: () => clock.now } });
const { call, signIn } = app;
const boss = await signIn('boss');
const [tina, tom] = [await signIn('tina'), await signIn('tom')];
for (const { id: user_id } of [tina, tom])
  replyOf(await call(changeUser, { token: boss.token, body: { user_id, role: 'support' } }));

const of = (id: string, token: string) => ({ token, params: { id } });
const join = (session_code: string, token = tina.token) => call(joinSession, { token, body: { session_code } });
const approve = (id: string, token: string, view: 'screen' | 'talk' = 'talk') =>
  call(approveSession, { ...of(id, token), body: { view } });
const read = async (id: string, token: string) => replyOf(await call(readSession, of(id, token)));

/** A session that tina asks to join, of a new person. */
async function claimed() {
  const customer = await signIn();
  const { id, session_code } = replyOf(await call(createSession, { token: customer.token }));
  replyOf(await join(session_code));
  return { ...customer, id, session_code };
}

async function running(view: 'screen' | 'talk' = 'talk') {
  const session = await claimed();
  replyOf(await approve(session.id, session.token, view));
  return session;
}

/** As it was written down. */
const stored = (id: string) =>
  app.app.database
    .selectFrom('remote_sessions')
    .select(['status', 'end_reason', 'ended_at', 'version'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

const LOST = { status: 'completed', end_reason: 'customer_gone' } as const;

describe('who asks', () => {
  test('is shown to the customer by name, provider and since when they are of the staff, before they approve', async () => {
    const { id, token } = await claimed();
    expect(await read(id, token)).toMatchObject({
      ...{ side: 'customer', status: 'pending', phase: 'claimed', due_reason: 'no_answer' },
      technician: {
        name: 'tina',
        provider: 'Palisade',
        staff_since: new Date(START).toISOString(),
        asked_at: new Date(clock.now).toISOString(),
      },
    });
    expect(await read(id, tina.token)).toMatchObject({ side: 'technician', phase: 'claimed' });
  });

  test('is never the customer themselves', async () => {
    const { session_code, id } = replyOf(await call(createSession, { token: tina.token }));
    const problem = problemOf(await join(session_code));
    expect(problem).toEqual({ ...problemOf(await join('AAA-AAA-AAA')), request_id: problem.request_id });
    expect((await read(id, tina.token)).phase).toBe('waiting');
    replyOf(await join(session_code, tom.token));
  });

  test('learns nothing of the customer before these approve, and opens no relay', async () => {
    const { id, token } = await claimed();
    for (const endpoint of [readIce, readSessionCustomer, completeJoined])
      expect((await call(endpoint, of(id, tina.token))).status).toBe(409);
    // The customer, who chooses what to show meanwhile, gets the servers: their picture is there the sooner.
    expect(replyOf(await call(readIce, of(id, token))).has_relay).toBe(true);
    expect(replyOf(await approve(id, token))).toMatchObject({ status: 'active', view: 'talk' });
    expect((await approve(id, token)).status).toBe(409);
  });

  // proves: remote-2
  test('cannot be approved after a cancel', async () => {
    const { id, token } = await claimed();
    const [cancelled, approved] = await Promise.all([call(cancelSession, of(id, token)), approve(id, token)]);
    expect(cancelled.status).toBe(200);
    expect([200, 409]).toContain(approved.status);
    expect(await stored(id)).toMatchObject({ status: 'cancelled', end_reason: 'cancelled' });
    expect((await approve(id, token)).status).toBe(409);
  });

  test('a person who may not join sessions any more has none', async () => {
    const lea = await signIn('lea');
    const to = (role: 'support' | 'customer') => call(changeUser, { token: boss.token, body: { user_id: lea.id, role } });
    await to('support');
    const customers = [await signIn(), await signIn()];
    const ids: string[] = [];
    for (const { token } of customers) {
      const { id, session_code } = replyOf(await call(createSession, { token }));
      replyOf(await join(session_code, lea.token));
      ids.push(id);
    }
    const [asked = '', ran = ''] = ids;
    replyOf(await approve(ran, customers[1]?.token ?? ''));
    await to('customer');
    await eventually(async () => expect(await stored(asked)).toMatchObject({ status: 'cancelled', end_reason: 'access_lost' }));
    await eventually(async () => expect(await stored(ran)).toMatchObject({ status: 'completed', end_reason: 'access_lost' }));
    expect((await call(readSession, of(ran, lea.token))).status).toBe(404);
  });
});

describe('the clock', () => {
  test('ends an abandoned session, once, whoever looks: in every answer at once, and in the database when it is settled', async () => {
    const { id, token } = await running();
    const before = (await stored(id)).version;
    clock.now += SESSION_LIMITS.customer_gone;
    expect(await read(id, token)).toMatchObject({ ...LOST, ended_at: new Date(clock.now).toISOString() });
    expect(replyOf(await call(listRemoteSessions, { token, query: '?status=completed' }))).toHaveLength(1);
    expect(replyOf(await call(listRemoteSessions, { token, query: '?status=active' }))).toEqual([]);
    expect((await stored(id)).status).toBe('active');
    await Promise.all([app.app.settleSessions(), app.app.settleSessions()]);
    expect(await stored(id)).toMatchObject(LOST);
    await app.app.settleSessions();
    expect((await stored(id)).version).toBeLessThanOrEqual(before + 2);
  });
});

describe('reports', () => {
  const mailsTo = async (email: string) =>
    await app.app.database.selectFrom('mails').select(['subject', 'text']).where('recipient', '=', email).execute();

  test('the customer gets one summary by mail, however often it is ended', async () => {
    const { id, token, email } = await running();
    const answers = await Promise.all([
      call(completeJoined, of(id, tina.token)),
      call(completeJoined, of(id, tina.token)),
      call(cancelSession, of(id, token)),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    await eventually(async () =>
      expect((await mailsTo(email)).filter(({ subject }) => /remote session/u.test(subject))).toHaveLength(1),
    );
    const text = (await mailsTo(email)).map((mail) => mail.text).join('');
    expect(text).toContain('tina of Palisade helped you for 1 minute. You didn’t share your screen.');
    expect(text).toContain('We never call first or ask for passwords');
  });

  test('a report ends the session and reaches every administrator as an alert', async () => {
    await givePremium(app.app.database, boss.id);
    const { id, token } = await running();
    const body = { reason: 'asked_for_money', comment: 'She wanted gift cards.' } as const;
    expect(replyOf(await call(reportSession, { ...of(id, token), body }))).toMatchObject({
      ...{ status: 'completed', end_reason: 'reported', reported_at: new Date(clock.now).toISOString() },
    });
    expect((await call(reportSession, { ...of(id, token), body })).status).toBe(409);
    const alert = await eventually(async () => {
      const found = replyOf(await call(listAlerts, { token: boss.token })).find(({ rule }) => rule === 'remote_session.reported');
      if (found === undefined) throw new Error('no alert');
      return found;
    });
    expect(alert).toMatchObject({ threat_type: 'remote_report', severity: 'high', count: 1 });
    expect(alert.description).toContain('asked for money');
    expect(JSON.stringify(alert.evidence)).toContain('gift cards');
  });

  test('an absent technician cannot be reported or rated', async () => {
    const { token } = await signIn();
    const { id } = replyOf(await call(createSession, { token }));
    expect((await call(reportSession, { ...of(id, token), body: { reason: 'else' } })).status).toBe(409);
    replyOf(await call(cancelSession, of(id, token)));
    expect((await call(rateSession, { ...of(id, token), body: { rating: 1 } })).status).toBe(409);
    const helped = await running();
    expect((await call(rateSession, { ...of(helped.id, helped.token), body: { rating: 5 } })).status).toBe(409);
    replyOf(await call(completeJoined, of(helped.id, tina.token)));
    for (const rating of [1, 4]) {
      const rated = replyOf(await call(rateSession, { ...of(helped.id, helped.token), body: { rating, comment: 'Thanks.' } }));
      expect(rated.rating).toBe(rating);
    }
  });

  test("the log has the session's events: only its customer reads and exports it, and it never holds the code", async () => {
    const { id, token, session_code } = await running();
    replyOf(await call(readSessionCustomer, of(id, tina.token)));
    replyOf(await call(reaffirmSession, of(id, token)));
    replyOf(await call(completeJoined, of(id, tina.token)));
    const other = await running();
    const entries = replyOf(await call(listSessionAudit, of(id, token)));
    expect(entries.map(({ kind, by }) => [kind, by])).toEqual([
      ['remote_session_asked', 'support'],
      ['remote_session_approved', 'self'],
      ['customer_card_opened', 'support'],
      ['remote_session_reaffirmed', 'self'],
      ['remote_session_ended', 'support'],
    ]);
    for (const entry of entries) expect(entry.details).toMatchObject({ session_id: id });
    expect(entries.at(-1)?.details['reason']).toBe('ended_by_technician');
    for (const stranger of [tina.token, boss.token, other.token])
      expect((await call(listSessionAudit, of(id, stranger))).status).toBe(404);
    const file = await app.fetch(`/api${exportSessionAudit.path.replace('{id}', id)}?format=csv`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await file.text()).trimEnd().split('\r\n')).toHaveLength(entries.length + 1);
    const own = replyOf(await call(listActivity, { token })).map(({ kind }) => kind);
    expect(own).toContain('remote_session_approved');
    expect(replyOf(await call(checkAudit, { token: boss.token })).fault).toBeNull();
    const log = await app.app.database.selectFrom('audit_entries').select('personal').execute();
    expect(JSON.stringify(log)).not.toContain(session_code);
  });
});

describe('beside the picture', () => {
  test('both sides write and read, in one order, and the same message again is the same', async () => {
    const { id, token } = await claimed();
    const client_message_id = crypto.randomUUID();
    const write = (as: string, message: string, name?: string) =>
      call(writeSessionMessage, { ...of(id, as), body: { message, ...(name === undefined ? {} : { client_message_id: name }) } });
    const first = replyOf(await write(tina.token, 'Hello, please choose your whole screen.', client_message_id));
    expect(first).toMatchObject({ side: 'technician', author: 'tina', client_message_id });
    expect(replyOf(await write(tina.token, 'Hello, please choose your whole screen.', client_message_id))).toEqual(first);
    const second = replyOf(await write(token, 'Yes.'));
    expect(second.seq).toBe(first.seq + 1);
    const messages = replyOf(await call(listSessionMessages, of(id, token)));
    expect(messages).toEqual([first, second]);
    expect(replyOf(await call(listSessionMessages, { ...of(id, tina.token), query: `?after=${first.seq}` }))).toEqual([second]);
    const stranger = await signIn();
    for (const other of [tom.token, stranger.token]) {
      expect((await write(other, 'Let me in.')).status).toBe(404);
      expect((await call(listSessionMessages, of(id, other))).status).toBe(404);
    }
    expect((await write(token, ' ')).status).toBe(422);
    replyOf(await call(cancelSession, of(id, token)));
    expect((await write(token, 'Are you there?')).status).toBe(409);
    expect(replyOf(await call(listSessionMessages, of(id, token)))).toHaveLength(2);
  });

  test('a technician keeps notes that the customer does not see', async () => {
    const { id, token } = await running();
    expect(replyOf(await call(writeNotes, { ...of(id, tina.token), body: { notes: 'Slow disk.' } })).notes).toBe('Slow disk.');
    expect(replyOf(await call(listJoined, { token: tina.token }))[0]?.notes).toBe('Slow disk.');
    expect(JSON.stringify(await read(id, token))).not.toContain('Slow disk');
    expect((await call(writeNotes, { ...of(id, tom.token), body: { notes: '' } })).status).toBe(404);
  });

  test('administrators see running sessions of everybody, and end them', async () => {
    const { id, token } = await running();
    const open = replyOf(await call(listOverseenSessions, { token: boss.token }));
    expect(open.find((one) => one.id === id)).toMatchObject({ phase: 'reconnecting', support_agent: 'tina' });
    expect(JSON.stringify(open)).not.toContain('session_code');
    expect((await call(endOverseenSession, of(id, tina.token))).status).toBe(403);
    expect(replyOf(await call(endOverseenSession, of(id, boss.token)))).toMatchObject({
      status: 'completed',
      end_reason: 'ended_by_admin',
    });
    expect((await call(endOverseenSession, of(id, boss.token))).status).toBe(409);
    expect((await read(id, token)).end_reason).toBe('ended_by_admin');
    const kinds = replyOf(await call(listOverseenAudit, of(id, boss.token))).map(({ kind }) => kind);
    expect(kinds).toEqual(['remote_session_asked', 'remote_session_approved', 'remote_session_ended']);
    for (const other of [tina.token, token]) expect((await call(listOverseenAudit, of(id, other))).status).toBe(403);
  });

  test('administrators see reported sessions first, page by page, and filter the list', async () => {
    const reported = await running();
    const body = { reason: 'asked_for_money', comment: 'For <b>gift cards</b>' } as const;
    replyOf(await call(reportSession, { ...of(reported.id, reported.token), body }));
    const others = [await running(), await running()];
    for (const { id } of others) replyOf(await call(completeJoined, of(id, tina.token)));
    // No technician has asked to join it, so it concerns its customer alone.
    const alone = await signIn();
    const waits = replyOf(await call(createSession, { token: alone.token }));

    const seen: string[] = [];
    const page = (query: Record<string, string>) =>
      call(listOverseenSessions, { token: boss.token, query: `?${new URLSearchParams(query)}` });
    // For a session that was deleted with its customer meanwhile, the next page is unknown.
    expect(problemOf(await page({ cursor: newId() })).code).toBe('invalid_field');
    for (let cursor: string | undefined; ; ) {
      const [row] = replyOf(await page({ limit: '1', ...(cursor && { cursor }) }));
      if (row === undefined) break;
      seen.push(row.id);
      cursor = row.id;
    }
    expect(new Set(seen).size).toBe(seen.length);
    const all = await page({ limit: '100' });
    expect(replyOf(all).map(({ id }) => id)).toEqual(seen);
    expect(all.headers.get(TOTAL_HEADER)).toBe(String(seen.length));
    const isReported = replyOf(all).map(({ report }) => report !== null);
    expect(isReported).toEqual(isReported.toSorted((one, other) => Number(other) - Number(one)));
    expect(replyOf(all).find(({ id }) => id === reported.id)?.report).toMatchObject(body);
    expect(seen).not.toContain(waits.id);

    const listed = async (narrowed: Record<string, string>) =>
      replyOf(await page({ limit: '100', ...narrowed })).map(({ id }) => id);
    expect(await listed({ reported: 'true', end_reason: 'reported' })).toContain(reported.id);
    expect(await listed({ reported: 'false' })).not.toContain(reported.id);
    expect(await listed({ status: 'completed', end_reason: 'ended_by_technician' })).toEqual(
      expect.arrayContaining(others.map(({ id }) => id)),
    );
    expect(await listed({ search: 'nobody has this name' })).toEqual([]);
    expect((await page({ reported: 'perhaps' })).status).toBe(422);
  });
});

describe('the relay', () => {
  test('is opened to the sides of a session that runs, for its time, by a name that coturn checks', async () => {
    const { id, token } = await running();
    const answers = [replyOf(await call(readIce, of(id, token))), replyOf(await call(readIce, of(id, tina.token)))];
    for (const { ice_servers, has_relay, expires_at } of answers) {
      expect(has_relay).toBe(true);
      const [open, relay] = ice_servers;
      expect(open).toEqual({ urls: ['stun:turn.example.com:3478'] });
      const [until, whose] = relay?.username?.split(':') ?? [];
      expect(Number(until) * SECOND_MS).toBe(Date.parse(expires_at ?? ''));
      expect(Number(until) * SECOND_MS - clock.now).toBeLessThanOrEqual(SESSION_LIMITS.longest + 60_000);
      expect(whose?.startsWith(`${id}.`)).toBe(true);
      expect(relay?.credential).toBe(
        createHmac('sha1', TURN.TURN_SECRET)
          .update(relay?.username ?? '')
          .digest('base64'),
      );
    }
    expect(new Set(answers.map(({ ice_servers }) => ice_servers[1]?.username)).size).toBe(2);
    for (const stranger of [tom.token, boss.token]) expect((await call(readIce, of(id, stranger))).status).toBe(404);
    replyOf(await call(completeJoined, of(id, tina.token)));
    expect((await call(readIce, of(id, token))).status).toBe(409);
  });
});

test('a technician whose account is gone is nowhere any more, and their sessions are over', async () => {
  const nora = await signIn('nora', 'support');
  const { token } = await signIn();
  const { id, session_code } = replyOf(await call(createSession, { token }));
  replyOf(await join(session_code, nora.token));
  await call(writeSessionMessage, { ...of(id, nora.token), body: { message: 'Hello' } });
  replyOf(await approve(id, token));
  replyOf(await call(deleteAccount, { token: nora.token, body: { password: nora.password, confirmation: nora.email } }));
  expect(await read(id, token)).toMatchObject({
    status: 'completed',
    end_reason: 'access_lost',
    support_agent: 'A former technician',
  });
  expect(JSON.stringify(replyOf(await call(listSessionMessages, of(id, token))))).not.toContain('nora');
  expect(JSON.stringify(replyOf(await call(listSessionAudit, of(id, token))))).not.toContain('nora');
});
