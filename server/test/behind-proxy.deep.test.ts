// proves: security-10

import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgotPassword, login, recoverUsername, register } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { readConfig } from '@palisade/contract/platform';
import { clearProxyFindings, readProxyFindings } from '@palisade/contract/proxy';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createLog } from '#platform/log.ts';
import { callAt, isPostgres, type ListeningApp, replyOf, startListeningScanningApp } from './harness.ts';
import { startProxy } from './proxies.ts';
import { PROXY_KINDS, type ProxyKind, withoutProxy } from './proxy-programs.ts';

const PASSWORD = 'a long enough password';
const kinds = PROXY_KINDS.filter((kind) => withoutProxy(kind) === undefined);
needing('nginx, Caddy and HAProxy', kinds.length > 0).test('a proxy is there', () => undefined);
const text: unknown = expect.any(String);
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
/** By which sign each is known. */
const SIGNS = {
  nginx: 'old_http',
  'nginx with headers': 'forwarding_header',
  Caddy: 'forwarding_header',
  HAProxy: 'header_names',
} as const;

interface Said {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/** A request with any headers, its host included. */
function ask(
  url: string,
  headers: Record<string, string>,
  body?: unknown,
  method = body === undefined ? 'GET' : 'POST',
): Promise<Said> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const request = httpRequest(url, { method, headers: { ...type, ...headers }, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts).toString() }),
      );
      answer.once('error', reject);
    });
    request.once('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A log in memory, and its lines that say something of proxies. */
function openLog() {
  const lines: string[] = [];
  const entrySchema = z.looseObject({
    level: z.int(),
    msg: z.string(),
    sign: z.string().optional(),
    address: z.string().optional(),
  });
  return {
    logger: createLog('warn', { write: (line) => void lines.push(line) }),
    ofProxies: () =>
      lines
        .map((line) => entrySchema.parse(JSON.parse(line)))
        .filter(({ msg }) => msg.includes('through a proxy'))
        .map(({ level, sign, address }) => ({ level, sign, ...(address === undefined ? {} : { address }) })),
  };
}

const tokenOf = async ({ call }: ListeningApp, email: string) =>
  replyOf(await call(forgotPassword, { body: { email } })).reset_token;

// proves: attack-B.6-4
describe.each(kinds)('in local exposure behind %s', async (kind) => {
  const log = openLog();
  const app = await startListeningScanningApp({
    environment: { LIMITS: 'recovery=50/15m' },
    surroundings: { logger: log.logger },
  });
  const proxy = await startProxy(kind, app, afterAll);

  // proves: attack-B.6-3
  test('refuses another name, and makes no first administrator', async () => {
    const headers = { Host: 'evil.example' };
    const body = { email: 'eve@example.com', username: 'eve', password: PASSWORD };
    const said = await ask(`${proxy.url}/api/auth/register`, headers, body);
    expect(await app.app.database.selectFrom('users').select('id').execute()).toEqual([]);
    // nginx names the server as the host by default: a stranger is distinguished from the machine itself by its other signs.
    if (kind === 'nginx') {
      expect([said.status, JSON.parse(said.body)]).toMatchObject([
        403,
        { code: 'forbidden', detail: matching(/EXPOSURE=public/) },
      ]);
      expect((await ask(`${proxy.url}/api/health`, headers)).status).toBe(200);
      return;
    }
    expect(said.status).toBe(421);
    expect(JSON.parse(said.body)).toMatchObject({ code: 'wrong_host', detail: matching(/PUBLIC_URL/) });
    for (const path of ['/', '/api/config', '/api/health', '/assets/index.js', '/api/nothing', '/api/docs/'])
      expect((await ask(`${proxy.url}${path}`, headers)).status).toBe(421);
  });

  // proves: security-34
  test('a stranger who names the server’s own address makes no first account, with any other headers; the machine itself does', async () => {
    const { host } = new URL(app.url);
    const body = { email: 'eve@example.com', username: 'eve', password: PASSWORD };
    const others = [
      {},
      { Origin: `http://${host}` },
      { Connection: 'Upgrade', Upgrade: 'websocket' },
      { Connection: 'keep-alive' },
    ];
    for (const headers of others) {
      const said = await ask(`${proxy.url}/api/auth/register`, { Host: host, ...headers }, body);
      expect([said.status, JSON.parse(said.body)]).toMatchObject([
        403,
        { code: 'forbidden', detail: matching(/on the server’s own computer.*EXPOSURE=public.*PUBLIC_URL.*ADMIN_EMAILS/) },
      ]);
    }
    const shown = await ask(`${proxy.url}/api/config`, { Host: host });
    expect(JSON.parse(shown.body)).toMatchObject({ administrator: 'first_account_on_machine' });
    expect(replyOf(await app.call(readConfig)).administrator).toBe('first_account');
    expect(await app.app.database.selectFrom('users').select('id').execute()).toEqual([]);

    const first = replyOf(await app.call(register, { body: { ...body, email: 'owner@example.com', username: 'owner' } }));
    expect(first.role).toBe('admin');
    const second = await ask(`${proxy.url}/api/auth/register`, { Host: host }, body);
    expect([second.status, JSON.parse(second.body)]).toMatchObject([201, { role: 'customer' }]);
  });

  test('an address of ADMIN_EMAILS is registered on the machine itself alone', async () => {
    const named = await startListeningScanningApp({ environment: { ADMIN_EMAILS: 'owner@example.com' } });
    const before = await startProxy(kind, named);
    const body = { email: 'owner@example.com', username: 'owner', password: PASSWORD };
    await named.signIn('first');
    const said = await ask(`${before.url}/api/auth/register`, { Host: new URL(named.url).host }, body);
    expect(said.status).toBe(403);
    expect(replyOf(await named.call(register, { body })).role).toBe('admin');
  });

  // proves: attack-B.6-1
  test('a stranger who names the server’s own address gets no token, and then no one does, and all are told why', async () => {
    const boss = await app.signIn('boss', 'admin');
    await app.call(clearProxyFindings, { token: boss.token });
    expect(await tokenOf(app, boss.email)).toHaveLength(43);
    const lines = log.ofProxies().length;

    const own = new URL(app.url).host;
    const headers = { Host: own, Origin: `http://${own}` };
    const said = await ask(`${proxy.url}/api/auth/forgot-password`, headers, { email: boss.email });
    const withheld = {
      reset_token: null,
      expires_in: 900,
      detail: matching(/can’t tell who is asking.*EXPOSURE=public.*PUBLIC_URL/),
    };
    expect([said.status, JSON.parse(said.body)]).toEqual([200, withheld]);

    const through = replyOf(await callAt(proxy, forgotPassword, { body: { email: boss.email } }));
    expect(through).toEqual(withheld);
    expect(replyOf(await callAt(proxy, forgotPassword, { body: { email: 'nobody@example.com' } }))).toEqual(through);
    const username = replyOf(await callAt(proxy, recoverUsername, { body: { email: boss.email } }));
    expect(username).toEqual({ username: null, detail: through.detail });

    // The machine itself as well: whether it is, can no longer be known.
    expect(replyOf(await app.call(forgotPassword, { body: { email: boss.email } }))).toEqual(through);
    expect(replyOf(await app.call(recoverUsername, { body: { email: boss.email } }))).toEqual(username);
    expect(replyOf(await app.call(readProxyFindings, { token: boss.token }))).toEqual({
      behind_proxy: { since: text, sign: SIGNS[kind] },
      untrusted: [],
    });
    expect(log.ofProxies().slice(lines)).toEqual([{ level: 40, sign: SIGNS[kind] }]);
    await eventually(async () => {
      const mails = replyOf(await app.call(listOutbox, { token: boss.token })).map(({ subject }) => subject);
      expect(mails.filter((subject) => subject === 'Palisade: Reset your password')).toHaveLength(3);
      expect(mails.filter((subject) => subject === 'Palisade: Your username')).toHaveLength(2);
    });
  });
});

test.skipIf(kinds.length === 0)(
  'a found proxy is kept over a restart, until an administrator has read it, and is found again',
  async () => {
    const kind: ProxyKind = kinds[0] ?? 'nginx';
    const folder = mkdtempSync(join(tmpdir(), 'palisade-latch-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const log = openLog();
    const surroundings = {
      logger: log.logger,
      ...(isPostgres() ? {} : { database: { sqlite: join(folder, 'palisade.sqlite') } }),
    };
    const environment = { LIMITS: 'recovery=50/15m' };
    const first = await startListeningScanningApp({ environment, surroundings });
    const boss = await first.signIn('boss', 'admin');
    const proxy = await startProxy(kind, first);
    await callAt(proxy, forgotPassword, { body: { email: boss.email } });
    expect(await tokenOf(first, boss.email)).toBeNull();

    const second = isPostgres() ? first : await startListeningScanningApp({ environment, surroundings });
    expect(await tokenOf(second, boss.email)).toBeNull();
    expect((await second.call(clearProxyFindings, { token: boss.token })).status).toBe(204);
    expect(replyOf(await second.call(readProxyFindings, { token: boss.token })).behind_proxy).toBeNull();
    expect(await tokenOf(second, boss.email)).toHaveLength(43);

    const again = await startProxy(kind, second);
    expect(replyOf(await callAt(again, forgotPassword, { body: { email: boss.email } })).reset_token).toBeNull();
    expect(await tokenOf(second, boss.email)).toBeNull();
    expect(log.ofProxies()).toHaveLength(2);
  },
);

const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };

describe.each(kinds)('in public exposure behind %s, which TRUSTED_PROXIES does not name', async (kind) => {
  const log = openLog();
  const app = await startListeningScanningApp({ environment: PUBLIC, surroundings: { logger: log.logger } });
  const proxy = await startProxy(kind, app, afterAll);
  const signIn = async (email: string, password: string) => (await callAt(proxy, login, { body: { email, password } })).status;

  test('guessing at many accounts refuses no other person, and each account stays guarded', async () => {
    const boss = await app.signIn('boss', 'admin');
    const maria = await app.signIn('maria');
    for (let index = 0; index < 12; index += 1) expect(await signIn(`invented-${index}@example.com`, 'wrong')).toBe(401);
    expect(await signIn(maria.email, maria.password)).toBe(200);

    for (let time = 0; time < 5; time += 1) expect(await signIn('invented@example.com', 'wrong')).toBe(401);
    expect(await signIn('invented@example.com', 'wrong')).toBe(429);
    expect(await signIn(maria.email, maria.password)).toBe(200);

    const { behind_proxy, untrusted } = replyOf(await app.call(readProxyFindings, { token: boss.token }));
    expect(behind_proxy).toBeNull();
    expect(untrusted).toEqual([{ address: '127.0.0.1', since: text, sign: SIGNS[kind] }]);
    expect(log.ofProxies()).toEqual([{ level: 40, sign: SIGNS[kind], address: '127.0.0.1' }]);

    expect((await app.call(clearProxyFindings, { token: boss.token })).status).toBe(204);
    expect(await signIn(maria.email, maria.password)).toBe(200);
    expect(replyOf(await app.call(readProxyFindings, { token: boss.token })).untrusted).toEqual([]);
    expect(log.ofProxies()).toHaveLength(1);
  });
});

describe('in public exposure, a client that writes a forwarding header itself', async () => {
  const log = openLog();
  const app = await startListeningScanningApp({ environment: PUBLIC, surroundings: { logger: log.logger } });
  const signIn = async (remoteAddress: string, email: string, password: string, forwarded?: string) => {
    const { statusCode } = await app.app.fastify.inject({
      method: 'POST',
      url: '/api/auth/login',
      remoteAddress,
      headers: { connection: 'keep-alive', ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }) },
      payload: { email, password },
    });
    return statusCode;
  };

  test.each([
    ['from the internet', '203.0.113.50', true],
    ['from the internet by IPv6', '2001:db8:7::1', true],
    ['from a private network, where a proxy would stand', '10.1.2.3', false],
  ])('%s is refused as a source: %s %s', async (_, address, isRefused) => {
    const { email, password } = await app.signIn();
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1)
      statuses.push(
        await signIn(address, `${index}-${address.replaceAll(':', '-')}@example.com`, 'wrong', `198.51.100.${index}`),
      );
    expect(statuses).toEqual([401, 401, 401, 401, 401, isRefused ? 429 : 401]);
    expect(await signIn(address, email, password, '198.51.100.99')).toBe(isRefused ? 429 : 200);
  });

  test('is refused as a source in a private network as long as they do not', async () => {
    for (let index = 0; index < 5; index += 1) expect(await signIn('10.9.9.9', `plain-${index}@example.com`, 'wrong')).toBe(401);
    expect(await signIn('10.9.9.9', 'plain@example.com', 'wrong')).toBe(429);
  });

  // proves: attack-B.11-1
  test('is named to administrators where people sign in from there, and only so many are', async () => {
    const boss = await app.signIn('boss', 'admin');
    const visit = (remoteAddress: string, token?: string) =>
      app.app.fastify.inject({
        url: '/api/auth/me',
        remoteAddress,
        headers: { 'x-forwarded-for': '198.51.100.7', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      });
    await visit('203.0.113.60');
    await visit('203.0.113.61', boss.token);
    const named = async () =>
      replyOf(await app.call(readProxyFindings, { token: boss.token })).untrusted.map(({ address }) => address);
    expect(await named()).toEqual(['10.1.2.3', '203.0.113.61']);
    for (let index = 0; index < 100; index += 1) await visit(`10.2.0.${index}`);
    expect(await named()).toHaveLength(50);
    expect(log.ofProxies()).toHaveLength(50);
  });
});

describe('in local exposure that others can reach, for any first visitor', () => {
  const OPEN = { HOST: '0.0.0.0', EXPOSURE: 'local' };
  const body = { email: 'maria@example.com', username: 'maria', password: PASSWORD };
  test.each([
    ['comes by themselves', OPEN, {}, 201],
    ['comes through a proxy that nobody said anything of', OPEN, { 'x-forwarded-for': '203.0.113.9' }, 403],
    ['comes to the address that was set', { ...OPEN, PUBLIC_URL: 'http://box.lan' }, { 'x-forwarded-for': '203.0.113.9' }, 201],
  ])('%s', async (_, environment, headers, status) => {
    const { app } = await startListeningScanningApp({ environment });
    const { statusCode } = await app.fastify.inject({
      method: 'POST',
      url: '/api/auth/register',
      remoteAddress: '172.17.0.1',
      headers: { host: 'localhost', connection: 'keep-alive', ...headers },
      payload: body,
    });
    expect(statusCode).toBe(status);
    const roles = (await app.database.selectFrom('users').select('role').execute()).map(({ role }) => role);
    expect(roles).toEqual(status === 201 ? ['admin'] : []);
  });
});

test('a registration after a public server became local makes no administrator', async () => {
  const app = await startListeningScanningApp();
  const boss = await app.signIn('boss', 'admin');
  await app.app.database.deleteFrom('installation').where('name', '=', 'first_admin').execute();
  const body = { email: 'eve@example.com', username: 'eve', password: PASSWORD };
  expect(boss.token).toHaveLength(43);
  expect(replyOf(await app.call(register, { body })).role).toBe('customer');
});
