import { login } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { expect, test } from 'vitest';
import { startListeningApp } from '#test/harness.ts';

test('a field that travels in a header is taken from there, from the body as before, and held to its schema', async () => {
  const { url, signIn } = await startListeningApp();
  const { token } = await signIn('maria');
  const send = async (headers: Record<string, string>, more: Record<string, unknown> = {}) => {
    const answer = await fetch(`${url}/api${sendMessage.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify({ message: 'Hello', sender: 'user', ...more }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const name = crypto.randomUUID();
  const first = await send({ 'Idempotency-Key': name });
  expect(first).toMatchObject({ status: 201, body: { client_message_id: name } });
  expect((await send({ 'Idempotency-Key': name })).body).toEqual(first.body);
  expect((await send({}, { client_message_id: name })).body).toEqual(first.body);
  expect(await send({ 'Idempotency-Key': 'no name' })).toMatchObject({
    status: 422,
    body: { code: 'invalid_field', errors: [{ field: 'idempotency-key' }] },
  });
  expect(await send({})).toMatchObject({ status: 201, body: { client_message_id: null } });
});

test('a browser sends its identifier in a header', async () => {
  const { url, signIn, app } = await startListeningApp();
  const { email } = await signIn('zoe');
  const browser_id = crypto.randomUUID();
  const answer = await fetch(`${url}/api${login.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Browser-Id': browser_id },
    body: JSON.stringify({ email, password: 'a long enough password' }),
  });
  expect(answer.status).toBe(200);
  const known = await app.database.selectFrom('known_browsers').selectAll().execute();
  expect(JSON.stringify(known)).toContain(browser_id);
});
