import { MESSAGE_LENGTH_MAXIMUM, sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { readConversation } from '@palisade/contract/desk';
import { describe, expect, test } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';

describe('the support chat', async () => {
  const clock = Date.parse('2026-11-20T10:00:00Z');
  const app = await startTestApp({ surroundings: { now: () => clock } });
  const { call, signIn } = app;
  const post = (token: string | undefined, body: unknown) =>
    app.fetch(`/api/chat/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('a sent message is answered with whose it is, and heads the list', async () => {
    const { token } = await signIn();
    expect(replyOf(await call(listMessages, { token }))).toEqual([]);
    const first = replyOf(await call(sendMessage, { token, body: { message: 'My computer is slow', sender: 'user' } }));
    expect(first).toMatchObject({
      message: 'My computer is slow',
      sender: 'user',
      timestamp: '2026-11-20T10:00:00.000Z',
      is_read: false,
    });
    const second = replyOf(await call(sendMessage, { token, body: { message: 'Still', sender: 'user' } }));
    const whole = [second, first].flatMap(({ automatic_reply, ...sent }) => [automatic_reply, sent]);
    // Writing marks earlier messages as read.
    expect(replyOf(await call(listMessages, { token }))).toEqual([
      ...whole.slice(0, 2),
      { ...whole[2], is_read: true },
      whole[3],
    ]);
    expect(whole.map((message) => message?.seq)).toEqual([4, 3, 2, 1]);
  });

  test('a topic tags the conversation for the staff and chooses the reply where no keyword does', async () => {
    const { token } = await signIn();
    const { token: staff } = await signIn(undefined, 'support');
    const body = { message: 'nothing prints', sender: 'user', topic: 'firewall' } as const;
    const sent = replyOf(await call(sendMessage, { token, body }));
    expect(sent.automatic_reply?.phrases).toEqual([{ code: 'reply.firewall', params: {} }]);
    replyOf(await call(sendMessage, { token, body }));
    const conversation = await call(readConversation, { token: staff, params: { id: sent.conversation_id } });
    expect(replyOf(conversation).tags).toEqual(['firewall']);
    expect((await post(token, { ...body, topic: 'weather' })).status).toBe(422);
  });

  // proves: asvs-1.1.2, asvs-1.2.3, support-bad-input-3
  test.each([
    ["'; drop table chat_messages; --"],
    ['<script>alert(1)</script><img src=x onerror=alert(1)>'],
    ['  blanks and\nlines stay  '],
    ['null'],
    ['🦔'.repeat(MESSAGE_LENGTH_MAXIMUM)],
  ])('%j is stored verbatim', async (message) => {
    const { token } = await signIn();
    await call(sendMessage, { token, body: { message, sender: 'user' } });
    expect(replyOf(await call(listMessages, { token })).at(-1)?.message).toBe(message);
  });

  // proves: support-bad-input-1
  test.each([
    ['no message', { sender: 'user' }, 'message'],
    ['an empty message', { message: '', sender: 'user' }, 'message'],
    ['blanks alone', { message: ' \n\t', sender: 'user' }, 'message'],
    ['a message that is too long', { message: 'x'.repeat(MESSAGE_LENGTH_MAXIMUM + 1), sender: 'user' }, 'message'],
    ['a character that no database keeps', { message: 'a\0b', sender: 'user' }, 'message'],
    ['a number', { message: 7, sender: 'user' }, 'message'],
    ['a list', { message: ['a'], sender: 'user' }, 'message'],
    ['no sender', { message: 'a' }, 'sender'],
    ['support as the sender', { message: 'a', sender: 'support' }, 'sender'],
  ])('%s is refused by name', (_, body, field) => {
    expect(sendMessage.body?.safeParse(body).error?.issues[0]?.path).toEqual([field]);
  });

  // proves: asvs-8.2.3, asvs-15.3.3, support-bad-input-2
  test("unknown fields are ignored and never echoed, and none of them changes a message's owner", async () => {
    const [{ token }, { token: other }] = await Promise.all([signIn(), signIn()]);
    const theirs = replyOf(await call(sendMessage, { token: other, body: { message: 'a', sender: 'user' } }));
    const response = await post(token, {
      message: 'b',
      sender: 'user',
      user_id: theirs.user_id,
      is_read: true,
      timestamp: '1970-01-01T00:00:00Z',
      extra: 1,
    });
    expect(response.status).toBe(201);
    const reply: unknown = await response.json();
    expect(reply).toMatchObject({ is_read: false, timestamp: '2026-11-20T10:00:00.000Z' });
    expect(reply).not.toHaveProperty('extra');
    expect(replyOf(await call(listMessages, { token: other })).map(({ message }) => message)).toContain('a');
    expect(replyOf(await call(listMessages, { token: other }))).toHaveLength(2);
  });
});
