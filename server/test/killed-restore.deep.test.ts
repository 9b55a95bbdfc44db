import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EICAR, noise } from '@palisade/scanner/test/files';
import SqliteDatabase from 'better-sqlite3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { seededRandom } from './seeded.ts';
import { runCommand, runServer, startServer } from './server-process.ts';
import { scanned } from './upload.ts';

// 24 restores and 8 backups that are killed; about 3 minutes on two cores.

const SEED = 31_002;
const RESTORES = 24;
const BACKUPS = 8;
const root = mkdtempSync(join(tmpdir(), 'palisade-killed-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
process.stdout.write(`the moments of the kills come from the seed ${SEED}\n`);
const random = seededRandom(SEED);
const fileOf = (name: string) => fileURLToPath(new URL(`../src/${name}`, import.meta.url));

const place = join(root, 'place');
const backups = join(root, 'backups');
let archive = '';
let restore_ms = 0;
let backup_ms = 0;

/** Runs a command, and kills it so many ms after it has begun, if it has not ended by then. */
async function kill(file: string, environment: Record<string, string>, args: string[], after_ms: number): Promise<void> {
  const child = spawn(process.execPath, [fileOf(file), ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await pause(after_ms);
  child.kill('SIGKILL');
  await ended;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const countOf = (folder: string) => {
  const database = new SqliteDatabase(join(folder, 'palisade.sqlite'), { readonly: true });
  const count = database.prepare('select (select count(*) from users) as people, (select count(*) from scans) as scans').get();
  database.close();
  return count;
};

beforeAll(async () => {
  const server = await startServer({ DATA_DIR: place });
  const token = await server.signIn('anna');
  await vi.waitFor(async () => expect((await fetch(`${server.url}/api/ready`)).status).toBe(200), { timeout: 60_000 });
  await scanned(server, token, 'eicar.com', EICAR);
  for (let index = 0; index < 5; index += 1) await scanned(server, token, `${index}.bin`, noise(1_000, index + 1));
  expect(await server.kill('SIGTERM')).toBe(0);
  mkdirSync(backups);
  backup_ms = await timed(async () =>
    expect(await runCommand('write-backup.ts', { DATA_DIR: place }, [backups])).toMatchObject({ code: 0 }),
  );
  archive = join(backups, readdirSync(backups)[0] ?? '');
  const whole = join(root, 'whole');
  restore_ms = await timed(async () =>
    expect(await runCommand('read-backup.ts', { DATA_DIR: whole }, [archive])).toMatchObject({ code: 0 }),
  );
  expect(countOf(whole)).toEqual({ people: 1, scans: 6 });
}, 300_000);

test('a killed restore leaves a folder that no server starts on, and the next restore ends it with everything', {
  timeout: 900_000,
}, async () => {
  let refused = 0;
  for (let trial = 0; trial < RESTORES; trial += 1) {
    const DATA_DIR = join(root, `restore-${trial}`);
    // Half of them over an installation that is kept aside.
    if (trial % 2 === 1) cpSync(place, DATA_DIR, { recursive: true });
    const force = trial % 2 === 1 ? ['--force'] : [];
    await kill('read-backup.ts', { DATA_DIR }, [archive, ...force], restore_ms * (0.5 + 0.5 * random()));
    if (existsSync(join(DATA_DIR, 'restoring'))) {
      refused += 1;
      const { code, errors } = await runServer({ DATA_DIR, PORT: '0' });
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/A restore into the data folder .* npm run restore -- <file> --force\n$/),
      ]);
    } else if (existsSync(join(DATA_DIR, 'palisade.sqlite'))) {
      // It had not begun, or was done: the database is one of the two, whole.
      expect(countOf(DATA_DIR)).toEqual({ people: 1, scans: 6 });
    }
    expect(await runCommand('read-backup.ts', { DATA_DIR }, [archive, '--force'])).toMatchObject({ code: 0 });
    expect(existsSync(join(DATA_DIR, 'restoring'))).toBe(false);
    expect(countOf(DATA_DIR)).toEqual({ people: 1, scans: 6 });
    expect(readdirSync(join(DATA_DIR, 'quarantine'))).toHaveLength(1);
    rmSync(DATA_DIR, { recursive: true });
  }
  process.stdout.write(`${refused} of ${RESTORES} kills hit a restore under way\n`);
  expect(refused).toBeGreaterThan(0);
});

test('what killed backups leave is gone with the next one', { timeout: 300_000 }, async () => {
  let left = 0;
  for (let trial = 0; trial < BACKUPS; trial += 1) {
    await kill('write-backup.ts', { DATA_DIR: place }, [join(backups, `${trial}.tar`)], backup_ms * (0.6 + 0.35 * random()));
    left = Math.max(left, readdirSync(backups).filter((name) => name.startsWith('.palisade-backup-')).length);
  }
  process.stdout.write(`${left} unfinished folders at most at once\n`);
  expect(await runCommand('write-backup.ts', { DATA_DIR: place }, [join(backups, 'last.tar')])).toMatchObject({ code: 0 });
  expect(readdirSync(backups).filter((name) => name.startsWith('.'))).toEqual([]);
});
