import { join } from 'node:path';
import { currentUser } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import type { Endpoint } from '@palisade/contract/endpoint';
import { needing } from '@palisade/scanner/test/needs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { BASELINE, migrations } from '#migrations/all.ts';
import { openDatabase } from '#platform/database.ts';
import type { Tables } from '#platform/tables.ts';
import { freshFolder, HAS_CLUSTER, startCluster } from './cluster.ts';
import { callAt, freshDatabase, replyOf } from './harness.ts';
import { git, layOut } from './older-version.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const NEWEST = Object.keys(migrations).sort().at(-1) ?? '';
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 50 });

/** The newest commit of the main line whose migrations are some of today's and not all; undefined where the history does not reach so far. */
function commitBefore(): string | undefined {
  const commits = git('log', '--first-parent', '--format=%H', '-50', '--', 'server/migrations')?.split('\n') ?? [];
  return commits.find((commit) => {
    const files = git('ls-tree', '--name-only', commit, 'server/migrations/')?.split('\n') ?? [];
    const names = files.flatMap((file) => /(\d{4}-[\w-]+)\.ts$/.exec(file)?.[1] ?? []);
    return names.length > 0 && names.every((name) => name in migrations) && !names.includes(NEWEST);
  });
}
const beside = process.env['UPGRADE_FROM'] ?? commitBefore();
if (beside === undefined) process.stdout.write('skipped: the history does not hold a version before the newest migration\n');
const isThere = (commit: string) => git('cat-file', '-e', `${commit}^{commit}`) !== undefined;
const before = beside ?? (isThere(BASELINE.commit) ? BASELINE.commit : undefined);
if (before === undefined) process.stdout.write(`skipped: the history does not hold commit ${BASELINE.commit}\n`);

async function call<E extends Endpoint>(server: ServerProcess, endpoint: E, token: string, body?: unknown) {
  return replyOf(await callAt(server, endpoint, { token, body }));
}

const messagesSchema = z.array(z.object({ message: z.string() }));

/** Messages, by what every version says of them: a newer contract asks more of a message than an older server answers. */
async function say({ url }: ServerProcess, token: string, message: string): Promise<void> {
  const response = await fetch(`${url}/api${sendMessage.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message, sender: 'user' }),
  });
  expect(response.status).toBe(201);
}

async function saidAt({ url }: ServerProcess, token: string): Promise<string[]> {
  const response = await fetch(`${url}/api${listMessages.path}`, { headers: { authorization: `Bearer ${token}` } });
  return messagesSchema.parse(await response.json()).map(({ message }) => message);
}

describe.runIf(before !== undefined)('the version before the newest migration', { timeout: 180_000 }, () => {
  test('leaves a data folder and a database that this one starts on, with everybody signed in and everything there', async () => {
    const DATA_DIR = freshFolder('upgrade');
    const { location, dispose } = await freshDatabase();
    onTestFinished(dispose);
    const environment = { DATA_DIR, ...('postgres' in location && { DATABASE_URL: location.postgres }) };
    const old = await startServer(environment, layOut(before ?? ''));
    const token = await old.signIn('maria');
    await say(old, token, 'From before.');
    expect(await old.kill('SIGKILL')).toBeNull();
    const now = await startServer(environment);
    expect(await call(now, currentUser, token)).toMatchObject({ username: 'maria' });
    expect(await saidAt(now, token)).toContain('From before.');
    const database = openDatabase<Tables>('postgres' in location ? location : { sqlite: join(DATA_DIR, 'palisade.sqlite') });
    onTestFinished(() => database.destroy());
    // Jobs do the former work of timers.
    const done = async () =>
      (await database.selectFrom('jobs').select('kind').where('claims', '>', 0).execute()).map(({ kind }) => kind);
    await soon(async () => expect(await done()).toEqual(expect.arrayContaining(['retention', 'digests', 'detection'])));
    expect(await now.kill('SIGTERM')).toBe(0);
  });

  needing('PostgreSQL, an S3 server, Redis and a version before', HAS_CLUSTER && beside !== undefined).test(
    'serves on beside this one, both know what was done at the other, and a week has one digest',
    async () => {
      const { settings: shared } = await startCluster();
      const { DATABASE_URL } = shared;
      const old = await startServer({ ...shared, DATA_DIR: freshFolder('old') }, layOut(beside ?? ''));
      const token = await old.signIn('boss');
      const database = openDatabase<Tables>({ postgres: DATABASE_URL });
      onTestFinished(() => database.destroy());
      const digest = () => database.selectFrom('alert_digest').select(['since', 'until']).executeTakeFirst();
      await soon(async () => expect(await digest()).toBeDefined());
      // The old one was in the middle of a week's digests.
      const until = new Date().toISOString();
      await database.updateTable('alert_digest').set({ until }).execute();
      const now = await startServer({ ...shared, DATA_DIR: freshFolder('new') });
      // Due at once, in place of when the last one was: whichever server does it, it is done once.
      await database.updateTable('jobs').set({ run_at: until }).where('kind', '=', 'digests').execute();
      await soon(async () => expect(await digest()).toEqual({ since: until, until: null }));
      expect(await call(now, currentUser, token)).toMatchObject({ username: 'boss' });
      await say(old, token, 'At the old one.');
      await say(now, token, 'At the new one.');
      for (const server of [old, now]) {
        expect(await saidAt(server, token)).toEqual(expect.arrayContaining(['At the old one.', 'At the new one.']));
        await server.signIn(server === old ? 'anna' : 'berta');
      }
      expect(old.errors()).toBe('');
      expect(await old.kill('SIGTERM')).toBe(0);
      expect((await fetch(`${now.url}/api/health`)).status).toBe(200);
      expect(await now.kill('SIGTERM')).toBe(0);
    },
  );
});
