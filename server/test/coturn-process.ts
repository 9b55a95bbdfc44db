import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnBound } from '@palisade/scanner/test/bound-process';

const SERVER = '/usr/bin/turnserver';
export const CLIENT = '/usr/bin/turnutils_uclient';
const LISTENS_WITHIN_MS = 20_000;

/** Whether this machine has coturn, the relay and its client. */
export const HAS_COTURN = existsSync(SERVER) && existsSync(CLIENT);
export const NO_COTURN = 'the relay of remote sessions needs coturn (Debian: apt-get install coturn)';

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * A relay on loopback that shares `secret`. Without `--allow-loopback-peers` coturn refuses to pass on to 127.0.0.0/8 (403), which is right for everybody but a test:
 * a client with credentials could reach services on the relay's own machine.
 * `--listening-ip` and `--relay-ip` keep it off all other interfaces.
 */
export async function startRelay(secret: string, port: number): Promise<{ stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-coturn-'));
  const options = ['--use-auth-secret', `--static-auth-secret=${secret}`, '--realm=test', '--allow-loopback-peers', '--no-tls'];
  const places = ['--no-dtls', '--no-cli', '--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', `--listening-port=${port}`];
  const files = [`--pidfile=${join(folder, 'pid')}`, '--log-file=stdout', `--userdb=${join(folder, 'users')}`];
  const child = spawnBound(SERVER, ['-n', ...options, ...places, ...files]);
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const until = Date.now() + LISTENS_WITHIN_MS;
  while (!(await isListening(port))) {
    if (Date.now() > until || child.exitCode !== null) {
      await stop();
      throw new Error('coturn does not listen');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { stop };
}
