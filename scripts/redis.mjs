// Starts a Redis server for tests, on loopback, with a database for each application, removed afterwards.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedis } from './packages.mjs';
import { freePort } from './postgres.mjs';

/** Number of databases: more than the applications that a run of all tests starts. */
const DATABASES = 20_000;

/** Time limit for the start, also on a busy machine. In ms. */
const STARTS_WITHIN_MS = 30_000;

/**
 * Starts the server if it is installed.
 * @returns {Promise<{ url: string, stop: () => Promise<void> } | { skipped: string }>}
 */
export async function startRedis() {
  const program = findRedis();
  if (program === undefined) return { skipped: 'no Redis on this machine (install the package redis-server, or valkey-server)' };
  const folder = mkdtempSync(join(tmpdir(), 'palisade-redis-'));
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn(program, [...options, '--databases', String(DATABASES)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  /** @type {Promise<boolean>} */
  const listening = new Promise((resolve) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Ready to accept connections')) resolve(true);
    });
    ended.then(() => resolve(false));
    AbortSignal.timeout(STARTS_WITHIN_MS).addEventListener('abort', () => resolve(false));
  });
  if (await listening) return { url: `redis://127.0.0.1:${port}`, stop };
  await stop();
  return { skipped: 'the Redis of the tests did not start' };
}
