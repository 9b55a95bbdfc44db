import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ScannerAddress } from '#scanner/engine/scanner-url.ts';
import { eventually } from '#test/eventually.ts';
import { spawnBound } from './bound-process.ts';
import { CLAMD_SIGNATURES } from './clamd-double.ts';

const CLAMD = ['/usr/sbin/clamd', '/usr/local/sbin/clamd', '/opt/homebrew/sbin/clamd'].find(existsSync);
/** Whether a real clamd is on this machine; the closing lines of `npm test` say so when not. */
export const hasClamd = CLAMD !== undefined;

/** Of clam.exe, the program in all of ClamAV's test files: MD5, size, name. */
const TEST_FILE_SIGNATURE = 'aa15bcf478d165efd2065190eb473bcb:544:ClamAV-Test-File\n';

export interface RealClamd {
  address: ScannerAddress;
  url: string;
  pid: number;
  /** SIGKILL, and wait until it is gone. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

const SHIPPED = readFileSync(new URL('../../server/clamd/clamd.conf', import.meta.url), 'utf8');

/** Answers once clamd listens there. */
const answers = (path: string) =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve();
    }).once('error', reject);
  });

/** A real clamd with the clamd.conf that is shipped (`settings` in place of its lines) and signatures of our own, until the test, or all of the file, are over. */
export async function startClamd(
  settings: Record<string, string> = {},
  dispose: (end: () => Promise<void>) => void = onTestFinished,
): Promise<RealClamd> {
  if (CLAMD === undefined) throw new Error('There is no clamd on this machine.');
  const program = CLAMD;
  const folder = mkdtempSync(join(tmpdir(), 'palisade-clamd-'));
  const path = join(folder, 'socket');
  mkdirSync(join(folder, 'signatures'));
  writeFileSync(join(folder, 'signatures/own.ndb'), CLAMD_SIGNATURES);
  writeFileSync(join(folder, 'signatures/own.hdb'), TEST_FILE_SIGNATURE);
  const own: Record<string, string> = {
    LocalSocket: path,
    DatabaseDirectory: join(folder, 'signatures'),
    TemporaryDirectory: folder,
    LogFile: join(folder, 'log'),
    Foreground: 'yes',
    ...settings,
  };
  const kept = SHIPPED.split('\n').filter((line) => !['User', ...Object.keys(own)].includes(line.split(' ')[0] ?? ''));
  const conf = join(folder, 'clamd.conf');
  writeFileSync(conf, [...kept, ...Object.entries(own).map(([name, value]) => `${name} ${value}`), ''].join('\n'));

  let child: ChildProcess | undefined;
  let gone: Promise<unknown> = Promise.resolve();
  const kill = async () => {
    child?.kill('SIGKILL');
    await gone;
  };
  const start = async () => {
    const started = spawnBound(program, ['-c', conf]);
    child = started;
    gone = new Promise((resolve) => started.once('exit', resolve));
    await eventually(() => answers(path));
  };
  dispose(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return {
    address: { path },
    url: `clamd+unix://${path}`,
    get pid() {
      return child?.pid ?? 0;
    },
    kill,
    start,
  };
}
