// proves: security-34
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type Browser, expect, type Page } from '@playwright/test';
import { z } from 'zod';
// biome-ignore lint/style/noRestrictedImports: the real proxies of the API tests, set up as they are there.
import { PROXY_KINDS, type ProxyKind, runProxy, type TestProxy, withoutProxy } from '../server/test/proxy-programs.ts';
import { test as base, readOutbox, registerAndSignIn, signIn } from './palisade.ts';
import { type Product, startProduct } from './product.ts';

// The attacks by which strangers came in, each as they make it: against what was built, through real proxies in their default configuration.

const PASSWORD = 'a long enough password';
const VERIFY_AUDIT = fileURLToPath(new URL('../server/dist/verify-audit.js', import.meta.url));
const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };
const kinds = PROXY_KINDS.filter((kind) => withoutProxy(kind) === undefined);

const test = base.extend<{ startProxy: (kind: ProxyKind) => Promise<TestProxy> }>({
  startProxy: async ({ server }, use) => {
    const running: TestProxy[] = [];
    await use(async (kind) => {
      const proxy = await runProxy(kind, server);
      running.push(proxy);
      return proxy;
    });
    for (const { stop } of running) await stop();
  },
});
test.skip(kinds.length < PROXY_KINDS.length, 'not all of nginx, Caddy and HAProxy are on this machine');

interface Said {
  status: number;
  body: string;
}

/** Reads an answer whole. */
function answerOf(sent: ClientRequest): Promise<Said> {
  return new Promise((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('error', reject);
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
    });
  });
}

/** Asks the API below `url`; the headers, `Host` among them, are what the asker says they are. */
function ask(url: string, path: string, options: { body?: unknown; headers?: Record<string, string>; method?: string } = {}) {
  const { body, headers = {}, method = body === undefined ? 'GET' : 'POST' } = options;
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const sent = request(`${url}/api${path}`, { method, headers: { ...type, ...headers }, agent: false });
  const answer = answerOf(sent);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return answer;
}

const account = (name: string) => ({ email: `${name}@example.com`, username: name, password: PASSWORD });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Signs in without a page; answers the token. */
async function tokenOf(url: string, name: string, password = PASSWORD): Promise<string> {
  const { body } = await ask(url, '/auth/login', { body: { email: `${name}@example.com`, password } });
  return z.object({ access_token: z.string() }).parse(JSON.parse(body)).access_token;
}

/** The newest letter to somebody with a word in its subject, and the token in it. */
function letterTo(name: string, subject: string, { data_dir }: Product): { text: string; token: string } | undefined {
  const letters = readOutbox(data_dir).split(/^To: /m);
  const text = letters.findLast((letter) => letter.startsWith(`${name}@example.com\n`) && letter.includes(subject));
  return text === undefined ? undefined : { text, token: /^([\w-]{43}|(?:[2-9A-Z]{4}-){2}[2-9A-Z]{4})$/m.exec(text)?.[1] ?? '' };
}

/** In public exposure: the account of ADMIN_EMAILS, whose code whoever runs the server has passed on. */
async function makeAdministrator(server: Product): Promise<void> {
  expect((await ask(server.url, '/auth/register', { body: account('boss') })).status).toBe(201);
  await expect.poll(() => letterTo('boss', 'Confirm your email', server)).toBeDefined();
  const token = letterTo('boss', 'Confirm your email', server)?.token;
  const headers = bearer(await tokenOf(server.url, 'boss'));
  expect((await ask(server.url, '/auth/prove-email', { body: { token }, headers })).status).toBe(200);
}

const openWindow = async (browser: Browser, address: string): Promise<Page> => {
  const page = await (await browser.newContext({ baseURL: address })).newPage();
  await page.goto('/');
  return page;
};
/** Where strangers open what is behind a proxy. */
const outside = ({ port }: { port: number }) => `http://palisade.example:${port}`;
const proxies = (page: Page) => page.getByRole('region', { name: 'Proxies' });

async function fillRegistration(page: Page, { email, username }: { email: string; username: string }): Promise<void> {
  await page.getByRole('tab', { name: 'Register' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create Account' }).click();
}

async function resetWith(page: Page, token: string, password: string): Promise<void> {
  await page.goto('/?mode=reset-password');
  await page.getByLabel('Reset Token').fill(token);
  await page.getByLabel('New Password').fill(password);
  await page.getByRole('button', { name: 'Reset Password' }).click();
  await expect(page.getByText('Password reset successful!')).toBeVisible();
}

test.describe('in local exposure', () => {
  test.use({ environment: { LIMITS: 'recovery=1000/15m' } });

  test('the first account through a proxy or a foreign name is no administrator; one made at the machine is', async ({
    page,
    browser,
    server,
    startProxy,
  }) => {
    test.slow();
    const { host, port } = new URL(server.url);
    const stranger = await openWindow(browser, `http://rebound.example:${port}`);
    const refusal = stranger.getByRole('heading', { name: 'Palisade does not answer here' });
    await expect(refusal).toBeVisible();
    for (const kind of kinds) {
      const proxy = await startProxy(kind);
      for (const headers of [{}, { Connection: 'Upgrade', Upgrade: 'websocket' }]) {
        const said = await ask(proxy.url, '/auth/register', { headers: { Host: host, ...headers }, body: account('eve') });
        expect([kind, said.status, said.body]).toEqual([kind, 403, expect.stringContaining('EXPOSURE=public')]);
      }
      await stranger.goto(outside(proxy));
      // nginx names the server's own address as the host by default, so the page loads.
      if (kind !== 'nginx') {
        await expect(refusal).toBeVisible();
        await expect(stranger.getByText('PUBLIC_URL', { exact: true })).toBeVisible();
        continue;
      }
      await expect(stranger.getByText(/Create the first account on the server’s own computer/)).toBeVisible();
      await fillRegistration(stranger, account('eve'));
      await expect(stranger.getByText(/This account becomes the administrator/)).toBeVisible();
    }
    await registerAndSignIn(page, 'boss');
    await page.goto('/admin/users');
    await expect(page.getByRole('row').filter({ hasText: '@example.com' })).toHaveCount(1);
    await expect(proxies(page)).toContainText('EXPOSURE=public');
  });

  // proves: attack-B.6-1
  test('a reset token is shown through no proxy, and every page of the administrator says what to set', async ({
    page,
    browser,
    server,
    startProxy,
  }) => {
    test.slow();
    const { host } = new URL(server.url);
    const body = { email: 'boss@example.com' };
    const shown = async (url: string, headers: Record<string, string> = {}) => {
      const said = await ask(url, '/auth/forgot-password', { body, headers });
      return z.object({ reset_token: z.string().nullable() }).parse(JSON.parse(said.body)).reset_token;
    };
    await registerAndSignIn(page, 'boss');
    for (const kind of kinds) {
      await expect(proxies(page)).toHaveCount(0);
      if (kind !== kinds[0]) await page.getByRole('link', { name: 'Dashboard' }).first().click();
      const proxy = await startProxy(kind);
      expect(await shown(proxy.url, { Host: host, Origin: `http://${host}` })).toBeNull();
      expect(await shown(server.url)).toBeNull();
      await page.reload();
      await expect(proxies(page)).toContainText('EXPOSURE=public');
      await expect(proxies(page)).toContainText('PUBLIC_URL');
      if (kind === kinds.at(-1)) break;
      await proxies(page).getByRole('button', { name: 'I have read this' }).click();
      await proxy.stop();
    }
    for (const path of ['antivirus', 'firewall', 'remote', 'chat', 'anti-hacking', 'subscription-manager', 'admin/audit']) {
      await page.goto(`/${path}`);
      await expect(proxies(page)).toContainText('EXPOSURE=public');
    }
    const forgetful = await openWindow(browser, server.url);
    await forgetful.goto('/?mode=forgot-password');
    await forgetful.getByLabel('Email').fill('boss@example.com');
    await forgetful.getByRole('button', { name: 'Send Reset Instructions' }).click();
    await expect(forgetful.getByText(/can’t tell who is asking/)).toBeVisible();
  });
});

test.describe('in public exposure', () => {
  test.use({ environment: { ...PUBLIC, LIMITS: 'recovery.source=1000/15m' } });

  // proves: attack-B.7-3
  test('a stranger’s address that somebody registers takes no factor and no letters, and is its owner’s again', async ({
    browser,
    server,
    startProxy,
  }) => {
    test.slow();
    const proxy = await startProxy('nginx');
    const thief = await openWindow(browser, outside(proxy));
    await fillRegistration(thief, { email: 'victim@example.com', username: 'You have won, call 900' });
    await expect(thief.getByText(/^Registration successful!/)).toBeVisible();
    await signIn(thief, 'victim');
    await expect(thief.getByRole('region', { name: 'Confirm your email address' })).toBeVisible();
    await thief.getByRole('button', { name: 'Security User menu' }).click();
    await thief.getByRole('menuitem', { name: 'Security Preferences' }).click();
    await expect(thief.getByText('You can set up two-factor sign-in')).toBeVisible();
    await expect(thief.getByRole('button', { name: 'Set up an authenticator app' })).toHaveCount(0);
    const headers = bearer(await tokenOf(proxy.url, 'victim'));
    const codes = await Promise.all(
      Array.from({ length: 50 }, () => ask(proxy.url, '/auth/two-factor/recovery-codes', { method: 'POST', headers })),
    );
    expect(new Set(codes.map(({ status }) => status))).toEqual(new Set([403]));

    const owner = await openWindow(browser, server.url);
    await owner.goto('/?mode=forgot-password');
    await owner.getByLabel('Email').fill('victim@example.com');
    await owner.getByRole('button', { name: 'Send Reset Instructions' }).click();
    await expect.poll(() => letterTo('victim', 'Reset your password', server)).toBeDefined();
    const letters = readOutbox(server.data_dir)
      .split(/^To: victim@/m)
      .slice(1);
    expect(letters).toHaveLength(2);
    for (const letter of letters) expect(letter).not.toContain('You have won');
    await resetWith(owner, letterTo('victim', 'Reset your password', server)?.token ?? '', 'a password of the owner');
    await owner.getByLabel('Email', { exact: true }).fill('victim@example.com');
    await owner.getByLabel('Password', { exact: true }).fill('a password of the owner');
    await owner.getByRole('button', { name: 'Sign In' }).click();
    await expect(owner.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
    await expect(owner.getByRole('region', { name: 'Confirm your email address' })).toHaveCount(0);
    // No socket comes through this proxy: the page learns it with its next call.
    await thief.reload();
    await expect(thief.getByText(/^Your session ended/)).toBeVisible();
  });

  // proves: attack-B.8-2
  test('a name that looks like somebody’s is refused, with the reason', async ({ browser, server, startProxy }) => {
    await ask(server.url, '/auth/register', { body: account('palisade') });
    const page = await openWindow(browser, outside(await startProxy('HAProxy')));
    for (const [username, sentence] of [
      ['paIisade', /looks too much like an existing one/],
      ['pаlisade', /Use letters from one alphabet/],
      ['pali\u200bsade', /has invisible characters/],
      ['\u202eedasilap', /has invisible characters/],
    ] as const) {
      await fillRegistration(page, { email: 'eve@example.com', username });
      await expect(page.getByText(sentence).first()).toBeVisible();
    }
  });

  // proves: attack-B.9-1
  test('registering tells no email that is known, and its owner hears of it', async ({ browser, server, startProxy }) => {
    await ask(server.url, '/auth/register', { body: account('known') });
    const page = await openWindow(browser, outside(await startProxy('Caddy')));
    const told = async (name: string, username: string) => {
      await fillRegistration(page, { email: `${name}@example.com`, username });
      const message = page.getByText(/^Registration successful!/);
      await expect(message).toBeVisible();
      const text = await message.textContent();
      await page.reload();
      return text;
    };
    expect(await told('known', 'first try')).toBe(await told('unknown', 'second try'));
    await expect.poll(() => letterTo('known', 'You already have an account', server)).toBeDefined();
  });

  // proves: attack-B.10-1
  test('resets that strangers ask for take nothing away from the owner’s', async ({ browser, server, startProxy }) => {
    test.slow();
    await ask(server.url, '/auth/register', { body: account('owner') });
    const proxy = await startProxy('nginx with headers');
    const forgot = () => ask(proxy.url, '/auth/forgot-password', { body: { email: 'owner@example.com' } });
    expect((await forgot()).status).toBe(200);
    await expect.poll(() => letterTo('owner', 'Reset your password', server)).toBeDefined();
    const own = letterTo('owner', 'Reset your password', server)?.token ?? '';
    const asked = await Promise.all(Array.from({ length: 40 }, forgot));
    expect(asked.every(({ status }) => status === 200 || status === 429)).toBe(true);
    const page = await openWindow(browser, outside(proxy));
    await resetWith(page, own, 'another long password');
    expect(await tokenOf(server.url, 'owner', 'another long password')).toHaveLength(43);
  });

  // proves: attack-B.11-1
  test('wrong sign-ins with invented emails lock nobody out, and the administrator reads about the proxy', async ({
    browser,
    server,
    startProxy,
  }) => {
    test.slow();
    await makeAdministrator(server);
    for (const kind of kinds) {
      const proxy = await startProxy(kind);
      for (let index = 0; index < 8; index += 1) {
        const body = { email: `${kind.replaceAll(' ', '-')}-${index}@example.com`, password: 'wrong' };
        expect((await ask(proxy.url, '/auth/login', { body })).status).toBe(401);
      }
      const page = await openWindow(browser, outside(proxy));
      await signIn(page, 'boss');
      await expect(proxies(page)).toContainText('TRUSTED_PROXIES');
      await expect(proxies(page)).toContainText('127.0.0.1');
      await page.goto('/antivirus');
      await expect(proxies(page)).toContainText('TRUSTED_PROXIES');
      await page.context().close();
    }
  });

  // proves: attack-B.14-2
  test('small ways in are closed behind every proxy', async ({ server, startProxy }) => {
    test.slow();
    await ask(server.url, '/auth/register', { body: account('maria') });
    const knock = (port: number, text: string) =>
      new Promise<string>((resolve) => {
        let said = '';
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        socket.on('data', (bytes) => {
          said += bytes.toString('latin1');
        });
        socket.on('error', () => socket.destroy());
        socket.once('close', () => resolve(said));
      });
    for (const kind of kinds) {
      const { port, url } = await startProxy(kind);
      const get = (path: string, hosts = 'Host: palisade.example\r\n') =>
        knock(port, `GET ${path} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      expect(await get('/api/health', 'Host: palisade.example\r\nHost: evil.example\r\n')).toMatch(/^HTTP\/1\.1 400 /);
      for (const path of ['..%2f..%2fpackage.json', '%2e%2e%2f%2e%2e%2fpackage.json', '..%5cpackage.json', '%00'])
        expect([kind, path, await get(`/api/docs/static/${path}`)]).toEqual([
          kind,
          path,
          expect.stringMatching(/^HTTP\/1\.1 4\d\d /),
        ]);
      const right = await Promise.all(
        Array.from({ length: 8 }, () => ask(url, '/auth/login', { body: { email: 'maria@example.com', password: PASSWORD } })),
      );
      expect(right.map(({ status }) => status)).toEqual(right.map(() => 200));

      // An upload whose account is deleted on its way, and what was said in its chat.
      const name = `gone-${kinds.indexOf(kind)}`;
      const words = `the words that shall be gone ${name}`;
      await ask(url, '/auth/register', { body: account(name) });
      const headers = bearer(await tokenOf(url, name));
      expect((await ask(url, '/chat/messages', { body: { message: words, sender: 'user' }, headers })).status).toBe(201);
      const sent = request(`${url}/api/antivirus/scan`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'multipart/form-data; boundary=x' },
        agent: false,
      });
      const uploaded = answerOf(sent).catch(() => undefined);
      sent.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n');
      sent.write('x'.repeat(100_000));
      const confirmed = { password: PASSWORD, confirmation: `${name}@example.com` };
      const left = await ask(url, '/auth/delete-account', { body: confirmed, headers });
      expect([left.status, left.body]).toEqual([200, expect.stringContaining('true')]);
      sent.end('\r\n--x--\r\n');
      expect((await uploaded)?.status ?? 401).toBeLessThan(500);
      const files = readdirSync(server.data_dir).filter((file) => file.startsWith('palisade.sqlite'));
      for (const file of files) expect(readFileSync(join(server.data_dir, file)).includes(words)).toBe(false);
    }
  });
});

test.describe('behind a trusted proxy', () => {
  test.use({ environment: { ...PUBLIC, TRUSTED_PROXIES: '127.0.0.1' } });

  // proves: attack-B.14-1
  test('an address with different ports is one source', async ({ startProxy }) => {
    const { url } = await startProxy('nginx with headers');
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const headers = { 'X-Forwarded-For': `203.0.113.9:${50_000 + index}` };
      const body = { email: `invented-${index}@example.com`, password: 'wrong' };
      statuses.push((await ask(url, '/auth/login', { body, headers })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

base.describe('who has got at the files', () => {
  base('reads none of them as another user, whatever they were before, which is said once', async () => {
    base.skip(process.platform === 'win32', 'there are no modes of files');
    const data_dir = mkdtempSync(join(tmpdir(), 'palisade-journey-'));
    const modes = () =>
      readdirSync(data_dir, { recursive: true, encoding: 'utf8' }).map((name) => {
        const { mode } = statSync(join(data_dir, name));
        return [name, mode & 0o077];
      });
    const open = () => modes().filter(([, others]) => others !== 0);
    const first = await startProduct(data_dir);
    await ask(first.url, '/auth/register', { body: account('boss') });
    expect(modes().length).toBeGreaterThan(5);
    expect(open()).toEqual([]);
    await first.stop();
    for (const name of ['.', ...readdirSync(data_dir, { recursive: true, encoding: 'utf8' })])
      chmodSync(join(data_dir, name), 0o755);
    const second = await startProduct(data_dir);
    expect(open()).toEqual([]);
    expect(second.errors().match(/Other users could read \d+ files/g)).toHaveLength(1);
    await second.stop();
    const third = await startProduct(data_dir);
    expect(third.errors()).not.toContain('Other users');
    await third.stop();
    rmSync(data_dir, { recursive: true, force: true });
  });

  base('rewrites or empties the audit log to be found out, on the page and by the command', async ({ page, server }) => {
    base.slow();
    await registerAndSignIn(page, 'boss');
    await page.goto('/admin/audit');
    await expect(page.getByText(/^Verified up to entry/)).toBeVisible();
    const inDatabase = (sql: string) => {
      const database = new DatabaseSync(join(server.data_dir, 'palisade.sqlite'));
      database.exec('pragma busy_timeout = 5000');
      // An attacker who can write to the database can remove its triggers.
      const triggers = database.prepare("select name from sqlite_master where type = 'trigger' and tbl_name like 'audit%'").all();
      for (const { name } of triggers) database.exec(`drop trigger ${String(name)}`);
      database.exec(sql);
      database.close();
    };
    const verify = () => {
      try {
        return execFileSync(process.execPath, [VERIFY_AUDIT], {
          env: { DATA_DIR: server.data_dir },
          encoding: 'utf8',
          stdio: 'pipe',
        });
      } catch (error) {
        return z.object({ status: z.literal(1), stderr: z.string() }).parse(error).stderr;
      }
    };
    expect(verify()).toContain('The audit log is intact');
    inDatabase("update audit_entries set kind = 'signed_out' where seq = 1");
    expect(verify()).toContain('Entry 1:');
    await page.reload();
    await expect(page.getByText(/Something is wrong with entry 1\./)).toBeVisible();
    inDatabase('delete from audit_entries; delete from audit_head');
    expect(verify()).toContain('The record of the log’s end is missing');
    await page.reload();
    await expect(page.getByText(/Something is wrong with entry/)).toBeVisible();
  });
});
