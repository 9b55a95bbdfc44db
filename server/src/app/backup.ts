import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { link, mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { VERSION } from '@palisade/contract/constants';
import SqliteDatabase from 'better-sqlite3';
import { type Kysely, sql } from 'kysely';
import { BASELINE, migrations } from '#migrations/all.ts';
import { type Blobs, StoreAwayError } from '#platform/blobs/blobs.ts';
import { databaseLocation, openDatabase } from '#platform/database.ts';
import { waitingUnbounded } from '#platform/database-patience.ts';
import { takeExclusive } from '#platform/exclusive.ts';
import { HOME_FILE } from '#platform/home.ts';
import { openKeyFile } from '#platform/key-file.ts';
import { installationKeys, readKey } from '#platform/keys.ts';
import { requireKnownVersion } from '#platform/migrations.ts';
import { runPostgresProgram } from '#platform/postgres-programs.ts';
import type { Settings } from '#platform/settings.ts';
import { createTarWriter } from '#platform/tar-file.ts';
import {
  ATTACHMENTS,
  attachmentsFolder,
  BackupError,
  type BackupTables,
  DATABASES,
  FORMAT,
  HEAD,
  type Head,
  HOME,
  isNoSpace,
  KEYS,
  MANIFEST,
  MANIFEST_MAC,
  MANIFEST_SUM,
  type Manifest,
  quarantineFolder,
  readStored,
  SEALED,
  type SealedFiles,
  STORED,
  type StoredFile,
  sealedFilesOf,
  signManifest,
} from './backup-format.ts';
import { ATTACHMENTS_IN_STORE, QUARANTINE_IN_STORE, withStored } from './storage.ts';

/** The result of a backup. */
interface Written {
  file: string;
  bytes: number;
  manifest: Manifest;
  keys: string[];
}

/** A consistent copy of the database, and the data for the manifest. */
interface Snapshot {
  path: string;
  migrations: string[];
  rows: Record<string, number>;
  /** Ids of the sealed files of this server. */
  sealed: string[];
  elsewhere: number;
  /** Files in the shared store. */
  stored: StoredFile[];
  /** Ids of chat attachments. */
  attachments: string[];
  waiting: number;
}

const UNFINISHED = '.palisade-backup-';
/** Lock file in the folder of unfinished files, locked while the backup is being written. */
const HELD = 'held';
const HOUR_MS = 3_600_000;

/** The path of the archive: the target itself, or a new file if the target is a folder. */
function fileFor(target: string, now: Date): string {
  const path = resolve(target);
  const is_folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const file = is_folder ? join(path, `palisade-${now.toISOString().slice(0, 19).replaceAll(':', '')}.tar`) : path;
  if (existsSync(file)) throw new BackupError(`${file} already exists. Choose another file or a folder.`);
  if (!existsSync(dirname(file)))
    throw new BackupError(`The folder ${dirname(file)} doesn’t exist. Create it or choose another one.`);
  return file;
}

/** Creates a locked folder for unfinished files. Folders of killed backups are removed first. */
async function unfinishedIn(parent: string): Promise<{ folder: string; release: () => void }> {
  for (const name of readdirSync(parent).filter((one) => one.startsWith(UNFINISHED))) {
    const left = join(parent, name);
    const release = isAbandoned(left) ? takeExclusive(join(left, HELD)) : undefined;
    if (release === undefined) continue;
    release();
    rmSync(left, { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(parent, UNFINISHED));
  const release = takeExclusive(join(folder, HELD));
  if (release === undefined) throw new Error(`The folder ${folder} is in use.`);
  return { folder, release };
}

/** Whether a folder may be abandoned. Without a lock file it must be an hour old, because a backup that has just started has not created the file yet. */
function isAbandoned(folder: string): boolean {
  if (existsSync(join(folder, HELD))) return true;
  const age_ms = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  return age_ms > HOUR_MS;
}

/** Moves the finished archive to its final name. An existing file is not overwritten. */
async function place(part: string, file: string): Promise<void> {
  try {
    await link(part, file);
  } catch (error) {
    // Some network and USB file systems have no hard links.
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code) || existsSync(file)) throw error;
    await rename(part, file);
  }
}

/** Reads the data for the manifest from a consistent copy of the database. */
async function look(database: Kysely<BackupTables>, home: string | undefined): Promise<Omit<Snapshot, 'path'>> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const rows: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows: counted } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(database);
    rows[name] = Number(counted[0]?.count ?? 0);
  }
  const in_folders = await database
    .selectFrom('scans')
    .select(['id', 'home'])
    .where('sealed', '=', sql.lit(1))
    .where('in_store', '=', 0)
    .execute();
  const stored = await database
    .selectFrom('scans')
    .select(['id', 'sealed_sha256'])
    .where('in_store', '=', 1)
    .where(({ eb, or }) => or([eb('sealed', '=', 1), eb('spooled', '=', 1)]))
    .orderBy('id')
    .execute();
  const attached = await database
    .selectFrom('chat_attachments')
    .select('id')
    .where('status', '=', 'clean')
    .orderBy('id')
    .execute();
  // Rows of early versions, which supported only one server, have no home.
  const isHere = (row: { home: string | null }) => row.home === null || row.home === home;
  const waiting = await database
    .selectFrom('scans')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('spooled', '=', sql.lit(1))
    .where('in_store', '=', 0)
    .executeTakeFirstOrThrow();
  const has = await database.selectFrom('kysely_migration').select('name').orderBy('name').execute();
  return {
    migrations: has.map(({ name }) => name),
    rows,
    sealed: in_folders.filter(isHere).map(({ id }) => id),
    elsewhere: in_folders.filter((row) => !isHere(row)).length,
    stored,
    attachments: attached.map(({ id }) => id),
    waiting: Number(waiting.count),
  };
}

async function snapshotOfSqlite(source: string, folder: string, home: string | undefined): Promise<Snapshot> {
  const path = join(folder, DATABASES.sqlite);
  const live = new SqliteDatabase(source, { readonly: true, fileMustExist: true, timeout: 60_000 });
  try {
    // A consistent copy in one read transaction; the running server can continue to write (docs/decisions/operations.md).
    live.prepare('vacuum into ?').run(path);
  } finally {
    live.close();
  }
  const copy = openDatabase<BackupTables>({ sqlite: path });
  try {
    return { path, ...(await look(copy, home)) };
  } finally {
    await copy.destroy();
  }
}

async function snapshotOfPostgres(
  database: Kysely<BackupTables>,
  url: string,
  folder: string,
  home: string | undefined,
): Promise<Snapshot> {
  const path = join(folder, DATABASES.postgresql);
  return await database
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (transaction) => {
      const { rows } = await sql<{ id: string }>`select pg_export_snapshot() as id`.execute(transaction);
      // The dump uses the same snapshot as the counts.
      const args = ['--format=custom', '--schema=public', '--no-owner', '--no-acl', `--snapshot=${rows[0]?.id ?? ''}`];
      await runPostgresProgram('pg_dump', url, [...args, `--file=${path}`]);
      return { path, ...(await look(transaction, home)) };
    });
}

/** Whether the live database still refers to a file that was not found. */
async function isStillSealed(live: Kysely<BackupTables>, id: string): Promise<boolean> {
  const row = await live.selectFrom('scans').select(['sealed', 'spooled']).where('id', '=', id).executeTakeFirst();
  return row?.sealed === 1 || row?.spooled === 1;
}

/** Adds the listed files of the shared store, and verifies their checksums. */
async function addStored(
  live: Kysely<BackupTables>,
  store: Blobs,
  stored: readonly StoredFile[],
  manifest: Manifest,
  add: (name: string, size: number, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  for (const one of stored) {
    const found = await readStored(store, one);
    if (found !== undefined) await add(STORED + one.id, found.size, found.content);
    if (found?.isDamaged() === false) continue;
    if (await isStillSealed(live, one.id)) manifest.sealed.missing.push(one.id);
    else manifest.sealed.gone.push(one.id);
  }
}

/** Adds the chat attachments. */
async function addAttachments(
  live: Kysely<BackupTables>,
  files: readonly StoredFile[],
  manifest: Manifest,
  add: (name: string, size: number, content: AsyncIterable<Uint8Array>) => Promise<void>,
  read: (file: StoredFile) => Promise<{ size: number; content: AsyncIterable<Buffer> } | undefined>,
): Promise<void> {
  for (const one of files) {
    const found = await read(one);
    if (found !== undefined) await add(ATTACHMENTS + one.id, found.size, found.content);
    else if (await isStillAttached(live, one.id)) manifest.sealed.missing.push(one.id);
    else manifest.sealed.gone.push(one.id);
  }
}

async function isStillAttached(live: Kysely<BackupTables>, id: string): Promise<boolean> {
  return (await live.selectFrom('chat_attachments').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}

/**
 * Writes a backup of the data that the settings name, also while a server runs. Quarantined files stay sealed; keys are included only on request. `onFolder` receives the
 * folder of unfinished files, so that an interrupted caller can remove it.
 * @throws BackupError
 */
export async function writeBackup(parts: {
  settings: Settings;
  target: string;
  with_keys: boolean;
  /** Only lists the files of the store at STORAGE_URL, without their content. */
  without_store?: boolean;
  now?: Date;
  sealed?: SealedFiles;
  onFolder?: (folder: string) => void;
}): Promise<Written> {
  const { settings, target, with_keys, without_store = false, now = new Date(), onFolder = () => {} } = parts;
  const { sealed = sealedFilesOf(quarantineFolder(settings)) } = parts;
  const file = fileFor(target, now);
  const location = databaseLocation(settings);
  if ('sqlite' in location && !existsSync(location.sqlite))
    throw new BackupError(`There is no database at ${location.sqlite}. Set DATA_DIR to the server’s data folder.`);
  const home_file = join(settings.data_dir, HOME_FILE);
  const home = existsSync(home_file) ? readFileSync(home_file, 'utf8') : undefined;
  const { folder, release } = await unfinishedIn(dirname(file));
  onFolder(folder);
  const live = openDatabase<BackupTables>(location);
  try {
    await requireKnownVersion(live, migrations, { complete: true, baseline: BASELINE });
    return await write();
  } catch (error) {
    if (error instanceof StoreAwayError)
      throw new BackupError(
        `The store at STORAGE_URL doesn’t answer (${error.message}). Try again, or use --without-store to leave its files out. The unfinished backup was deleted.`,
      );
    if (isNoSpace(error))
      throw new BackupError(
        `${dirname(file)} is full. The backup needs twice the database’s size plus the quarantine’s. The unfinished backup was deleted.`,
      );
    throw error;
  } finally {
    await live.destroy();
    release();
    rmSync(folder, { recursive: true, force: true });
  }

  async function write(): Promise<Written> {
    const id = home?.trim();
    const snapshot = await waitingUnbounded(() =>
      'sqlite' in location
        ? snapshotOfSqlite(location.sqlite, folder, id)
        : snapshotOfPostgres(live, location.postgres, folder, id),
    );
    const database = 'sqlite' in location ? 'sqlite' : 'postgresql';
    const head: Head = {
      format: FORMAT,
      version: VERSION,
      created_at: now.toISOString(),
      database,
      migrations: snapshot.migrations,
    };
    const manifest: Manifest = {
      files: [],
      rows: snapshot.rows,
      sealed: { gone: [], missing: [], elsewhere: snapshot.elsewhere, in_store: snapshot.stored.length, listed: [] },
      waiting: snapshot.waiting,
    };
    const part = join(folder, basename(file));
    const out = await open(part, 'wx', 0o600);
    try {
      const tar = createTarWriter(out, now.getTime());
      const add = async (name: string, size: number, content: AsyncIterable<Uint8Array>) => {
        manifest.files.push({ name, size, sha256: await tar.add(name, size, content) });
      };
      const addBytes = async (name: string, bytes: Buffer) => await add(name, bytes.length, inOnePiece(bytes));
      await addBytes(HEAD, Buffer.from(`${JSON.stringify(head, null, 2)}\n`));
      await add(DATABASES[database], (await stat(snapshot.path)).size, createReadStream(snapshot.path));
      await rm(snapshot.path);
      if (home !== undefined) await addBytes(HOME, Buffer.from(home));
      if (with_keys) {
        for (const key of installationKeys(settings)) {
          await addBytes(`${KEYS}${key.name}.key`, await readKey(live.$pickTables<'installation'>(), key));
        }
      }
      for (const one of snapshot.sealed) {
        const found = await sealed.read(one);
        if (found !== undefined) await add(SEALED + one, found.size, found.content);
        else if (await isStillSealed(live, one)) manifest.sealed.missing.push(one);
        else manifest.sealed.gone.push(one);
      }
      if (without_store)
        manifest.sealed.listed = [
          ...snapshot.stored.map(({ id: of, sealed_sha256 }) => ({ id: of, sha256: sealed_sha256 })),
          // The database has no checksums of chat attachments.
          ...(settings.storage === undefined ? [] : snapshot.attachments.map((of) => ({ id: of, sha256: null }))),
        ];
      else if (snapshot.stored.length > 0)
        await withStored(settings, QUARANTINE_IN_STORE, (store) => addStored(live, store, snapshot.stored, manifest, add));
      const ofChat = snapshot.attachments.map((of) => ({ id: of, sealed_sha256: null }));
      if (settings.storage === undefined) {
        const files = sealedFilesOf(attachmentsFolder(settings));
        await addAttachments(live, ofChat, manifest, add, (one) => files.read(one.id));
      } else if (!without_store && ofChat.length > 0)
        await withStored(settings, ATTACHMENTS_IN_STORE, (store) =>
          addAttachments(live, ofChat, manifest, add, (one) => readStored(store, one)),
        );
      const last = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
      const sum = Buffer.from(await tar.add(MANIFEST, last.length, inOnePiece(last)));
      const mac = Buffer.from(signManifest(openKeyFile(settings.backup_key_file), sum.toString()));
      await tar.add(MANIFEST_MAC, mac.length, inOnePiece(mac));
      await tar.add(MANIFEST_SUM, sum.length, inOnePiece(sum));
      await tar.finish();
      await out.sync();
    } finally {
      await out.close();
    }
    await place(part, file);
    const keys = manifest.files.filter(({ name }) => name.startsWith(KEYS)).map(({ name }) => name);
    return { file, bytes: (await stat(file)).size, manifest, keys };
  }
}

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
