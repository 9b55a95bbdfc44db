import { downloadTranscript, mailTranscript, markRead, rateChat, sendMessage } from '@palisade/contract/chat';
import { listMessages, readChat } from '@palisade/contract/chat-read';
import {
  answerConversation,
  changeDeskSettings,
  claimConversation,
  closeConversation,
  deskTranscript,
  exportReport,
  listDeskMessages,
  readConversation,
  readDeskSettings,
  readReport,
  snoozeConversation,
} from '@palisade/contract/desk';
import { listTeam, setPresence } from '@palisade/contract/desk-team';
import { listOutbox } from '@palisade/contract/mail';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { readFact, writeFact } from '#platform/installation.ts';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import type { ChatTables } from './chat.tables.ts';
import { createConversations } from './conversations.ts';

const MINUTE = 60_000;
const clock = { at: Date.parse('2026-11-20T10:00:00Z') };
const app = await startListeningApp({
  surroundings: {
    now: () => clock.at,
    presence_pause_ms: 5,
    unread_answer_ms: 0,
    every_ms: { desk_forgotten: 20, desk_untold: 60 },
  },
});
const { call, signIn } = app;
const boss = await signIn('boss');
const ana = await signIn('ana', 'support');
const me = { id: ana.id, username: 'ana' };

async function customer() {
  const person = await signIn();
  const body = { message: 'hello', sender: 'user' } as const;
  const { conversation_id: id, user_id } = replyOf(await call(sendMessage, { token: person.token, body }));
  return { ...person, id, user_id };
}
const answer = async (id: string, message = 'Good day') =>
  replyOf(await call(answerConversation, { token: ana.token, params: { id }, body: { message, is_note: false } }));
const shown = async (id: string) => replyOf(await call(readConversation, { token: boss.token, params: { id } }));
const notes = async (id: string) =>
  replyOf(await call(listDeskMessages, { token: boss.token, params: { id } })).flatMap(({ is_note, message }) =>
    is_note ? [message] : [],
  );

/** Ana's page, open. */
async function arrive() {
  const page = await listenAs(app, ana.token);
  page.say({ kind: 'listen', topic: 'staff' });
  await eventually(async () => {
    const team = replyOf(await call(listTeam, { token: boss.token }));
    expect(team.find(({ username }) => username === 'ana')?.presence).toBe('here');
  });
  return page;
}

const settings = { time_zone: 'UTC', hours: null, unanswered_minutes: 10, offline_minutes: 5 };
const set = async (changes: Partial<typeof settings> | { hours: { day: 'monday'; from: string; to: string }[] }) =>
  replyOf(await call(changeDeskSettings, { token: boss.token, body: { ...settings, ...changes } }));

// proves: support-bad-input-8
test.each([
  ['a time zone that is none', { time_zone: 'Mars/Olympus' }],
  ['a day that is none', { hours: [{ day: 'someday', from: '09:00', to: '17:00' }] }],
  ['a day that ends when it begins', { hours: [{ day: 'monday', from: '09:00', to: '09:00' }] }],
  ['a time of 25 hours', { hours: [{ day: 'monday', from: '09:00', to: '25:00' }] }],
  ['more times than a week has', { hours: Array.from({ length: 29 }, () => ({ day: 'monday', from: '09:00', to: '10:00' })) }],
  ['no minutes', { unanswered_minutes: 0 }],
  ['half a minute', { offline_minutes: 0.5 }],
])('hours of support with %s are refused', (_, wrong) => {
  expect(changeDeskSettings.body?.safeParse(settings).success).toBe(true);
  expect(changeDeskSettings.body?.safeParse({ ...settings, ...wrong }).success).toBe(false);
});

test.each(['Etc/Unknown', 'Mars/Olympus'])(
  'a stored time zone %s, which this server does not know, is UTC, and is named',
  async (zone) => {
    await set({ hours: [{ day: 'monday', from: '22:00', to: '06:00' }] });
    const stored = await readFact(app.app.database, 'desk_settings');
    await writeFact(app.app.database, 'desk_settings', stored?.replace('"UTC"', JSON.stringify(zone)) ?? '');
    expect(replyOf(await call(readDeskSettings, { token: boss.token }))).toMatchObject({
      time_zone: 'UTC',
      unknown_time_zone: zone,
    });
    expect(replyOf(await call(readReport, { token: boss.token }))).toMatchObject({ time_zone: 'UTC', unknown_time_zone: zone });
    const { token: of_customer } = await customer();
    expect(replyOf(await call(readChat, { token: of_customer })).staff).toMatchObject({ is_open: false });
    await set({});
    expect(replyOf(await call(readDeskSettings, { token: boss.token }))).toEqual(settings);
  },
);

describe('no customer is forgotten', () => {
  // proves: support-staff-19
  test('a conversation that waits too long for an answer is unassigned again, outside the hours only when these begin', async () => {
    const page = await arrive();
    const [waiting, answered] = [await customer(), await customer()];
    for (const { id } of [waiting, answered]) replyOf(await call(claimConversation, { token: ana.token, params: { id } }));
    await answer(answered.id);
    // Friday: closed until Monday.
    await set({ hours: [{ day: 'monday', from: '09:00', to: '17:00' }] });
    clock.at += 11 * MINUTE;
    const { id: passed } = await customer();
    replyOf(
      await call(snoozeConversation, {
        token: ana.token,
        params: { id: passed },
        body: { until: new Date(clock.at + MINUTE).toISOString() },
      }),
    );
    clock.at += 2 * MINUTE;
    // By now the job has been done since.
    await eventually(async () => expect(await shown(passed)).toMatchObject({ status: 'open' }));
    expect((await shown(waiting.id)).assignee).toMatchObject({ username: 'ana' });
    expect(replyOf(await call(readChat, { token: waiting.token })).staff).toEqual({
      is_here: true,
      is_open: false,
      opens_at: '2026-11-23T09:00:00.000Z',
    });
    await set({});
    await eventually(async () => expect((await shown(waiting.id)).assignee).toBeNull());
    expect(await notes(waiting.id)).toEqual(['Returned to Unassigned: no reply for 10 minutes.']);
    expect((await shown(answered.id)).assignee).toMatchObject({ username: 'ana' });
    page.leave();
  });

  // proves: support-staff-20
  test('a new assignee of a long-waiting one has their own time to answer, and so has one whose snooze ends', async () => {
    const page = await arrive();
    const { id, token } = await customer();
    clock.at += 40 * MINUTE;
    replyOf(await call(claimConversation, { token: ana.token, params: { id } }));
    /** Until the job has looked twice: the first look may have begun before. */
    const looked = async () => {
      for (let look = 0; look < 2; look += 1) {
        const { id: passed } = await customer();
        const until = new Date(clock.at + 1_000).toISOString();
        replyOf(await call(snoozeConversation, { token: ana.token, params: { id: passed }, body: { until } }));
        clock.at += 2_000;
        await eventually(async () => expect(await shown(passed)).toMatchObject({ status: 'open' }));
      }
    };
    await looked();
    expect(await shown(id)).toMatchObject({ assignee: { username: 'ana' }, status: 'open' });
    // Put off beyond the time that an answer may take, and back with who did so.
    const until = new Date(clock.at + 30 * MINUTE).toISOString();
    replyOf(await call(snoozeConversation, { token: ana.token, params: { id }, body: { until } }));
    clock.at += 31 * MINUTE;
    await eventually(async () => expect(await shown(id)).toMatchObject({ status: 'open' }));
    await looked();
    expect((await shown(id)).assignee).toMatchObject({ username: 'ana' });
    replyOf(await call(sendMessage, { token, body: { message: 'still there?', sender: 'user' } }));
    clock.at += 11 * MINUTE;
    await eventually(async () => expect((await shown(id)).assignee).toBeNull());
    page.leave();
  });

  // proves: support-staff-21
  test('an offline assignee loses their conversations, and an absent one keeps them', async () => {
    const page = await arrive();
    const { id } = await customer();
    await answer(id);
    const presence = async (said: 'here' | 'away' | 'offline', by_hand = true) =>
      replyOf(await call(setPresence, { token: ana.token, body: { presence: said, by_hand } })).presence;
    expect(await presence('away', false)).toBe('away');
    expect(await presence('here', false)).toBe('here');
    expect(await presence('away')).toBe('away');
    expect(await presence('here', false)).toBe('away');
    clock.at += 20 * MINUTE;
    const { id: later } = await customer();
    await eventually(async () => expect((await shown(later)).assignee).toBeNull());
    expect((await shown(id)).assignee).toMatchObject({ username: 'ana' });
    expect(await presence('here')).toBe('here');
    page.leave();
    // She is gone from when that was noticed.
    await eventually(async () => {
      const row = await app.app.database.selectFrom('desk_staff').selectAll().where('gone_since', 'is not', null).execute();
      expect(row).toHaveLength(1);
    });
    expect((await shown(id)).assignee).toMatchObject({ username: 'ana' });
    clock.at += 6 * MINUTE;
    await eventually(async () => expect((await shown(id)).assignee).toBeNull());
    expect(await notes(id)).toEqual(['Returned to Unassigned: the assignee is offline.']);
  });

  test('customers see who is here as it changes', async () => {
    const { token } = await customer();
    const page = await listenAs(app, token);
    const hers = await arrive();
    await page.event((event) => event.kind === 'support_here' && event.is_here);
    hers.leave();
    await page.event((event) => event.kind === 'support_here' && !event.is_here);
    page.leave();
  });
});

describe('by mail', () => {
  const mailsTo = async (email: string) =>
    replyOf(await call(listOutbox, { token: boss.token })).filter(({ recipient }) => recipient === email);

  // proves: support-staff-23
  test('a customer who has not read an answer gets one mail, without its text, and one who has read it gets none', async () => {
    const [absent, there] = [await customer(), await customer()];
    await answer(there.id);
    replyOf(await call(markRead, { token: there.token, body: { seq: 99 } }));
    await answer(absent.id, 'the secret is a melon');
    await eventually(async () => expect(await mailsTo(absent.email)).toHaveLength(1));
    const [mail] = await mailsTo(absent.email);
    expect(mail).toMatchObject({ subject: 'Palisade: Support has replied' });
    expect(mail?.text).toContain('ana replied to you');
    expect(mail?.text).not.toContain('melon');
    // One mail about the present answers; later ones are another mail.
    await answer(absent.id, 'again');
    await eventually(async () => expect(await mailsTo(absent.email)).toHaveLength(2));
  });

  // proves: support-customer-11
  test('a transcript comes when it is asked for, and as a file: without notes', async () => {
    const { token, email, id } = await customer();
    await answer(id, 'Restart it.');
    const note = { message: 'very patient', is_note: true };
    replyOf(await call(answerConversation, { token: ana.token, params: { id }, body: note }));
    const file = await app.fetch(`/api${downloadTranscript.path}`, { headers: { authorization: `Bearer ${token}` } });
    const text = await file.text();
    expect(file.headers.get('content-disposition')).toContain('palisade-chat.txt');
    expect(text).toMatch(/UTC, ana:\nRestart it\./u);
    expect(text).not.toContain('patient');
    // More than a page of it: the staff's has the notes, the oldest first.
    const lines = createConversations({ database: app.app.database.$pickTables<keyof ChatTables>(), now: () => clock.at });
    for (let line = 1; line <= 205; line += 1) await lines.note(id, me, { message: `line ${line}.` });
    const desk = await app.fetch(`/api${deskTranscript.path.replace('{id}', id)}`, {
      headers: { authorization: `Bearer ${ana.token}` },
    });
    const whole = await desk.text();
    expect(whole.indexOf('Restart it.')).toBeGreaterThan(0);
    expect(whole.indexOf('very patient')).toBeGreaterThan(whole.indexOf('Restart it.'));
    expect([...whole.matchAll(/ana \(internal note\):\nline (\d+)\./gu)].map(([, line]) => Number(line))).toEqual(
      Array.from({ length: 205 }, (_, index) => index + 1),
    );
    replyOf(await call(mailTranscript, { token }));
    expect((await mailsTo(email)).some((mail) => mail.text?.includes('Restart it.') === true)).toBe(true);
    const nobody = await signIn();
    expect(problemOf(await call(mailTranscript, { token: nobody.token })).code).toBe('conflict');
  });
});

// proves: support-fault-1
test('messages that a server stored but did not send before it stopped are sent by the next look, in order and once', async () => {
  const { token, id, user_id } = await customer();
  const [hers, theirs] = [await listenAs(app, token), await listenAs(app, ana.token)];
  theirs.say({ kind: 'listen_conversation', conversation_id: id });
  await eventually(() => expect(theirs.frames.some(({ kind }) => kind === 'listening')).toBe(true));
  const database = app.app.database.$pickTables<keyof ChatTables>();
  const lost = createConversations({ database, now: () => clock.at });
  await lost.writeAsCustomer(user_id, { message: 'stored one' });
  await lost.answer(id, me, { message: 'stored two' });
  await lost.note(id, me, { message: 'stored note' });
  await theirs.event((event) => event.kind === 'desk_message' && event.message.message === 'stored note');
  await hers.event((event) => event.kind === 'chat_message' && event.message.message === 'stored two');
  const texts = hers.events().flatMap((event) => (event.kind === 'chat_message' ? [event.message.message] : []));
  expect(texts.filter((text) => text.startsWith('stored'))).toEqual(['stored one', 'stored two']);
  const seen = theirs.events().flatMap((event) => (event.kind === 'desk_message' ? [event.message.message] : []));
  expect(seen).toEqual(['stored one', 'stored two', 'stored note']);
  await eventually(async () => {
    const rows = await database.selectFrom('conversations').selectAll().where('id', '=', id).execute();
    expect(
      rows.map(({ told_seq, last_seq, told_version, version }) => [told_seq === last_seq, told_version === version]),
    ).toEqual([[true, true]]);
  });
  expect(replyOf(await call(listMessages, { token })).map(({ seq }) => seq)).toEqual([4, 3, 2, 1]);
  for (const page of [hers, theirs]) page.leave();
});

// proves: support-fault-2
test('a message that was deleted before it was sent is skipped, and the next one is sent, once', async () => {
  const { token, id, user_id } = await customer();
  const hers = await listenAs(app, token);
  const database = app.app.database.$pickTables<keyof ChatTables>();
  const lost = createConversations({ database, now: () => clock.at });
  for (const message of ['gone', 'there']) await lost.writeAsCustomer(user_id, { message });
  await database.deleteFrom('chat_messages').where('conversation_id', '=', id).where('message', '=', 'gone').execute();
  await eventually(async () => {
    const row = await database.selectFrom('conversations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(row.told_seq).toBe(row.last_seq);
  });
  // The row is marked before the frame has crossed the socket.
  await hers.event((event) => event.kind === 'chat_message' && event.message.message === 'there');
  const texts = hers.events().flatMap((event) => (event.kind === 'chat_message' ? [event.message.message] : []));
  expect(texts.filter((text) => text !== 'hello')).toEqual(['there']);
  hers.leave();
});

// proves: support-bad-input-6, support-bad-input-13, support-staff-25, support-staff-26
test('reports say how fast and how well customers were helped, by week and person, and as a file', async () => {
  // A week of their own; unused sessions end.
  for (const day of ['2026-11-24', '2026-11-28', '2026-11-30']) {
    clock.at = Date.parse(`${day}T09:00:00Z`);
    for (const { token } of [boss, ana]) replyOf(await call(listTeam, { token }));
  }
  const report = (query: string) => call(readReport, { token: boss.token, query });
  for (const [place, wait] of [60, 120, 180, 240, 600].entries()) {
    const { id, token } = await customer();
    clock.at += wait * 1_000;
    await answer(id);
    clock.at += 60_000;
    replyOf(await call(closeConversation, { token: ana.token, params: { id } }));
    if (place < 2) replyOf(await call(rateChat, { token, body: { rating: 4 + place, comment: '=cmd' } }));
  }
  const { total, weeks, people, response_s, from, to } = replyOf(await report('?from=2026-11-30&to=2026-12-07'));
  expect([from, to, response_s]).toEqual(['2026-11-30', '2026-12-07', 180]);
  expect(total).toEqual({
    ...{ opened: 5, closed: 5, answered: 5 },
    first_answer_s: { median: 180, p90: 600 },
    resolution_s: { median: 240, p90: 660 },
    ratings: { count: 2, average: 4.5 },
  });
  expect(weeks.map(({ week, opened }) => [week, opened])).toEqual([
    ['2026-11-30', 5],
    ['2026-12-07', 0],
  ]);
  expect(people).toMatchObject([{ username: 'ana', answered: 5 }]);
  expect(problemOf(await report('?from=2026-12-07&to=2026-11-30')).code).toBe('invalid_field');
  expect(problemOf(await report('?from=2020-01-01&to=2026-11-30')).code).toBe('invalid_field');
  // Days whose year no four digits say, or that another calendar has.
  for (const odd of ['to=9999-12-31', 'from=9999-12-30&to=9999-12-31', 'from=0000-01-01&to=0000-02-01', 'to=0050-02-01'])
    expect(problemOf(await report(`?${odd}`)).code).toBe('invalid_field');
  expect(replyOf(await report('?from=9998-12-28&to=9998-12-31')).weeks).toHaveLength(1);
  const file = await app.fetch(`/api${exportReport.path}?from=2026-11-30&to=2026-12-07`, {
    headers: { authorization: `Bearer ${boss.token}` },
  });
  const lines = (await file.text()).trim().split('\r\n');
  expect(lines).toHaveLength(6);
  // No cell is a formula.
  expect(lines[1]).toMatch(/"60","ana",.*"120","ana","4","'=cmd"$/u);
});
