import { simulateThreat } from '@palisade/contract/anti-hacking';
import { changePassword, currentUser, login, logout, register } from '@palisade/contract/auth';
import type { Topic } from '@palisade/contract/endpoint';
import { EVENTS_CLOSED, type LiveEvent } from '@palisade/contract/events';
import { addRule } from '@palisade/contract/firewall';
import { assignSubscription } from '@palisade/contract/subscription';
import { changeUser, listUsers } from '@palisade/contract/users';
import { EICAR } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freshFolder, freshStorage, HAS_CLUSTER, NO_CLUSTER, startCluster } from '#test/cluster.ts';
import { callAt, replyOf } from '#test/harness.ts';
import { runCommand, runServer, startServer } from '#test/server-process.ts';
import { listenAs } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';
import { openDatabase } from './database.ts';
import type { JobTables } from './jobs/job-tables.ts';
import type { ServerTables } from './live-servers.ts';
import type { MailTables } from './mail.ts';
import { createRedisSessionNews } from './session-news.ts';

/** Tables that these tests write by hand. */
type Tables = JobTables &
  ServerTables &
  MailTables & {
    alerts: { simulated: number; severity: string; last_seen: string };
    alert_digest: { since: string; next_at: string; until: string | null };
  };
/** Jobs that run once for all servers. */
const KINDS = ['digests', 'retention'];
const PATIENCE = { timeout: 60_000, interval: 50 };
const PASSWORD = 'a long enough password';
/** A change reaches another server in less, in ms. */
const SOON_MS = 1_000;

/**
 * Time after the call for which a request may begin and still be answered as before, in ms. It is asked all the time, so that cached answers are used; a slow machine does not
 * count.
 */
async function msUntil(status: number, ask: () => Promise<{ status: number }>): Promise<number> {
  const began = performance.now();
  for (let last = 0; ; ) {
    const at = performance.now() - began;
    if ((await ask()).status === status || at > 20 * SOON_MS) return last;
    last = at;
  }
}

if (!HAS_CLUSTER) process.stdout.write(`skipped: ${NO_CLUSTER}\n`);

// Each starts several servers.
needing('PostgreSQL, an S3 server and Redis', HAS_CLUSTER).describe('two servers on one PostgreSQL', { timeout: 180_000 }, () => {
  test('start and migrate at once for the first time, share their keys, and note the same audit log', async () => {
    const { settings: shared, start } = await startCluster();
    const { DATABASE_URL } = shared;
    const folders = [freshFolder('two'), freshFolder('two')];
    const [one, other] = await Promise.all(folders.map((DATA_DIR) => start({ DATA_DIR })));
    if (one === undefined || other === undefined) throw new Error('There are two.');
    await one.signIn('boss');
    await other.signIn('maria');
    // A third server with keys of its own is refused.
    const stranger = await runServer({ ...shared, DATA_DIR: freshFolder('two'), PORT: '0' });
    expect(stranger).toMatchObject({ code: 1 });
    expect(stranger.errors).toContain('is missing. Without its key, quarantined files can’t be opened.');
    for (const server of [one, other]) expect(await server.kill('SIGTERM')).toBe(0);
    for (const DATA_DIR of folders) {
      const { code, output } = await runCommand('verify', { DATABASE_URL, DATA_DIR, ...one.keys });
      expect(output).toContain('is intact: 4 entries');
      expect(code).toBe(0);
    }
  });

  test('a page hears events of the other server, also after a gap that it spent there', async () => {
    const { start } = await startCluster();
    const one = await start();
    const other = await start();
    const token = await one.signIn('boss');
    const isChange = (topic: Topic) => (event: LiveEvent) => event.kind === 'changed' && event.topic === topic;

    const page = await listenAs(other, token);
    replyOf(await callAt(one, addRule, { token, body: { rule_name: 'Web' } }));
    const { id } = await page.event(isChange('rules'));
    const { id: scan_id } = await scanned(one, token, 'eicar.com', EICAR);
    const infected = (event: LiveEvent) =>
      event.kind === 'scan_changed' && event.scan.id === scan_id && event.scan.scan_status === 'infected';
    await page.event(infected);

    const elsewhere = await listenAs(one, token, id ?? undefined);
    expect(await elsewhere.welcomed()).toMatchObject({ missed: false });
    await elsewhere.event(infected);
    expect(elsewhere.events().some(isChange('rules'))).toBe(false);
  });

  // proves: attack-D.22-3
  test('an end or a change at one server counts at the other within a second', async () => {
    const { redis, start } = await startCluster();
    const one = await start();
    const other = await start();
    const admin = await one.signIn('boss');
    const signIn = async (name: string) =>
      replyOf(await callAt(one, login, { body: { email: `${name}@example.com`, password: PASSWORD } })).access_token;
    const someone = async (name: string) => {
      const email = `${name}@example.com`;
      const { id } = replyOf(await callAt(one, register, { body: { email, username: name, password: PASSWORD } }));
      return { id, token: await signIn(name) };
    };
    const ask = (token: string) => () => callAt(other, currentUser, { token });
    const measured: Record<string, number> = {};

    const leaving = await someone('leaving');
    expect((await ask(leaving.token)()).status).toBe(200);
    const page = await listenAs(other, leaving.token);
    replyOf(await callAt(one, logout, { token: leaving.token }));
    measured['logout'] = await msUntil(401, ask(leaving.token));
    // Long before its heartbeat, which looks after sessions every 25 s.
    expect(await page.closed).toBe(EVENTS_CLOSED.unauthenticated);

    const raised = await someone('raised');
    const list = () => callAt(other, listUsers, { token: raised.token });
    expect((await list()).status).toBe(403);
    replyOf(await callAt(one, changeUser, { token: admin, body: { user_id: raised.id, role: 'admin' } }));
    measured['role given'] = await msUntil(200, list);
    replyOf(await callAt(one, changeUser, { token: admin, body: { user_id: raised.id, role: 'customer' } }));
    measured['role taken'] = await msUntil(403, list);

    const disabled = await someone('disabled');
    expect((await ask(disabled.token)()).status).toBe(200);
    replyOf(await callAt(one, changeUser, { token: admin, body: { user_id: disabled.id, disabled: true } }));
    measured['disabled'] = await msUntil(401, ask(disabled.token));

    const changing = await someone('changing');
    const elsewhere = await signIn('changing');
    expect((await ask(elsewhere)()).status).toBe(200);
    const body = { current_password: PASSWORD, new_password: 'another long password' };
    replyOf(await callAt(one, changePassword, { token: changing.token, body }));
    measured['password changed'] = await msUntil(401, ask(elsewhere));

    // Without Redis between them the short trust in the cache is what remains.
    const silent = await someone('silent');
    expect((await ask(silent.token)()).status).toBe(200);
    redis.freeze();
    replyOf(await callAt(one, logout, { token: silent.token }));
    measured['logout while Redis hangs'] = await msUntil(401, ask(silent.token));
    redis.thaw();
    const figures = Object.entries(measured).map(([what, ms]) => `${what} ${Math.round(ms)}`);
    process.stdout.write(`from one server to the other, in ms: ${figures.join(', ')}\n`);
    for (const [what, ms] of Object.entries(measured)) expect.soft(ms, what).toBeLessThan(SOON_MS);
  });

  test('that lack a shared setting do not start beside each other, and say in one line which one', async () => {
    const { settings } = await startCluster();
    const { DATABASE_URL, REDIS_URL, STORAGE_URL } = settings;
    const first = await startServer({ DATABASE_URL, DATA_DIR: freshFolder('first') });
    const { keys } = first;
    const refused = async (more: Record<string, string>) => {
      const { code, errors } = await runServer({ DATABASE_URL, DATA_DIR: freshFolder('next'), PORT: '0', ...keys, ...more });
      expect(code).toBe(1);
      expect(errors.trim().split('\n')).toHaveLength(1);
      return errors;
    };
    const who = `another server \\(process ${first.pid} on \\S+, started \\S+\\) uses it`;
    const line = (lacks: string, names: string) =>
      new RegExp(
        `^palisade: We can’t share the database at DATABASE_URL: ${who}, and ${lacks}\\. ` +
          `Set ${names} for all its servers, or stop the other one\\. If it no longer runs, start again in 60 s\\.\n$`,
      );
    expect(await refused({})).toMatch(line('this one has no REDIS_URL and STORAGE_URL', 'REDIS_URL and STORAGE_URL'));
    expect(await refused({ REDIS_URL })).toMatch(line('this one has no STORAGE_URL', 'STORAGE_URL'));
    expect(await refused({ STORAGE_URL })).toMatch(line('this one has no REDIS_URL', 'REDIS_URL'));
    expect(await refused({ REDIS_URL, STORAGE_URL: freshStorage() })).toMatch(
      line('that one has no REDIS_URL and STORAGE_URL', 'REDIS_URL and STORAGE_URL'),
    );
    // It still serves, and the leftovers of the killed one are in no other's way.
    expect((await fetch(`${first.url}/api/health`)).status).toBe(200);
    await first.kill('SIGKILL');
    const next = await startServer({ DATABASE_URL, DATA_DIR: freshFolder('next') });
    // One that was stopped has taken its word back.
    expect(await next.kill('SIGTERM')).toBe(0);
    const database = openDatabase<Tables>({ postgres: DATABASE_URL });
    onTestFinished(() => database.destroy());
    expect(await database.selectFrom('servers').selectAll().execute()).toEqual([]);
  });

  test('write each digest once and remove expired data once, and one continues when the other is killed', async () => {
    const { settings, redis, start } = await startCluster();
    const { DATABASE_URL } = settings;
    const one = await start();
    const other = await start();
    const token = await one.signIn('boss');
    const database = openDatabase<Tables>({ postgres: DATABASE_URL });
    onTestFinished(() => database.destroy());
    const news = createRedisSessionNews({ url: redis.url, logger: pino({ level: 'silent' }) });
    onTestFinished(async () => (await news).close());
    const plan = { plan_name: 'All', price: 1, duration_months: 12, max_devices: 1, is_premium: true, features: [] };
    replyOf(await callAt(one, assignSubscription, { token, body: { user_email: 'boss@example.com', ...plan } }));
    replyOf(await callAt(one, simulateThreat, { token }));
    const DAY_MS = 86_400_000;
    const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    const planned = () =>
      database
        .selectFrom('jobs')
        .select(['kind', 'claims', 'claimed_by', 'last_error'])
        .where('kind', 'in', KINDS)
        .orderBy('kind')
        .execute();
    const letters = async (subject: string) =>
      (await database.selectFrom('mails').select('id').where('subject', 'like', `%${subject}`).execute()).length;
    const claimsOf = async () => (await planned()).map(({ claims }) => claims);
    await vi.waitFor(async () => expect(await claimsOf()).toEqual([1, 1]), PATIENCE);

    /** A week is over, and a mail is older than mails are kept. */
    async function passWeek(): Promise<void> {
      await database
        .updateTable('alerts')
        .set({ simulated: 0, severity: 'low', last_seen: ago(1) })
        .execute();
      await database
        .updateTable('alert_digest')
        .set({ since: ago(8), next_at: ago(0), until: null })
        .execute();
      await database
        .updateTable('mails')
        .set({ created_at: ago(31) })
        .where('subject', 'not like', '%weekly security summary')
        .execute();
      await database
        .updateTable('jobs')
        .set({ run_at: ago(0) })
        .where('kind', 'in', KINDS)
        .execute();
      // Both hear of it in the same moment.
      (await news).tell({ kind: 'work', kinds: KINDS });
    }
    await passWeek();
    await vi.waitFor(async () => expect(await claimsOf()).toEqual([2, 2]), PATIENCE);
    await vi.waitFor(async () => expect((await planned()).map(({ claimed_by }) => claimed_by)).toEqual([null, null]), PATIENCE);
    expect(await letters('Your weekly security summary')).toBe(1);
    expect(await database.selectFrom('mails').select('id').where('created_at', '<', ago(30)).execute()).toEqual([]);

    await one.kill('SIGKILL');
    await passWeek();
    await vi.waitFor(async () => expect(await claimsOf()).toEqual([3, 3]), PATIENCE);
    await vi.waitFor(async () => expect(await letters('Your weekly security summary')).toBe(2), PATIENCE);
    expect(await other.kill('SIGTERM')).toBe(0);
    expect((await planned()).map(({ claimed_by, last_error }) => [claimed_by, last_error])).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});
