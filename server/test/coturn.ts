import { once } from 'node:events';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { onTestFinished } from 'vitest';
import { CLIENT, startRelay } from './coturn-process.ts';
import { freePort } from './free-port.ts';

/** A relay on loopback that shares `secret`, for one test. */
export async function startCoturn(secret: string): Promise<{ port: number }> {
  const port = await freePort();
  const { stop } = await startRelay(secret, port);
  onTestFinished(stop);
  return { port };
}

/** Whether the relay gives a client of this name and password a place, and passes on its data. */
export async function relays(port: number, { username, credential }: { username: string; credential: string }): Promise<boolean> {
  // Over TCP, two messages to itself.
  const options = ['-t', '-y', '-c', '-n', '2', '-m', '1', '-p', String(port), '-u', username, '-w', credential];
  const child = spawnBound(CLIENT, [...options, '127.0.0.1']);
  const killed = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await once(child, 'exit');
  clearTimeout(killed);
  return child.exitCode === 0;
}
