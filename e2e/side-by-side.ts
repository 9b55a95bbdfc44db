import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { Client } from 'pg';
import { type Product, startProduct } from './product.ts';

const HAPROXY = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/local/bin/haproxy', '/opt/homebrew/bin/haproxy'].find(
  (path) => existsSync(path),
);
/** Number of databases of the Redis that `scripts/test.mjs` starts. */
const REDIS_DATABASES = 20_000;
const LISTENS_WITHIN_MS = 30_000;

/** Shared services, if `scripts/test.mjs` has started them: JOURNEY_DATABASE_URL, JOURNEY_STORAGE_URL, JOURNEY_REDIS_URL. */
function shared(): { database: string; storage: string; redis: string } | undefined {
  const [database, storage, redis] = ['DATABASE', 'STORAGE', 'REDIS'].map((name) => process.env[`JOURNEY_${name}_URL`] ?? '');
  return database && storage && redis && HAPROXY !== undefined ? { database, storage, redis } : undefined;
}

/** Whether this machine can run journeys on two servers. */
export const hasSideBySide = shared() !== undefined;

async function onPostgres(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** HAProxy in round robin: a session that one server started must be valid on the other. */
async function startProxy(folder: string, servers: readonly Product[]): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const lines = servers.map(({ url }, index) => `  server s${index} 127.0.0.1:${new URL(url).port}`);
  const conf = join(folder, 'haproxy.cfg');
  writeFileSync(
    conf,
    // `Host` as browsers write it. The first account counts as created on the machine itself, because this proxy cannot be recognised.
    `global
  h1-case-adjust host Host
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  timeout tunnel 1h
frontend people
  bind 127.0.0.1:${port}
  default_backend palisade
backend palisade
  balance roundrobin
  # What one server does not take goes to the other.
  option redispatch 1
  option h1-case-adjust-bogus-server
${lines.join('\n')}
`,
  );
  const child = spawn(HAPROXY ?? 'haproxy', ['-db', '-q', '-f', conf], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const answers = expect(async () => expect((await fetch(`${url}/api/health`)).ok).toBe(true));
  await Promise.race([
    answers.toPass({ timeout: LISTENS_WITHIN_MS, intervals: [25] }),
    ended.then(() => {
      throw new Error('HAProxy ended before it listened.');
    }),
  ]);
  return {
    url,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Two servers that share PostgreSQL, Redis and the file store, behind a proxy that alternates between them. */
export async function startSideBySide(environment: Record<string, string>): Promise<Product> {
  const between = shared();
  if (between === undefined) throw new Error('There is nothing on this machine that servers could share.');
  const folder = mkdtempSync(join(tmpdir(), 'palisade-side-by-side-'));
  const name = `palisade_journey_${randomBytes(6).toString('hex')}`;
  await onPostgres(between.database, `create database ${name}`);
  const database = new URL(between.database);
  database.pathname = `/${name}`;
  const storage = new URL(between.storage);
  storage.pathname += `/${name.replaceAll('_', '-')}`;
  const redis = new URL(between.redis);
  redis.pathname = `/${randomInt(1, REDIS_DATABASES)}`;
  const keys = ['QUARANTINE', 'TWO_FACTOR', 'AUDIT'].map((key): [string, string] => [
    `${key}_KEY_FILE`,
    join(folder, `${key}.key`),
  ]);
  const settings = {
    DATABASE_URL: database.href,
    STORAGE_URL: storage.href,
    REDIS_URL: redis.href,
    ...Object.fromEntries(keys),
    ...environment,
  };
  const data_dirs = ['one', 'other'].map((one) => join(folder, one));
  for (const data_dir of data_dirs) mkdirSync(data_dir, { mode: 0o700 });
  const servers = await Promise.all(data_dirs.map((data_dir) => startProduct(data_dir, settings)));
  const proxy = await startProxy(folder, servers);
  return {
    url: proxy.url,
    data_dir: data_dirs[0] ?? '',
    database_url: settings.DATABASE_URL,
    errors: () => servers.map((server) => server.errors()).join(''),
    crash: async () => await servers[0]?.crash(),
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      await proxy.stop();
      await onPostgres(between.database, `drop database ${name} with (force)`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
