import { AUTOMATIC_REPLY_DELAY, automaticReply, type ChatMessage, listMessages, sendMessage } from '@palisade/contract/chat';
import { readConfig } from '@palisade/contract/platform';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reportConnection } from '#api/connection.ts';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { MESSAGES_PAGE } from './chat.queries.ts';
import { ChatPage } from './chat-page.tsx';

let server: FakeServer;
let errors: ReturnType<typeof vi.spyOn>;
let lastId = 0;

function messageOf(message: string, parts: Partial<ChatMessage> = {}): ChatMessage {
  lastId += 1;
  return {
    id: `01930000-0000-7000-9000-${String(lastId).padStart(12, '0')}`,
    user_id: MARIA.id,
    conversation_id: '01930000-0000-7000-8000-000000000001',
    seq: lastId,
    message,
    sender: 'user',
    author: null,
    is_automatic: false,
    timestamp: '2026-11-20T10:00:00.000Z',
    is_read: false,
    client_message_id: null,
    attachments: [],
    card: null,
    ...parts,
  };
}

const sentOf = (message: string) => ({ ...messageOf(message), automatic_reply: null });

beforeEach(() => {
  errors = vi.spyOn(console, 'error').mockReturnValue();
  server = new FakeServer();
  startSession({ access_token: 'token-1', user_info: MARIA });
  server.on(readConfig, reply(readConfig, CONFIG));
  server.on(listMessages, reply(listMessages, []));
});

afterEach(() => {
  vi.useRealTimers();
  reportConnection('online');
});

const field = () => screen.getByRole('textbox', { name: 'Message' });
const send = () => screen.getByRole('button', { name: 'Send' });
const log = () => within(screen.getByRole('log', { name: 'Messages' }));
const state = () => within(screen.getByRole('region', { name: 'Conversation with support' })).getByText(/^(Online|Offline)$/u);

async function open() {
  renderForTest(<ChatPage />);
  await screen.findByText('What can we help with?');
  return userEvent.setup();
}

describe('the conversation', () => {
  it('shows that it is loading', () => {
    server.on(listMessages, () => new Promise(() => undefined));
    renderForTest(<ChatPage />);
    expect(screen.getByRole('status', { name: 'Loading the conversation' })).toBeVisible();
  });

  it('reverses what comes newest first, tells who wrote what, and shows hostile text as text', async () => {
    const messages = [messageOf('We see', { sender: 'support' }), messageOf('<b>bold</b>'), messageOf('first')];
    server.on(listMessages, reply(listMessages, messages));
    renderForTest(<ChatPage />);
    await screen.findByText('first');
    expect(
      log()
        .getAllByRole('listitem')
        .map((item) => item.textContent),
    ).toEqual([
      expect.stringMatching(/^You.*first$/u),
      expect.stringMatching(/^You.*<b>bold<\/b>$/u),
      expect.stringMatching(/^Support.*We see$/u),
    ]);
  });

  it('says why it could not be read, logs it, and reads it on Retry', async () => {
    server.on(listMessages, refusal('internal', { detail: 'The server is tired.' }));
    renderForTest(<ChatPage />);
    expect(await screen.findByRole('alert')).toHaveTextContent('The server is tired.');
    server.on(listMessages, reply(listMessages, [messageOf('found again')]));
    await userEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('found again')).toBeVisible();
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });

  it('reads older messages on demand', async () => {
    const full = Array.from({ length: MESSAGES_PAGE }, (_, index) => messageOf(`newer ${index}`));
    server.on(listMessages, reply(listMessages, full));
    renderForTest(<ChatPage />);
    const earlier = await screen.findByRole('button', { name: 'Show earlier messages' });
    server.on(listMessages, reply(listMessages, [messageOf('the very first')]));
    await userEvent.click(earlier);
    await screen.findByText('the very first');
    expect(log().getAllByRole('listitem')[0]).toHaveTextContent('the very first');
    expect(screen.queryByRole('button', { name: 'Show earlier messages' })).not.toBeInTheDocument();
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
    expect(server.callsOf(sendMessage)[0]?.body).toEqual({ message: ' hello ', sender: 'user' });
    await act(async () => answer.resolve(reply(sendMessage, sentOf('hello, as the server has it'))));
    expect(await screen.findByText('hello, as the server has it')).toBeVisible();
    expect(screen.queryByText('Typing…')).not.toBeInTheDocument();
    expect(field()).toHaveValue('');
    expect(server.callsOf(listMessages)).toHaveLength(1);
  });

  it('happens by Enter, and not by Shift and Enter', async () => {
    server.on(sendMessage, reply(sendMessage, sentOf('two lines')));
    const user = await open();
    await user.type(field(), 'one{Shift>}{Enter}{/Shift}two');
    expect(server.callsOf(sendMessage)).toEqual([]);
    await user.keyboard('{Enter}');
    await screen.findByText('two lines');
    expect(server.callsOf(sendMessage)[0]?.body).toEqual({ message: 'one\ntwo', sender: 'user' });
  });

  it('is followed by an automatic reply of this page after 1.5 seconds, below its message and marked', async () => {
    server.on(sendMessage, reply(sendMessage, sentOf('I have a virus')));
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
    expect(answer).toHaveTextContent(automaticReply('virus'));
    expect(server.callsOf(sendMessage)).toHaveLength(1);
  });

  it('that fails is logged, keeps the text, says so quietly, and works on Retry', async () => {
    server.lose(sendMessage);
    const user = await open();
    await user.type(field(), 'do not lose me');
    await user.click(send());
    expect(await screen.findByRole('alert')).toHaveTextContent('Your message was not sent');
    expect(field()).toHaveValue('do not lose me');
    expect(errors).toHaveBeenCalledWith(expect.objectContaining({ kind: 'network' }));
    expect(state()).toHaveTextContent('Offline');
    server.on(sendMessage, reply(sendMessage, sentOf('do not lose me')));
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    await waitFor(() => expect(log().getByText('do not lose me')).toBeVisible());
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
    expect(state()).toHaveTextContent('Online');
  });

  it('of more than a message holds is not tried, and says how much too long it is', async () => {
    await open();
    fireEvent.change(field(), { target: { value: 'x'.repeat(4_120) } });
    expect(screen.getByText('4,120 of 4,000 characters. Send it in parts.')).toBeVisible();
    expect(send()).toBeDisabled();
  });
});

describe('what stands around it', () => {
  it.each(['Performance issues', 'Firewall help', 'Remote support'])(
    'the chip %s fills the field and keeps what is there',
    async (chip) => {
      const user = await open();
      await user.click(screen.getByRole('button', { name: chip }));
      const prompt = field().textContent;
      expect(prompt.length).toBeGreaterThan(20);
      expect(field()).toHaveFocus();
      await user.clear(field());
      await user.type(field(), 'Hello.');
      await user.click(screen.getByRole('button', { name: chip }));
      expect(field()).toHaveValue(`Hello.\n${prompt}`);
    },
  );

  it('is online on load and offline when the browser is', async () => {
    await open();
    expect(state()).toHaveTextContent('Online');
    act(() => void window.dispatchEvent(new Event('offline')));
    expect(state()).toHaveTextContent('Offline');
  });

  it('the call button says how else to reach support where there is no number', async () => {
    const user = await open();
    await user.click(screen.getByRole('button', { name: 'Call support' }));
    expect(screen.getByText(/There is no phone number of support that can be called from here/u)).toBeVisible();
  });

  it('the dialog leads to the live chat in a new window and says that there is no video', async () => {
    const user = await open();
    await user.click(screen.getByRole('button', { name: 'Video and live chat' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Video and live chat' }));
    const link = dialog.getByRole('link', { name: 'Open live chat' });
    expect(link).toHaveAttribute('href', '/live-chat');
    expect(link).toHaveAttribute('target', '_blank');
    expect(link).toHaveAttribute('rel', 'noopener');
    expect(dialog.getByText(/Video calls are not part of this version/u)).toBeVisible();
    await user.click(dialog.getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  });
});
