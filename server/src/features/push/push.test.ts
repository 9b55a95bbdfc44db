import { createDecipheriv, createECDH, createPublicKey, type ECDH, hkdfSync, randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { changePassword, login, logout } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { answerConversation } from '@palisade/contract/desk';
import { listConversations } from '@palisade/contract/desk-list';
import { readPush, removePush, subscribePush, unsubscribePush } from '@palisade/contract/push';
import { endOtherSessions } from '@palisade/contract/sessions';
import { eventually } from '@palisade/scanner/test/eventually';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { afterFile } from '#test/after-file.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { incidentOf } from '#test/incident-of.ts';
import { oneRow, updateRows } from '#test/rows.ts';
import { pushKeyOf } from './web-push.ts';

/** A browser: its keys, and how it reads a message (RFC 8291, section 3). */
class Browser {
  readonly auth = randomBytes(16);
  readonly pair: ECDH;
  readonly point: Buffer;

  constructor() {
    this.pair = createECDH('prime256v1');
    this.point = this.pair.generateKeys();
  }

  get keys() {
    return { p256dh: this.point.toString('base64url'), auth: this.auth.toString('base64url') };
  }

  read(body: Buffer): unknown {
    const salt = body.subarray(0, 16);
    expect(body.readUInt32BE(16)).toBe(4096);
    const sender = body.subarray(21, 21 + body.readUInt8(20));
    const sealed = body.subarray(21 + sender.length);
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.point, sender]);
    const secret = Buffer.from(hkdfSync('sha256', this.pair.computeSecret(sender), this.auth, info, 32));
    const of = (name: string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', secret, salt, Buffer.from(`Content-Encoding: ${name}\0`), bytes));
    const open = createDecipheriv('aes-128-gcm', of('aes128gcm', 16), of('nonce', 12));
    open.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([open.update(sealed.subarray(0, -16)), open.final()]);
    expect(plain.at(-1)).toBe(2);
    return JSON.parse(plain.subarray(0, -1).toString());
  }
}

const claimsSchema = z.object({ aud: z.string(), sub: z.string() });

interface Taken {
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

const taken: Taken[] = [];
let status = 201;
const service = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    taken.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(status).end();
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => service.once('listening', resolve));
afterFile(() => service.close());
const address = service.address();
const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;

const app = await startTestApp({ surroundings: { push_service: origin } });
const { call } = app;

beforeEach(() => {
  taken.length = 0;
  status = 201;
});

/** The claims of a message, once its signature holds for the server's key (RFC 8292). */
function claimsOf(authorization: string | undefined, public_key: string): unknown {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization ?? '') ?? [];
  expect(key).toBe(public_key);
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, format: 'jwk' });
  const [head = '', claims = '', signature = ''] = token.split('.');
  const is_signed = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(is_signed).toBe(true);
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}

async function subscribed() {
  const person = await app.signIn(undefined, 'customer');
  const browser = new Browser();
  const endpoint = `${origin}/${randomBytes(8).toString('hex')}`;
  replyOf(await call(subscribePush, { token: person.token, body: { endpoint, keys: browser.keys } }));
  return { ...person, browser, endpoint };
}

async function answer(customer: { token: string }, words = 'We look into it') {
  const staff = await app.signIn(undefined, 'support');
  replyOf(await call(sendMessage, { token: customer.token, body: { message: 'Help', sender: 'user' } }));
  const [conversation] = replyOf(await call(listConversations, { token: staff.token }));
  const params = { id: conversation?.id ?? '' };
  replyOf(await call(answerConversation, { token: staff.token, params, body: { message: words, is_note: false } }));
}

describe('a browser that asked for notices', () => {
  test('gets a notice of a support answer, encrypted for it and signed by the server', async () => {
    const person = await subscribed();
    await answer(person);
    await eventually(() => expect(taken).toHaveLength(1));
    const [first] = taken;
    if (first === undefined) throw new Error('Nothing arrived.');
    const { path, headers, body } = first;
    expect(`${origin}${path}`).toBe(person.endpoint);
    expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high' });
    expect(Number(headers['ttl'])).toBeGreaterThan(0);
    expect(person.browser.read(body)).toMatchObject({ title: 'Support has answered', path: '/chat' });
    expect(body.toString('latin1')).not.toContain('We look into it');
    const { public_key, subscriptions } = replyOf(await call(readPush, { token: person.token }));
    expect(subscriptions).toMatchObject([{ current: true }]);
    const claims = claimsSchema.parse(claimsOf(headers.authorization, public_key));
    expect(claims.aud).toBe(origin);
    expect(claims.sub).toMatch(/^(?:mailto:|https:)/);
  });

  test('gets a notice of a high alert once a day, and none of a low one', async () => {
    const person = await subscribed();
    const { id } = await app.app.database
      .selectFrom('push_subscriptions')
      .select('user_id as id')
      .where('endpoint', '=', person.endpoint)
      .executeTakeFirstOrThrow();
    await app.app.alerts.raise(incidentOf(id, { key: 'low', severity: 'low' }));
    await app.app.alerts.raise(incidentOf(id));
    await app.app.alerts.raise(incidentOf(id));
    const left = () => app.app.database.selectFrom('jobs').select('kind').where('kind', '=', 'push').execute();
    await eventually(() => expect(taken).not.toEqual([]));
    // A job goes after its notice is taken.
    await eventually(async () => expect(await left()).toEqual([]));
    expect(taken).toHaveLength(1);
    expect(person.browser.read(taken[0]?.body ?? Buffer.alloc(0))).toMatchObject({ title: 'Security alert' });
  });

  test('is forgotten once its service says that it is gone, or its person has turned it off', async () => {
    const [gone, off] = [await subscribed(), await subscribed()];
    status = 410;
    await answer(gone);
    await eventually(async () => expect(replyOf(await call(readPush, { token: gone.token })).subscriptions).toEqual([]));
    replyOf(await call(unsubscribePush, { token: gone.token, body: { endpoint: off.endpoint } }));
    expect(replyOf(await call(readPush, { token: off.token })).subscriptions).toHaveLength(1);
    replyOf(await call(unsubscribePush, { token: off.token, body: { endpoint: off.endpoint } }));
    expect(replyOf(await call(readPush, { token: off.token })).subscriptions).toEqual([]);
  });
});

test.each([
  'http://127.0.0.1:1/x',
  'https://127.0.0.1/x',
  'https://fcm.googleapis.com.evil.example/x',
  'https://user@fcm.googleapis.com/x',
  'https://:password@fcm.googleapis.com/x',
  'https://user:password@updates.push.services.mozilla.com/x',
  'https://fcm.googleapis.com./x',
  'https://fcm.googleapis.com:8443/x',
  'http://fcm.googleapis.com/x',
])('no notice is sent to %s, which is no push service of a browser', async (endpoint) => {
  const { token } = await app.signIn();
  const refused = await call(subscribePush, { token, body: { endpoint, keys: new Browser().keys } });
  expect(problemOf(refused)).toMatchObject({ code: 'invalid_field' });
});

describe('a subscription', () => {
  const browsersOf = async (token: string) => replyOf(await call(readPush, { token })).subscriptions;
  const again = async ({ email, password }: { email: string; password: string }) =>
    replyOf(await call(login, { body: { email, password } })).access_token;
  const rows = (endpoint: string) =>
    app.app.database.selectFrom('push_subscriptions').select('id').where('endpoint', '=', endpoint).execute();
  type Person = Awaited<ReturnType<typeof subscribed>>;

  test.each([
    { of: 'sign-out', end: ({ token }: Person) => call(logout, { token }) },
    {
      of: 'the end of other sessions',
      end: async (person: Person) => call(endOtherSessions, { token: await again(person), body: { password: person.password } }),
    },
    {
      of: 'a new password elsewhere',
      end: async (person: Person) =>
        call(changePassword, {
          token: await again(person),
          body: { current_password: person.password, new_password: 'another long password' },
        }),
    },
    {
      of: 'a disabled account',
      end: async ({ email }: Person) => {
        const disabled_at = new Date().toISOString();
        await app.app.database.updateTable('users').set({ disabled_at }).where('email', '=', email).execute();
      },
    },
    {
      of: 'a session over its time',
      end: async ({ endpoint }: Person) => {
        const found = await oneRow(app.app.database, 'push_subscriptions', { endpoint });
        await updateRows(
          app.app.database,
          'sessions',
          { id: found.session_id ?? '' },
          { last_used_at: '2020-01-01T00:00:00.000Z' },
        );
      },
    },
    {
      of: 'the upgrade',
      end: ({ endpoint }: Person) =>
        app.app.database.updateTable('push_subscriptions').set({ session_id: null }).where('endpoint', '=', endpoint).execute(),
    },
  ])('ends with $of', async ({ end }) => {
    const [person, other] = [await subscribed(), await subscribed()];
    await end(person);
    for (const { id } of [person, other]) await app.app.alerts.raise(incidentOf(id));
    await eventually(() => expect(taken.map(({ path }) => `${origin}${path}`)).toEqual([other.endpoint]));
  });

  test('is listed with its browser, and removed by its owner alone', async () => {
    const [person, other] = [await subscribed(), await subscribed()];
    const elsewhere = await again(person);
    const [browser] = await browsersOf(elsewhere);
    expect(browser).toMatchObject({ current: false });
    const params = { id: browser?.id ?? '' };
    expect(problemOf(await call(removePush, { token: other.token, params })).code).toBe('not_found');
    expect((await call(removePush, { token: elsewhere, params })).status).toBe(204);
    expect(await browsersOf(person.token)).toEqual([]);
  });

  test('stays with its person while their session lasts, however its endpoint is written', async () => {
    const [person, other] = [await subscribed(), await app.signIn()];
    const take = (token: string, endpoint: string) =>
      call(subscribePush, { token, body: { endpoint, keys: new Browser().keys } });
    for (const endpoint of [person.endpoint, `${person.endpoint}#a`, person.endpoint.replace('http', 'HTTP')])
      expect(problemOf(await take(other.token, endpoint)).code).toBe('conflict');
    expect(await browsersOf(person.token)).toHaveLength(1);
    // The same person in the same browser has one.
    replyOf(await take(await again(person), `${person.endpoint}#b`));
    expect(await rows(person.endpoint)).toHaveLength(1);
    await app.app.database.deleteFrom('sessions').where('user_id', '=', person.id).execute();
    replyOf(await take(other.token, person.endpoint));
    expect(await browsersOf(other.token)).toHaveLength(1);
  });

  test('of an older version is renewed by the browser of the same person, and by no other', async () => {
    const [person, other] = [await subscribed(), await app.signIn()];
    await updateRows(app.app.database, 'push_subscriptions', { endpoint: person.endpoint }, { session_id: null });
    const renew = (token: string) =>
      call(subscribePush, { token, body: { endpoint: person.endpoint, keys: person.browser.keys, renews: true } });
    expect(await browsersOf(person.token)).toEqual([]);
    expect(problemOf(await renew(other.token)).code).toBe('not_found');
    replyOf(await renew(person.token));
    expect(await browsersOf(person.token)).toMatchObject([{ current: true }]);
    replyOf(await call(logout, { token: person.token }));
    expect(problemOf(await renew(await again(person))).code).toBe('not_found');
  });
});

test('a key that is no point of the curve is refused, and an eleventh browser', async () => {
  const { token } = await app.signIn();
  const keys = { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: 'A'.repeat(22) };
  const body = { endpoint: 'https://fcm.googleapis.com/x', keys };
  expect(problemOf(await call(subscribePush, { token, body })).code).toBe('invalid_field');
  for (let made = 0; made < 10; made += 1)
    replyOf(await call(subscribePush, { token, body: { endpoint: `${origin}/own-${made}`, keys: new Browser().keys } }));
  const refused = await call(subscribePush, { token, body: { endpoint: `${origin}/own-10`, keys: new Browser().keys } });
  expect(problemOf(refused).code).toBe('conflict');
});

test('the key of the server is always the same for the same secret', () => {
  const [one, again, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map(pushKeyOf);
  expect(again?.public_key).toBe(one?.public_key);
  expect(other?.public_key).not.toBe(one?.public_key);
});
