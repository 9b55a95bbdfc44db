// A Redis of the tests' own, on loopback, with a database for each application of theirs, gone afterwards.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedis, missingRedis } from './packages.mjs';
import { freePort } from './postgres.mjs';

/** One for each application that a run of all tests starts, and some. */
const DATABASES = 20_000;

/** @param {number} port @returns {Promise<boolean>} */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('data', (bytes) => {
      resolve(bytes.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}

/**
 * Starts it when its package is on this machine, or when CI may install it.
 * @returns {Promise<{ url: string, stop: () => Promise<void> } | { skipped: string }>}
 */
export async function startRedis() {
  const missing = await missingRedis();
  if (missing !== undefined) return { skipped: missing };
  const folder = mkdtempSync(join(tmpdir(), 'palisade-redis-'));
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn(findRedis() ?? 'redis-server', [...options, '--databases', String(DATABASES)], { stdio: 'ignore' });
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let left = 200; left > 0; left -= 1) {
    if (await answers(port)) return { url: `redis://127.0.0.1:${port}`, stop };
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  return { skipped: 'the Redis of the tests did not start' };
}
