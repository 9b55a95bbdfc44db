import { existsSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { BASELINE, migrations } from '#migrations/all.ts';
import { DataFolderError, requireOwnFolder } from '#platform/data-folder.ts';
import { databaseLocation, openDatabase } from '#platform/database.ts';
import { installationKeys } from '#platform/keys.ts';
import { requireKnownVersion } from '#platform/migrations.ts';
import { keepFilesPrivate } from '#platform/private-files.ts';
import { parseSettings, type Settings, SettingsError } from '#platform/settings.ts';
import type { Tables } from './app/tables.ts';

// The common parts of the commands beside the server.

export function fail(line: string): never {
  process.stderr.write(`palisade: ${line}\n`);
  process.exit(1);
}

export function say(line: string): void {
  process.stdout.write(`palisade: ${line}\n`);
}

/**
 * Reads the settings, refuses a data folder that is not ours, and keeps from others what lies in it; says once what it has mended. Ends the process with one line for a
 * bad setting or folder. `restores` is for the command that ends an interrupted restore.
 */
export function prepare({ restores = false }: { restores?: boolean } = {}): Settings {
  try {
    const settings = parseSettings(process.env);
    const { data_dir } = settings;
    const key_files = [...installationKeys(settings).map(({ path }) => path), settings.backup_key_file];
    requireOwnFolder({ data_dir, key_files, restores });
    const { mended, warnings } = keepFilesPrivate({ data_dir, key_files });
    if (mended > 0)
      warnings.unshift(`Other users could read ${mended} files and folders in ${settings.data_dir}. Now only this user can.`);
    for (const warning of [...settings.warnings, ...warnings]) process.stderr.write(`palisade: warning: ${warning}\n`);
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
