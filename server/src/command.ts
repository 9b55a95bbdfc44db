import { existsSync, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Kysely } from 'kysely';
import { BASELINE, migrations } from '#migrations/all.ts';
import { DataFolderError, requireOwnFolder } from '#platform/data-folder.ts';
import { databaseLocation, openDatabase } from '#platform/database.ts';
import { installationKeys } from '#platform/keys.ts';
import { createLog } from '#platform/log.ts';
import { requireKnownVersion } from '#platform/migrations.ts';
import { keepFilesPrivate } from '#platform/private-files.ts';
import { parseSettings, type Settings } from '#platform/settings.ts';
import { SettingsError } from '#platform/settings-error.ts';
import type { Tables } from '#platform/tables.ts';

// The common parts of the commands beside the server.

export function fail(line: string): never {
  process.stderr.write(`palisade: ${line}\n`);
  process.exit(1);
}

export function say(line: string): void {
  process.stdout.write(`palisade: ${line}\n`);
}

/** Arguments that a command does not have. */
export class UsageError extends Error {}

/** One folder above this file, in the source tree and in the bundle alike. */
export const SIGNATURES_FOLDER = fileURLToPath(new URL('../signatures', import.meta.url));

/** Gives a data folder with all in it to the owner of the folder, as a command of root leaves it. */
function giveToOwner(data_dir: string): void {
  const owner = statSync(data_dir, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === 0) return;
  const give = (path: string) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (stat.uid !== owner.uid || stat.gid !== owner.gid) lchownSync(path, owner.uid, owner.gid);
    if (stat.isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
  };
  give(data_dir);
}

/**
 * Has root act for the service: files of the data folder stay its owner's. `reads_elsewhere` is for commands whose file only root may open.
 */
function actForOwner(data_dir: string, reads_elsewhere: boolean): void {
  const owner = statSync(data_dir, { throwIfNoEntry: false });
  if (process.getuid?.() !== 0 || owner === undefined || owner.uid === 0) return;
  if (reads_elsewhere) {
    process.once('exit', () => giveToOwner(data_dir));
    return;
  }
  process.setgroups?.([owner.gid]);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
}

/**
 * Reads the settings, refuses a data folder that is not ours, and keeps from others what lies in it; says once what it has mended. Ends the process with one line for a
 * bad setting or folder. The server makes the folder, and so does the command that `restores`; others need one. `as` is for commands of root.
 */
export function prepare({ as = 'server' }: { as?: 'server' | 'command' | 'backup' | 'restore' } = {}): Settings {
  try {
    const settings = parseSettings(process.env);
    const { data_dir } = settings;
    const restores = as === 'restore';
    if ((as === 'command' || as === 'backup') && !existsSync(data_dir))
      fail(`There is no data folder at ${data_dir}. Set DATA_DIR to the server’s data folder.`);
    if (as !== 'server') actForOwner(data_dir, as !== 'command');
    const key_files = [...installationKeys(settings).map(({ path }) => path), settings.backup_key_file];
    requireOwnFolder({ data_dir, key_files, restores });
    const acts_for_owner = as !== 'server' && process.getuid?.() === 0;
    const { mended, warnings } = keepFilesPrivate({ data_dir, key_files, acts_for_owner });
    if (mended > 0)
      warnings.unshift(`Other users could read ${mended} files and folders in ${settings.data_dir}. Now only this user can.`);
    // The server promises lines of JSON; a person reads what a command writes.
    const warn = (text: string) =>
      as === 'server' ? createLog(settings.log_level).warn(text) : process.stderr.write(`palisade: warning: ${text}\n`);
    for (const warning of [...settings.warnings, ...warnings]) warn(warning);
    return settings;
  } catch (error) {
    if (error instanceof SettingsError || error instanceof DataFolderError) fail(error.message);
    throw error;
  }
}

/** Does `work` with the database that the settings name, whether a server runs on it or not. Ends the process when there is none, or it is of another version. */
export async function withDatabase<T>(settings: Settings, work: (database: Kysely<Tables>) => Promise<T>): Promise<T> {
  const location = databaseLocation(settings);
  if ('sqlite' in location && !existsSync(location.sqlite))
    fail(`There is no database at ${location.sqlite}. Set DATA_DIR to the server’s data folder.`);
  const database = openDatabase<Tables>(location);
  try {
    await requireKnownVersion(database, migrations, { complete: true, baseline: BASELINE });
    return await work(database);
  } finally {
    await database.destroy();
  }
}
