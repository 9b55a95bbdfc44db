import { listAlerts } from '@palisade/contract/anti-hacking';
import { listAudit } from '@palisade/contract/audit';
import { askPerson, markRead, rateChat, sendMessage, shareThing } from '@palisade/contract/chat';
import { listMessages, readChat } from '@palisade/contract/chat-read';
import {
  answerConversation,
  assignConversation,
  changeCanned,
  claimConversation,
  closeConversation,
  createCanned,
  deleteCanned,
  listCanned,
  listDeskMessages,
  markConversationRead,
  readConversation,
  readCustomerCard,
  readShared,
  reopenConversation,
  snoozeConversation,
  sortConversation,
  startRemoteSession,
} from '@palisade/contract/desk';
import { readCounts } from '@palisade/contract/desk-counts';
import { listConversations } from '@palisade/contract/desk-list';
import type { LiveEvent } from '@palisade/contract/events';
import { addRule, deleteRule } from '@palisade/contract/firewall';
import { readPersonRecord } from '@palisade/contract/person-record';
import { createSession, joinSession } from '@palisade/contract/remote';
import { changeUser } from '@palisade/contract/users';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { enrol } from '#test/agent-double.ts';
import { givePremium } from '#test/feature-database.ts';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';
import { sentence } from './chat.phrases.ts';

const clock = { at: Date.parse('2026-11-20T10:00:00Z') };
const app = await startListeningApp({ surroundings: { now: () => clock.at, presence_pause_ms: 5 } });
const { call, signIn } = app;
const boss = await signIn('boss');
const [ana, ben] = [await signIn('ana', 'support'), await signIn('ben', 'support')];
const say = async (token: string, message: string, client_message_id?: string) =>
  replyOf(await call(sendMessage, { token, body: { message, sender: 'user', client_message_id } }));
const answer = (token: string, id: string, message: string, is_note = false) =>
  call(answerConversation, { token, params: { id }, body: { message, is_note, attachment_ids: [] } });
/** A new person who has written a message. */
async function customerWith(message = 'hello') {
  const { token, email } = await signIn();
  const { conversation_id: id, user_id } = await say(token, message);
  return { token, email, id, user_id };
}
/** Patience for engines on a machine that is busy with other things. */
const isMessage = (text: string) => (event: LiveEvent) => event.kind === 'chat_message' && event.message.message === text;

describe("a customer's message", () => {
  // proves: support-customer-17, product-2.8-10
  test('is one message with one answer, however often and in how many requests at once it is sent', async () => {
    const { token } = await signIn();
    const client_message_id = crypto.randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => say(token, 'I have a virus', client_message_id)));
    expect(new Set(replies.map((reply) => JSON.stringify(reply)))).toHaveLength(1);
    expect(replies[0]).toMatchObject({ client_message_id, seq: 1, automatic_reply: { seq: 2, is_automatic: true } });
    expect(replyOf(await call(listMessages, { token }))).toHaveLength(2);
  });

  test('is one message as well where a person is asked for, and of two with the same name the first one stays', async () => {
    const { token } = await customerWith();
    replyOf(await call(askPerson, { token }));
    const client_message_id = crypto.randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => say(token, 'It is still slow', client_message_id)));
    expect(new Set(replies.map((reply) => JSON.stringify(reply)))).toHaveLength(1);
    expect(await say(token, 'Something else', client_message_id)).toEqual(replies[0]);
    const [newest, own, ...before] = replyOf(await call(listMessages, { token }));
    expect(own).toMatchObject({ client_message_id, message: 'It is still slow' });
    expect(replies[0]).toMatchObject({ client_message_id, seq: own?.seq, automatic_reply: newest });
    expect(before).toHaveLength((own?.seq ?? 0) - 1);
    const next = await say(token, 'And now it is quick');
    expect(next.seq).toBe((newest?.seq ?? 0) + 1);
    expect(replyOf(await call(readChat, { token }))).toMatchObject({ wants_person: true, last_seq: next.seq + 1 });
  });

  // proves: support-customer-18, support-fault-5
  test('is counted by the server without a gap, for any clocks and several writers at once, and each stands once', async () => {
    const { token, id } = await customerWith();
    replyOf(await call(askPerson, { token }));
    const [, ...written] = await Promise.all([
      answer(ana.token, id, 'I am here'),
      ...Array.from({ length: 10 }, (_, place) => {
        clock.at += place % 2 === 0 ? 3_000 : -5_000;
        return say(token, `message ${place}`);
      }),
      say(token, 'a man on the phone wants my card number'),
    ]);
    const all = replyOf(await call(listMessages, { token }));
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: all.length }, (_, place) => all.length - place));
    const conversation = replyOf(await call(readConversation, { token: ana.token, params: { id } }));
    expect(conversation.last_seq).toBe(all[0]?.seq);
    for (const { id: message_id } of written) expect(all.filter((one) => one.id === message_id)).toHaveLength(1);
  });

  // proves: support-customer-14, support-customer-29
  test('is answered at once automatically: first the urgent part, with the help page that says more, and it is still there after a reload', async () => {
    const { token } = await signIn();
    const scam = 'a man on the phone wants my card number for the billing of the virus';
    const { automatic_reply } = await say(token, scam);
    expect(automatic_reply?.message).toMatch(/^Hang up\. We never call first/u);
    expect(automatic_reply).toMatchObject({
      sender: 'support',
      author: null,
      card: { kind: 'article', slug: 'somebody-called-me', title: 'Someone called me about my computer' },
    });
    expect(replyOf(await call(listMessages, { token }))[0]).toEqual(automatic_reply);
    expect((await say(token, 'everything is slow')).automatic_reply?.message).toBe(sentence('reply.slow').english);
  });

  // proves: support-customer-13, support-customer-15
  test('gets no automatic answer while a member of staff has the conversation open: asking for one is not having one', async () => {
    const { token, id } = await customerWith();
    const page = await listenAs(app, ana.token);
    page.say({ kind: 'listen_conversation', conversation_id: id });
    await page.event(
      (event) => event.kind === 'conversation_viewers' && event.viewers.some(({ username }) => username === 'ana'),
    );
    expect((await say(token, 'I have a virus')).automatic_reply).toBeNull();
    page.say({ kind: 'leave_conversation', conversation_id: id });
    await eventually(async () => expect((await say(token, 'slow')).automatic_reply).not.toBeNull());
    expect(replyOf(await call(askPerson, { token }))).toMatchObject({ wants_person: true });
    expect((await say(token, 'still slow')).automatic_reply?.message).toBe(sentence('reply.slow').english);
    expect((await say(token, 'somebody called and wants my password')).automatic_reply?.message).toMatch(/^Hang up/u);
    page.leave();
  });

  // proves: support-customer-1
  test('comes in pages both ways, and is found by its words', async () => {
    const { token } = await customerWith('no. 0');
    for (let count = 1; count < 6; count += 1) await say(token, `no. ${count}`);
    const whole = replyOf(await call(listMessages, { token }));
    const middle = whole[5]?.id ?? '';
    const older = replyOf(await call(listMessages, { token, query: `?cursor=${middle}&limit=3` }));
    const newer = replyOf(await call(listMessages, { token, query: `?after=${middle}&limit=3` }));
    expect(older).toEqual(whole.slice(6, 9));
    expect(newer).toEqual(whole.slice(2, 5));
    expect(problemOf(await call(listMessages, { token, query: `?after=${middle}&cursor=${middle}` })).code).toBe('invalid_field');
    expect(problemOf(await call(listMessages, { token, query: `?after=${newId()}` })).code).toBe('invalid_field');
    const found = replyOf(await call(listMessages, { token, query: '?search=NO.%204' }));
    expect(found.map(({ message }) => message)).toEqual(['no. 4']);
  });

  // proves: support-bad-input-6, support-customer-4
  test('is marked as read by the other side, for both', async () => {
    const { token, id } = await customerWith('first');
    replyOf(await answer(ana.token, id, 'Good day'));
    const state = replyOf(await call(readChat, { token }));
    expect(state).toMatchObject({ status: 'open', agent: 'ana', unread: 1, last_seq: 3, read_seq: 3, wants_person: false });
    expect(replyOf(await call(markRead, { token, body: { seq: 99 } }))).toMatchObject({ unread: 0 });
    const [newest, , oldest] = replyOf(await call(listDeskMessages, { token: ben.token, params: { id } }));
    expect([newest?.is_read, oldest?.is_read]).toEqual([true, true]);
    const { seq } = await say(token, 'second');
    expect(replyOf(await call(readConversation, { token: ana.token, params: { id } }))).toMatchObject({ unread: 1 });
    replyOf(await call(markConversationRead, { token: ana.token, params: { id }, body: { seq } }));
    expect(replyOf(await call(readConversation, { token: ana.token, params: { id } }))).toMatchObject({ unread: 0 });
    expect(replyOf(await call(listMessages, { token })).find((message) => message.seq === seq)?.is_read).toBe(true);
    // More than any conversation has, and than PostgreSQL counts.
    for (const beyond of [2 ** 31, Number.MAX_SAFE_INTEGER]) {
      expect(problemOf(await call(markRead, { token, body: { seq: beyond } })).code).toBe('invalid_field');
      const wrong = await call(markConversationRead, { token: ana.token, params: { id }, body: { seq: beyond } });
      expect(problemOf(wrong).code).toBe('invalid_field');
    }
    expect(replyOf(await call(markRead, { token, body: { seq: 2 ** 31 - 1 } }))).toMatchObject({ unread: 0 });
  });
});

describe('a conversation', () => {
  // proves: support-staff-5
  test('is unassigned until somebody takes it: of two at once one gets it, and the other reads who has it', async () => {
    const { id } = await customerWith();
    const inbox = replyOf(await call(listConversations, { token: ana.token, query: '?view=unassigned' }));
    expect(inbox.find((one) => one.id === id)).toMatchObject({ status: 'open', assignee: null, unread: 1 });
    const claims = await Promise.all([ana, ben].map(({ token }) => call(claimConversation, { token, params: { id } })));
    expect(claims.filter(({ ok }) => ok)).toHaveLength(1);
    const winner = claims[0]?.ok === true ? 'ana' : 'ben';
    const [lost] = claims.filter(({ ok }) => !ok);
    if (lost === undefined) throw new Error('both got it');
    expect(problemOf(lost)).toMatchObject({ code: 'conflict', detail: `This conversation is assigned to ${winner}.` });
  });

  // proves: support-staff-6
  test('its assignee or an administrator can give it to a colleague, with a note, and to staff only', async () => {
    const { id, token, user_id } = await customerWith();
    replyOf(await call(claimConversation, { token: ana.token, params: { id } }));
    const ben_id = ben.id;
    const give = (from: string, assignee_id: string | null) =>
      call(assignConversation, { token: from, params: { id }, body: { assignee_id } });
    expect(problemOf(await give(ben.token, ben_id)).code).toBe('forbidden');
    expect(problemOf(await give(ana.token, user_id)).code).toBe('invalid_field');
    expect(replyOf(await give(ana.token, ben_id)).assignee).toEqual({ id: ben_id, username: 'ben' });
    expect(replyOf(await give(boss.token, null)).assignee).toBeNull();
    const notes = replyOf(await call(listDeskMessages, { token: ana.token, params: { id } })).filter(({ is_note }) => is_note);
    expect(notes.map(({ message }) => message)).toEqual(['boss returned this to Unassigned.', 'ana transferred this to ben.']);
    expect(replyOf(await call(listMessages, { token })).some(({ message }) => message.includes('gave this'))).toBe(false);
  });

  test('is answered once in spite of repeats, and answering assigns it', async () => {
    const { id, token } = await customerWith();
    const client_message_id = crypto.randomUUID();
    const body = { message: 'Good day', client_message_id, attachment_ids: [], is_note: false };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call(answerConversation, { token: ana.token, params: { id }, body })),
    );
    expect(new Set(answers.map((one) => replyOf(one).id))).toHaveLength(1);
    expect(replyOf(await call(readConversation, { token: ana.token, params: { id } }))).toMatchObject({
      assignee: { username: 'ana' },
      waiting_since: null,
    });
    expect(replyOf(await call(listMessages, { token }))[0]).toMatchObject({
      message: 'Good day',
      author: 'ana',
      sender: 'support',
    });
  });

  // proves: support-staff-7
  test('has notes that its customer never sees: not in the history, a search, an event or the state', async () => {
    const { id, token } = await customerWith();
    const page = await listenAs(app, token);
    const before = replyOf(await call(readChat, { token }));
    replyOf(await answer(ana.token, id, 'difficult person', true));
    replyOf(await answer(ana.token, id, 'Good day'));
    await page.event(isMessage('Good day'));
    expect(JSON.stringify(page.frames)).not.toContain('difficult person');
    expect(JSON.stringify(replyOf(await call(listMessages, { token, query: '?search=difficult' })))).toBe('[]');
    expect(JSON.stringify(replyOf(await call(listMessages, { token })))).not.toContain('difficult');
    expect(replyOf(await call(readChat, { token }))).toMatchObject({ unread: before.unread + 1 });
    const found = replyOf(await call(listConversations, { token: ben.token, query: '?search=DIFFICULT' }));
    expect(found).toMatchObject([{ id, found: { text: 'difficult person' } }]);
    page.leave();
  });

  // proves: support-customer-12, support-staff-9
  test('is closed, rated, reopened by an early message of its customer, and begins anew later', async () => {
    const { id, token } = await customerWith();
    const rate = (rating: number) => call(rateChat, { token, body: { rating, comment: 'quick' } });
    replyOf(await answer(ana.token, id, 'Done'));
    expect(problemOf(await rate(5)).code).toBe('conflict');
    replyOf(
      await call(sortConversation, { token: ana.token, params: { id }, body: { tags: ['VPN', 'vpn', 'mac'], priority: 'high' } }),
    );
    const closed = replyOf(await call(closeConversation, { token: ana.token, params: { id } }));
    expect(closed).toMatchObject({ status: 'closed', waiting_since: null, unread: 0, tags: ['mac', 'vpn'], priority: 'high' });
    expect(problemOf(await call(closeConversation, { token: ben.token, params: { id } })).code).toBe('conflict');
    expect(problemOf(await answer(ana.token, id, 'One more')).detail).toBe('This conversation is closed. Reopen it first.');
    expect(replyOf(await rate(4)).rating).toEqual({ given: 4 });
    clock.at += 3_600_000;
    await say(token, 'thanks');
    expect(replyOf(await call(readConversation, { token: ana.token, params: { id } }))).toMatchObject({
      status: 'open',
      assignee: { username: 'ana' },
      tags: ['mac', 'vpn'],
    });
    replyOf(await call(closeConversation, { token: ana.token, params: { id } }));
    replyOf(await call(reopenConversation, { token: ana.token, params: { id } }));
    replyOf(await call(closeConversation, { token: ana.token, params: { id } }));
    clock.at += 2 * 86_400_000;
    await say(token, 'something else');
    expect(replyOf(await call(readConversation, { token: ana.token, params: { id } }))).toMatchObject({
      status: 'open',
      assignee: null,
      tags: [],
      priority: 'normal',
      rating: null,
    });
  });

  // proves: support-staff-10
  test('is put off until a time, and comes back when its customer writes', async () => {
    const { id, token } = await customerWith();
    const snooze = (ms: number) =>
      call(snoozeConversation, { token: ana.token, params: { id }, body: { until: new Date(clock.at + ms).toISOString() } });
    expect(problemOf(await snooze(-1)).code).toBe('invalid_field');
    expect(problemOf(await snooze(91 * 86_400_000)).code).toBe('invalid_field');
    expect(replyOf(await snooze(3_600_000))).toMatchObject({ status: 'snoozed' });
    expect(replyOf(await call(readChat, { token })).status).toBe('open');
    await say(token, 'are you there?');
    expect(replyOf(await call(readConversation, { token: ana.token, params: { id } }))).toMatchObject({
      status: 'open',
      snoozed_until: null,
    });
  });

  // proves: support-bad-input-7
  test.each([
    ['a tag of signs', sortConversation, { tags: ['<b>bold</b>'] }],
    ['a tag without a letter', sortConversation, { tags: [' '] }],
    ['eleven tags', sortConversation, { tags: Array.from({ length: 11 }, (_, place) => `tag ${place}`) }],
    ['a tag of 33 letters', sortConversation, { tags: ['x'.repeat(33)] }],
    ['a priority that is none', sortConversation, { priority: 'now' }],
    ['a time that is none', snoozeConversation, { until: 'tomorrow' }],
    ['an id that is none', assignConversation, { assignee_id: 'ana' }],
    ['an answer without a word', answerConversation, { message: '  ' }],
    ['a place before the first', markConversationRead, { seq: -1 }],
    ['half a place', markConversationRead, { seq: 1.5 }],
  ])('is not changed by %s', (_, endpoint, body) => {
    expect(endpoint.body?.safeParse(body).success).toBe(false);
  });

  test('of a member of the staff is served by the others, and its notes are not for them', async () => {
    const carl = await signIn('carl', 'support');
    const { conversation_id: id } = await say(carl.token, 'my own computer');
    replyOf(await answer(ana.token, id, 'he always asks', true));
    for (const endpoint of [readConversation, listDeskMessages, claimConversation, readCustomerCard])
      expect(problemOf(await call(endpoint, { token: carl.token, params: { id } })).code).toBe('not_found');
    expect(replyOf(await call(listConversations, { token: carl.token })).some((one) => one.id === id)).toBe(false);
    expect(JSON.stringify(replyOf(await call(listMessages, { token: carl.token })))).not.toContain('always asks');
  });

  // proves: support-staff-2
  test('stands in the inbox by what happened last or who waits longest, page by page, and is counted', async () => {
    const dora = await signIn('dora', 'support');
    const people = [];
    for (let count = 0; count < 4; count += 1) {
      clock.at += 1_000;
      people.push(await customerWith(`queue ${count}`));
    }
    const ids = people.map(({ id }) => id);
    for (const id of ids) replyOf(await call(claimConversation, { token: dora.token, params: { id } }));
    replyOf(await answer(dora.token, ids[1] ?? '', 'answered'));
    const list = async (query: string) => {
      const first = await call(listConversations, { token: dora.token, query: `?view=mine&limit=3${query}` });
      const rows = replyOf(first);
      expect(first.headers.get('x-total-count')).toBe('4');
      expect(first.headers.get('link')).toContain('rel="next"');
      const rest = replyOf(
        await call(listConversations, { token: dora.token, query: `?view=mine&limit=3${query}&cursor=${rows.at(-1)?.id}` }),
      );
      return [...rows, ...rest].map(({ id }) => ids.indexOf(id));
    };
    expect(await list('&sort=waiting')).toEqual([0, 2, 3, 1]);
    for (const [index, priority] of [
      [3, 'urgent'],
      [1, 'urgent'],
      [0, 'low'],
    ] as const)
      replyOf(await call(sortConversation, { token: dora.token, params: { id: ids[index] ?? '' }, body: { priority } }));
    expect(await list('&sort=urgent')).toEqual([3, 2, 0, 1]);
    // A customer in danger comes before every priority.
    const first = replyOf(await call(readConversation, { token: dora.token, params: { id: ids[0] ?? '' } }));
    const since = new Date(clock.at).toISOString();
    await app.app.database
      .insertInto('score_history')
      .values({ user_id: first.user_id, since, until: since, score: 60, state: 'danger' })
      .execute();
    expect(await list('&sort=urgent')).toEqual([0, 3, 2, 1]);
    const now = replyOf(await call(readConversation, { token: dora.token, params: { id: first.id } }));
    expect([first.is_in_danger, now.is_in_danger]).toEqual([false, true]);
    const waitingOf = async ({ token }: { token: string }) =>
      replyOf(await call(listConversations, { token, query: '?view=waiting&sort=urgent&limit=500' })).map(({ id }) => id);
    const unassigned = await customerWith('A fifth in the queue');
    expect(await waitingOf(dora)).toEqual(expect.arrayContaining([ids[3], unassigned.id, ids[2], ids[0]]));
    expect(await waitingOf(dora)).not.toContain(ids[1]);
    const others = await waitingOf(ben);
    expect(others).toContain(unassigned.id);
    expect(others.filter((id) => ids.includes(id))).toEqual([]);
    expect((await list('')).toSorted()).toEqual([0, 1, 2, 3]);
    expect(replyOf(await call(readCounts, { token: dora.token }))).toMatchObject({ mine: 4, mine_unread: 3 });
  });
});

describe('the inbox', () => {
  const list = async (query: string) => replyOf(await call(listConversations, { token: ana.token, query }));

  // proves: support-staff-4
  test("shows a person's last message of a conversation, and not automatic ones", async () => {
    const { id, token } = await customerWith('My printer smokes');
    const shown = async () => (await list('?limit=500')).find((one) => one.id === id)?.last_message;
    expect(await shown()).toMatchObject({ text: 'My printer smokes', sender: 'user', is_automatic: false, seq: 1 });
    replyOf(await answer(ana.token, id, 'Pull its plug.'));
    expect(await shown()).toMatchObject({ text: 'Pull its plug.', sender: 'support' });
    replyOf(await answer(ana.token, id, 'a note for colleagues', true));
    await say(token, 'I did');
    expect(await shown()).toMatchObject({ text: 'I did', sender: 'user' });
  });

  // proves: support-staff-3, support-staff-11
  test('can be filtered by tag, priority or assignee, and a search shows its newest matches', async () => {
    const [one, other] = [await customerWith('needle one'), await customerWith('something else')];
    await say(one.token, 'needle two');
    await say(one.token, 'no more of it');
    replyOf(
      await call(sortConversation, {
        token: ana.token,
        params: { id: one.id },
        body: { tags: ['needlework'], priority: 'urgent' },
      }),
    );
    replyOf(await call(claimConversation, { token: ben.token, params: { id: other.id } }));
    const ids = async (query: string) => (await list(query)).map(({ id }) => id);
    expect(await ids('?tag=needlework')).toEqual([one.id]);
    expect(await ids('?tag=needlework&priority=low')).toEqual([]);
    expect(await ids('?tag=needlework&priority=urgent')).toEqual([one.id]);
    expect(await ids(`?assignee_id=${ben.id}&search=something`)).toEqual([other.id]);
    expect(await list('?search=NEEDLE')).toMatchObject([{ id: one.id, found: { text: 'needle two' } }]);
  });
});

describe('of a customer', () => {
  // proves: support-scale-7, support-staff-18
  test('staff see a card of names and counts, and each opening is in the audit log', async () => {
    const { id, email } = await customerWith();
    const card = replyOf(await call(readCustomerCard, { token: ana.token, params: { id } }));
    expect(card).toMatchObject({ email, open_alerts: 0, scans: { clean: 0, infected: 0, pending: 0 }, conversations_closed: 0 });
    const [entry] = replyOf(await call(listAudit, { token: boss.token, query: `?person=${encodeURIComponent(email)}` }));
    expect(entry).toMatchObject({ kind: 'customer_card_opened', subject: { email }, actor: { username: 'ana' } });
  });

  test('the record is read by staff who serve them and by administrators, each as far as the role may see', async () => {
    const { id, email, token, user_id } = await customerWith();
    await givePremium(app.app.database, user_id);
    const read = (reader: string, of: string) => call(readPersonRecord, { token: reader, query: `?user_id=${of}` });
    const forSupport = replyOf(await read(ana.token, user_id));
    expect(forSupport).toMatchObject({
      card: { email, plan_name: 'Family Shield' },
      conversation: { id, status: 'open' },
      administration: null,
    });
    const forBoss = replyOf(await read(boss.token, user_id));
    expect(forBoss.administration).toMatchObject({ plan: { max_devices: 5 }, alerts: { active: 0, gravest: null } });
    expect(problemOf(await read(token, user_id)).code).toBe('forbidden');
    const opened = replyOf(await call(listAudit, { token: boss.token, query: `?person=${encodeURIComponent(email)}` }));
    expect(opened.filter(({ kind }) => kind === 'customer_card_opened')).toHaveLength(2);

    // Somebody who never wrote, and one's own: an administrator's alone.
    const silent = await signIn();
    expect(problemOf(await read(ana.token, silent.id)).code).toBe('not_found');
    expect(replyOf(await read(boss.token, silent.id))).toMatchObject({ conversation: null, administration: { plan: null } });
    expect(problemOf(await read(ana.token, ana.id)).code).toBe('not_found');
    expect(problemOf(await read(boss.token, newId())).code).toBe('not_found');
  });

  // proves: support-customer-20, support-customer-21, support-scale-7, support-staff-18
  test('the card counts files and alerts without their content, and only shared things open', async () => {
    const { token, email, id, user_id } = await customerWith();
    await givePremium(app.app.database, user_id);
    const { id: scan_id } = await scanned(app, token, 'tax-return-of-maria.com', EICAR);
    const [alert] = await eventually(async () => {
      const alerts = replyOf(await call(listAlerts, { token }));
      expect(alerts).not.toEqual([]);
      return alerts;
    });
    const card = replyOf(await call(readCustomerCard, { token: ana.token, params: { id } }));
    // The file is a harmless test file, which the customer's own pages do not count either.
    expect(card).toMatchObject({ open_alerts: 0, scans: { infected: 0, test_files: 1 } });
    expect(JSON.stringify(card)).not.toContain('tax-return');
    for (const [thing, subject_id] of [
      ['scan', scan_id],
      ['alert', alert?.id ?? ''],
    ] as const) {
      const message = replyOf(await call(shareThing, { token, body: { thing, subject_id } }));
      const shared = replyOf(await call(readShared, { token: ana.token, params: { id: message.id } }));
      expect(shared.thing).toBe(thing);
      expect(shared.facts.length).toBeGreaterThan(1);
    }
    const opened = replyOf(await call(listAudit, { token: boss.token, query: `?person=${encodeURIComponent(email)}` }));
    expect(opened.filter(({ kind }) => kind === 'shared_thing_opened')).toHaveLength(2);
  });

  // proves: support-customer-22
  test('staff open the one shared thing, as long as it is there, and no others do', async () => {
    const { token, id } = await customerWith();
    const other = await signIn();
    const rule = { rule_name: 'Printer', direction: 'inbound', action: 'allow', protocol: 'tcp' } as const;
    const { id: subject_id } = replyOf(await call(addRule, { token, body: rule }));
    const share = (from: string) => call(shareThing, { token: from, body: { thing: 'rule', subject_id } });
    expect(problemOf(await share(other.token)).code).toBe('not_found');
    const message = replyOf(await share(token));
    expect(message).toMatchObject({ message: '', card: { kind: 'shared', thing: 'rule', subject_id, title: 'Printer' } });
    const open = (from: string) => call(readShared, { token: from, params: { id: message.id } });
    expect(replyOf(await open(ana.token))).toMatchObject({ thing: 'rule', title: 'Printer' });
    expect((await open(token)).status).toBe(403);
    expect(replyOf(await call(listConversations, { token: ana.token })).find((one) => one.id === id)?.last_message?.text).toBe(
      'Printer',
    );
    replyOf(await call(deleteRule, { token, params: { id: subject_id } }));
    expect(problemOf(await open(ana.token)).code).toBe('not_found');
    expect(problemOf(await call(readShared, { token: ana.token, params: { id: newId() } })).code).toBe('not_found');
  });

  // proves: support-customer-23
  test('devices are on the card by name, and one of them opens where it was shared', async () => {
    const [{ token, id }, other] = [await customerWith(), await signIn()];
    const { device_id: subject_id } = await enrol({ call }, token, { hostname: 'laptop' });
    const card = replyOf(await call(readCustomerCard, { token: ana.token, params: { id } }));
    expect(card.devices).toMatchObject([{ name: 'laptop' }]);
    const share = (from: string) => call(shareThing, { token: from, body: { thing: 'device', subject_id } });
    expect(problemOf(await share(other.token)).code).toBe('not_found');
    const message = replyOf(await share(token));
    const shared = replyOf(await call(readShared, { token: ana.token, params: { id: message.id } }));
    expect(shared).toMatchObject({ thing: 'device', title: 'laptop' });
    expect(shared.facts).toContainEqual({ name: 'Host', value: 'laptop' });
  });

  // proves: support-staff-15
  test('a technician starts a remote session, whose code is in the chat', async () => {
    const { token, id } = await customerWith();
    const { card } = replyOf(await call(startRemoteSession, { token: ana.token, params: { id } }));
    if (card?.kind !== 'remote_session') throw new Error('no card of a remote session');
    expect(replyOf(await call(listMessages, { token }))[0]?.card).toEqual(card);
    replyOf(await call(joinSession, { token: ana.token, body: { session_code: card.session_code } }));
  });
});

describe('live', () => {
  // proves: support-scale-1
  test('each side hears each message once and in order, resumes after a gap, and staff hear how the inbox changes', async () => {
    const { token, id } = await customerWith();
    const [hers, theirs] = [await listenAs(app, token), await listenAs(app, ana.token)];
    theirs.say({ kind: 'listen', topic: 'staff' });
    theirs.say({ kind: 'listen_conversation', conversation_id: id });
    await eventually(() => expect(theirs.frames.filter(({ kind }) => kind === 'listening')).toHaveLength(2));
    await say(token, 'one');
    replyOf(await answer(ana.token, id, 'two'));
    replyOf(await answer(ana.token, id, 'a note', true));
    await hers.event(isMessage('two'));
    await theirs.event((event) => event.kind === 'desk_message' && event.message.is_note);
    const changed = await theirs.event(
      (event) => event.kind === 'conversation_changed' && event.conversation.last_message?.text === 'two',
    );
    expect(changed.topic).toBe('staff');
    const cursor = theirs.frames.flatMap((frame) =>
      frame.kind === 'event' && typeof frame.topic === 'object' && frame.id !== null ? [frame.id] : [],
    );
    theirs.leave();
    hers.leave();
    await theirs.closed;
    await say(token, 'three');
    const again = await listenAs(app, ana.token);
    again.say({ kind: 'listen_conversation', conversation_id: id, after: cursor.at(-1) });
    await again.event((event) => event.kind === 'desk_message' && event.message.message === 'three');
    expect(again.frames.find((frame) => frame.kind === 'listening')).toMatchObject({
      missed: false,
      topic: { conversation_id: id },
    });
    const seqs = [...theirs.events(), ...again.events()].flatMap((event) =>
      event.kind === 'desk_message' ? [event.message.seq] : [],
    );
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
    expect(new Set(seqs)).toHaveLength(seqs.length);
    again.leave();
  });

  // proves: support-bad-input-9, support-customer-3
  test('typing is shown to the other side without a name, and to colleagues with one', async () => {
    const { token, id } = await customerWith();
    const [hers, anas, bens] = [await listenAs(app, token), await listenAs(app, ana.token), await listenAs(app, ben.token)];
    for (const page of [anas, bens]) page.say({ kind: 'listen_conversation', conversation_id: id });
    for (const page of [anas, bens])
      await eventually(() => expect(page.frames.some(({ kind }) => kind === 'listening')).toBe(true));
    // However often a page says so.
    for (let count = 0; count < 5; count += 1) anas.say({ kind: 'typing', conversation_id: id });
    const isTyping = (event: LiveEvent) => event.kind === 'chat_typing';
    expect((await bens.event(isTyping)).event).toMatchObject({ side: 'support', username: 'ana' });
    expect((await hers.event(isTyping)).event).toMatchObject({ side: 'support', user_id: null, username: null });
    hers.say({ kind: 'typing', conversation_id: null });
    await bens.event((event) => event.kind === 'chat_typing' && event.side === 'user');
    expect(bens.events().filter((event) => event.kind === 'chat_typing' && event.side === 'support')).toHaveLength(1);
    for (const page of [hers, anas, bens]) page.leave();
  });

  // proves: support-scale-6
  test('a customer hears neither the staff nor a conversation, their own neither, and a person who loses the role hears no more', async () => {
    const { token, id } = await customerWith();
    const page = await listenAs(app, token);
    page.say({ kind: 'listen', topic: 'staff' });
    page.say({ kind: 'listen_conversation', conversation_id: id });
    await eventually(() => expect(page.frames.filter(({ kind }) => kind === 'refused')).toHaveLength(2));
    const emil = await signIn('emil', 'support');
    const his = await listenAs(app, emil.token);
    his.say({ kind: 'listen', topic: 'staff' });
    await eventually(() => expect(his.frames.some(({ kind }) => kind === 'listening')).toBe(true));
    replyOf(await call(changeUser, { token: boss.token, body: { user_id: emil.id, role: 'customer' } }));
    expect(await his.closed).toBe(1012);
    page.leave();
  });

  test('a person who joins the staff hears it with the page that was open before', async () => {
    const { id: user_id, token } = await signIn('nora', 'customer');
    const page = await listenAs(app, token);
    replyOf(await call(changeUser, { token: boss.token, body: { user_id, role: 'support' } }));
    page.say({ kind: 'listen', topic: 'staff' });
    // Told to come again, not refused; pages do so at once.
    expect(await page.closed).toBe(1012);
    const again = await listenAs(app, token);
    again.say({ kind: 'listen', topic: 'staff' });
    await eventually(() => expect(again.frames.some(({ kind }) => kind === 'listening')).toBe(true));
    again.leave();
  });

  test('the counts of a member of the staff who hears nothing follow each change, of others and of their own', async () => {
    const { token } = await signIn('nils', 'support');
    const counts = async () => replyOf(await call(readCounts, { token }));
    const before = await counts();
    const { token: waiting } = await signIn('wanda');
    const { started_at: since } = replyOf(await call(createSession, { token: waiting }));
    // A technician cannot join the own session.
    replyOf(await call(createSession, { token }));
    const { id } = await customerWith();
    expect(await counts()).toMatchObject({ all: before.all + 1, remote_waiting: before.remote_waiting + 1 });
    expect((await counts()).remote_customers.at(-1)).toEqual({ customer: 'wanda', since });
    replyOf(await call(claimConversation, { token, params: { id } }));
    expect((await counts()).mine).toBe(before.mine + 1);
  });
});

// proves: support-staff-8
test('canned answers are kept by administrators and read by the staff', async () => {
  const fields = { shortcut: 'Hello', title: 'Greeting', text: 'Good day {{customer}}, I am {{ agent }}.' };
  const { id } = replyOf(await call(createCanned, { token: boss.token, body: fields }));
  expect(problemOf(await call(createCanned, { token: boss.token, body: fields })).code).toBe('conflict');
  expect(problemOf(await call(createCanned, { token: ana.token, body: fields })).code).toBe('forbidden');
  const wrong = { ...fields, shortcut: 'x', text: 'Your {{password}}' };
  expect(problemOf(await call(createCanned, { token: boss.token, body: wrong })).code).toBe('invalid_field');
  replyOf(await call(changeCanned, { token: boss.token, params: { id }, body: { ...fields, title: 'Welcome' } }));
  expect(replyOf(await call(listCanned, { token: ana.token }))).toMatchObject([{ shortcut: 'hello', title: 'Welcome' }]);
  replyOf(await call(deleteCanned, { token: boss.token, params: { id } }));
  expect(problemOf(await call(deleteCanned, { token: boss.token, params: { id } })).code).toBe('not_found');
});
