import {
  answerConversation,
  assignConversation,
  type CannedAnswer,
  type CustomerCard,
  claimConversation,
  closeConversation,
  listCanned,
  listDeskMessages,
  markConversationRead,
  readConversation,
  readCustomerCard,
  readShared,
  sortConversation,
  startRemoteSession,
  takeMail,
} from '@palisade/contract/desk';
import { readCounts } from '@palisade/contract/desk-counts';
import { listConversations } from '@palisade/contract/desk-list';
import type { Conversation, DeskMessage } from '@palisade/contract/desk-record';
import { listTeam, setPresence } from '@palisade/contract/desk-team';
import type { Endpoint } from '@palisade/contract/endpoint';
import type { LiveEvent } from '@palisade/contract/events';
import { readConfig } from '@palisade/contract/platform';
import { QueryClient } from '@tanstack/react-query';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { keepEventsOpen } from '#api/events.ts';
import {
  ADA,
  attachmentOf,
  CONVERSATION_ID,
  conversationOf,
  deskMessageOf,
  messageOf,
  TINA,
  teamMemberOf,
} from '#api/fake-desk.ts';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { at as atRecord, FakeServer, page, refusal, reply } from '#api/fake-server.ts';
import { followEvents } from '#domain/live-queries.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { SupportPage } from './support-page.tsx';

const server = FakeServer.ofEachTest(TINA);
let stops: (() => void)[];

const COUNTS = {
  mine: 1,
  unassigned: 2,
  all: 3,
  snoozed: 0,
  closed: 4,
  mine_unread: 0,
  unassigned_waiting: 2,
  remote_waiting: 0,
  remote_customers: [],
  tags: [{ tag: 'printer', count: 2 }],
};
const OTHER_ID = messageOf('').id;

const CARD: CustomerCard = {
  user_id: MARIA.id,
  username: 'maria',
  email: 'maria@example.com',
  since: '2026-03-02T09:00:00.000Z',
  plan_name: 'Family Shield',
  is_premium: true,
  security_score: 90,
  status: { state: 'good', sentence: 'Nothing needs you.', steps: 0, is_scored: true },
  open_alerts: 2,
  devices: [],
  scans: { clean: 10, infected: 1, pending: 0, test_files: 2 },
  infected_files: [{ filename: 'invoice.pdf.exe', threat: 'Ransom.Locker' }],
  remote_sessions: [],
  conversations_closed: 3,
  ratings: { count: 2, average: 4.5 },
};

const CANNED: CannedAnswer = {
  id: OTHER_ID,
  shortcut: 'hello',
  title: 'Greeting',
  text: 'Good day {{customer}}, this is {{agent}} of {{provider}}.',
  updated_at: '2026-11-20T10:00:00.000Z',
};

/** An endpoint at the path of one conversation. */
const at = <E extends Endpoint>(endpoint: E, id = CONVERSATION_ID) => atRecord(endpoint, { id });

function be(conversation: Partial<Conversation>, messages: DeskMessage[] = []): void {
  server.answer(at(readConversation), conversationOf(conversation));
  server.answer(at(listDeskMessages), messages);
}

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  stops = [];
  server.answer(readConfig, CONFIG);
  server.answer(readCounts, COUNTS);
  server.answer(listTeam, [teamMemberOf(), teamMemberOf({ id: ADA.id, username: 'ada', presence: 'away' })]);
  server.answer(listCanned, [CANNED]);
  server.on(
    listConversations,
    page(
      listConversations,
      [
        conversationOf({ customer: 'maria', unread: 2, priority: 'urgent', tags: ['printer'] }),
        conversationOf({ id: OTHER_ID, customer: 'otto', waiting_since: null }),
      ],
      { total: 2 },
    ),
  );
  be({});
});

afterEach(() => {
  for (const stop of stops) stop();
});

const inbox = () => within(screen.getByRole('region', { name: 'Inbox' }));
const log = () => within(screen.getByRole('log', { name: 'Messages' }));
const conversation = () => within(screen.getByRole('region', { name: 'Conversation with maria' }));

async function open(address = '/support') {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  stops.push(followEvents(queries), keepEventsOpen('token-1'));
  renderForTest(<SupportPage />, address, queries);
  await inbox().findByText('maria');
  const { socket } = server;
  act(() => {
    socket.open();
    socket.say({ kind: 'welcome', cursor: OTHER_ID, missed: false, heartbeat_ms: 25_000 });
  });
  return {
    socket,
    user: userEvent.setup(),
    tell: (event: LiveEvent) => act(() => socket.say({ kind: 'event', id: null, event })),
  };
}

async function openConversation(parts: Partial<Conversation> = {}, messages: DeskMessage[] = []) {
  be(parts, messages);
  const opened = await open(`/support?conversation=${CONVERSATION_ID}`);
  await screen.findByRole('region', { name: 'Conversation with maria' });
  return opened;
}

it('names the customers who wait for remote help', async () => {
  server.answer(readCounts, {
    ...COUNTS,
    remote_waiting: 2,
    remote_customers: [{ customer: 'nora', since: '2026-11-20T10:00:00.000Z' }],
  });
  renderForTest(<SupportPage />, '/support');
  expect(await screen.findByRole('link', { name: 'Enter the code of nora' })).toHaveAttribute('href', '/portal');
  expect(screen.getByText('1 more customer waits.')).toBeVisible();
});

it('marks messages as read once they are shown, and not for the address alone', async () => {
  const messages = Promise.withResolvers<ReturnType<typeof reply>>();
  const newest = deskMessageOf('It is back');
  be({ unread: 1, last_seq: newest.seq });
  server.on(at(listDeskMessages), () => messages.promise);
  server.answer(at(markConversationRead), conversationOf());
  renderForTest(<SupportPage />, `/support?conversation=${CONVERSATION_ID}`);
  await screen.findByRole('region', { name: 'Conversation with maria' });
  expect(server.callsOf(at(markConversationRead))).toEqual([]);
  await act(async () => messages.resolve(reply(listDeskMessages, [newest])));
  await waitFor(() => expect(server.callsOf(at(markConversationRead))[0]?.body).toEqual({ seq: newest.seq }));
});

describe('the desk', () => {
  // proves: support-staff-3
  it('leads from what a search has found to that message', async () => {
    const message = deskMessageOf('The printer is on fire.');
    const found = { message_id: message.id, seq: 1, text: '…printer is on fire.' };
    server.on(listConversations, page(listConversations, [conversationOf({ customer: 'maria', found })], { total: 1 }));
    be({}, [message]);
    const shown = vi.fn();
    Element.prototype.scrollIntoView = shown;
    const { user } = await open();
    await user.click(inbox().getByRole('link', { name: /printer is on fire/u }));
    const line = (await log().findByText('The printer is on fire.')).closest('li');
    await waitFor(() => expect(line).toHaveFocus());
    expect(shown.mock.contexts).toEqual([line]);
  });

  // proves: support-staff-2
  it('shows what waits, for whom, and how much stands in each part', async () => {
    await open();
    const [maria] = inbox().getAllByRole('listitem');
    expect(maria).toHaveTextContent(/maria.*My printer.*2 unread.*Waits .*Urgent.*printer/u);
    expect(inbox().getByRole('radio', { name: 'Unassigned 2' })).toBeChecked();
    expect(inbox().getByRole('radio', { name: 'Closed 4' })).not.toBeChecked();
    expect(screen.getByText('No conversation is open')).toBeVisible();
  });

  it('leads from an empty part to what is one’s own, and does not say that nobody waits', async () => {
    server.answer(readCounts, { ...COUNTS, mine: 1, unassigned: 0 });
    server.on(listConversations, (query) =>
      query.get('view') === 'mine'
        ? page(listConversations, [conversationOf({ customer: 'maria' })], { total: 1 })
        : page(listConversations, [], { total: 0 }),
    );
    renderForTest(<SupportPage />, '/support');
    expect(await inbox().findByText('Nothing to take')).toBeVisible();
    await userEvent.click(await inbox().findByRole('button', { name: 'Show the one that is yours' }));
    expect(await inbox().findByText('maria')).toBeVisible();
  });

  it('says what will be here while no conversation is open at all', async () => {
    server.answer(readCounts, { ...COUNTS, mine: 0, unassigned: 0, all: 0 });
    server.on(listConversations, () => page(listConversations, [], { total: 0 }));
    renderForTest(<SupportPage />, '/support');
    expect(await inbox().findByText('When a customer writes, the conversation appears here.')).toBeVisible();
  });

  // proves: support-staff-3
  it('narrows and searches on the server', async () => {
    const { user } = await open();
    const asked: string[] = [];
    server.on(listConversations, (query) => {
      asked.push(query.toString());
      return page(listConversations, [], { total: 0 });
    });
    await user.click(inbox().getByRole('radio', { name: 'All 3' }));
    await user.selectOptions(inbox().getByRole('combobox', { name: 'Priority' }), 'Urgent');
    await user.type(inbox().getByRole('searchbox', { name: 'Search the inbox' }), 'printer');
    expect(await inbox().findByText('Nothing matches')).toBeVisible();
    await waitFor(() => expect(asked.at(-1)).toMatch(/view=all.*search=printer.*priority=urgent/u));
  });

  it('hears the staff, reads lists anew, and ignores what is older than what it has', async () => {
    const { socket, tell } = await openConversation({ version: 5, assignee: null });
    expect(socket.sent).toContainEqual({ kind: 'listen', topic: 'staff' });
    expect(socket.sent).toContainEqual({ kind: 'listen_conversation', conversation_id: CONVERSATION_ID });
    tell({
      kind: 'conversation_changed',
      conversation: conversationOf({ version: 6, assignee: { id: ADA.id, username: 'ada' } }),
    });
    expect(await conversation().findByText('With ada')).toBeVisible();
    tell({ kind: 'conversation_changed', conversation: conversationOf({ version: 4 }) });
    expect(conversation().getByText('With ada')).toBeVisible();
    await waitFor(() => expect(server.callsOf(listConversations).length).toBeGreaterThan(1));
  });

  // proves: support-staff-14
  it('says that one is away, by hand', async () => {
    server.answer(setPresence, teamMemberOf({ presence: 'away' }));
    const { user } = await open();
    const presence = screen.getByRole('combobox', { name: 'Your presence' });
    await waitFor(() => expect(presence).toHaveDisplayValue('Available'));
    await user.selectOptions(presence, 'Away');
    await waitFor(() => expect(presence).toHaveDisplayValue('Away'));
    expect(server.callsOf(setPresence)[0]?.body).toEqual({ presence: 'away', by_hand: true });
  });

  it('shows the presence that one chose before the server has answered, and takes it back with its error', async () => {
    const answer = Promise.withResolvers<void>();
    server.on(setPresence, async () => {
      await answer.promise;
      return refusal('internal');
    });
    const { user } = await open();
    const presence = screen.getByRole('combobox', { name: 'Your presence' });
    await waitFor(() => expect(presence).toHaveDisplayValue('Available'));
    await user.selectOptions(presence, 'Away');
    await waitFor(() => expect(presence).toHaveDisplayValue('Away'));
    answer.resolve();
    expect(await screen.findByRole('alert')).toBeVisible();
    expect(presence).toHaveDisplayValue('Available');
  });
});

describe('a new message of a customer', () => {
  // proves: support-staff-17
  it('is told once to who has asked for it, and not where a colleague has the conversation', async () => {
    const told: string[] = [];
    class FakeNotification extends EventTarget {
      static permission = 'granted';
      constructor(title: string) {
        super();
        told.push(title);
      }
    }
    vi.stubGlobal('Notification', FakeNotification);
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'Notification'));
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
    const { user, tell } = await open();
    const written = (seq: number, parts: Partial<Conversation> = {}) =>
      tell({
        kind: 'conversation_changed',
        conversation: conversationOf({
          version: seq,
          unread: 1,
          ...parts,
          last_message: {
            ...{ seq, text: 'It smokes', phrases: null, sender: 'user', is_automatic: false },
            at: '2026-11-20T10:00:00.000Z',
          },
        }),
      });
    written(2);
    expect(told).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Notifications' }));
    written(3);
    written(3, { version: 4 });
    expect(told).toEqual(['maria writes to support']);
    written(5, { assignee: { id: ADA.id, username: 'ada' } });
    expect(told).toHaveLength(1);
  });
});

describe('a conversation', () => {
  // proves: support-staff-12
  it('says for how long its customer waits, and when they wrote last', async () => {
    // Pages count in whole minutes of the clock, and the next one may begin during the test.
    const ago = (minutes: number) => new Date(Math.floor(Date.now() / 60_000 - minutes) * 60_000).toISOString();
    await openConversation({ waiting_since: ago(12), last_customer_message_at: ago(3) });
    expect(conversation().getByText(/^Waits 1[23] minutes, wrote last [34] minutes ago$/u)).toBeVisible();
  });

  // proves: support-customer-4
  it('shows who wrote what, notes apart, and that the customer has read', async () => {
    const hello = deskMessageOf('My printer');
    const note = deskMessageOf('Knows us for years', { sender: 'support', author: 'ada', author_id: ADA.id, is_note: true });
    const answer = deskMessageOf('Which one?', { sender: 'support', author: 'tina', author_id: TINA.id });
    const { tell } = await openConversation({ last_seq: answer.seq }, [answer, note, hello]);
    await log().findByText('Which one?');
    expect(textsOf(log().getAllByRole('listitem'))).toEqual([
      expect.stringMatching(/^maria.*My printer$/u),
      expect.stringMatching(/^ada.*Note: customers never see it.*Knows us for years$/u),
      expect.stringMatching(/^You.*Which one\?Sent$/u),
    ]);
    tell({ kind: 'chat_read', conversation_id: CONVERSATION_ID, reader: 'user', seq: answer.seq });
    await waitFor(() => expect(log().getAllByRole('listitem').at(-1)).toHaveTextContent('Read'));
  });

  it('shows messages as they come, that the customer types, and says that they were read', async () => {
    server.answer(at(markConversationRead), conversationOf({ version: 3 }));
    const { tell } = await openConversation({}, [deskMessageOf('First')]);
    await log().findByText('First');
    tell({ kind: 'chat_typing', conversation_id: CONVERSATION_ID, side: 'user', user_id: MARIA.id, username: 'maria' });
    expect(await screen.findByText('maria is typing…')).toBeVisible();
    const next = deskMessageOf('Second');
    tell({ kind: 'desk_message', message: next });
    expect(await log().findByText('Second')).toBeVisible();
    expect(screen.queryByText('maria is typing…')).not.toBeInTheDocument();
    tell({ kind: 'conversation_changed', conversation: conversationOf({ version: 2, unread: 1, last_seq: next.seq }) });
    await waitFor(() => expect(server.callsOf(at(markConversationRead))[0]?.body).toEqual({ seq: next.seq }));
  });

  it('is answered, or noted about, exactly once', async () => {
    const { user } = await openConversation();
    server.on(at(answerConversation), () =>
      reply(answerConversation, deskMessageOf('as stored', { sender: 'support', author_id: TINA.id })),
    );
    await user.type(screen.getByRole('textbox', { name: 'Answer' }), 'Good day{Enter}');
    await log().findByText('as stored');
    await user.click(screen.getByRole('radio', { name: 'Note' }));
    await user.type(screen.getByRole('textbox', { name: 'Note' }), 'Patient{Enter}');
    await waitFor(() => expect(server.callsOf(at(answerConversation))).toHaveLength(2));
    const [answer, note] = server.callsOf(at(answerConversation));
    expect(answer?.body).toMatchObject({ message: 'Good day', is_note: false });
    expect(z.uuid().safeParse(answer?.headers.get('idempotency-key')).success).toBe(true);
    expect(note?.body).toMatchObject({ message: 'Patient', is_note: true });
  });

  // proves: support-staff-13
  it('warns that a colleague has it open, or types', async () => {
    const { tell } = await openConversation();
    const viewers = [TINA, ADA].map(({ id, username }) => ({ id, username }));
    tell({ kind: 'conversation_viewers', conversation_id: CONVERSATION_ID, viewers });
    expect(await conversation().findByText('ada has this open too')).toBeVisible();
    tell({ kind: 'chat_typing', conversation_id: CONVERSATION_ID, side: 'support', user_id: ADA.id, username: 'ada' });
    expect(await conversation().findByText('ada is typing an answer')).toBeVisible();
  });

  // proves: support-staff-8
  it('puts a canned answer in with its placeholders filled', async () => {
    const { user } = await openConversation();
    const field = screen.getByRole('textbox', { name: 'Answer' });
    await user.type(field, '/he');
    expect(await screen.findByRole('option', { name: /hello.*Greeting/u })).toHaveAttribute('aria-selected', 'true');
    await user.keyboard('{Enter}');
    expect(field).toHaveValue('Good day maria, this is tina of Palisade.');
    expect(screen.queryByRole('listbox')).not.toBeInTheDocument();
    expect(server.callsOf(at(answerConversation))).toEqual([]);
  });

  it('says that no canned answer begins like this, before a shortcut is sent to a customer', async () => {
    server.answer(listCanned, []);
    const { user } = await openConversation();
    const field = screen.getByRole('textbox', { name: 'Answer' });
    await user.type(field, '/he');
    expect(await screen.findByText(/^There are no saved replies yet\./u)).toBeVisible();
    await user.keyboard('{Enter}');
    expect(server.callsOf(at(answerConversation))).toEqual([]);
    await user.clear(field);
    await user.type(field, 'Turn it off and/or on');
    expect(screen.queryByText(/canned answer/u)).not.toBeInTheDocument();
  });

  it('is claimed, and it is said when somebody else was faster', async () => {
    server.on(at(claimConversation), refusal('conflict', { detail: 'ada has taken it.' }));
    const { user } = await openConversation();
    await user.click(conversation().getByRole('button', { name: 'Claim' }));
    expect(await conversation().findByRole('alert')).toHaveTextContent('ada has taken it.');
    server.answer(at(claimConversation), conversationOf({ version: 2, assignee: { id: TINA.id, username: 'tina' } }));
    await user.click(conversation().getByRole('button', { name: 'Claim' }));
    expect(await conversation().findByText('Yours')).toBeVisible();
    // The button has gone, and with it where the keyboard was.
    expect(screen.getByRole('textbox', { name: 'Answer' })).toHaveFocus();
  });

  // proves: support-staff-6, support-staff-11
  it('is given to a colleague, sorted and tagged', async () => {
    server.answer(at(assignConversation), conversationOf({ version: 2, assignee: { id: ADA.id, username: 'ada' } }));
    server.answer(at(sortConversation), conversationOf({ version: 3, tags: ['printer', 'vip'] }));
    const { user } = await openConversation({ tags: ['printer'] });
    // The next step of an unclaimed conversation is Claim, so Close stands with the rarer actions.
    expect(conversation().queryByRole('button', { name: 'Close' })).not.toBeInTheDocument();
    await user.click(conversation().getByRole('button', { name: 'More actions' }));
    expect(conversation().getByRole('button', { name: 'Close' })).toBeVisible();
    await user.type(conversation().getByRole('textbox', { name: 'Add a tag' }), 'VIP{Enter}');
    expect(await conversation().findByRole('button', { name: 'Remove the tag vip' })).toBeVisible();
    expect(server.callsOf(at(sortConversation))[0]?.body).toEqual({ tags: ['printer', 'vip'] });
    await user.selectOptions(conversation().getByRole('combobox', { name: 'Transfer' }), 'ada (away)');
    await waitFor(() => expect(server.callsOf(at(assignConversation))[0]?.body).toEqual({ assignee_id: ADA.id }));
  });

  // proves: support-staff-9
  it('that is closed takes notes and no answers', async () => {
    await openConversation({ status: 'closed', closed_at: '2026-11-20T11:00:00.000Z' });
    expect(screen.getByText(/Reopen it to answer/u)).toBeVisible();
    expect(screen.getByRole('textbox', { name: 'Note' })).toBeVisible();
    expect(conversation().getByRole('button', { name: 'Reopen' })).toBeVisible();
    expect(conversation().queryByRole('button', { name: 'Close' })).not.toBeInTheDocument();
  });

  it('of one’s own cannot be answered from here', async () => {
    await openConversation({ user_id: TINA.id });
    expect(screen.queryByRole('textbox', { name: 'Answer' })).not.toBeInTheDocument();
    expect(conversation().queryByRole('button', { name: 'Claim' })).not.toBeInTheDocument();
  });

  it('shows a mail whose sender is not verified apart, and takes it over with one action', async () => {
    const card = { kind: 'mail', mail_id: OTHER_ID, from: 'eve@example.net', reason: 'not_aligned', is_taken: false } as const;
    const note = deskMessageOf('Sender not verified: it says: Pay', {
      sender: 'support',
      is_note: true,
      is_automatic: true,
      card,
    });
    server.answer(at(takeMail, OTHER_ID), deskMessageOf('Pay'));
    const { user } = await openConversation({}, [note]);
    expect(await log().findByText('Sender not verified')).toBeVisible();
    expect(log().getByText('eve@example.net')).toBeVisible();
    expect(log().getByRole('button', { name: 'Download the original' })).toBeEnabled();
    await user.click(log().getByRole('button', { name: 'Take over as the customer’s words' }));
    expect(await log().findByText('Taken over as the customer’s words.')).toBeVisible();
    expect(log().queryByRole('button', { name: 'Take over as the customer’s words' })).not.toBeInTheDocument();
    expect(server.callsOf(at(takeMail, OTHER_ID))).toHaveLength(1);
  });

  it('says why a mail could not be taken over', async () => {
    const card = { kind: 'mail', mail_id: OTHER_ID, from: '', reason: 'several_authors', is_taken: false } as const;
    const note = deskMessageOf('Sender not verified', { sender: 'support', is_note: true, is_automatic: true, card });
    server.on(at(takeMail, OTHER_ID), refusal('conflict', { detail: 'This email is already in the conversation.' }));
    const { user } = await openConversation({}, [note]);
    await user.click(await log().findByRole('button', { name: 'Take over as the customer’s words' }));
    expect(await log().findByRole('alert')).toHaveTextContent('This email is already in the conversation.');
  });

  it('shows one thing that the customer has shared, and files', async () => {
    const card = { kind: 'shared', thing: 'scan', subject_id: OTHER_ID, title: 'invoice.pdf.exe' } as const;
    const message = deskMessageOf('', { card, attachments: [attachmentOf({ filename: 'log.txt' })] });
    server.answer(at(readShared, message.id), {
      thing: 'scan',
      title: 'invoice.pdf.exe',
      facts: [{ name: 'Verdict', value: 'Infected' }],
    });
    const { user } = await openConversation({}, [message]);
    expect(await log().findByText('Scanned file, shown to you')).toBeVisible();
    expect(log().getByRole('button', { name: 'Download log.txt' })).toBeEnabled();
    await user.click(log().getByRole('button', { name: 'Open it' }));
    expect(await within(await screen.findByRole('dialog')).findByText('Infected')).toBeVisible();
  });

  // proves: support-staff-15
  it('can have a remote session, whose code stands in the chat', async () => {
    const card = {
      kind: 'remote_session',
      session_id: OTHER_ID,
      session_code: 'K7M-4QP-9XD',
      expires_at: '2099-01-01T00:00:00.000Z',
    } as const;
    server.answer(at(startRemoteSession), deskMessageOf('', { sender: 'support', author_id: TINA.id, card }));
    const { user } = await openConversation();
    await user.click(conversation().getByRole('button', { name: 'Start a remote session' }));
    expect(await log().findByText('K7M-4QP-9XD')).toBeVisible();
    expect(log().getByText(/^For one session until /u)).toBeVisible();
  });

  it('says of the code of a remote session when it has expired', async () => {
    const code = { kind: 'remote_session', session_id: OTHER_ID, session_code: 'K7M-4QP-9XD' } as const;
    const card = { ...code, expires_at: '2026-01-01T00:00:00.000Z' };
    await openConversation({}, [deskMessageOf('', { sender: 'support', author_id: TINA.id, card })]);
    expect(await log().findByText(/^Expired: one session until /u)).toBeVisible();
  });
});

describe('the customer card', () => {
  it('is read, and so written down, only where it can be seen', async () => {
    server.answer(at(readCustomerCard), CARD);
    const { user } = await openConversation();
    expect(server.callsOf(at(readCustomerCard))).toEqual([]);
    await user.click(conversation().getByRole('button', { name: 'Customer card' }));
    const card = within(screen.getByRole('complementary', { name: 'Customer card' }));
    expect(await card.findByText('maria@example.com')).toBeVisible();
    expect(card.getByText('Family Shield')).toBeVisible();
    expect(card.getByText('Ransom.Locker')).toBeVisible();

    expect(card.getByText('rated 4.5 of 5')).toBeVisible();
    expect(server.callsOf(at(readCustomerCard))).toHaveLength(1);
  });
});

describe('the keyboard', () => {
  // proves: support-staff-16
  it('goes through the inbox, answers, searches, closes and lists its keys', async () => {
    be({}, []);
    server.answer(at(readConversation, OTHER_ID), conversationOf({ id: OTHER_ID, customer: 'otto' }));
    server.answer(at(listDeskMessages, OTHER_ID), []);
    server.answer(
      at(closeConversation, OTHER_ID),
      conversationOf({ id: OTHER_ID, customer: 'otto', version: 2, status: 'closed' }),
    );
    const { user } = await open();
    await user.keyboard('j');
    await screen.findByRole('region', { name: 'Conversation with maria' });
    await user.keyboard('j');
    await screen.findByRole('region', { name: 'Conversation with otto' });
    await user.keyboard('k');
    await screen.findByRole('region', { name: 'Conversation with maria' });
    await user.keyboard('r');
    expect(screen.getByRole('textbox', { name: 'Answer' })).toHaveFocus();
    await user.keyboard('jr');
    expect(screen.getByRole('textbox', { name: 'Answer' })).toHaveValue('jr');
    act(() => screen.getByRole('textbox', { name: 'Answer' }).blur());
    await user.keyboard('j');
    await screen.findByRole('region', { name: 'Conversation with otto' });
    await user.keyboard('e');
    await waitFor(() => expect(server.callsOf(at(closeConversation, OTHER_ID))).toHaveLength(1));
    await user.keyboard('/');
    expect(inbox().getByRole('searchbox')).toHaveFocus();
    act(() => inbox().getByRole('searchbox').blur());
    await user.keyboard('?');
    const dialog = within(await screen.findByRole('dialog', { name: 'Keys of the support desk' }));
    await user.click(dialog.getByRole('switch', { name: 'Single keys' }));
    await user.click(dialog.getByRole('button', { name: 'Close' }));
    await user.keyboard('k');
    expect(screen.getByRole('region', { name: 'Conversation with otto' })).toBeVisible();
  });
});
