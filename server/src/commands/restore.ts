import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readBackup } from '#server/app/restore.ts';
import { fail, prepare, say, UsageError } from '#server/command.ts';

function readArguments(args: string[]) {
  const options = { force: { type: 'boolean' }, trust: { type: 'boolean' }, 'end-sessions': { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError();
  return {
    ...{ file: resolve(file), force: values.force === true, trust: values.trust === true },
    end_sessions: values['end-sessions'] === true,
  };
}

/**
 * Restores a backup into an empty DATA_DIR, and into an empty database with DATABASE_URL. `--force` moves existing data aside, `--trust` accepts a backup that the key of
 * BACKUP_KEY_FILE has not signed, and `--end-sessions` signs everyone out: otherwise sessions that ended after the backup would be valid again.
 */
export async function run(args: string[]): Promise<void> {
  const { file, force, trust, end_sessions } = readArguments(args);
  try {
    const settings = prepare({ as: 'restore' });
    const { head, manifest, aside, missing_keys } = await readBackup({ settings, file, force, trust, end_sessions });
    const kept = manifest.files.filter(({ name }) => name.startsWith('quarantine/') || name.startsWith('store/')).length;
    const total = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0);
    say(`Restored the backup from ${head.created_at} (version ${head.version}): ${total} rows, ${kept} quarantined files.`);
    if (aside.folder !== undefined) say(`The old data is in ${aside.folder}. Remove it when you no longer need it.`);
    if (aside.schema !== undefined)
      say(`The old tables are in the schema ${aside.schema}. Remove it when you no longer need it.`);
    const lost = manifest.sealed.gone.length + manifest.sealed.missing.length;
    if (lost > 0) say(`${lost} quarantined files aren’t in the backup. Their records say so.`);
    if (manifest.sealed.elsewhere > 0)
      say(`${manifest.sealed.elsewhere} quarantined files were on other servers. Restore each server’s backup too.`);
    if (manifest.sealed.listed.length > 0)
      say(
        `${manifest.sealed.listed.length} quarantined files aren’t in the backup. The server looks for them in the store at STORAGE_URL.`,
      );
    for (const sentence of missing_keys) say(`missing: ${sentence}`);
    if (missing_keys.length > 0) say('Add the keys before you start a server.');
    else say('All keys are in place. Check the audit log with palisade verify, then start the server.');
    if (!end_sessions)
      say('Sessions that ended after the backup work again until they expire. Use --end-sessions to sign everyone out.');
    process.exit(0);
  } catch (error) {
    fail(`We couldn’t restore the backup: ${error instanceof Error ? error.message : String(error)}`);
  }
}
