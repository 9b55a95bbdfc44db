import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EICAR, noise } from '@palisade/scanner/test/files';
import SqliteDatabase from 'better-sqlite3';
import { afterAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { seededRandom } from './seeded.ts';
import { programOf, runCommand, runServer, startServer } from './server-process.ts';
import { scanned } from './upload.ts';

// Restores and backups that are killed. `KILLED_RESTORES` asks for more than this.

const SEED = 31_002;
const RESTORES = z.coerce.number().int().positive().default(16).parse(process.env['KILLED_RESTORES']);
const BACKUPS = 6;
const root = mkdtempSync(join(tmpdir(), 'palisade-killed-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
process.stdout.write(`the moments of the kills come from the seed ${SEED}\n`);
const random = seededRandom(SEED);

const place = join(root, 'place');
const backups = join(root, 'backups');
let archive = '';
let restore_ms = 0;
let backup_ms = 0;

/** Runs a command, and kills it so many ms after its sign is there, if it has not ended by then. Answers for how long the sign was there. */
async function run(
  name: string,
  environment: Record<string, string>,
  args: string[],
  hasBegun: () => boolean,
  kill_after_ms = Number.POSITIVE_INFINITY,
): Promise<number> {
  const child = spawn(process.execPath, [programOf('palisade.ts'), name, ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: 'ignore',
  });
  let has_ended = false;
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      has_ended = true;
      resolve();
    }),
  );
  while (!has_ended && !hasBegun()) await pause(1);
  const began = performance.now();
  if (Number.isFinite(kill_after_ms)) {
    await Promise.race([ended, pause(kill_after_ms)]);
    child.kill('SIGKILL');
  }
  while (!has_ended && hasBegun()) await pause(1);
  const under_way_ms = performance.now() - began;
  await ended;
  return under_way_ms;
}

const isRestoring = (folder: string) => () => existsSync(join(folder, 'restoring'));
const unfinished = () => readdirSync(backups).filter((name) => name.startsWith('.palisade-backup-'));

const countOf = (folder: string) => {
  const database = new SqliteDatabase(join(folder, 'palisade.sqlite'), { readonly: true });
  const count = database.prepare('select (select count(*) from users) as people, (select count(*) from scans) as scans').get();
  database.close();
  return count;
};

/** Makes the installation and its backup; in a test, with which its server ends. */
async function setUp(): Promise<void> {
  const server = await startServer({ DATA_DIR: place });
  const token = await server.signIn('anna');
  await vi.waitFor(async () => expect((await fetch(`${server.url}/api/ready`)).status).toBe(200), { timeout: 60_000 });
  await scanned(server, token, 'eicar.com', EICAR);
  for (let index = 0; index < 5; index += 1) await scanned(server, token, `${index}.bin`, noise(1_000, index + 1));
  expect(await server.kill('SIGTERM')).toBe(0);
  mkdirSync(backups);
  const isWriting = () => unfinished().length > 0;
  backup_ms = await run('backup', { DATA_DIR: place }, [backups, '--with-keys'], isWriting);
  archive = join(backups, readdirSync(backups).find((name) => name.endsWith('.tar')) ?? '');
  const whole = join(root, 'whole');
  restore_ms = await run('restore', { DATA_DIR: whole }, [archive, '--trust'], isRestoring(whole));
  expect(countOf(whole)).toEqual({ people: 1, scans: 6 });
}

test('a killed restore leaves a folder that no server starts on, and the next restore ends it with everything', {
  timeout: 1_500_000,
}, async () => {
  await setUp();
  let refused = 0;
  let whole = 0;
  for (let trial = 0; trial < RESTORES; trial += 1) {
    const DATA_DIR = join(root, `restore-${trial}`);
    // Half of them over an installation that is kept aside.
    if (trial % 2 === 1) cpSync(place, DATA_DIR, { recursive: true });
    const force = trial % 2 === 1 ? ['--force'] : [];
    await run('restore', { DATA_DIR }, [archive, '--trust', ...force], isRestoring(DATA_DIR), 0.6 * restore_ms * random());
    if (existsSync(join(DATA_DIR, 'restoring'))) {
      refused += 1;
      const { code, errors } = await runServer({ DATA_DIR, PORT: '0' });
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/A restore into the data folder .* palisade restore <file> --force\n$/),
      ]);
    } else if (existsSync(join(DATA_DIR, 'palisade.sqlite'))) {
      // It had not begun, or was done: the folder is one of the two, whole, and a server starts on it.
      whole += 1;
      // The machine has less to do now than when a restore was measured.
      restore_ms *= 0.8;
      expect(countOf(DATA_DIR)).toEqual({ people: 1, scans: 6 });
      const server = await startServer({ DATA_DIR });
      expect(await server.signIn('anna')).not.toBe('');
      expect(await server.kill('SIGTERM')).toBe(0);
      expect(countOf(DATA_DIR)).toEqual({ people: 1, scans: 6 });
    } else {
      // The kill came before the first folder: the folder holds no sign of an installation.
      expect(existsSync(DATA_DIR) ? readdirSync(DATA_DIR) : []).toEqual([]);
    }
    expect(await runCommand('restore', { DATA_DIR }, [archive, '--trust', '--force'])).toMatchObject({ code: 0 });
    expect(existsSync(join(DATA_DIR, 'restoring'))).toBe(false);
    expect(countOf(DATA_DIR)).toEqual({ people: 1, scans: 6 });
    expect(readdirSync(join(DATA_DIR, 'quarantine'))).toHaveLength(1);
    rmSync(DATA_DIR, { recursive: true });
  }
  process.stdout.write(`${refused} of ${RESTORES} kills hit a restore under way, ${whole} left a whole folder\n`);
  expect(refused).toBeGreaterThan(RESTORES / 4);
});

test('files of killed backups go with the next one', { timeout: 300_000 }, async () => {
  let left = 0;
  for (let trial = 0; trial < BACKUPS; trial += 1) {
    const before = unfinished();
    const isWriting = () => unfinished().some((name) => !before.includes(name));
    await run('backup', { DATA_DIR: place }, [join(backups, `${trial}.tar`)], isWriting, 0.6 * backup_ms * random());
    left += unfinished().length > 0 ? 1 : 0;
  }
  process.stdout.write(`${left} of ${BACKUPS} kills left something\n`);
  expect(left).toBeGreaterThan(0);
  // One that was killed before it had locked its folder is kept for an hour: it could be about to.
  for (const name of unfinished()) if (!existsSync(join(backups, name, 'held'))) utimesSync(join(backups, name), 0, 0);
  expect(await runCommand('backup', { DATA_DIR: place }, [join(backups, 'last.tar')])).toMatchObject({ code: 0 });
  expect(readdirSync(backups).filter((name) => name.startsWith('.'))).toEqual([]);
});
