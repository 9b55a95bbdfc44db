// Starts an S3-compatible store for tests: OpenStack Swift in one process with a temporary folder, on loopback, removed afterwards.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';
import { NEEDS } from './packages.mjs';

const ACCOUNT = { accessKeyId: 'palisade:tester', secretAccessKey: 'secret-of-the-tests' };
const BUCKET = 'palisade-tests';

/**
 * Starts the store if it is installed.
 * @returns {Promise<{ url: string, stop: () => Promise<void> } | { skipped: string }>}
 */
export async function startS3() {
  if (!NEEDS['an S3 server'].isThere()) return { skipped: 'no S3 server on this machine (install the package python3-swift)' };
  const folder = mkdtempSync(join(tmpdir(), 'palisade-s3-'));
  const script = join(ROOT, 'server/test/s3-server.py');
  const child = spawn('/usr/bin/python3', [script, folder, ACCOUNT.accessKeyId, ACCOUNT.secretAccessKey, BUCKET], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  /** @type {Promise<string | undefined>} */
  const listening = new Promise((resolve) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const port = /listening (\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve(port);
    });
    ended.then(() => resolve(undefined));
  });
  const port = await listening;
  if (port === undefined) {
    await stop();
    return { skipped: 'the S3 server of the tests did not start' };
  }
  const account = `${encodeURIComponent(ACCOUNT.accessKeyId)}:${ACCOUNT.secretAccessKey}`;
  return { url: `s3://${account}@127.0.0.1:${port}/${BUCKET}?tls=0`, stop };
}
