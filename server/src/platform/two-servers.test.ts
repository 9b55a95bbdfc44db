import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changePassword, currentUser, login, logout, register } from '@palisade/contract/auth';
import type { Endpoint, Topic } from '@palisade/contract/endpoint';
import { EVENTS_CLOSED, type LiveEvent } from '@palisade/contract/events';
import { addRule } from '@palisade/contract/firewall';
import { changeUser, listUsers } from '@palisade/contract/users';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EICAR } from '#test/files.ts';
import { freshDatabase, isPostgres, readAnswer, replyOf } from '#test/harness.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';
import { runCommand, runServer, type ServerProcess, startServer } from '#test/server-process.ts';
import { listenAs } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';

const PASSWORD = 'a long enough password';
/** A change reaches another server in less, in ms. */
const SOON_MS = 1_000;

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-two-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function newDatabase(): Promise<string> {
  const { location, dispose } = await freshDatabase();
  onTestFinished(dispose);
  return 'postgres' in location ? location.postgres : '';
}

async function call<E extends Endpoint>(
  server: ServerProcess,
  endpoint: E,
  request: { token?: string; body?: unknown; query?: string } = {},
) {
  const response = await fetch(`${server.url}/api${endpoint.path}${request.query ?? ''}`, {
    method: endpoint.method,
    headers: {
      ...(request.token === undefined ? {} : { authorization: `Bearer ${request.token}` }),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  return await readAnswer(endpoint, response);
}

/** How long after the call a request may begin and still be answered as before, in ms. It is asked all the time, so that what is cached is in use; a slow machine counts for nothing. */
async function msUntil(status: number, ask: () => Promise<{ status: number }>): Promise<number> {
  const began = performance.now();
  for (let last = 0; ; ) {
    const at = performance.now() - began;
    if ((await ask()).status === status || at > 20 * SOON_MS) return last;
    last = at;
  }
}

if (!isPostgres()) process.stdout.write('skipped: two servers on one database need PostgreSQL\n');
if (REDIS_SERVER === undefined) process.stdout.write('skipped: two servers need a Redis, and there is none\n');

// Each starts several servers.
describe.runIf(isPostgres())('two servers on one PostgreSQL', { timeout: 180_000 }, () => {
  test('start at once for the first time, share their keys, and note the same audit log', async () => {
    const DATABASE_URL = await newDatabase();
    const folders = [freshFolder(), freshFolder()];
    const [one, other] = await Promise.all(folders.map((DATA_DIR) => startServer({ DATABASE_URL, DATA_DIR })));
    if (one === undefined || other === undefined) throw new Error('There are two.');
    await one.signIn('boss');
    await other.signIn('maria');
    // A third one with keys of its own is none of theirs.
    const stranger = await runServer({ DATABASE_URL, DATA_DIR: freshFolder(), PORT: '0' });
    expect(stranger).toMatchObject({ code: 1 });
    expect(stranger.errors).toContain('is gone. Without its key no file in quarantine can be opened.');
    for (const server of [one, other]) expect(await server.kill('SIGTERM')).toBe(0);
    for (const DATA_DIR of folders) {
      const { code, output } = await runCommand('verify-audit.ts', { DATABASE_URL, DATA_DIR, ...one.keys });
      expect(output).toContain('holds: 4 entries');
      expect(code).toBe(0);
    }
  });

  test.runIf(REDIS_SERVER !== undefined)(
    'a page hears of what happens at the other server, also after a gap that it spent there',
    async () => {
      const DATABASE_URL = await newDatabase();
      const redis = await startRedis(await freePort());
      onTestFinished(() => redis.stop());
      const start = () => startServer({ DATABASE_URL, REDIS_URL: redis.url, DATA_DIR: freshFolder() });
      const one = await start();
      const other = await start();
      const token = await one.signIn('boss');
      const isChange = (topic: Topic) => (event: LiveEvent) => event.kind === 'changed' && event.topic === topic;

      const page = await listenAs(other, token);
      replyOf(await call(one, addRule, { token, body: { rule_name: 'Web' } }));
      const { id } = await page.event(isChange('rules'));
      const { id: scan_id } = await scanned(one, token, 'eicar.com', EICAR);
      const infected = (event: LiveEvent) =>
        event.kind === 'scan_changed' && event.scan.id === scan_id && event.scan.scan_status === 'infected';
      await page.event(infected);

      const elsewhere = await listenAs(one, token, id ?? undefined);
      expect(await elsewhere.welcomed()).toMatchObject({ missed: false });
      await elsewhere.event(infected);
      expect(elsewhere.events().some(isChange('rules'))).toBe(false);
    },
  );

  test.runIf(REDIS_SERVER !== undefined)('what ends or changes at one counts at the other within a second', async () => {
    const DATABASE_URL = await newDatabase();
    const redis = await startRedis(await freePort());
    onTestFinished(() => redis.stop());
    const start = () => startServer({ DATABASE_URL, REDIS_URL: redis.url, DATA_DIR: freshFolder() });
    const one = await start();
    const other = await start();
    const admin = await one.signIn('boss');
    const signIn = async (name: string) =>
      replyOf(await call(one, login, { body: { email: `${name}@example.com`, password: PASSWORD } })).access_token;
    const someone = async (name: string) => {
      const email = `${name}@example.com`;
      const { id } = replyOf(await call(one, register, { body: { email, username: name, password: PASSWORD } }));
      return { id, token: await signIn(name) };
    };
    const ask = (token: string) => () => call(other, currentUser, { token });
    const measured: Record<string, number> = {};

    const leaving = await someone('leaving');
    expect((await ask(leaving.token)()).status).toBe(200);
    const page = await listenAs(other, leaving.token);
    replyOf(await call(one, logout, { token: leaving.token }));
    measured['logout'] = await msUntil(401, ask(leaving.token));
    // Long before its heartbeat, which looks after sessions every 25 s.
    expect(await page.closed).toBe(EVENTS_CLOSED.unauthenticated);

    const raised = await someone('raised');
    const list = () => call(other, listUsers, { token: raised.token });
    expect((await list()).status).toBe(403);
    replyOf(await call(one, changeUser, { token: admin, body: { user_id: raised.id, role: 'admin' } }));
    measured['role given'] = await msUntil(200, list);
    replyOf(await call(one, changeUser, { token: admin, body: { user_id: raised.id, role: 'customer' } }));
    measured['role taken'] = await msUntil(403, list);

    const disabled = await someone('disabled');
    expect((await ask(disabled.token)()).status).toBe(200);
    replyOf(await call(one, changeUser, { token: admin, body: { user_id: disabled.id, disabled: true } }));
    measured['disabled'] = await msUntil(401, ask(disabled.token));

    const changing = await someone('changing');
    const elsewhere = await signIn('changing');
    expect((await ask(elsewhere)()).status).toBe(200);
    const body = { current_password: PASSWORD, new_password: 'another long password' };
    replyOf(await call(one, changePassword, { token: changing.token, body }));
    measured['password changed'] = await msUntil(401, ask(elsewhere));

    // Without Redis between them the short trust in the cache is what remains.
    const silent = await someone('silent');
    expect((await ask(silent.token)()).status).toBe(200);
    redis.freeze();
    replyOf(await call(one, logout, { token: silent.token }));
    measured['logout while Redis hangs'] = await msUntil(401, ask(silent.token));
    redis.thaw();
    const figures = Object.entries(measured).map(([what, ms]) => `${what} ${Math.round(ms)}`);
    process.stdout.write(`from one server to the other, in ms: ${figures.join(', ')}\n`);
    for (const [what, ms] of Object.entries(measured)) expect.soft(ms, what).toBeLessThan(SOON_MS);
  });
});
