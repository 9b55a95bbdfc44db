import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { createClient } from '@redis/client';

const PROGRAMS = [
  '/usr/bin/redis-server',
  '/usr/bin/valkey-server',
  '/usr/local/bin/redis-server',
  '/opt/homebrew/bin/redis-server',
];

/** The program of a Redis or Valkey on this machine, or undefined. */
export const REDIS_SERVER = PROGRAMS.find((path) => existsSync(path));

export interface TestRedis {
  url: string;
  /** Stops its answers, with its connections open, and continues. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** A Redis of this test's own, on a socket in a temporary folder's name and a free port of loopback. */
export async function startRedis(port: number): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-redis-'));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawnBound(REDIS_SERVER ?? 'redis-server', options);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `redis://127.0.0.1:${port}`;
  const client = createClient({ url, socket: { reconnectStrategy: (retries) => (retries > 100 ? new Error('gone') : 50) } });
  client.on('error', () => {});
  await client.connect();
  await client.ping();
  client.destroy();
  return {
    url,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
