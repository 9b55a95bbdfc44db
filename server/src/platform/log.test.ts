// proves: asvs-13.4.2, asvs-14.1.1, asvs-14.1.2, asvs-16.2.4, asvs-16.5.1

import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { UPLOAD_KEY_HEADER } from '@palisade/contract/antivirus';
import { currentUser, forgotPassword, login, register, resetPassword } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { listOutbox } from '@palisade/contract/mail';
import { PROBLEMS, type ProblemDocument, problemSchema } from '@palisade/contract/problem';
import { unlockFile } from '@palisade/contract/quarantine';
import { endSession, listSessions } from '@palisade/contract/sessions';
import { addPasskey, confirmIdentity, loginSecondStep, requestNewPasskey, startTotp } from '@palisade/contract/two-factor';
import { eventually } from '@palisade/scanner/test/eventually';
import { PACKED_EICAR } from '@palisade/scanner/test/packed-eicar';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { Authenticator } from '#test/authenticator.ts';
import { isPostgres, problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { startSmtpServer } from '#test/smtp-server.ts';
import { listenAs, openSocket } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';
import { createLog, pathOf } from './log.ts';

/** A log in memory. */
function openLog() {
  const lines: string[] = [];
  return { lines, logger: createLog('debug', { write: (line) => void lines.push(line) }) };
}

/** Unmistakable, and with characters that each encoding changes. */
const mark = (name: string) => `${name}-${randomBytes(12).toString('hex')}-ü"%&`;

/** Forms of a text in a careless log: plain, as JSON, encoded for an address, in hex, in base64 at any offset in a longer text. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    // The characters at both ends are the neighbours' as well.
    return (['base64', 'base64url'] as const).map((encoding) => whole.toString(encoding).replace(/=+$/, '').slice(4, -4));
  });
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURI(secret),
    bytes.toString('hex'),
    bytes.join(','),
    ...base64,
  ];
}

describe('the log of a server that is asked everything, right and wrong, and fails', async () => {
  const { lines, logger } = openLog();
  const smtp = await startSmtpServer();
  const app = await startListeningApp({
    environment: { SMTP_URL: smtp.url, RESET_DELIVERY: 'email', LOG_LEVEL: 'debug' },
    surroundings: { logger, mail_look_ms: 10 },
  });
  const { database } = app.app;
  const secrets: Record<string, string> = {};
  const secret = (name: string, value = mark(name)) => {
    secrets[name] = value;
    return value;
  };
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    app.fetch(`/api${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  /** An upgrade that is refused, one way or another. */
  const knock = (path: string) =>
    new Promise<void>((resolve) => {
      const socket = new WebSocket(`${app.url.replace('http', 'ws')}${path}`);
      socket.once('open', () => socket.close());
      socket.once('error', () => resolve());
      socket.once('close', () => resolve());
    });

  const password = secret('password');
  const email = 'maria@example.com';
  await app.call(register, { body: { email, username: 'maria', password } });
  const answer = await app.call(login, { body: { email, password } });
  if (!answer.ok) throw new Error('no sign-in');
  const token = secret('token', answer.reply.access_token);
  const bearer = { authorization: `Bearer ${token}` };
  const other = await app.registerAndSignIn('other');

  // Wrong bodies of every kind.
  const wrong = secret('wrong_password');
  await app.call(login, { body: { email, password: wrong } });
  await post('/auth/login', `{"email":"${email}","password":"${wrong}`);
  await post('/auth/login', wrong);
  await post('/auth/login', JSON.stringify({ email, password: [wrong], [wrong]: 1 }));
  await post(
    '/auth/login',
    JSON.stringify({ email: wrong, password: wrong, code: secret('code'), challenge: secret('challenge') }),
  );
  await post('/auth/register', JSON.stringify({ email: 'x@example.com', username: wrong.repeat(20), password: wrong }));
  await post('/auth/login', `password=${wrong}`, { 'content-type': 'application/x-www-form-urlencoded' });
  await post('/auth/change-password', JSON.stringify({ current_password: wrong, new_password: password }), bearer);
  await post('/remote/join', JSON.stringify({ session_code: secret('session_code') }), bearer);

  // A session of another person, and a call that the role may not make.
  const foreign = replyOf(await app.call(listSessions, { token: other.token }))[0]?.id ?? '';
  await app.call(endSession, { token, params: { id: foreign }, body: { password } });
  await app.call(listOutbox, { token: other.token });

  // In addresses, headers, sockets, and invalid HTTP.
  const address = encodeURIComponent(secret('address'));
  for (const path of ['/api/auth/me', '/api/nothing', '/api/%zz', '/', '/assets/x.js', '/api/antivirus/scans'])
    await app.fetch(`${path}?access_token=${address}&${token}`, { headers: bearer });
  await app.fetch(`/api/auth/me`, { headers: { authorization: `Basic ${btoa(`maria:${token}`)}`, cookie: token } });
  await app.fetch(`/api/auth/me`, {
    headers: { ...bearer, [UPLOAD_KEY_HEADER]: token, 'user-agent': secret('agent', `agent-${token}`) },
  });
  for (const path of ['/api/events', '/api/health', '/elsewhere']) await knock(`${path}?access_token=${address}`);
  (await listenAs(app, token)).leave();
  for (const frame of [token, JSON.stringify({ kind: 'hello', access_token: { token } })]) {
    const socket = await openSocket(app);
    socket.say(frame);
    await socket.closed;
  }
  await new Promise<void>((resolve) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () =>
      socket.write(
        `POST /api/auth/login HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: x\r\n\r\n${wrong}`,
      ),
    );
    socket.on('error', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.resume();
  });

  // A reset by mail, on a mail server that quotes the refused letter.
  smtp.quoteLetters();
  await app.call(forgotPassword, { body: { email } });
  await eventually(() => expect(smtp.received).toHaveLength(1));
  const reset_token = secret('reset_token', /^([\w-]{43})$/m.exec(smtp.received[0]?.content ?? '')?.[1] ?? '');
  secret('mail', 'Here is your password reset token');
  await eventually(async () => expect(await app.call(listOutbox, { token })).toMatchObject({ reply: [{ status: 'failed' }] }));
  await app.call(resetPassword, { body: { reset_token: secret('wrong_token'), new_password: secret('new_password') } });
  await app.call(resetPassword, { body: { reset_token, new_password: secrets['new_password'] ?? '' } });
  await app.call(resetPassword, { body: { reset_token, new_password: secrets['new_password'] ?? '' } });
  const again = await app.call(login, { body: { email, password: secrets['new_password'] ?? '' } });
  const renewed = secret('second_token', again.ok ? again.reply.access_token : '');

  // A second factor, used right and wrong.
  const origin = app.url.replace('127.0.0.1', 'localhost');
  const phone = new Authenticator(origin);
  await app.call(confirmIdentity, { token: renewed, body: { current_password: wrong } });
  await app.call(confirmIdentity, { token: renewed, body: { current_password: secrets['new_password'] ?? '' } });
  secret('totp_secret', replyOf(await app.call(startTotp, { token: renewed })).secret);
  const creation = replyOf(await app.call(requestNewPasskey, { token: renewed }));
  secret('passkey_challenge', creation.challenge);
  await app.call(addPasskey, {
    token: renewed,
    body: { name: 'Phone', passkey: phone.create(creation, { origin: 'https://evil.example' }) },
  });
  const added = await app.call(addPasskey, {
    token: renewed,
    body: { name: 'Phone', passkey: phone.create(replyOf(await app.call(requestNewPasskey, { token: renewed }))) },
  });
  const recovery_code = secret('recovery_code', replyOf(added).recovery_codes?.[0]);
  const challenge = secret(
    'login_challenge',
    problemOf(await app.call(login, { body: { email, password: secrets['new_password'] ?? '' } })).challenge,
  );
  await app.call(loginSecondStep, { body: { challenge: `x${challenge}`, recovery_code } });
  await app.call(loginSecondStep, { body: { challenge, recovery_code: secret('wrong_code', 'abcde-fghij-klmno-pqrst-uvwxy') } });
  const third = await app.call(loginSecondStep, { body: { challenge, recovery_code } });
  secret('third_token', replyOf(third).access_token);

  // Archives that stay shut.
  for (const kind of ['zip, aes', '7z, names encrypted']) {
    const { id } = await scanned(app, renewed, 'locked', PACKED_EICAR.get(kind) ?? Buffer.alloc(0));
    await app.call(unlockFile, { token: renewed, params: { id }, body: { password: secret('archive_password') } });
  }

  // A database that refuses a row, quoting it, and one that has lost a table.
  const username = secret('refused_name', `refused-${randomBytes(8).toString('hex')}`);
  if (isPostgres()) await sql`alter table users add constraint nobody_new check (username = 'x') not valid`.execute(database);
  else await sql`create trigger nobody_new before insert on users begin select raise(abort, 'nobody new'); end`.execute(database);
  const failed: unknown[] = [];
  const note = (answer: { ok: true } | { ok: false; problem: ProblemDocument }) => void failed.push(answer.ok || answer.problem);
  note(await app.call(register, { body: { email: 'r@example.com', username, password } }));
  await sql`alter table chat_messages rename to chat_lost`.execute(database);
  note(await app.call(sendMessage, { token: renewed, body: { message: secret('message'), sender: 'user' } }));
  await sql`alter table account_tokens rename to reset_lost`.execute(database);
  note(await app.call(resetPassword, { body: { reset_token, new_password: password } }));
  await app.call(forgotPassword, { body: { email } });
  await sql`alter table sessions rename to sessions_lost`.execute(database);
  note(await app.call(login, { body: { email: other.email, password: other.password } }));
  note(await app.call(currentUser, { token }));
  await app.app.fastify.close();
  const log = lines.join('');

  test('went through all of it', () => {
    expect(failed).toHaveLength(5);
    for (const problem of failed) {
      // The caller learns the request id for support, and no more.
      const { request_id, ...told } = problemSchema.parse(problem);
      expect(request_id).toMatch(/^[\w-]{36}$/);
      const { title, detail } = PROBLEMS.internal;
      expect(told).toEqual({ type: 'urn:palisade:problem:internal', title, status: 500, detail, code: 'internal' });
    }
    expect(Object.entries(secrets).filter(([, value]) => value.length < 16)).toEqual([]);
  });

  // proves: asvs-14.2.4, asvs-16.2.5, security-45
  test('has no secret in it, in any form', () => {
    const found = Object.entries(secrets).flatMap(([name, value]) =>
      formsOf(value)
        .filter((form) => log.includes(form))
        .map((form) => ({ name, line: lines.find((line) => line.includes(form)) })),
    );
    expect(found).toEqual([]);
    expect(log).not.toMatch(/argon2|bearer|authorization|cookie/i);
  });

  // proves: asvs-16.2.1, asvs-16.3.4
  test('has the facts for finding a fault: the request, its outcome, and where an error arose', () => {
    const entries = lines.map((line) =>
      z
        .looseObject({ level: z.number(), time: z.number(), msg: z.string(), reqId: z.string().optional() })
        .parse(JSON.parse(line)),
    );
    const asked = entries.find(({ req }) => JSON.stringify(req)?.includes('/api/auth/register'));
    expect(asked).toMatchObject({ req: { method: 'POST', path: '/api/auth/register', address: '127.0.0.1' } });
    expect(entries.filter(({ reqId }) => reqId === asked?.reqId).map(({ res }) => res)).toContainEqual({ status: 201 });
    const failures = entries.filter(({ msg }) => msg === 'request failed');
    expect(failures).toHaveLength(5);
    for (const { err, reqId } of failures) {
      expect(reqId).toMatch(/^[\w-]{36}$/);
      const { code, stack } = z.object({ code: z.string(), stack: z.array(z.string()) }).parse(err);
      expect(code).toMatch(/^SQLITE_|^\w{5}$/);
      expect(stack.length).toBeGreaterThan(3);
    }
    expect(failures.map(({ req }) => z.object({ path: z.string() }).parse(req).path)).toEqual([
      '/api/auth/register',
      '/api/chat/messages',
      '/api/auth/reset-password',
      '/api/auth/login',
      '/api/auth/me',
    ]);
    const mails = entries.filter(({ msg }) => msg === 'a mail could not be sent');
    expect(mails[0]).toMatchObject({ err: { code: 'EMESSAGE', responseCode: 550 }, attempts: 1 });
  });

  // proves: asvs-16.3.1, asvs-16.3.2, asvs-16.3.3
  test('has attempts to sign in, and refusals', () => {
    const entries = lines.map((line) => z.looseObject({ msg: z.string() }).parse(JSON.parse(line)));
    const account = createHash('sha256').update(email).digest('hex');
    const refused = entries.filter(({ security_event }) => security_event === 'login_failed');
    expect(refused).toContainEqual(expect.objectContaining({ account, step: 'password', address: '127.0.0.1', level: 40 }));
    expect(refused).toContainEqual(expect.objectContaining({ account, step: 'second_factor' }));
    expect(entries).toContainEqual(
      expect.objectContaining({ security_event: 'login_succeeded', account, has_second_factor: true }),
    );
    const of = (sentence: string) => entries.filter(({ msg }) => msg === sentence).map(({ req }) => req);
    expect(of('a record of somebody else was asked for')).toEqual([
      { method: 'POST', path: `/api/auth/sessions/${foreign}/end`, address: '127.0.0.1' },
    ]);
    expect(of('somebody may not do this')).toEqual([{ method: 'GET', path: '/api/admin/outbox', address: '127.0.0.1' }]);
  });

  // proves: asvs-16.4.1
  test('breaks no line, for any content', () => {
    for (const line of lines) expect(line.indexOf('\n')).toBe(line.length - 1);
  });
});

describe('an error in the log', () => {
  const factsOf = (error: unknown) => {
    const { lines, logger } = openLog();
    logger.error({ err: error }, 'a sentence');
    if (error instanceof Error) {
      logger.error(error);
      logger.error({ err: error }, error.message);
    }
    return lines.join('');
  };
  // Short, because V8 quotes ten characters.
  const SECRET = 'hush-5f3a';
  const thrown = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };

  test.each([
    ['of JSON, which quotes the text', thrown(() => JSON.parse(SECRET))],
    ['of JSON over many lines', thrown(() => JSON.parse(`${SECRET}\n    at ${SECRET} (file:///x)\n`))],
    ['of Node, which quotes the argument', thrown(() => Reflect.apply(Buffer.prototype.readInt8, Buffer.alloc(1), [SECRET]))],
    ['of the address', thrown(() => new URL(SECRET))],
    [
      'of zod',
      z
        .object({ kind: z.literal(SECRET) })
        .strict()
        .safeParse({ [SECRET]: 1 }).error,
    ],
    [
      'of PostgreSQL',
      Object.assign(new Error(`value "${SECRET}"`), { name: 'error', code: '22P02', detail: SECRET, where: SECRET }),
    ],
    [
      'with what it was given',
      Object.assign(new Error('failed'), { input: SECRET, rawPacket: Buffer.from(SECRET), config: { SECRET } }),
    ],
    ['that quotes in a sentence', new Error(`Unexpected challenge "${SECRET}", expected '${SECRET}' (don't guess)`)],
    ['with an address', new Error(`GET /api/auth/me?token=${SECRET} was answered twice`)],
    ['with a cause that quotes', new Error('failed', { cause: thrown(() => JSON.parse(SECRET)) })],
    ['of several', new AggregateError([thrown(() => JSON.parse(SECRET))], 'failed')],
    ['that is none', SECRET],
    ['with a code that is a text', Object.assign(new Error('failed'), { code: `${SECRET} and more` })],
  ])('keeps to itself: %s', (_name, error) => {
    expect(factsOf(error)).not.toContain(SECRET);
  });

  test("keeps a program's own message", () => {
    expect(factsOf(new TypeError('rows is not iterable'))).toContain('rows is not iterable');
    expect(factsOf(Object.assign(new Error('open /data/spool'), { code: 'ENOSPC', syscall: 'open' }))).toMatch(
      /open \/data.*ENOSPC/,
    );
  });
});

test('names no key of a device or of a page of a household', () => {
  const key = 'abcdefghijklmnopqrstuvwxyz';
  expect(pathOf(`/dns/${key}?dns=AAAB`)).toBe('/dns/...');
  expect(pathOf(`/ask/${key}`)).toBe('/ask/...');
  expect(pathOf('/api/ask/look')).toBe('/api/ask/look');
  const { lines, logger } = openLog();
  logger.warn({ err: new Error(`cannot answer /dns/${key}?dns=AAAB`) }, 'failed');
  expect(lines.join('')).toContain('/dns/...');
  expect(lines.join('')).not.toContain(key);
});
