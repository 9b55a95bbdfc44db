import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { BASELINE } from '#migrations/all.ts';
import { freshFolder } from './cluster.ts';
import { startListeningApp } from './harness.ts';
import { git, lastLanded, layOut } from './older-version.ts';
import { POSTGRES_PROGRAMS, startPostgres } from './postgres.ts';
import { runCommand, startServer } from './server-process.ts';

// The last landed version beside this one on one PostgreSQL, under traffic from before the upgrade until after it; about a minute.

const last = lastLanded();
/** Servers from before the baseline stop before this one starts. */
const hasBaseline = git('cat-file', '-e', `${last}:server/migrations/${BASELINE.name}.ts`) !== undefined;
const landed = hasBaseline ? last : undefined;
if (landed === undefined)
  process.stdout.write('skipped: the history does not hold the version before this one, or it is from before the baseline\n');
if (POSTGRES_PROGRAMS === undefined) process.stdout.write('skipped: no PostgreSQL on this machine\n');

const PASSWORD = 'a long enough password';
const WORKERS = 4;
const MIXED_MS = 20_000;

/** The answers so far, by server, path and status. */
class Traffic {
  readonly statuses = new Map<string, number>();
  readonly failures: string[] = [];

  async ask(
    name: string,
    url: string,
    token: string | undefined,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<unknown> {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const key = `${name} ${method} ${path} ${response.status}`;
    this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1);
    const text = await response.text();
    // 503 says that it is to be tried again: a migration may hold a table for a moment.
    if (response.status >= 500 && response.status !== 503) this.failures.push(`${key} ${text.slice(0, 200)}`);
    return response.ok && text !== '' ? JSON.parse(text) : undefined;
  }

  count(name: string): number {
    return [...this.statuses].reduce((sum, [key, count]) => sum + (key.startsWith(`${name} `) ? count : 0), 0);
  }
}

describe.runIf(landed !== undefined && POSTGRES_PROGRAMS !== undefined)('a rolling upgrade', { timeout: 600_000 }, () => {
  test('never answers 500 at either version, keeps messages of both, and its audit log holds', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.dispose());
    const DATA_DIR = freshFolder('rolling-old');
    const old = await startServer({ DATABASE_URL: postgres.url, DATA_DIR }, layOut(landed ?? ''));
    const traffic = new Traffic();
    /** Where requests go, as a balancer sends them. */
    const places = [{ name: 'old', url: old.url }];
    const said: { worker: number; message: string }[] = [];
    let is_over = false;

    async function work(worker: number): Promise<string> {
      const email = `worker${worker}-${randomBytes(3).toString('hex')}@example.com`;
      const account = { email, username: email.split('@')[0], password: PASSWORD };
      await traffic.ask('old', old.url, undefined, 'POST', '/auth/register', account);
      const signIn = async (place: { name: string; url: string }) =>
        z
          .object({ access_token: z.string() })
          .parse(await traffic.ask(place.name, place.url, undefined, 'POST', '/auth/login', account)).access_token;
      let token = await signIn({ name: 'old', url: old.url });
      for (let turn = 0; !is_over; turn += 1) {
        const place = places[(turn + worker) % places.length] ?? { name: 'old', url: old.url };
        const ask = (method: string, path: string, body?: unknown) =>
          traffic.ask(place.name, place.url, token, method, path, body);
        const message = `${worker}: message ${turn}`;
        if ((await ask('POST', '/chat/messages', { message, sender: 'user' })) !== undefined) said.push({ worker, message });
        await ask('GET', '/chat/messages');
        await ask('GET', '/dashboard/status');
        await ask('GET', '/auth/sessions');
        await ask('GET', '/premium/anti-hacking/alerts');
        await ask('GET', '/firewall/rules');
        if (turn % 10 === 9) token = await signIn(place);
        await pause(20);
      }
      return token;
    }
    const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker));
    await pause(2_000);
    // In this process: servers of one database need a Redis and a store between them, which is not the subject.
    const now = await startListeningApp({
      environment: old.keys,
      surroundings: { database: { postgres: postgres.url }, shares_database: true },
    });
    places.push({ name: 'new', url: now.url });
    await pause(MIXED_MS);
    is_over = true;
    const tokens = await Promise.all(workers);

    process.stdout.write(
      `${traffic.count('old')} answers of the old server and ${traffic.count('new')} of the new one, ${said.length} messages\n`,
    );
    expect(traffic.failures).toEqual([]);
    expect(traffic.count('old')).toBeGreaterThan(20);
    expect(traffic.count('new')).toBeGreaterThan(20);
    for (const [worker, token] of tokens.entries()) {
      const mine = said
        .filter((one) => one.worker === worker)
        .map(({ message }) => message)
        .slice(-20);
      const heard = z
        .array(z.object({ message: z.string() }))
        .parse(await traffic.ask('new', now.url, token, 'GET', '/chat/messages'));
      expect(heard.map(({ message }) => message)).toEqual(expect.arrayContaining(mine));
    }
    expect(await old.kill('SIGTERM')).toBe(0);
    await now.close();
    const verified = await runCommand('verify', { DATABASE_URL: postgres.url, DATA_DIR, ...old.keys });
    expect(verified.output).toContain('The audit log is intact');
    expect(verified.code).toBe(0);
  });
});
