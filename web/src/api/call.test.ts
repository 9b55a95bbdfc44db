import { listScans, scanFile } from '@palisade/contract/antivirus';
import { login, logout } from '@palisade/contract/auth';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CallError, call, upload } from './call.ts';
import { askEarly } from './early.ts';
import { MARIA, scanOf } from './fake-records.ts';
import { FakeServer, refusal, reply } from './fake-server.ts';
import { currentSession, endSession, startSession } from './session.ts';

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer(MARIA);
});

async function failureOf(promise: Promise<unknown>): Promise<CallError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CallError)) throw new Error(`Not a CallError: ${String(error)}`);
  return error;
}

describe('call', () => {
  it('sends the body and the token, and answers the parsed reply', async () => {
    server.answer(login, { access_token: 'token-2', user_info: MARIA });
    const answer = await call(login, { body: { email: 'maria@example.com', password: 'a long password' } });
    expect(answer.user_info).toEqual(MARIA);
    expect(server.calls).toEqual([
      {
        method: 'POST',
        path: '/auth/login',
        token: 'Bearer token-1',
        body: { email: 'maria@example.com', password: 'a long password' },
      },
    ]);
  });

  it('sends no token when nobody is signed in', async () => {
    endSession();
    server.answer(listScans, []);
    await call(listScans);
    expect(server.calls[0]?.token).toBeNull();
  });

  it('takes an answer that was asked for early, once, and only for the same session', async () => {
    server.answer(listScans, []);
    askEarly('token-1', ['/antivirus/scans']);
    await call(listScans);
    expect(server.calls).toHaveLength(1);
    await call(listScans);
    expect(server.calls).toHaveLength(2);
    askEarly('token-1', ['/antivirus/scans']);
    startSession({ access_token: 'token-2', user_info: MARIA });
    await call(listScans);
    expect(server.calls.map(({ token }) => token)).toEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  it('tells of an early call that got no answer', async () => {
    server.lose(listScans);
    askEarly('token-1', ['/antivirus/scans']);
    expect(await failureOf(call(listScans))).toMatchObject({ kind: 'network' });
  });

  it('answers nothing for an endpoint without a reply', async () => {
    server.answer(logout, undefined);
    expect(await call(logout)).toBeUndefined();
  });

  it('turns a refusal into an error with its sentence and its fields', async () => {
    const errors = [{ field: 'email', message: 'Enter an email address.' }];
    server.on(login, refusal('invalid_field', { detail: 'Check the email.', errors }));
    const error = await failureOf(call(login, { body: { email: '', password: 'x' } }));
    expect(error).toMatchObject({ kind: 'problem', status: 422, sentence: 'Check the email.' });
    expect(error.problem?.errors).toEqual(errors);
  });

  it('tells how long the server asks to wait', async () => {
    server.on(listScans, refusal('too_many_requests', { retry_after: 20 }));
    expect(await failureOf(call(listScans))).toMatchObject({ status: 429, retry_after: 20 });
    server.on(listScans, refusal('too_many_requests'));
    expect((await failureOf(call(listScans))).retry_after).toBeUndefined();
    expect(currentSession()).toBeDefined();
  });

  it('says in the words of the specification that there is no way to the server', async () => {
    server.lose(listScans);
    expect(await failureOf(call(listScans))).toMatchObject({
      kind: 'network',
      status: 0,
      sentence: 'Network error. Please try again.',
    });
  });

  it.each([
    ['a page of a proxy', { status: 502, text: '<h1>Bad gateway</h1>' }],
    ['success that is no JSON', { status: 200, text: 'ok' }],
    ['success of another shape', { status: 200, text: '[{"id": 1}]' }],
    ['a problem without a code', { status: 400, text: JSON.stringify({ type: '', title: '', status: 400, detail: 'x' }) }],
  ])('cannot read %s', async (_, answer) => {
    server.on(listScans, answer);
    expect(await failureOf(call(listScans))).toMatchObject({ kind: 'unreadable', status: answer.status });
  });

  it('ends the session that the server no longer knows', async () => {
    server.on(listScans, refusal('unauthenticated'));
    await failureOf(call(listScans));
    expect(currentSession()).toBeUndefined();
    expect(localStorage.getItem('palisade.access_token')).toBeNull();
  });

  it('keeps the session when only a password was wrong', async () => {
    server.on(login, refusal('invalid_credentials'));
    await failureOf(call(login, { body: { email: 'maria@example.com', password: 'x' } }));
    expect(currentSession()).toBeDefined();
  });

  it('keeps a session that began after the call whose answer comes late', async () => {
    server.on(listScans, () => {
      startSession({ access_token: 'token-2', user_info: MARIA });
      return refusal('unauthenticated');
    });
    await failureOf(call(listScans));
    expect(currentSession()?.access_token).toBe('token-2');
  });

  it('throws the reason of an abort, not a failure of the network', async () => {
    const abort = new AbortController();
    server.on(listScans, () => new Promise(() => undefined));
    const promise = call(listScans, { signal: abort.signal });
    abort.abort(new Error('left the screen'));
    await expect(promise).rejects.toThrow('left the screen');
  });
});

describe('upload', () => {
  const file = new File(['x'], 'a.txt');

  it('sends the file with the token, tells how far it is, and answers the parsed record', async () => {
    const onProgress = vi.fn<(share: number) => void>();
    const promise = upload(scanFile, file, { onProgress });
    const [sent] = server.uploads;
    sent?.progress(0.25);
    sent?.progress(1);
    sent?.answer(reply(scanFile, scanOf({ filename: 'a.txt' })));
    expect(await promise).toMatchObject({ filename: 'a.txt' });
    expect(sent?.file.name).toBe('a.txt');
    expect(sent?.token).toBe('Bearer token-1');
    expect(onProgress.mock.calls.map(([share]) => share)).toEqual([0.25, 1, 1]);
  });

  it('stops on abort and throws its reason', async () => {
    const abort = new AbortController();
    const promise = upload(scanFile, file, { signal: abort.signal });
    abort.abort(new Error('cancelled'));
    await expect(promise).rejects.toThrow('cancelled');
    expect(server.uploads[0]?.isAborted()).toBe(true);
  });

  it('fails with the same errors as a call', async () => {
    const refused = upload(scanFile, file);
    server.uploads[0]?.answer(refusal('too_large'));
    expect(await failureOf(refused)).toMatchObject({ kind: 'problem', status: 413 });
    const lost = upload(scanFile, file);
    server.uploads[1]?.breakOff();
    expect(await failureOf(lost)).toMatchObject({ kind: 'network' });
    const odd = upload(scanFile, file);
    server.uploads[2]?.answer({ status: 201, text: '{}' });
    expect(await failureOf(odd)).toMatchObject({ kind: 'unreadable' });
  });
});

it.each([
  [400, 'malformed'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [500, 'internal'],
])('reads a refusal of %s that has a detail alone, as the specification does', async (status, code) => {
  const server = new FakeServer();
  server.on(listScans, { status, text: JSON.stringify({ detail: 'The server says why.' }) });
  const failure = await failureOf(call(listScans));
  expect(failure).toMatchObject({ kind: 'problem', status, sentence: 'The server says why.', problem: { code } });
});
