import {
  deleteAttachment,
  downloadAttachment,
  readAttachment,
  sendMessage,
  UNSENT_ATTACHMENTS_MAXIMUM,
} from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { answerConversation, closeConversation, listDeskMessages } from '@palisade/contract/desk';
import { deleteAccount } from '@palisade/contract/privacy';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import { expect, test } from 'vitest';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { insertRow } from '#test/rows.ts';
import { listenAs } from '#test/socket.ts';
import { createSteeredEngine, unreadAs } from '#test/steered-engine.ts';
import { attach, tryAttach } from '#test/upload.ts';

const LOCKED = Buffer.from('a file that nobody opens');
const { engine, steered } = createSteeredEngine();
steered.find = (bytes) => (bytes.equals(LOCKED) ? unreadAs('encrypted') : {});
const app = await startListeningApp({ surroundings: { embedded_engine: engine } });
const { call, signIn } = app;
await signIn('boss');
const ana = await signIn('ana', 'support');
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const TEXT = Buffer.from('just a few words');

const open = (token: string, id: string) =>
  app.fetch(`/api${downloadAttachment.path.replace('{id}', id)}`, { headers: { authorization: `Bearer ${token}` } });
const send = (token: string, attachment_ids: string[], message = '') =>
  call(sendMessage, { token, body: { message, sender: 'user', attachment_ids } });

// proves: support-customer-5
test('a clean file is sent with a message or without words, and opened by the other side', async () => {
  const { token } = await signIn();
  const page = await listenAs(app, token);
  const file = await attach(app, token, '../../etc/notes [1].txt', TEXT);
  await page.event((event) => event.kind === 'chat_attachment' && event.attachment.status === 'clean');
  expect(replyOf(await call(readAttachment, { token, params: { id: file.id } }))).toMatchObject({
    filename: 'notes [1].txt',
    status: 'clean',
    is_image: false,
    size: TEXT.length,
  });
  // Until it is sent it belongs to its uploader alone.
  expect((await open(ana.token, file.id)).status).toBe(404);
  const { conversation_id, attachments } = replyOf(await send(token, [file.id]));
  expect(attachments).toMatchObject([{ id: file.id }]);
  const theirs = await open(ana.token, file.id);
  expect(Buffer.from(await theirs.arrayBuffer())).toEqual(TEXT);
  expect(theirs.headers.get('content-type')).toBe('application/octet-stream');
  expect(theirs.headers.get('content-disposition')).toMatch(/^attachment; filename="notes _1_\.txt"/u);
  expect(theirs.headers.get('content-security-policy')).toContain('sandbox');
  expect(theirs.headers.get('x-content-type-options')).toBe('nosniff');
  const [message] = replyOf(
    await call(listDeskMessages, { token: ana.token, params: { id: conversation_id }, query: '?search=' }),
  );
  expect(message?.attachments).toHaveLength(1);
  const answer = await attach(app, ana.token, 'answer.png', PNG);
  const body = { message: 'look', attachment_ids: [answer.id], is_note: false };
  replyOf(await call(answerConversation, { token: ana.token, params: { id: conversation_id }, body }));
  const picture = await open(token, answer.id);
  expect([picture.headers.get('content-type'), picture.headers.get('content-disposition')]).toEqual(['image/png', 'inline']);
  page.leave();
});

// proves: support-customer-7
test.each([
  ['an SVG', 'picture.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
  ['a page', 'page.html', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ['a page that is called a picture', 'picture.png', Buffer.from('<!doctype html><script>alert(1)</script>')],
])('%s is never shown in place', async (_, name, content) => {
  const { token } = await signIn();
  const { id } = await attach(app, token, name, content);
  await eventually(async () =>
    expect(replyOf(await call(readAttachment, { token, params: { id } })).status).not.toBe('scanning'),
  );
  const answer = await open(token, id);
  if (answer.ok) {
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/u);
  } else expect(answer.status).toBe(409);
});

// proves: support-customer-6
test('an infected or unread file reaches no one, and is removed', async () => {
  const { token } = await signIn();
  const infected = await attach(app, token, 'eicar.com', EICAR);
  const locked = await attach(app, token, 'locked.zip', LOCKED);
  for (const [{ id }, status] of [
    [infected, 'infected'],
    [locked, 'unread'],
  ] as const) {
    await eventually(async () => expect(replyOf(await call(readAttachment, { token, params: { id } })).status).toBe(status));
    expect(problemOf(await send(token, [id])).code).toBe('conflict');
    expect((await open(token, id)).status).toBe(409);
    expect((await open(ana.token, id)).status).toBe(404);
  }
  expect(replyOf(await call(listMessages, { token }))).toEqual([]);
});

// proves: support-bad-input-4
test('a file is sent once, by its uploader, and a sent one stays', async () => {
  const [one, other] = await Promise.all([signIn(), signIn()]);
  const { id } = await attach(app, one.token, 'a.txt', TEXT);
  expect(problemOf(await send(other.token, [id])).code).toBe('not_found');
  expect(problemOf(await call(deleteAttachment, { token: other.token, params: { id } })).code).toBe('not_found');
  expect(problemOf(await send(one.token, [id, id])).code).toBe('invalid_field');
  replyOf(await send(one.token, [id]));
  expect(problemOf(await send(one.token, [id])).code).toBe('not_found');
  expect(problemOf(await call(deleteAttachment, { token: one.token, params: { id } })).code).toBe('conflict');
});

// proves: support-customer-8
test('an empty file, too many of them, and one that is too large are refused', async () => {
  const { token } = await signIn();
  expect(problemOf(await tryAttach(app, token, 'empty', Buffer.alloc(0))).code).toBe('invalid_field');
  expect(problemOf(await tryAttach(app, token, 'large', Buffer.alloc(25 * 1024 ** 2 + 1))).code).toBe('too_large');
  const many = Array.from({ length: 11 }, () => '01890a5d-ac96-774b-bcce-b302099a8057').map((id, place) =>
    id.slice(0, -2).concat(String(10 + place)),
  );
  expect(problemOf(await send(token, many)).code).toBe('invalid_field');
  const row = { conversation_id: null, message_id: null, place: null, filename: 'x', size: 1, sha256: 'x', picture_type: null };
  const { id: uploader_id } = await app.app.database
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select('users.id')
    .orderBy('sessions.id', 'desc')
    .executeTakeFirstOrThrow();
  for (let count = 0; count < UNSENT_ATTACHMENTS_MAXIMUM; count += 1)
    await insertRow(app.app.database, 'chat_attachments', {
      id: `file-${count}`,
      uploader_id,
      ...row,
      status: 'clean',
      threat: null,
      created_at: new Date().toISOString(),
    });
  expect(problemOf(await tryAttach(app, token, 'one more', TEXT)).code).toBe('conflict');
});

// proves: support-bad-input-5
test('no more are unsent than there may be, however many come at once', async () => {
  const { token } = await signIn();
  const come = Array.from({ length: 3 * UNSENT_ATTACHMENTS_MAXIMUM }, (_, place) => tryAttach(app, token, `${place}.txt`, TEXT));
  const answers = await Promise.all(come);
  expect(answers.filter(({ ok }) => ok)).toHaveLength(UNSENT_ATTACHMENTS_MAXIMUM);
  for (const answer of answers) if (!answer.ok) expect(answer.problem.code).toBe('conflict');
});

// proves: support-fault-10
test('the files of an account go with it, and staff learn that its conversation is gone', async () => {
  const { token, password, email } = await signIn();
  const { id } = await attach(app, token, 'a.txt', TEXT);
  const { conversation_id } = replyOf(await send(token, [id]));
  const page = await listenAs(app, ana.token);
  page.say({ kind: 'listen', topic: 'staff' });
  await eventually(() => expect(page.frames.some(({ kind }) => kind === 'listening')).toBe(true));
  replyOf(await call(deleteAccount, { token, body: { password, confirmation: email } }));
  await page.event((event) => event.kind === 'conversation_removed' && event.conversation_id === conversation_id);
  expect(await app.app.database.selectFrom('chat_attachments').select('id').where('id', '=', id).execute()).toEqual([]);
  page.leave();
});

test('the name of an account is deleted with it, also in its answers to others', async () => {
  const { token } = await signIn();
  const { conversation_id } = replyOf(await call(sendMessage, { token, body: { message: 'hello', sender: 'user' } }));
  const zoe = await signIn('zoe', 'support');
  const body = { message: 'Good day', attachment_ids: [] };
  replyOf(await call(answerConversation, { token: zoe.token, params: { id: conversation_id }, body }));
  replyOf(await call(deleteAccount, { token: zoe.token, body: { password: zoe.password, confirmation: zoe.email } }));
  const [newest] = replyOf(await call(listMessages, { token }));
  expect(newest).toMatchObject({ message: 'Good day', author: 'A former technician' });
});

// proves: support-fault-11
test('closed conversations go after the days that are set, with their files, and open ones stay', async () => {
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const kept = await startListeningApp({
    environment: { RETAIN_CHATS: '5' },
    surroundings: { now: () => clock, every_ms: { retention: 20 } },
  });
  const boss = await kept.signIn('boss');
  const [one, other] = [await kept.signIn(), await kept.signIn()];
  const { id } = await attach(kept, one.token, 'a.txt', TEXT);
  const body = { message: 'hello', sender: 'user', attachment_ids: [id] } as const;
  const { conversation_id } = replyOf(
    await kept.call(sendMessage, { token: one.token, body: { ...body, attachment_ids: [id] } }),
  );
  replyOf(await kept.call(sendMessage, { token: other.token, body: { message: 'hello', sender: 'user' } }));
  replyOf(await kept.call(closeConversation, { token: boss.token, params: { id: conversation_id } }));
  const left = async () => [
    (await kept.app.database.selectFrom('conversations').select('id').execute()).length,
    (await kept.app.database.selectFrom('chat_attachments').select('id').execute()).length,
  ];
  expect(await left()).toEqual([2, 1]);
  clock += 6 * 86_400_000;
  await eventually(async () => expect(await left()).toEqual([1, 0]));
});
