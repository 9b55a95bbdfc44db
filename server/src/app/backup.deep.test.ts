import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { listScans } from '@palisade/contract/antivirus';
import { sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { deleteFile, readScan, restoreFile } from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#platform/database.ts';
import { parseSettings } from '#platform/settings.ts';
import type { Tables } from '#platform/tables.ts';
import { freshDatabase, isPostgres, replyOf, startScanningApp, type TestApp } from '#test/harness.ts';
import { HAS_S3_SERVER, NO_S3_SERVER, startS3 } from '#test/s3.ts';
import { expectCounted } from '#test/scan-writes.ts';
import { runCommand } from '#test/server-process.ts';
import { attach, scanned } from '#test/upload.ts';
import { writeBackup } from './backup.ts';
import { quarantineFolder, sealedFilesOf } from './backup-format.ts';
import { readBackup } from './restore.ts';
import { ATTACHMENTS_IN_STORE, withStored } from './storage.ts';

const root = mkdtempSync(join(tmpdir(), 'palisade-backup-'));
/** Where a test mounts a disk that is soon full. */
const small = join(root, 'small');
afterAll(() => {
  // Mounted while tests are collected, even if none of them runs.
  spawnSync('umount', ['-l', small]);
  rmSync(root, { recursive: true, force: true });
});

/** A place for a server: a data folder, and on PostgreSQL a database. */
async function newPlace(name: string) {
  const DATA_DIR = join(root, name);
  const { location, dispose } = await freshDatabase();
  afterAll(dispose);
  const environment: Record<string, string> = {
    DATA_DIR,
    ...('postgres' in location ? { DATABASE_URL: location.postgres } : {}),
  };
  const database = 'postgres' in location ? location : { sqlite: join(DATA_DIR, 'palisade.sqlite') };
  const settings = parseSettings(environment);
  return {
    DATA_DIR,
    environment,
    settings,
    database,
    // Files in a store are counted, not copied: these files lie in the folder.
    start: () => startScanningApp({ environment: { ...environment, STORAGE_URL: '' }, surroundings: { database } }),
    quarantine: () => readdirSync(quarantineFolder(settings)).sort(),
  };
}
type Place = Awaited<ReturnType<typeof newPlace>>;

/** Every row of every table, as text. */
async function allRows({ database }: Place): Promise<Record<string, string[]>> {
  const opened = openDatabase<Tables>(database);
  try {
    return await rowsOf(opened);
  } finally {
    await opened.destroy();
  }
}

async function rowsOf(database: Kysely<Tables>): Promise<Record<string, string[]>> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const all: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(database);
    all[name] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return all;
}

const copyKeys = (from: Place, to: Place) => cpSync(join(from.DATA_DIR, 'keys'), join(to.DATA_DIR, 'keys'), { recursive: true });
/** A test file, which is one with up to 60 blanks behind it. */
const infected = (index: number) => Buffer.concat([EICAR, Buffer.from(' '.repeat(index % 50))]);
const refusal = async (work: Promise<unknown>) =>
  await work.then(
    () => 'it was done',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
const restoreInto = (place: Place, file: string, how: { force?: boolean; end_sessions?: boolean } = {}) =>
  readBackup({ settings: place.settings, file, force: false, end_sessions: false, trust: true, ...how });
const bytesOf = async (app: TestApp, token: string, id: string) => {
  const answer = await app.fetch(`/api${restoreFile.path.replace('{id}', id)}`, {
    method: restoreFile.method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
};

describe('a backup of a server that is in use', async () => {
  const place = await newPlace('in-use');
  const app = await place.start();
  const { token } = await app.signIn('boss');

  test('is whole, and restored elsewhere serves what it had, sealed files included', async () => {
    for (let index = 0; index < 3; index += 1) await scanned(app, token, `before-${index}.com`, infected(index));
    const chat_file = Buffer.from('what the screen said');
    const { id: file_id } = await attach(app, token, 'screen.txt', chat_file);
    const sent = { message: 'Look at this', sender: 'user', attachment_ids: [file_id] } as const;
    replyOf(await app.call(sendMessage, { token, body: { ...sent, attachment_ids: [file_id] } }));
    let is_over = false;
    let written = 0;
    const load = [1, 2].map(async (worker) => {
      for (let index = 0; !is_over; index += 1) {
        await scanned(app, token, `during-${worker}-${index}.com`, infected(10 + index * 2 + worker));
        await app.call(sendMessage, { token, body: { message: `${worker} ${index}`, sender: 'user' } });
        written += 1;
      }
    });
    const folder = join(root, 'archives');
    mkdirSync(folder);
    const { code, output } = await runCommand('backup', place.environment, [folder]);
    is_over = true;
    await Promise.all(load);
    expect(output).toMatch(/^palisade: Wrote .*\.tar: \d+ rows in \d+ tables, \d+ quarantined files, /m);
    expect(output).toContain('This backup doesn’t contain the keys');
    expect(code).toBe(0);
    expect(written).toBeGreaterThan(0);
    const [name = '', ...more] = readdirSync(folder);
    expect(more).toEqual([]);
    const file = join(folder, name);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const other = await newPlace('restored');
    const without = await runCommand('restore', other.environment, [file, '--trust']);
    expect(without.output).toMatch(
      /missing: The key file \S+quarantine\.key is missing\. Without its key, quarantined files can’t be opened/,
    );
    expect(without.output.match(/missing:/g)).toHaveLength(3);
    expect(without.code).toBe(0);
    copyKeys(place, other);
    // The newer note was written by the server that stayed in use.
    rmSync(join(other.DATA_DIR, 'keys', 'audit.head'));
    expect(await runCommand('verify', other.environment)).toMatchObject({ code: 0 });

    const restored = await other.start();
    const records = replyOf(await restored.call(listScans, { token, query: '?limit=200' }));
    expect(records.length).toBeGreaterThanOrEqual(3);
    const sealed = await restored.app.database.selectFrom('scans').select(['id', 'size']).where('sealed', '=', 1).execute();
    expect(other.quarantine()).toEqual(sealed.map(({ id }) => id).sort());
    for (const { id, size } of sealed) {
      const { status, bytes } = await bytesOf(restored, token, id);
      expect([status, bytes.length, bytes.subarray(0, EICAR.length).equals(EICAR)]).toEqual([200, size, true]);
    }
    const [shown] = replyOf(await restored.call(listMessages, { token, query: '?search=Look' }));
    expect(shown?.attachments).toMatchObject([{ id: file_id, filename: 'screen.txt', status: 'clean' }]);
    const opened = await restored.fetch(`/api/chat/attachments/${file_id}/file`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect([opened.status, Buffer.from(await opened.arrayBuffer())]).toEqual([200, chat_file]);
    // A row that was acknowledged before the backup began is in it.
    expect(records.filter(({ filename }) => filename.startsWith('before-'))).toHaveLength(3);
    expect(await scanned(restored, token, 'after.com', infected(999))).toMatchObject({ scan_status: 'infected' });
    // The counts that triggers keep are neither lost nor counted twice.
    await expectCounted(restored.app.database);
  });

  test('is not restored over it', async () => {
    const file = join(root, 'running.tar');
    await writeBackup({ settings: place.settings, target: file, with_keys: false });
    expect(await refusal(restoreInto(place, file, { force: true }))).toMatch(/^The data folder .* is in use by another server/);
    if (isPostgres()) {
      const elsewhere = { ...place.settings, data_dir: join(root, 'another-folder') };
      const again = readBackup({ settings: elsewhere, file, force: true, end_sessions: false });
      expect(await refusal(again)).toMatch(/^The database at DATABASE_URL is in use \(\d+ other connections\)/);
      expect(readdirSync(elsewhere.data_dir)).not.toContain('home');
    }
    expect(replyOf(await app.call(listMessages, { token })).length).toBeGreaterThan(0);
  });

  test('says which files were removed while it was written, and their records do, once restored', async () => {
    const { id } = await scanned(app, token, 'removed.com', infected(2000));
    const file = join(root, 'removed.tar');
    const real = sealedFilesOf(quarantineFolder(place.settings));
    const { manifest } = await writeBackup({
      settings: place.settings,
      target: file,
      with_keys: true,
      sealed: {
        async read(one) {
          if (one === id) await app.call(deleteFile, { token, params: { id } });
          return await real.read(one);
        },
      },
    });
    expect(manifest.sealed).toMatchObject({ gone: [id], missing: [] });
    const other = await newPlace('removed');
    const { missing_keys } = await restoreInto(other, file, { end_sessions: true });
    expect(missing_keys).toEqual([]);
    const restored = await other.start();
    expect((await restored.call(listScans, { token })).status).toBe(401);
    const again = await restored.signIn('boss');
    expect(replyOf(await restored.call(readScan, { token: again.token, params: { id } }))).toMatchObject({ kept: 'no' });
  });
});

describe('a backup', async () => {
  const place = await newPlace('origin');
  const archive = join(root, 'origin.tar');
  let rows: Record<string, string[]> = {};
  beforeAll(async () => {
    const app = await place.start();
    const { token } = await app.signIn('boss');
    await scanned(app, token, 'one.com', infected(1));
    await scanned(app, token, 'two.com', infected(2));
    await scanned(app, token, 'paper.bin', noise(5_000));
    await app.app.close();
    rows = await allRows(place);
    await writeBackup({ settings: place.settings, target: archive, with_keys: false });
  });

  /** The archive with something done to it. */
  function bent(name: string, bend: (bytes: Buffer) => Buffer): string {
    const file = join(root, name);
    writeFileSync(file, bend(readFileSync(archive)));
    onTestFinished(() => rmSync(file, { force: true }));
    return file;
  }

  // proves: security-37
  test('holds every row and every sealed byte, and any tar opens it', async () => {
    const names = execFileSync('tar', ['-tf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(names).toEqual([
      'backup.json',
      isPostgres() ? 'database.dump' : 'database.sqlite',
      'home',
      ...place.quarantine().map((id) => `quarantine/${id}`),
      'manifest.json',
      'manifest.mac',
      'manifest.sha256',
    ]);
    const other = await newPlace('equal');
    copyKeys(place, other);
    const { missing_keys } = await restoreInto(other, archive);
    expect(missing_keys).toEqual([]);
    expect(await allRows(other)).toEqual(rows);
    expect(other.quarantine()).toEqual(place.quarantine());
    for (const id of other.quarantine()) {
      const [a, b] = [place, other].map(({ settings }) => readFileSync(join(quarantineFolder(settings), id)));
      expect(a?.equals(b ?? Buffer.alloc(0))).toBe(true);
    }
    expect(readFileSync(join(other.DATA_DIR, 'home'), 'utf8')).toBe(readFileSync(join(place.DATA_DIR, 'home'), 'utf8'));
    expect(readdirSync(other.DATA_DIR)).not.toContain('restoring');
  });

  // proves: security-38
  test('that is bent at any byte, or cut at any, is refused, and changes nothing', async () => {
    const other = await newPlace('bent');
    const { length } = readFileSync(archive);
    const names = () => readdirSync(other.DATA_DIR).filter((name) => !name.startsWith('server.'));
    const places = Array.from({ length: 24 }, (_, index) => Math.floor((length - 1) * (index / 23)));
    for (const at of places) {
      const flipped = bent('flipped.tar', (bytes) => {
        bytes[at] = (bytes[at] ?? 0) ^ 0x41;
        return bytes;
      });
      expect([at, await refusal(restoreInto(other, flipped))]).toEqual([
        at,
        expect.stringMatching(/(is damaged: it .*|isn’t a Palisade backup\.|which is newer than .*) Nothing was changed\.$/),
      ]);
      const cut = bent('cut.tar', (bytes) => bytes.subarray(0, at));
      expect([at, await refusal(restoreInto(other, cut))]).toEqual([at, expect.stringMatching(/Nothing was changed\.$/)]);
      expect(names()).toEqual([]);
    }
    expect(
      await refusal(
        restoreInto(
          other,
          bent('other.tar', () => noise(4096)),
        ),
      ),
    ).toMatch(/is damaged|isn’t a Palisade backup/);
    if (isPostgres()) expect(await allRows(other)).toEqual({});
  });

  test('of a newer version is refused', async () => {
    const other = await newPlace('newer');
    const newer = join(root, 'unpacked');
    mkdirSync(newer);
    execFileSync('tar', ['-xf', archive, '-C', newer]);
    const head: unknown = JSON.parse(readFileSync(join(newer, 'backup.json'), 'utf8'));
    writeFileSync(join(newer, 'backup.json'), JSON.stringify({ ...Object(head), version: '999.0.0' }));
    const file = join(root, 'newer.tar');
    execFileSync('tar', ['--format=ustar', '-cf', file, '-C', newer, 'backup.json']);
    expect(await refusal(restoreInto(other, file))).toMatch(/needs Palisade 999\.0\.0, which is newer than this version/);
  });

  test('overwrites nothing, unless existing files are kept aside', async () => {
    const other = await newPlace('used');
    const app = await other.start();
    const { token } = await app.signIn('somebody');
    const { id } = await scanned(app, token, 'theirs.com', infected(7));
    await app.app.close();
    const before = await allRows(other);
    expect(await refusal(restoreInto(other, archive))).toMatch(/isn’t empty\. .* --force/);
    expect(await allRows(other)).toEqual(before);

    const { aside, missing_keys } = await restoreInto(other, archive, { force: true });
    expect(await allRows(other)).toEqual(rows);
    expect(other.quarantine()).toEqual(place.quarantine());
    // Its keys are still there, and differ from those of the backup.
    expect(missing_keys).toHaveLength(3);
    expect(missing_keys[0]).toContain('has a different key than this database');
    expect(readdirSync(join(aside.folder ?? '', 'quarantine'))).toEqual([id]);
    if (aside.schema === undefined) {
      expect(await allRows({ ...other, database: { sqlite: join(aside.folder ?? '', 'palisade.sqlite') } })).toEqual(before);
    } else {
      const opened = openDatabase<Tables>(other.database);
      const { rows: kept } = await sql`select id from ${sql.table(`${aside.schema}.scans`)}`.execute(opened);
      await opened.destroy();
      expect(kept).toEqual([{ id }]);
    }
  });

  test('is written over nothing, and to no folder that is not there', async () => {
    const again = (target: string) => refusal(writeBackup({ settings: place.settings, target, with_keys: false }));
    expect(await again(archive)).toMatch(/already exists/);
    expect(await again(join(root, 'nowhere', 'x.tar'))).toMatch(/^The folder .* doesn’t exist/);
    expect(readdirSync(root).filter((name) => name.startsWith('.palisade'))).toEqual([]);
  });

  test.each([
    ['backup', [], 'Usage: palisade backup'],
    ['backup', ['a', 'b'], 'Usage: palisade backup'],
    ['restore', ['--over-everything'], 'Usage: palisade restore'],
  ])('%s with %j says how it is used', async (command, args, sentence) => {
    const { code, output } = await runCommand(command, place.environment, args);
    expect(code).toBe(1);
    expect(output).toContain(`palisade: ${sentence}`);
  });

  mkdirSync(small);
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', small]).status === 0;
  if (!isMounted) process.stdout.write('skipped: tests of a full disk may not mount a small file system here\n');

  needing('the right to mount', isMounted).test(
    'on a full disk leaves nothing half done, neither written nor restored',
    async () => {
      const target = join(small, 'full.tar');
      const MIB = 2 ** 20;
      async function* noisy() {
        yield Buffer.alloc(MIB);
      }
      const large = { read: () => Promise.resolve({ size: MIB, content: noisy() }) };
      const full = writeBackup({ settings: place.settings, target, with_keys: false, sealed: large });
      expect(await refusal(full)).toMatch(/small is full\. The backup needs/);
      expect(readdirSync(small)).toEqual([]);

      const settings = { ...place.settings, data_dir: join(small, 'data') };
      const file = join(root, 'large.tar');
      await writeBackup({ settings: place.settings, target: file, with_keys: false, sealed: large });
      const restored = readBackup({ settings, file, force: true, end_sessions: false });
      expect(await refusal(restored)).toMatch(/^There isn’t enough space for the backup in .*Nothing was changed\.$/);
      expect(readdirSync(settings.data_dir).filter((name) => !name.startsWith('server.'))).toEqual([]);
      expect(await allRows(place)).toEqual(rows);
    },
  );

  test('is of one kind of database', async () => {
    const DATABASE_URL = isPostgres() ? {} : { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const settings = parseSettings({ DATA_DIR: join(root, 'kind'), ...DATABASE_URL });
    const other = readBackup({ settings, file: archive, force: false, end_sessions: false });
    expect(await refusal(other)).toMatch(
      isPostgres() ? /is from a server with PostgreSQL\. Set/ : /is from a server with the embedded database\. Unset/,
    );
  });
});

if (!HAS_S3_SERVER) process.stdout.write(`skipped: backups of a shared store: ${NO_S3_SERVER}\n`);

needing('an S3 server', HAS_S3_SERVER).describe('a backup of a server that keeps its files in a store', () => {
  test('holds them by list and checksum, unread ones included, and puts them into the store that is named', async () => {
    const s3 = await startS3();
    const place = await newPlace('stored');
    const STORAGE_URL = s3.url({ folder: 'from' });
    const inStore = (at: Place, url: string) =>
      startScanningApp({ environment: { ...at.environment, STORAGE_URL: url }, surroundings: { database: at.database } });
    const app = await inStore(place, STORAGE_URL);
    const { token } = await app.signIn('boss');
    const [kept, damaged] = [
      await scanned(app, token, 'kept.com', infected(1)),
      await scanned(app, token, 'damaged.com', infected(2)),
    ];
    // Files of the chat lie in the same store: one that is whole, and one that is gone.
    const chat_file = Buffer.from('what the screen said');
    const [shown, gone] = [await attach(app, token, 'screen.txt', chat_file), await attach(app, token, 'gone.txt', noise(500))];
    const said = { message: 'Look at this', sender: 'user', attachment_ids: [shown.id, gone.id] } as const;
    replyOf(await app.call(sendMessage, { token, body: { ...said, attachment_ids: [shown.id, gone.id] } }));
    await withStored(parseSettings({ ...place.environment, STORAGE_URL }), ATTACHMENTS_IN_STORE, (store) =>
      store.delete(gone.id),
    );
    const blobs = app.kept;
    const bytes = await buffer(await blobs.get(damaged.id));
    await blobs.put(damaged.id, Readable.from([bytes.fill(0, 60, 70)]));
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGSTOP');
    const unread = scanned(app, token, 'unread.com', infected(3)).catch(() => undefined);
    const waiting = await eventually(async () => {
      const row = await app.app.database
        .selectFrom('scans')
        .select(['id', 'in_store'])
        .where('filename', '=', 'unread.com')
        .executeTakeFirst();
      expect(row?.in_store).toBe(1);
      return row?.id ?? '';
    });
    const settings = parseSettings({ ...place.environment, STORAGE_URL });
    const file = join(root, 'stored.tar');
    const { manifest } = await writeBackup({ settings, target: file, with_keys: true });
    const names = execFileSync('tar', ['-tf', file], { encoding: 'utf8' }).trim().split('\n');
    expect(names.filter((name) => name.startsWith('store/')).sort()).toEqual(
      [kept.id, damaged.id, waiting].map((id) => `store/${id}`).sort(),
    );
    expect(names.filter((name) => name.startsWith('attachments/'))).toEqual([`attachments/${shown.id}`]);
    expect(manifest.sealed).toMatchObject({ in_store: 3, missing: [damaged.id, gone.id], gone: [], listed: [] });
    const listed = await writeBackup({ settings, target: join(root, 'listed.tar'), with_keys: false, without_store: true });
    // Of those of the chat the database has no checksum.
    const withSum = listed.manifest.sealed.listed.filter(({ sha256 }) => /^[\da-f]{64}$/.test(sha256 ?? ''));
    expect(withSum.map(({ id }) => id).sort()).toEqual([kept.id, damaged.id, waiting].sort());
    const withoutSum = listed.manifest.sealed.listed.filter(({ sha256 }) => sha256 === null);
    expect(withoutSum.map(({ id }) => id).sort()).toEqual([shown.id, gone.id].sort());
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGCONT');
    await unread;
    await app.app.close();

    const other = await newPlace('stored-elsewhere');
    expect(await refusal(restoreInto(other, file))).toMatch(
      /contains 3 files from a shared store\. Set STORAGE_URL to the store for them\. Nothing was changed\.$/,
    );
    const to = s3.url({ folder: 'to' });
    await restoreInto({ ...other, settings: parseSettings({ ...other.environment, STORAGE_URL: to }) }, file);
    const restored = await inStore(other, to);
    const answer = await bytesOf(restored, token, kept.id);
    expect([answer.status, answer.bytes.equals(infected(1))]).toEqual([200, true]);
    expect(replyOf(await restored.call(readScan, { token, params: { id: damaged.id } }))).toMatchObject({ kept: 'no' });
    const [message] = replyOf(await restored.call(listMessages, { token, query: '?search=Look' }));
    expect(message?.attachments.map(({ id }) => id)).toEqual([shown.id, gone.id]);
    const open = (id: string) =>
      restored.fetch(`/api/chat/attachments/${id}/file`, { headers: { authorization: `Bearer ${token}` } });
    const opened = await open(shown.id);
    expect([opened.status, Buffer.from(await opened.arrayBuffer())]).toEqual([200, chat_file]);
    // Its record is there, its bytes are not.
    expect((await open(gone.id)).status).toBe(503);
    // Unread files are read there.
    await eventually(async () =>
      expect(replyOf(await restored.call(readScan, { token, params: { id: waiting } }))).toMatchObject({
        scan_status: 'infected',
        kept: 'sealed',
      }),
    );
  }, 120_000);
});
