import {
  AUTOMATIC_REPLY_DELAY,
  askPerson,
  mailTranscript,
  markRead,
  rateChat,
  sendMessage,
  shareThing,
} from '@palisade/contract/chat';
import { type ChatState, listMessages, readChat } from '@palisade/contract/chat-read';
import type { ChatMessage } from '@palisade/contract/chat-record';
import type { LiveEvent } from '@palisade/contract/events';
import { suggestArticles } from '@palisade/contract/help';
import { readConfig } from '@palisade/contract/platform';
import { QueryClient } from '@tanstack/react-query';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useLocation } from 'react-router';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { reportConnection } from '#api/connection.ts';
import { keepEventsOpen } from '#api/events.ts';
import { articleOf, attachmentOf, chatStateOf, messageOf } from '#api/fake-desk.ts';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { MESSAGES_PAGE } from '#domain/conversation/chat.ts';
import { followEvents } from '#domain/live-queries.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { ChatPage } from './chat-page.tsx';

const server = FakeServer.ofEachTest(MARIA);
let errors: ReturnType<typeof vi.spyOn>;
let stops: (() => void)[];

const sentOf = (message: string, automatic_reply: ChatMessage | null = null) => ({ ...messageOf(message), automatic_reply });

function be(state: Partial<ChatState>): void {
  server.answer(readChat, chatStateOf(state));
}

beforeEach(() => {
  errors = vi.spyOn(console, 'error').mockReturnValue();
  stops = [];
  server.answer(readConfig, { ...CONFIG, reset_delivery: 'email' });
  server.answer(listMessages, []);
  server.answer(suggestArticles, []);
  be({});
});

afterEach(() => {
  for (const stop of stops) stop();
  vi.useRealTimers();
  reportConnection('online');
});

const field = () => screen.getByRole('textbox', { name: 'Message' });
const send = () => screen.getByRole('button', { name: 'Send' });
const log = () => within(screen.getByRole('log', { name: 'Messages' }));
const conversation = () => within(screen.getByRole('region', { name: 'Conversation with support' }));
const state = () => conversation().getByText(/^You’re (online|offline)$/u);
const last = () => log().getAllByRole('listitem').at(-1);

function Address() {
  const { pathname, search } = useLocation();
  return <p data-testid="address">{`${pathname}${search}`}</p>;
}

async function open(address?: string) {
  renderForTest(<ChatPage />, address);
  await screen.findByText('What can we help with?');
  return userEvent.setup();
}

/** Opens the page with a socket, and answers what the test says on it. */
async function openLive(messages: ChatMessage[]) {
  server.answer(listMessages, messages);
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  stops.push(followEvents(queries), keepEventsOpen('token-1'));
  renderForTest(<ChatPage />, '/', queries);
  await waitFor(() => expect(log().queryByRole('status')).not.toBeInTheDocument());
  const { socket } = server;
  act(() => {
    socket.open();
    socket.say({ kind: 'welcome', cursor: messageOf('').id, missed: false, heartbeat_ms: 25_000 });
  });
  return { socket, tell: (event: LiveEvent) => act(() => socket.say({ kind: 'event', id: null, event })) };
}

describe('messages from before the welcome of the socket', () => {
  // proves: support-fault-7
  it('is read once it is', async () => {
    const { socket: first } = await openLive([messageOf('one')]);
    expect(first).toBeDefined();
    expect(await log().findByText('one')).toBeVisible();
    await waitFor(() => expect(server.callsOf(listMessages).length).toBeGreaterThanOrEqual(2));
  });
});

describe('the conversation', () => {
  // proves: support-bad-input-3
  it('reverses what comes newest first, tells who wrote what, and shows hostile text as text', async () => {
    const messages = [messageOf('We see', { sender: 'support', author: 'tina' }), messageOf('<b>bold</b>'), messageOf('first')];
    server.answer(listMessages, messages);
    renderForTest(<ChatPage />);
    await screen.findByText('first');
    expect(textsOf(log().getAllByRole('listitem'))).toEqual([
      expect.stringMatching(/^You.*first$/u),
      expect.stringMatching(/^You.*<b>bold<\/b>Sent$/u),
      expect.stringMatching(/^tina.*We see$/u),
    ]);
  });

  // proves: support-scale-8
  it('is a log that announces additions, and not what was there when it opened', async () => {
    server.answer(listMessages, [messageOf('first')]);
    renderForTest(<ChatPage />);
    const messages = screen.getByRole('log', { name: 'Messages' });
    await screen.findByText('first');
    expect(messages).toHaveAttribute('aria-relevant', 'additions');
    expect(messages).toHaveAttribute('aria-live', 'off');
    await waitFor(() => expect(messages).toHaveAttribute('aria-live', 'polite'));
  });

  // proves: support-customer-2
  it('says on which day a message was written, once for a day', async () => {
    const messages = [
      messageOf('third', { timestamp: '2026-03-03T12:00:00.000Z' }),
      messageOf('second', { timestamp: '2026-03-02T13:00:00.000Z' }),
      messageOf('first', { timestamp: '2026-03-02T12:00:00.000Z' }),
    ];
    server.answer(listMessages, messages);
    renderForTest(<ChatPage />);
    await screen.findByText('first');
    expect(log().getAllByRole('list', { name: /March/u })).toHaveLength(2);
    expect(within(log().getByRole('list', { name: /3 March|March 3/u })).getByText('third')).toBeVisible();
  });

  // proves: support-customer-1
  it('reads older messages when their place comes into view, announces none of them, and on demand', async () => {
    const seen: IntersectionObserverCallback[] = [];
    vi.stubGlobal(
      'IntersectionObserver',
      class {
        constructor(callback: IntersectionObserverCallback) {
          seen.push(callback);
        }
        observe = () => undefined;
        disconnect = () => undefined;
      },
    );
    const full = Array.from({ length: MESSAGES_PAGE }, (_, index) => messageOf(`newer ${index}`));
    server.answer(listMessages, full);
    renderForTest(<ChatPage />);
    expect(await screen.findByRole('button', { name: 'Show earlier messages' })).toBeVisible();
    const messages = screen.getByRole('log', { name: 'Messages' });
    await waitFor(() => expect(messages).toHaveAttribute('aria-live', 'polite'));
    server.answer(listMessages, [messageOf('the very first')]);
    const observer = new IntersectionObserver(() => undefined);
    const rect = document.body.getBoundingClientRect();
    const at = { boundingClientRect: rect, intersectionRect: rect, rootBounds: null, target: document.body, time: 0 };
    act(() => seen[0]?.([{ ...at, isIntersecting: true, intersectionRatio: 1 }], observer));
    await screen.findByText('the very first');
    expect(messages).toHaveAttribute('aria-live', 'off');
    expect(log().getAllByRole('listitem')[0]).toHaveTextContent('the very first');
    expect(screen.queryByRole('button', { name: 'Show earlier messages' })).not.toBeInTheDocument();
  });

  it('shows cards and files, and marks automatic messages', async () => {
    const card = { kind: 'article', slug: 'what-pending-means', title: 'What Pending means' } as const;
    server.answer(listMessages, [
      messageOf('By itself', { sender: 'support', is_automatic: true, card }),
      messageOf('', { attachments: [attachmentOf({ filename: 'letter.svg' })] }),
    ]);
    renderForTest(<ChatPage />);
    expect(await screen.findByText('Automatic reply')).toBeVisible();
    expect(log().getByRole('link', { name: 'Read it' })).toHaveAttribute('href', '/help/what-pending-means');
    expect(log().getByRole('button', { name: 'Download letter.svg' })).toBeEnabled();
    expect(log().queryByRole('img')).not.toBeInTheDocument();
  });
});

describe('sending', () => {
  it('is not possible while the field is empty or blank', async () => {
    const user = await open();
    expect(send()).toBeDisabled();
    await user.type(field(), '   {Enter}');
    expect(send()).toBeDisabled();
    expect(server.callsOf(sendMessage)).toEqual([]);
  });

  it('is disabled and shows that somebody types while it is under way, then appends what the server answers', async () => {
    const answer = Promise.withResolvers<ReturnType<typeof reply>>();
    server.on(sendMessage, () => answer.promise);
    const user = await open();
    await user.type(field(), ' hello ');
    await user.click(send());
    expect(await screen.findByText('Typing…')).toBeVisible();
    expect(send()).toBeDisabled();
    expect(last()).toHaveTextContent('Sending…');
    const [sent] = server.callsOf(sendMessage);
    // The specification's fields and no others: its name travels in a header.
    expect(sent?.body).toEqual({ message: ' hello ', sender: 'user' });
    expect(z.uuid().safeParse(sent?.headers.get('idempotency-key')).success).toBe(true);
    await act(async () => answer.resolve(reply(sendMessage, sentOf('hello, as the server has it'))));
    expect(await screen.findByText('hello, as the server has it')).toBeVisible();
    expect(screen.queryByText('Typing…')).not.toBeInTheDocument();
    expect(log().getAllByRole('listitem')).toHaveLength(1);
    expect(field()).toHaveValue('');
    expect(field()).toHaveFocus();
    expect(server.callsOf(listMessages)).toHaveLength(1);
  });

  it('by a press leaves the focus in the field, which has the whole window on a phone while it has it', async () => {
    const user = await open();
    await user.type(field(), 'Hello');
    await user.pointer({ keys: '[MouseLeft>]', target: send() });
    expect(field()).toHaveFocus();
  });

  it('happens by Enter, and not by Shift and Enter, nor by the Enter that confirms a word in Safari', async () => {
    server.answer(sendMessage, sentOf('two lines'));
    const user = await open();
    await user.type(field(), 'one{Shift>}{Enter}{/Shift}two');
    fireEvent.keyDown(field(), { key: 'Enter', keyCode: 229 });
    expect(server.callsOf(sendMessage)).toEqual([]);
    await user.keyboard('{Enter}');
    await screen.findByText('two lines');
    expect(server.callsOf(sendMessage)[0]?.body).toMatchObject({ message: 'one\ntwo', sender: 'user' });
  });

  // proves: support-customer-14
  it('is followed by the automatic reply of the server after 1.5 seconds, below its message and marked', async () => {
    const sent = messageOf('I have a virus');
    const automatic = messageOf('Don’t open the file.', { sender: 'support', is_automatic: true });
    server.answer(sendMessage, { ...sent, automatic_reply: automatic });
    await open();
    vi.useFakeTimers();
    fireEvent.change(field(), { target: { value: 'I have a virus' } });
    fireEvent.click(send());
    await act(() => vi.advanceTimersByTimeAsync(10));
    expect(log().getByText('I have a virus')).toBeVisible();
    await act(() => vi.advanceTimersByTimeAsync(AUTOMATIC_REPLY_DELAY - 20));
    expect(screen.queryByText('Automatic reply')).not.toBeInTheDocument();
    await act(() => vi.advanceTimersByTimeAsync(20));
    const [, answer] = log().getAllByRole('listitem');
    expect(answer).toHaveTextContent('Automatic reply');
    expect(answer).toHaveTextContent('Don’t open the file.');
  });

  // proves: support-customer-10
  it('without a connection keeps the message, says so, and sends it once the connection is back', async () => {
    server.lose(sendMessage);
    const user = await open();
    await user.type(field(), 'do not lose me{Enter}');
    await waitFor(() => expect(last()).toHaveTextContent(/do not lose me.*Not sent yet\. We’ll send it/u));
    expect(field()).toHaveValue('');
    expect(errors).toHaveBeenCalledWith(expect.objectContaining({ kind: 'network' }));
    expect(state()).toHaveTextContent('You’re offline');
    await user.type(field(), 'nor me{Enter}');
    expect(last()).toHaveTextContent('Waiting');
    const first = server.callsOf(sendMessage)[0]?.body;
    server.on(sendMessage, () => reply(sendMessage, sentOf('arrived')));
    act(() => reportConnection('online'));
    await waitFor(() => expect(log().getAllByText('arrived')).toHaveLength(2));
    // A timer tries the first one again too: it may be sent more than twice.
    const bodies = server.callsOf(sendMessage).map(({ body }) => body);
    expect(bodies.length).toBeGreaterThan(2);
    expect(bodies.at(-1)).toMatchObject({ message: 'nor me' });
    for (const body of bodies.slice(0, -1)) expect(body).toEqual(first);
    expect(log().getAllByRole('listitem')).toHaveLength(2);
  });

  // proves: support-customer-28
  it('that is refused says why at the message, and goes again on Retry', async () => {
    server.on(sendMessage, refusal('forbidden', { detail: 'Not just now.' }));
    const user = await open();
    await user.type(field(), 'do not lose me{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('Your message was not sent. Not just now.');
    await user.type(field(), 'the next one');
    server.answer(sendMessage, sentOf('do not lose me'));
    await user.click(log().getByRole('button', { name: 'Retry' }));
    await waitFor(() => expect(screen.queryByRole('alert')).not.toBeInTheDocument());
    expect(log().getAllByText('do not lose me')).toHaveLength(1);
    expect(field()).toHaveValue('the next one');
    const [first, again] = server.callsOf(sendMessage);
    expect(again?.body).toEqual(first?.body);
  });

  it('that was refused can be edited', async () => {
    server.on(sendMessage, refusal('forbidden'));
    const user = await open();
    await user.type(field(), 'My card is 4111{Enter}');
    await user.click(await log().findByRole('button', { name: 'Edit' }));
    expect(field()).toHaveValue('My card is 4111');
    expect(log().queryByText('My card is 4111')).not.toBeInTheDocument();
  });

  it('of more than a message holds is not tried, and says how much too long it is', async () => {
    await open();
    fireEvent.change(field(), { target: { value: 'x'.repeat(4_120) } });
    expect(screen.getByText('4,120 of 4,000 characters. Split it into parts.')).toBeVisible();
    expect(send()).toBeDisabled();
  });

  // proves: support-customer-27
  it('keeps a draft over a reload', async () => {
    const user = await open();
    await user.type(field(), 'half a sent');
    renderForTest(<ChatPage />);
    expect(screen.getAllByRole('textbox', { name: 'Message' }).at(-1)).toHaveValue('half a sent');
  });
});

describe('files', () => {
  const picture = new File(['png'], 'screen.png', { type: 'image/png' });

  // proves: support-customer-5
  it('are uploaded and scanned before the message can be sent, and go with it', async () => {
    const { tell } = await openLive([]);
    const user = userEvent.setup();
    await user.upload(screen.getByLabelText('Choose files for your message'), picture);
    const upload = server.uploads[0];
    act(() => upload?.progress(0.5));
    expect(screen.getByText(/50% of 3 B sent/u)).toBeVisible();
    expect(send()).toBeDisabled();
    const attachment = attachmentOf({ filename: 'screen.png', status: 'scanning' });
    act(() => upload?.answer({ status: 201, text: JSON.stringify(attachment) }));
    expect(await screen.findByText('Being scanned')).toBeVisible();
    expect(send()).toBeDisabled();
    tell({ kind: 'chat_attachment', attachment: { ...attachment, status: 'clean' } });
    expect(await screen.findByText('3 B, clean')).toBeVisible();
    server.answer(sendMessage, sentOf(''));
    await user.click(send());
    await waitFor(() =>
      expect(server.callsOf(sendMessage)[0]?.body).toMatchObject({ message: '', attachment_ids: [attachment.id] }),
    );
    expect(screen.queryByRole('list', { name: 'Files in your message' })).not.toBeInTheDocument();
  });

  // proves: support-customer-6, support-customer-9
  it('that are infected are not sent, and it is said', async () => {
    const { tell } = await openLive([]);
    fireEvent.paste(field(), { clipboardData: { files: [picture] } });
    const attachment = attachmentOf({ status: 'scanning' });
    act(() => server.uploads[0]?.answer({ status: 201, text: JSON.stringify(attachment) }));
    await screen.findByText('Being scanned');
    tell({ kind: 'chat_attachment', attachment: { ...attachment, status: 'infected', threat: 'EICAR' } });
    expect(await screen.findByText('Infected (EICAR). We didn’t send it. Don’t open it.')).toBeVisible();
    expect(send()).toBeDisabled();
  });

  // proves: support-customer-8, support-customer-9
  it('can be dropped, and no more than ten go with a message', async () => {
    await open();
    const files = Array.from({ length: 11 }, (_, index) => new File(['a'], `${index}.txt`));
    fireEvent.drop(field(), { dataTransfer: { files, types: ['Files'] } });
    expect(await screen.findByText('A message can have at most 10 files. Send it in another message.')).toBeVisible();
    await waitFor(() => expect(server.uploads).toHaveLength(10));
  });
});

describe('a person of support', () => {
  // proves: support-customer-19, product-1.7-1
  it('is shown apart from the connection', async () => {
    be({ staff: { is_here: true, is_open: true, opens_at: null }, response_s: 240 });
    const { tell } = await openLive([]);
    const staff = screen.getByRole('status', { name: 'Support' });
    expect(staff).toHaveTextContent('Support is here. First answers took 4 minutes in the last 7 days.');
    expect(state()).toHaveTextContent('You’re online');
    // A question to the server gets the same answer.
    be({ staff: { is_here: false, is_open: true, opens_at: null }, response_s: 240 });
    tell({ kind: 'support_here', is_here: false });
    await waitFor(() => expect(staff).toHaveTextContent('We’re away.'));
    expect(state()).toHaveTextContent('You’re online');
  });

  // proves: support-staff-22
  it('is away outside the hours, and it is said when they are back', async () => {
    be({ staff: { is_here: false, is_open: false, opens_at: '2099-03-02T09:00:00.000Z' } });
    await open();
    expect(screen.getByRole('status', { name: 'Support' })).toHaveTextContent(/^Support is back on .*(?:2 March|March 2)/u);
  });

  // proves: support-customer-3
  it('types, answers, and has read', async () => {
    const own = messageOf('Hello?');
    be({ agent: 'tina', last_seq: own.seq });
    const { tell } = await openLive([own]);
    server.answer(markRead, chatStateOf({ agent: 'tina' }));
    expect(last()).toHaveTextContent('Sent');
    const { conversation_id } = own;
    tell({ kind: 'chat_typing', conversation_id, side: 'support', user_id: null, username: 'tina' });
    expect(await screen.findByText('tina is typing…')).toBeVisible();
    tell({ kind: 'chat_read', conversation_id, reader: 'support', seq: own.seq });
    await waitFor(() => expect(last()).toHaveTextContent('Read'));
    const answer = messageOf('Good day', { sender: 'support', author: 'tina' });
    tell({ kind: 'chat_message', message: answer });
    await waitFor(() => expect(last()).toHaveTextContent('Good day'));
    expect(screen.queryByText('tina is typing…')).not.toBeInTheDocument();
    await waitFor(() => expect(server.callsOf(markRead)[0]?.body).toEqual({ seq: answer.seq }));
  });

  // proves: support-customer-13
  it('can be asked for', async () => {
    server.answer(askPerson, chatStateOf({ wants_person: true }));
    const user = await open();
    await user.click(screen.getByRole('button', { name: 'Talk to a person' }));
    expect(await screen.findByRole('button', { name: 'We’ve told the team' })).toBeDisabled();
  });

  it('is told that the customer types, not at every letter', async () => {
    const { socket } = await openLive([]);
    const user = userEvent.setup();
    await user.type(field(), 'hello');
    expect(socket.sent.filter(({ kind }) => kind === 'typing')).toEqual([{ kind: 'typing', conversation_id: null }]);
  });

  // proves: support-customer-12
  it('is rated once the conversation is closed', async () => {
    be({ status: 'closed', rating: { given: null } });
    server.answer(rateChat, chatStateOf({ status: 'closed', rating: { given: 4 } }));
    const user = await open();
    await user.click(await screen.findByRole('radio', { name: '4 of 5: Good' }));
    await user.type(screen.getByRole('textbox', { name: /What went well/u }), 'Patient.');
    await user.click(screen.getByRole('button', { name: 'Send rating' }));
    expect(await screen.findByText('Thank you. You rated this help 4 of 5 (good).')).toBeVisible();
    expect(server.callsOf(rateChat)[0]?.body).toEqual({ rating: 4, comment: 'Patient.' });
  });
});

describe('exactly once', () => {
  // proves: support-customer-17
  it('a message that is told and answered stands there once, in the order of the server', async () => {
    const { tell } = await openLive([]);
    const user = userEvent.setup();
    const answer = Promise.withResolvers<ReturnType<typeof reply>>();
    server.on(sendMessage, () => answer.promise);
    await user.type(field(), 'mine{Enter}');
    await waitFor(() => expect(server.callsOf(sendMessage)).toHaveLength(1));
    const client_message_id = server.callsOf(sendMessage)[0]?.headers.get('idempotency-key') ?? '';
    const mine = messageOf('mine', { client_message_id });
    const later = messageOf('later', { sender: 'support', author: 'tina' });
    tell({ kind: 'chat_message', message: later });
    tell({ kind: 'chat_message', message: mine });
    await act(async () => answer.resolve(reply(sendMessage, { ...mine, automatic_reply: null })));
    tell({ kind: 'chat_message', message: mine });
    await waitFor(() => expect(log().queryByText('Sending…')).not.toBeInTheDocument());
    expect(textsOf(log().getAllByRole('listitem'))).toEqual([expect.stringContaining('mine'), expect.stringContaining('later')]);
  });
});

describe('parts around it', () => {
  it.each([
    ['Performance issues', 'performance'],
    ['Firewall help', 'firewall'],
    ['Remote support', 'remote'],
  ])('the chip %s sets the topic of the next message and writes nothing', async (chip, topic) => {
    const user = await open();
    server.on(sendMessage, () => reply(sendMessage, sentOf('Hello.')));
    const button = () => screen.getByRole('button', { name: chip });
    await user.click(button());
    expect(field()).toHaveFocus();
    expect(field()).toHaveValue('');
    expect(button()).toHaveAttribute('aria-pressed', 'true');
    expect(screen.getByText(/Your message gets this topic/u)).toBeVisible();
    await user.type(field(), 'Hello.{Enter}');
    await waitFor(() => expect(server.callsOf(sendMessage)[0]?.body).toMatchObject({ message: 'Hello.', topic }));
    // A topic is for the first message.
    await waitFor(() => expect(screen.queryByRole('button', { name: chip })).toBeNull());
  });

  // proves: support-customer-29
  it('suggests help pages for what is being typed, until they are put away', async () => {
    const { body: _, ...article } = articleOf();
    server.answer(suggestArticles, [article]);
    const user = await open();
    await user.type(field(), 'why is it pending');
    const link = await screen.findByRole('link', { name: /What Pending means/u });
    expect(link).toHaveAttribute('href', '/help/what-pending-means');
    await user.click(screen.getByRole('button', { name: 'Hide the help pages' }));
    expect(link).not.toBeInTheDocument();
  });

  // proves: support-customer-24
  it('asks before it shows support the thing that its person comes from', async () => {
    const subject_id = messageOf('').id;
    server.answer(shareThing, messageOf('', { card: { kind: 'shared', thing: 'scan', subject_id, title: 'invoice.pdf.exe' } }));
    const user = await open(`/chat?share=scan:${subject_id}&name=invoice.pdf.exe`);
    const strip = within(screen.getByRole('region', { name: 'Show this to support' }));
    expect(strip.getByText(/They can open this one thing from then on, and nothing else/u)).toBeVisible();
    expect(server.callsOf(shareThing)).toEqual([]);
    await user.click(strip.getByRole('button', { name: 'Show it' }));
    expect(await log().findByText('Scanned file, shown to support')).toBeVisible();
    expect(server.callsOf(shareThing)[0]?.body).toMatchObject({ thing: 'scan', subject_id });
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Show this to support' })).not.toBeInTheDocument());
  });

  it('takes what it shows out of the address at once, not when the answer comes', async () => {
    const question = { name: 'Show this to support' };
    server.on(shareThing, refusal('internal'));
    renderForTest(
      <>
        <ChatPage />
        <Address />
      </>,
      `/chat?share=scan:${messageOf('').id}&name=invoice.pdf.exe`,
    );
    expect(screen.getByTestId('address').textContent).toContain('share=');
    await userEvent.click(screen.getByRole('button', { name: 'Show it' }));
    expect(screen.getByTestId('address').textContent).toBe('/chat');
    // Refused, it can be asked once more.
    const strip = within(screen.getByRole('region', question));
    await waitFor(() => expect(strip.getByRole('alert')).toBeVisible());
    server.answer(shareThing, messageOf(''));
    await userEvent.click(strip.getByRole('button', { name: 'Show it' }));
    await waitFor(() => expect(screen.queryByRole('region', question)).not.toBeInTheDocument());
    expect(new Set(server.callsOf(shareThing).map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  // proves: support-customer-11
  it('finds messages, and mails what was said', async () => {
    server.answer(listMessages, [messageOf('my printer')]);
    renderForTest(<ChatPage />);
    await log().findByText('my printer');
    const user = userEvent.setup();
    server.on(listMessages, (query) => {
      expect(query.get('search')).toBe('printer');
      return reply(listMessages, [messageOf('my printer')]);
    });
    await user.click(screen.getByRole('button', { name: 'Search messages' }));
    await user.type(await screen.findByRole('searchbox', { name: 'Search the messages' }), 'printer');
    expect(await screen.findByRole('list', { name: 'Found messages' })).toHaveTextContent('my printer');
    await user.click(screen.getByRole('button', { name: 'Close' }));
    server.answer(mailTranscript, { success: true });
    await user.click(screen.getByRole('button', { name: 'Email me a copy' }));
    expect(await screen.findByText('The copy is on its way to your email.')).toBeVisible();
  });

  it('goes to a message that was found, however far back it is', async () => {
    const many = Array.from({ length: MESSAGES_PAGE + 10 }, (_, at) => ({
      ...messageOf(`no. ${MESSAGES_PAGE + 10 - at}`),
      seq: MESSAGES_PAGE + 10 - at,
    }));
    const wanted = many.at(-1) ?? messageOf('');
    server.on(listMessages, (query) => {
      if (query.get('search')) return reply(listMessages, [wanted]);
      const at = many.findIndex(({ id }) => id === query.get('cursor')) + 1;
      return reply(listMessages, many.slice(at, at + MESSAGES_PAGE));
    });
    const shown = vi.fn();
    Element.prototype.scrollIntoView = shown;
    renderForTest(<ChatPage />, '/chat');
    expect(await log().findByText(`no. ${MESSAGES_PAGE + 10}`)).toBeVisible();
    expect(log().queryByText('no. 1')).not.toBeInTheDocument();
    const user = userEvent.setup();
    await user.click(screen.getByRole('button', { name: 'Search messages' }));
    await user.type(await screen.findByRole('searchbox', { name: 'Search the messages' }), 'no. 1');
    await user.click(await screen.findByRole('link', { name: /no\. 1$/u }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    const found = (await log().findByText('no. 1')).closest('li');
    await waitFor(() => expect(found).toHaveFocus());
    expect(shown.mock.contexts).toEqual([found]);
  });

  it('is online on load and offline when the browser is', async () => {
    await open();
    expect(state()).toHaveTextContent('You’re online');
    act(() => void window.dispatchEvent(new Event('offline')));
    expect(state()).toHaveTextContent('You’re offline');
  });

  // proves: support-customer-26
  it('is quiet until somebody asks for a sound', async () => {
    const user = await open();
    const sound = screen.getByRole('button', { name: 'Sound' });
    expect(sound).toHaveAttribute('aria-pressed', 'false');
    await user.click(sound);
    expect(sound).toHaveAttribute('aria-pressed', 'true');
  });

  it('the call button says how else to reach support where there is no number', async () => {
    const user = await open();
    await user.click(screen.getByRole('button', { name: 'Call support' }));
    expect(screen.getByText(/Support has no phone number that you can call from here/u)).toBeVisible();
  });

  it('offers no transcript without a message', async () => {
    await open();
    expect(screen.queryByRole('button', { name: /^Search messages/u })).toBeNull();
  });

  it('the dialog leads to the live chat in a new window and says that there is no video', async () => {
    const user = await open();
    await user.click(screen.getByRole('button', { name: 'Video and live chat' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Video and live chat' }));
    const link = dialog.getByRole('link', { name: 'Open live chat' });
    expect(link).toHaveAttribute('href', '/live-chat');
    expect(link).toHaveAttribute('target', '_blank');
    expect(link).toHaveAttribute('rel', 'noopener');
    expect(dialog.getByText(/Video calls are not part of this version/u)).toBeVisible();
    await user.click(dialog.getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  });
});
