import { downloadTranscript, sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { answerConversation, assignConversation, listDeskMessages, startRemoteSession } from '@palisade/contract/desk';
import { listConversations } from '@palisade/contract/desk-list';
import { exportData } from '@palisade/contract/privacy';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { chatEnglish } from '#test/chat-english.ts';
import { replyOf, startListeningApp } from '#test/harness.ts';
import { insertRow } from '#test/rows.ts';
import { scanOf } from '#test/scan-of.ts';
import { listenAs } from '#test/socket.ts';
import { sentence } from './chat.phrases.ts';

const app = await startListeningApp();
const { call, signIn } = app;
const boss = await signIn('boss');
const ana = await signIn('ana', 'support');

async function customerWith(message: string) {
  const person = await signIn();
  const sent = replyOf(await call(sendMessage, { token: person.token, body: { message, sender: 'user' } }));
  return { ...person, id: sent.conversation_id, sent };
}
const read = async ({ token }: { token: string }) => replyOf(await call(listMessages, { token }));
const lastOf = async (id: string) =>
  replyOf(await call(listConversations, { token: ana.token, query: '?limit=500' })).find((one) => one.id === id)?.last_message;

test('an automatic reply has its code in the answer, in the lists, and for pages that listen', async () => {
  const maria = await signIn('maria');
  const page = await listenAs(app, maria.token);
  const { token } = maria;
  const sent = replyOf(await call(sendMessage, { token, body: { message: 'I have a virus', sender: 'user' } }));
  const phrases = [{ code: 'reply.virus', params: {} }];
  expect(sent).toMatchObject({ phrases: null, automatic_reply: { phrases, message: sentence('reply.virus').english } });
  const event = await page.event((told) => told.kind === 'chat_message' && told.message.is_automatic);
  expect(event).toMatchObject({ event: { message: { phrases } } });
  page.leave();

  const messages = await read(maria);
  expect(messages.map((message) => message.phrases)).toEqual([phrases, null]);
  const [reply] = messages;
  expect(reply && chatEnglish(reply)).toBe(reply?.message);
  const params = { id: sent.conversation_id };
  expect(replyOf(await call(listDeskMessages, { token: ana.token, params }))[0]).toMatchObject({ phrases });

  // The second message of an open conversation takes another way to the database.
  const next = replyOf(await call(sendMessage, { token, body: { message: 'and it is slow', sender: 'user' } }));
  expect(next).toMatchObject({ phrases: null, automatic_reply: { phrases: [{ code: 'reply.slow', params: {} }] } });
  expect((await read(maria)).map((message) => message.phrases?.[0]?.code)).toEqual([
    'reply.slow',
    undefined,
    'reply.virus',
    undefined,
  ]);
});

test('a person with an infected file is told how to end it, and a harmless test file is none', async () => {
  const write = async (threat_detected: string) => {
    const { id, token } = await signIn();
    await insertRow(
      app.app.database,
      'scans',
      scanOf(id, new Date().toISOString(), { scan_status: 'infected', threat_detected }),
    );
    const body = { message: 'I have a virus', sender: 'user' } as const;
    return replyOf(await call(sendMessage, { token, body })).automatic_reply?.phrases;
  };
  expect(await write('EICAR-Test-File')).toEqual([{ code: 'reply.virus', params: {} }]);
  expect(await write('Trojan.Generic')).toEqual([{ code: 'reply.infected', params: {} }]);
});

test('notes about a transfer have names as parameters, and the words of staff have no phrases', async () => {
  const { id, sent } = await customerWith('hello');
  const params = { id };
  replyOf(await call(answerConversation, { token: ana.token, params, body: { message: 'I am here.', is_note: false } }));
  for (const assignee_id of [boss.id, null])
    replyOf(await call(assignConversation, { token: boss.token, params, body: { assignee_id } }));
  const messages = replyOf(await call(listDeskMessages, { token: ana.token, params })).toReversed();
  expect(messages.map(({ phrases }) => phrases)).toEqual([
    null,
    [{ code: 'reply.received', params: {} }],
    null,
    [{ code: 'assignment.transferred', params: { by: 'boss', to: 'boss' } }],
    [{ code: 'assignment.removed', params: { by: 'boss' } }],
  ]);
  for (const message of messages) if (message.phrases !== null) expect(chatEnglish(message)).toBe(message.message);
  expect(sent.automatic_reply?.phrases).toHaveLength(1);
});

test.each([
  [1, 'Returned to Unassigned: no reply for 1 minute.'],
  [10, 'Returned to Unassigned: no reply for 10 minutes.'],
  [1_440, 'Returned to Unassigned: no reply for 1,440 minutes.'],
])('a wait of %i minutes has the plural of its count', (minutes, english) => {
  expect(sentence('assignment.no_reply', { minutes }).english).toBe(english);
});

test('a message of an older server has no phrases, and one of a newer server with an unknown code neither', async () => {
  const customer = await customerWith('everything is slow');
  const set = (phrases: string | null) =>
    app.app.database
      .updateTable('chat_messages')
      .set({ phrases })
      .where('conversation_id', '=', customer.id)
      .where('is_automatic', '=', 1)
      .execute();
  const known = { code: 'reply.slow', params: {} };
  expect((await read(customer))[0]?.phrases).toEqual([known]);
  for (const stored of [
    null,
    '[]',
    JSON.stringify([known, { code: 'of_a_newer_version', params: {} }]),
    '[{"code":"toString","params":{}}]',
  ]) {
    await set(stored);
    expect((await read(customer))[0]).toMatchObject({ phrases: null, message: sentence('reply.slow').english });
  }
});

test('the inbox has phrases for a text that stands for a card', async () => {
  const { id } = await customerWith('please look at it');
  expect(await lastOf(id)).toMatchObject({ text: 'please look at it', phrases: null });
  replyOf(await call(startRemoteSession, { token: ana.token, params: { id } }));
  expect(await lastOf(id)).toMatchObject({ text: 'A remote session', phrases: [{ code: 'preview.remote_session', params: {} }] });
});

test('an export of a person’s data has the phrases as data, and a transcript has the English', async () => {
  const customer = await customerWith('a billing question');
  const headers = { authorization: `Bearer ${customer.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ password: customer.password });
  const file: unknown = await (await app.fetch(`/api${exportData.path}`, { method: 'POST', headers, body })).json();
  const { chat_messages } = z.object({ chat_messages: z.array(z.object({ phrases: z.unknown() })) }).parse(file);
  expect(chat_messages.map(({ phrases }) => phrases)).toEqual([null, [{ code: 'reply.billing', params: {} }]]);
  const transcript = await (await app.fetch(`/api${downloadTranscript.path}`, { headers })).text();
  expect(transcript).toContain(sentence('reply.billing').english);
  expect(transcript).not.toContain('reply.billing');
});
