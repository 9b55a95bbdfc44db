import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { type Kysely, sql } from 'kysely';
import { BASELINE, migrations } from '#migrations/all.ts';
import { BlobNotFoundError, StoreAwayError } from '#platform/blobs/blobs.ts';
import { MARK, RESTORING } from '#platform/data-folder.ts';
import { type DatabaseLocation, databaseLocation, openDatabase } from '#platform/database.ts';
import { waitingUnbounded } from '#platform/database-patience.ts';
import { fileBytes } from '#platform/file-bytes.ts';
import { createTextFunctions } from '#platform/folded-text.ts';
import { HOME_FILE, takeHome } from '#platform/home.ts';
import { type InstallationKey, installationKeys, readKey } from '#platform/keys.ts';
import { migrate, versionOf } from '#platform/migrations.ts';
import { runPostgresProgram } from '#platform/postgres-programs.ts';
import { differingPart } from '#platform/schema.ts';
import type { Settings } from '#platform/settings.ts';
import {
  ATTACHMENTS,
  attachmentsFolder,
  BackupError,
  type BackupTables,
  DATABASES,
  type Head,
  HOME,
  isNoSpace,
  KEYS,
  type Manifest,
  quarantineFolder,
  SEALED,
  STORED,
} from './backup-format.ts';
import { ATTACHMENTS_IN_STORE, QUARANTINE_IN_STORE, withStored } from './storage.ts';
import { damaged, unpack } from './unpack-backup.ts';

/** The result of a restore, with the keys that are still missing. */
interface Restored {
  head: Head;
  manifest: Manifest;
  /** Location of the previous data: a folder, and a PostgreSQL schema. */
  aside: { folder: string | undefined; schema: string | undefined };
  /** One sentence for each missing key that the database was used with. */
  missing_keys: string[];
}

/** Name of the staging folder during its removal. Its original name means that a restore has not finished. */
const ENDED = 'palisade.restored';

const ASIDE = 'before-restore-';
/** Maximum characters of a schema difference in a message. */
const PART_LENGTH = 200;

const NAME_OF_SCHEMA = /^before_restore_\d{14}$/;

/** Moves a file, also to another file system. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    await copyFile(from, to);
    await syncFile(to);
    await rm(from);
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Syncs the entries of a folder to disk. Windows cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform !== 'win32') await syncFile(path);
}

/** Removes the staging folder: first an atomic rename, after which a server can start, then the content. */
async function endStage(data_dir: string): Promise<void> {
  const ended = join(data_dir, ENDED);
  rmSync(ended, { recursive: true, force: true });
  if (existsSync(join(data_dir, RESTORING))) {
    await syncFolder(data_dir);
    await rename(join(data_dir, RESTORING), ended);
    await syncFolder(data_dir);
  }
  rmSync(ended, { recursive: true, force: true });
}

/** Names of the files in a folder; empty if the folder does not exist. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
}

/** Files that a server has written into a data folder, without keys and signatures. */
function oldFiles({ data_dir, audit_witness_file }: Settings): string[] {
  const top = filesOf(data_dir).filter((name) => name === HOME_FILE || (name.startsWith('palisade.') && name !== MARK));
  const inside = ['quarantine', 'spool', 'attachments'].flatMap((folder) =>
    filesOf(join(data_dir, folder)).map((name) => join(folder, name)),
  );
  // The witness belongs to the previous audit log.
  const witness = existsSync(audit_witness_file) ? [join('keys', 'audit.head')] : [];
  return [...top, ...inside, ...witness];
}

/** Adapts the restored database: clears references to missing files, releases claimed jobs, and ends sessions on request. */
async function mend(database: Kysely<BackupTables>, { sealed }: Manifest, end_sessions: boolean): Promise<void> {
  // No server runs a job during the restore.
  await database.updateTable('jobs').set({ claimed_by: null, lease_until: null }).execute();
  for (const id of [...sealed.gone, ...sealed.missing]) {
    // Missing files that wait for their scan are handled when the scan starts.
    await database
      .updateTable('scans')
      .set({ sealed: 0, in_store: 0, sealed_sha256: null, kept_until: null })
      .where('id', '=', id)
      .where('sealed', '=', 1)
      .execute();
  }
  if (end_sessions) await database.deleteFrom('sessions').execute();
}

async function requireRows(file: string, database: Kysely<BackupTables>, { rows }: Manifest): Promise<void> {
  for (const [table, expected] of Object.entries(rows)) {
    const { rows: counted } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(database);
    const count = Number(counted[0]?.count ?? 0);
    if (count !== expected) throw damaged(file, `has ${count} rows in ${table} instead of ${expected}`);
  }
}

/** Refuses a schema that differs from the one made by the migrations: a foreign trigger would run with the server's rights. The migrations are applied to the database `empty` for comparison. */
async function requireSchema(
  file: string,
  database: Kysely<BackupTables>,
  empty: DatabaseLocation,
  { migrations: has }: Head,
): Promise<void> {
  const made = openDatabase<BackupTables>(empty, { connections: 1 });
  try {
    const done = versionOf(has, migrations, BASELINE) === 'replaced' ? [BASELINE.name] : has;
    await migrate(made, Object.fromEntries(Object.entries(migrations).filter(([name]) => done.includes(name))));
    const part = await differingPart(database, made);
    if (part !== undefined) throw damaged(file, `${part.slice(0, PART_LENGTH)}, unlike the schema of its version`);
  } finally {
    await made.destroy();
  }
}

/** Checks and adapts the SQLite database in the staging folder. */
async function prepareSqlite(
  file: string,
  path: string,
  { head, manifest }: { head: Head; manifest: Manifest },
  end_sessions: boolean,
): Promise<void> {
  const check = new SqliteDatabase(path, { fileMustExist: true });
  try {
    const found: unknown = check.pragma('integrity_check', { simple: true });
    if (found !== 'ok') throw damaged(file, 'has an incomplete database');
  } finally {
    check.close();
  }
  const database = openDatabase<BackupTables>({ sqlite: path });
  try {
    await requireSchema(file, database, { sqlite: ':memory:' }, head);
    await requireRows(file, database, manifest);
    await mend(database, manifest, end_sessions);
  } finally {
    await database.destroy();
  }
  await syncFile(path);
}

/** Refuses a database with other connections, and, without `force`, one with tables. Returns whether it has tables. */
async function requireFreeDatabase(database: Kysely<BackupTables>, force: boolean): Promise<boolean> {
  const others = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(database);
  const count = Number(others.rows[0]?.count ?? 0);
  if (count > 0)
    throw new BackupError(
      `The database at DATABASE_URL is in use (${count} other connections). Stop every program that uses it. Nothing was changed.`,
    );
  const tables = await sql<{ count: number }>`
    select count(*) as count from information_schema.tables where table_schema = 'public'`.execute(database);
  const is_used = Number(tables.rows[0]?.count ?? 0) > 0;
  if (is_used && !force)
    throw new BackupError(
      'The database at DATABASE_URL isn’t empty. Choose an empty one, or use --force to keep the old data in another schema. Nothing was changed.',
    );
  return is_used;
}

/** Restores into the schema `public`. Previous data is renamed to another schema, and renamed back on failure. Returns the name of that schema. */
async function restorePostgres(
  parts: { file: string; url: string; dump: string; head: Head; manifest: Manifest; end_sessions: boolean; stamp: string },
  database: Kysely<BackupTables>,
  is_used: boolean,
): Promise<string | undefined> {
  const { file, url, dump, head, manifest, end_sessions, stamp } = parts;
  const compared = `compared_${stamp}`;
  const schema = `before_restore_${stamp}`;
  if (!NAME_OF_SCHEMA.test(schema)) throw new Error('This isn’t a schema name.');
  if (is_used) {
    await sql`alter schema public rename to ${sql.id(schema)}`.execute(database);
    await sql`create schema public`.execute(database);
  }
  try {
    const args = ['--no-owner', '--no-acl', '--exit-on-error', '--single-transaction', '--schema=public', dump];
    await runPostgresProgram('pg_restore', url, args);
    await sql`create schema ${sql.id(compared)}`.execute(database);
    const empty = new URL(url);
    empty.searchParams.set('options', `-c search_path=${compared}`);
    await requireSchema(file, database, { postgres: empty.href }, head);
    // Created after the comparison, because their source text depends on the version of Node.
    await createTextFunctions(database);
    await requireRows(file, database, manifest);
    await mend(database, manifest, end_sessions);
  } catch (error) {
    await sql`drop schema public cascade`.execute(database);
    await (is_used ? sql`alter schema ${sql.id(schema)} rename to public` : sql`create schema public`).execute(database);
    throw error;
  } finally {
    await sql`drop schema if exists ${sql.id(compared)} cascade`.execute(database);
  }
  return is_used ? schema : undefined;
}

/** One sentence for each missing key: the data that is lost without it, and where to put it. */
async function missingKeys(database: Kysely<BackupTables>, keys: readonly InstallationKey[]): Promise<string[]> {
  const sentences: string[] = [];
  for (const key of keys) {
    const known = await database
      .selectFrom('installation')
      .select('name')
      .where('name', '=', `key_check.${key.name}`)
      .executeTakeFirst();
    if (known === undefined) continue;
    await readKey(database.$pickTables<'installation'>(), key).catch((error: unknown) =>
      sentences.push(error instanceof Error ? error.message : String(error)),
    );
  }
  return sentences;
}

/** Uploads the backup's files to the store at STORAGE_URL. Identical files are skipped; other files in the store are not touched. */
async function storeFiles(
  { settings, file, stage }: { settings: Settings; file: string; stage: string },
  { files }: Manifest,
  prefix: string,
  folder: string,
): Promise<void> {
  const stored = files.filter(({ name }) => name.startsWith(prefix));
  if (stored.length === 0) return;
  if (settings.storage === undefined)
    throw new BackupError(
      `${file} contains ${stored.length} files from a shared store. Set STORAGE_URL to the store for them. Nothing was changed.`,
    );
  try {
    await withStored(settings, folder, async (store) => {
      for (const { name, size, sha256 } of stored) {
        const id = name.slice(prefix.length);
        const there = await store.stat(id).catch((error: unknown) => {
          if (error instanceof BlobNotFoundError) return undefined;
          throw error;
        });
        if (there?.size === size && there.sha256 === sha256) continue;
        const put = await store.put(id, fileBytes(join(stage, name)), { size });
        if (put.sha256 !== sha256) throw new Error(`The store saved different bytes than ${name} has.`);
      }
    });
  } catch (error) {
    if (!(error instanceof StoreAwayError)) throw error;
    throw new BackupError(
      `The store at STORAGE_URL doesn’t answer (${error.message}). Try again. Only the store has changed: some backup files may be in it.`,
    );
  }
}

/**
 * Places a key of the backup, if it contains one. A different existing key is renamed and kept, because data encrypted with it may still be needed.
 */
async function placeKey({ path }: InstallationKey, from: string, stamp: string): Promise<void> {
  if (!existsSync(from)) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (existsSync(path) && !readFileSync(path).equals(readFileSync(from))) await move(path, `${path}.before-restore-${stamp}`);
  await move(from, path);
}

/**
 * Restores a backup. It is first unpacked and verified completely. Previous data is never deleted: with `force` it is moved.
 * @throws BackupError for existing data without `force`, a database in use, and a backup that is damaged, newer or of another kind of database. HomeTakenError while a server uses the data folder.
 */
export async function readBackup(parts: {
  settings: Settings;
  file: string;
  force: boolean;
  end_sessions: boolean;
  /** Accepts a backup without a valid signature. */
  trust?: boolean;
  now?: Date;
}): Promise<Restored> {
  const { settings, file, force, end_sessions, trust = false, now = new Date() } = parts;
  const { data_dir } = settings;
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new BackupError(`The backup ${file} doesn’t exist.`);
  const stamp = now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const stage = join(data_dir, RESTORING);
  const had_home = existsSync(join(data_dir, HOME_FILE));
  const before = oldFiles(settings);
  // No server can start on this folder while it is taken.
  const home = takeHome({
    folder: data_dir,
    onLost(error) {
      throw error;
    },
  });
  let is_done = false;
  let is_placing = false;
  try {
    if (before.some((name) => !name.startsWith('keys')) && !force)
      throw new BackupError(
        `The data folder ${data_dir} isn’t empty. Set DATA_DIR to an empty folder, or use --force to keep the old data in a subfolder. Nothing was changed.`,
      );
    rmSync(stage, { recursive: true, force: true });
    await mkdir(stage, { mode: 0o700 });
    // From here until the end of the restore no server starts on this folder, even if this process is killed.
    await syncFolder(data_dir);
    const { head, manifest } = await unpack(file, stage, { settings, trust });
    const restored = await place(head, manifest);
    is_done = true;
    return restored;
  } catch (error) {
    if (is_placing)
      throw new BackupError(
        `The restore failed while moving files (${error instanceof Error ? error.message : String(error)}). The old data is in ${join(data_dir, ASIDE + stamp)}. Run it again with --force before you start a server.`,
      );
    if (isNoSpace(error))
      throw new BackupError(
        `There isn’t enough space for the backup in ${data_dir}${settings.database_url === undefined ? '' : ' or in the database'}. Nothing was changed.`,
      );
    throw error;
  } finally {
    // After a failure while files are being moved, the staging folder stays, so that no server starts.
    if (is_done || !is_placing) await endStage(data_dir);
    home.release();
    if (!is_done && !had_home) rmSync(join(data_dir, HOME_FILE), { force: true });
  }

  async function place(head: Head, manifest: Manifest): Promise<Restored> {
    const location = databaseLocation(settings);
    await storeFiles({ settings, file, stage }, manifest, STORED, QUARANTINE_IN_STORE);
    // Chat attachments go to this server's storage, regardless of where they were stored before.
    if (settings.storage !== undefined) await storeFiles({ settings, file, stage }, manifest, ATTACHMENTS, ATTACHMENTS_IN_STORE);
    const staged = join(stage, DATABASES[head.database]);
    let schema: string | undefined;
    if ('sqlite' in location) await prepareSqlite(file, staged, { head, manifest }, end_sessions);
    else {
      const database = openDatabase<BackupTables>(location, { connections: 2 });
      try {
        schema = await waitingUnbounded(async () =>
          restorePostgres(
            { file, url: location.postgres, dump: staged, head, manifest, end_sessions, stamp },
            database,
            await requireFreeDatabase(database, force),
          ),
        );
      } finally {
        await database.destroy();
      }
    }
    is_placing = true;
    const folder = before.length > 0 ? join(data_dir, ASIDE + stamp) : undefined;
    for (const name of folder === undefined ? [] : before) {
      await mkdir(dirname(join(folder ?? '', name)), { recursive: true, mode: 0o700 });
      await move(join(data_dir, name), join(folder ?? '', name));
    }
    const quarantine = quarantineFolder(settings);
    await mkdir(quarantine, { recursive: true, mode: 0o700 });
    for (const name of filesOf(join(stage, SEALED))) await move(join(stage, SEALED, name), join(quarantine, name));
    if (settings.storage === undefined) {
      const attachments = attachmentsFolder(settings);
      await mkdir(attachments, { recursive: true, mode: 0o700 });
      for (const name of filesOf(join(stage, ATTACHMENTS))) await move(join(stage, ATTACHMENTS, name), join(attachments, name));
    }
    const keys = installationKeys(settings);
    for (const key of keys) await placeKey(key, join(stage, `${KEYS}${key.name}.key`), stamp);
    if (existsSync(join(stage, HOME))) await move(join(stage, HOME), join(data_dir, HOME_FILE));
    // The database is moved last, so that everything else is in place when it exists.
    if ('sqlite' in location) await move(staged, location.sqlite);
    const database = openDatabase<BackupTables>(location);
    try {
      return { head, manifest, aside: { folder, schema }, missing_keys: await missingKeys(database, keys) };
    } finally {
      await database.destroy();
    }
  }
}
