import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import SqliteDatabase from 'better-sqlite3';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { BASELINE } from '#migrations/all.ts';
import { type DatabaseLocation, openDatabase } from '#platform/database.ts';
import { migrate, requireKnownVersion } from '#platform/migrations.ts';
import { schemaOf } from '#platform/schema.ts';
import { upgradeCopyOf } from '#platform/upgrade-copy.ts';
import { fillOldSchema, readKept, recorded, UPGRADED } from './old-schemas.ts';
import { POSTGRES_PROGRAMS, startPostgres, type TestPostgres } from './postgres.ts';
import { seededRandom } from './seeded.ts';
import { programOf, startServer } from './server-process.ts';

// Interruptions of first starts and upgrades on SQLite and PostgreSQL. `INTERRUPTIONS` asks for more than this.

const INTERRUPTIONS = z.coerce.number().int().positive().default(24).parse(process.env['INTERRUPTIONS']);
/** Their kinds. A disk is full in fewer ways than a process ends. */
const COUNTS = {
  signals: Math.ceil(INTERRUPTIONS / 2),
  full_disks: Math.ceil(INTERRUPTIONS / 5),
  of_a_server: Math.ceil(INTERRUPTIONS / 16),
  on_postgres: Math.ceil(INTERRUPTIONS / 5),
};
const SEED = 31_001;
const SCANS = 12_000;
/** On PostgreSQL a migration that rewrites so few rows is over before most signals come. */
const SCANS_ON_POSTGRES = 20_000;
const CHILD = fileURLToPath(new URL('./migrating-process.ts', import.meta.url));
const MAIN = programOf('main.ts');
const SIGNALS = ['SIGTERM', 'SIGKILL', 'SIGINT'] as const;
/** Number of migrations of the database: 0 is a first start, 58 an upgrade from commit 509b6c4c. */
const OLD = BASELINE.replaces.length;
const STARTS: readonly number[] = [0, OLD];

const root = mkdtempSync(join(tmpdir(), 'palisade-interrupted-'));
/** The first process keeps its compiled code for the hundreds of others. */
const ENVIRONMENT = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(root, 'compiled') };
afterAll(() => rmSync(root, { recursive: true, force: true }));
process.stdout.write(`the moments of the interruptions come from the seed ${SEED}\n`);
const random = seededRandom(SEED);

/** A test's own namespaces let it mount a small disk. */
const MOUNTS = spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'tmpfs', root]).status === 0;
if (!MOUNTS) process.stdout.write('skipped: full disks need unshare and a tmpfs in a namespace of their own\n');

interface Reference {
  kept: Record<string, number>;
  /** Duration of the migration, in ms from its beginning. */
  takes_ms: number;
  shape: string[];
}

/** Runs a program, sends it the signal so many ms after it has begun, and waits for its end. True when the signal ended it before it was done. */
async function interrupt(args: readonly string[], signal: NodeJS.Signals | undefined, after_ms: number): Promise<boolean> {
  const child = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const begun = Promise.withResolvers<void>();
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
    if (output.includes('begins')) begun.resolve();
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await Promise.race([begun.promise, ended]);
  if (signal !== undefined) {
    await pause(after_ms);
    child.kill(signal);
  }
  await ended;
  return !output.includes('done');
}

async function measure(location: DatabaseLocation, args: readonly string[]): Promise<Reference> {
  let begun = performance.now();
  let takes_ms = 0;
  const child = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (bytes: Buffer) => {
    if (bytes.includes('begins')) begun = performance.now();
    if (bytes.includes('done')) takes_ms = performance.now() - begun;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const database = openDatabase<unknown>(location);
  const reference = { kept: await readKept(database), takes_ms, shape: await schemaOf(database) };
  await database.destroy();
  return reference;
}

/** State at a later start: every migration done once, every row, the tables of an upgrade that nothing interrupted. */
async function expectWhole(location: DatabaseLocation, reference: Reference): Promise<void> {
  const database = openDatabase<unknown>(location);
  try {
    await migrate(database, UPGRADED, { baseline: BASELINE });
    expect(await readKept(database)).toEqual(reference.kept);
    expect(await schemaOf(database)).toEqual(reference.shape);
    expect(await recorded(database)).toEqual(Object.keys(UPGRADED).sort());
  } finally {
    await database.destroy();
  }
}

describe('on SQLite', { timeout: 900_000 }, () => {
  const references = new Map<number, Reference>();
  const sqliteIn = (folder: string) => join(folder, 'palisade.sqlite');
  const baseOf = (count: number) => join(root, `base-${count}`);

  /** A data folder as the version with that number of migrations left it. */
  function layOut(name: string, count: number): string {
    const folder = join(root, name);
    mkdirSync(folder, { recursive: true });
    if (count > 0) copyFileSync(sqliteIn(baseOf(count)), sqliteIn(folder));
    return folder;
  }

  beforeAll(async () => {
    for (const count of STARTS) {
      if (count > 0) await fillOldSchema({ sqlite: sqliteIn(baseOf(count)) }, SCANS);
      const folder = layOut(`reference-${count}`, count);
      references.set(count, await measure({ sqlite: sqliteIn(folder) }, [CHILD, folder, 'copy']));
    }
  }, 120_000);

  const referenceOf = (count: number): Reference => {
    const reference = references.get(count);
    if (reference === undefined) throw new Error(`There is no reference of ${count}.`);
    return reference;
  };

  async function expectStarts(folder: string, count: number): Promise<void> {
    await expectWhole({ sqlite: sqliteIn(folder) }, referenceOf(count));
    const database = new SqliteDatabase(sqliteIn(folder), { readonly: true });
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(database.pragma('foreign_key_check')).toEqual([]);
    database.close();
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  }

  test(`${COUNTS.signals} signals at any moment of a migration leave a database that the next start brings to its end`, async () => {
    let hit = 0;
    for (let trial = 0; trial < COUNTS.signals; trial += 1) {
      const count = STARTS[trial % STARTS.length] ?? 0;
      const folder = layOut(`signal-${trial}`, count);
      const reference = referenceOf(count);
      if (await interrupt([CHILD, folder, 'copy'], SIGNALS[trial % SIGNALS.length], random() * reference.takes_ms)) hit += 1;
      // The machine has less to do now than when it was measured.
      else reference.takes_ms *= 0.9;
      // An interrupted upgrade has its copy, whole, or has not begun.
      if (trial % 7 === 0 && readdirSync(folder).includes('palisade.before-upgrade.sqlite')) {
        const copy = new SqliteDatabase(upgradeCopyOf(sqliteIn(folder)), { readonly: true });
        expect(copy.prepare('select count(*) from kysely_migration').pluck().get()).toBe(count);
        expect(copy.prepare('select count(*) from scans').pluck().get()).toBe(SCANS);
        copy.close();
      }
      await interrupt([CHILD, folder, 'copy'], undefined, 0);
      await expectStarts(folder, count);
      rmSync(folder, { recursive: true });
    }
    process.stdout.write(`${hit} of ${COUNTS.signals} signals came before the migration was done\n`);
    // Signals that come too late prove nothing.
    expect(hit).toBeGreaterThan(COUNTS.signals / 2);
  });

  test.runIf(MOUNTS)(
    `${COUNTS.full_disks} disks that are full in the middle of a migration leave a database that the next start brings to its end`,
    async () => {
      let hit = 0;
      for (let trial = 0; trial < COUNTS.full_disks; trial += 1) {
        const count = STARTS[trial % STARTS.length] ?? 0;
        const base = count === 0 ? '' : sqliteIn(baseOf(count));
        // Least size of an upgrade's writes, and a share of the rest.
        const kib = (count === 0 ? 0 : statSync(base).size / 1024) + 40 + (count === 0 ? 600 : 6_000) * random();
        const disk = join(root, `disk-${trial}`);
        mkdirSync(disk);
        const kept = join(root, `kept-${trial}`);
        const script = `set -e
        mount -t tmpfs -o size=${Math.ceil(kib)}k tmpfs "$1"
        if [ -n "$2" ]; then cp "$2" "$1/palisade.sqlite"; fi
        if "$3" "$4" "$1" none; then echo unhit; else echo hit; fi
        mount -o remount,size=200m "$1"
        "$3" "$4" "$1" none
        mkdir "$5" && cp "$1"/* "$5"/`;
        const { status, stdout, stderr } = spawnSync(
          'unshare',
          ['-Urm', 'sh', '-c', script, 'sh', disk, base, process.execPath, CHILD, kept],
          { encoding: 'utf8', env: ENVIRONMENT },
        );
        expect(`${status} ${stderr}`).toMatch(/^0 /);
        if (/^hit$/m.test(stdout)) hit += 1;
        await expectStarts(kept, count);
        rmSync(kept, { recursive: true });
      }
      process.stdout.write(`${hit} of ${COUNTS.full_disks} disks were full before the migration was done\n`);
      expect(hit).toBeGreaterThan(COUNTS.full_disks / 2);
    },
  );

  test.runIf(MOUNTS)('a disk that another program fills in the middle of the copy before an upgrade keeps no part of it', () => {
    const disk = join(root, 'filled');
    const kept = join(root, 'kept-filled');
    mkdirSync(disk);
    const kib = statSync(sqliteIn(baseOf(OLD))).size / 1024;
    // The look at the free space came before the other program: here it reads a terabyte.
    const code = `import { copyBeforeUpgrade } from ${JSON.stringify(new URL('../src/platform/upgrade-copy.ts', import.meta.url).href)};
      try { copyBeforeUpgrade(process.argv[1], 2 ** 40); console.log('copied'); } catch (error) { console.log(error.message); }`;
    const script = `set -e
      mount -t tmpfs -o size=${Math.ceil(1.6 * kib)}k tmpfs "$1"
      cp "$2" "$1/palisade.sqlite"
      "$3" --input-type=module -e "$4" "$1/palisade.sqlite"
      ls -A "$1"
      mount -o remount,size=200m "$1"
      "$3" "$5" "$1" copy
      mkdir "$6" && cp "$1"/* "$6"/`;
    const { stdout, stderr } = spawnSync(
      'unshare',
      ['-Urm', 'sh', '-c', script, 'sh', disk, sqliteIn(baseOf(OLD)), process.execPath, code, CHILD, kept],
      { encoding: 'utf8', env: ENVIRONMENT },
    );
    expect(stderr).toBe('');
    const [sentence = '', ...left] = stdout.split('\n');
    const sizes = /needs ([\d.]+) MB free in .*, but only ([\d.]+) (?:MB|KB|bytes) is free\. Free some space/u.exec(sentence);
    expect(sizes, sentence).not.toBeNull();
    expect(Number(sizes?.[2])).toBeLessThan(Number(sizes?.[1]));
    // The log of SQLite beside the database is part of it.
    expect(left.filter((name) => !/^palisade\.sqlite-(?:shm|wal)$/u.test(name))).toEqual([
      'palisade.sqlite',
      'begins',
      'done',
      '',
    ]);
    const copy = new SqliteDatabase(upgradeCopyOf(sqliteIn(kept)), { readonly: true });
    expect(copy.prepare('select count(*) from scans').pluck().get()).toBe(SCANS);
    copy.close();
  });

  test(`${COUNTS.of_a_server} signals to the whole server leave an installation that starts, signs in and keeps everything`, async () => {
    const began = performance.now();
    const calm = await startServer({ DATA_DIR: layOut('calm', OLD) });
    const takes_ms = performance.now() - began;
    expect(await calm.kill('SIGTERM')).toBe(0);
    // The new version has started: the way back is the backup from here on.
    expect(readdirSync(join(root, 'calm'))).not.toContain('palisade.before-upgrade.sqlite');
    for (let trial = 0; trial < COUNTS.of_a_server; trial += 1) {
      const count = STARTS[trial % STARTS.length] ?? 0;
      const folder = layOut(`server-${trial}`, count);
      const child = spawn(process.execPath, [MAIN], {
        env: { ...ENVIRONMENT, DATA_DIR: folder, PORT: '0', SCANNER_URL: 'none' },
        stdio: 'ignore',
      });
      const ended = new Promise((resolve) => child.once('close', resolve));
      await pause(takes_ms * (0.3 + 0.7 * random()));
      child.kill(SIGNALS[trial % SIGNALS.length]);
      await ended;
      const server = await startServer({ DATA_DIR: folder });
      expect(await server.signIn('berta')).not.toBe('');
      expect(await server.kill('SIGTERM')).toBe(0);
      await expectStarts(folder, count);
    }
  });
});

if (POSTGRES_PROGRAMS === undefined) process.stdout.write('skipped: no PostgreSQL on this machine\n');
describe.runIf(POSTGRES_PROGRAMS !== undefined)('on PostgreSQL', { timeout: 900_000 }, () => {
  let postgres: TestPostgres;
  const references = new Map<number, Reference>();
  const urlOf = (name: string) => {
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };

  async function ask(statement: string): Promise<void> {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  /** A database as the version with that number of migrations left it. */
  async function layOut(name: string, count: number): Promise<string> {
    await ask(`create database ${name}${count > 0 ? ` template base_${count}` : ''}`);
    return urlOf(name);
  }

  beforeAll(async () => {
    postgres = await startPostgres();
    for (const count of STARTS) {
      if (count > 0) {
        await ask(`create database base_${count}`);
        await fillOldSchema({ postgres: urlOf(`base_${count}`) }, SCANS_ON_POSTGRES);
      }
      const url = await layOut(`reference_${count}`, count);
      references.set(count, await measure({ postgres: url }, [CHILD, root, 'none', url]));
    }
  }, 300_000);
  afterAll(() => postgres.dispose());

  test('a server that starts while another one makes and drops tables sees the version, and does not fail', async () => {
    const url = await layOut('looked_at', 0);
    const database = openDatabase<unknown>({ postgres: url });
    await migrate(database, UPGRADED);
    let is_done = false;
    const drops = (async () => {
      const client = new Client({ connectionString: url });
      await client.connect();
      while (!is_done) {
        await client.query('create table passing (id int)');
        await client.query('drop table passing');
      }
      await client.end();
    })();
    for (let look = 0; look < 200; look += 1)
      expect(await requireKnownVersion(database, UPGRADED)).toHaveLength(Object.keys(UPGRADED).length);
    is_done = true;
    await drops;
    await database.destroy();
  });

  test(`${COUNTS.on_postgres} interruptions at any moment of a migration leave a database that the next start brings to its end`, async () => {
    let hit = 0;
    for (let trial = 0; trial < COUNTS.on_postgres; trial += 1) {
      const count = STARTS[trial % STARTS.length] ?? 0;
      const reference = references.get(count);
      if (reference === undefined) throw new Error(`There is no reference of ${count}.`);
      const url = await layOut(`trial_${trial}`, count);
      const args = [CHILD, root, 'none', url];
      if (await interrupt(args, SIGNALS[trial % SIGNALS.length], 0.8 * random() * reference.takes_ms)) hit += 1;
      // The machine has less to do now than when it was measured.
      else reference.takes_ms *= 0.8;
      await interrupt(args, undefined, 0);
      await expectWhole({ postgres: url }, reference);
    }
    process.stdout.write(`${hit} of ${COUNTS.on_postgres} signals came before the migration was done\n`);
    expect(hit).toBeGreaterThan(COUNTS.on_postgres / 2);
  });
});
