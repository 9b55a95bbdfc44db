import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { onTestFinished, vi } from 'vitest';
import { freePort } from './free-port.ts';

const SERVER = '/usr/bin/turnserver';
const CLIENT = '/usr/bin/turnutils_uclient';

/** Whether this machine has coturn, the relay and its client. */
export const HAS_COTURN = existsSync(SERVER) && existsSync(CLIENT);
export const NO_COTURN = 'the relay of remote sessions needs coturn (Debian: apt-get install coturn)';

/** A relay on loopback that shares `secret`, for one test. Only a test lets it relay to loopback. */
export async function startCoturn(secret: string): Promise<{ port: number }> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'palisade-coturn-'));
  const options = ['--use-auth-secret', `--static-auth-secret=${secret}`, '--realm=test', '--allow-loopback-peers', '--no-tls'];
  const places = ['--no-dtls', '--no-cli', '--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', `--listening-port=${port}`];
  const files = [`--pidfile=${join(folder, 'pid')}`, '--log-file=stdout', `--userdb=${join(folder, 'users')}`];
  const child = spawnBound(SERVER, ['-n', ...options, ...places, ...files]);
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await vi.waitFor(
    async () => {
      const socket = createConnection({ host: '127.0.0.1', port });
      try {
        await once(socket, 'connect');
      } finally {
        socket.destroy();
      }
    },
    { timeout: 20_000, interval: 50 },
  );
  return { port };
}

/** Whether the relay gives a client of this name and password a place, and passes on what it sends. */
export async function relays(port: number, { username, credential }: { username: string; credential: string }): Promise<boolean> {
  // Over TCP, two messages to itself.
  const options = ['-t', '-y', '-c', '-n', '2', '-m', '1', '-p', String(port), '-u', username, '-w', credential];
  const child = spawnBound(CLIENT, [...options, '127.0.0.1']);
  const killed = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await once(child, 'exit');
  clearTimeout(killed);
  return child.exitCode === 0;
}
