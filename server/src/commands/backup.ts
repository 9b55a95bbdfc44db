import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeBackup } from '#server/app/backup.ts';
import { fail, prepare, say, UsageError } from '#server/command.ts';

const MIB = 1024 ** 2;
function readArguments(args: string[]) {
  const options = { 'with-keys': { type: 'boolean' }, 'without-store': { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [target, ...more] = positionals;
  if (target === undefined || more.length > 0) throw new UsageError();
  return { target, with_keys: values['with-keys'] === true, without_store: values['without-store'] === true };
}

/** Writes a backup of the data that the settings name, also while a server runs. A backup with keys gives its owner access to all data in it. */
export async function run(args: string[]): Promise<void> {
  const { target, with_keys, without_store } = readArguments(args);
  try {
    let unfinished: string | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        if (unfinished !== undefined) rmSync(unfinished, { recursive: true, force: true });
        fail('The backup was interrupted. The unfinished file was deleted.');
      });
    }
    const { file, bytes, manifest, keys } = await writeBackup({
      settings: prepare({ as: 'backup' }),
      target,
      with_keys,
      without_store,
      onFolder(folder) {
        unfinished = folder;
      },
    });
    const { files, rows, sealed, waiting } = manifest;
    const kept = files.filter(({ name }) => name.startsWith('quarantine/') || name.startsWith('store/')).length;
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    say(
      `Wrote ${file}: ${total} rows in ${Object.keys(rows).length} tables, ${kept} quarantined files, ${(bytes / MIB).toFixed(1)} MB.`,
    );
    if (keys.length > 0)
      say('This backup contains the keys. Anyone with the file can open everything in it. Protect it like the keys.');
    else say('This backup doesn’t contain the keys. Keep a copy of the key files elsewhere: quarantined files need them.');
    if (waiting > 0)
      say(
        `${waiting} files are still being scanned. The backup has their records but not their bytes. Back up again afterwards.`,
      );
    if (sealed.listed.length > 0)
      say(
        `${sealed.listed.length} quarantined files are in the store at STORAGE_URL, not in the backup. Back up that bucket too.`,
      );
    if (sealed.elsewhere > 0)
      say(`${sealed.elsewhere} quarantined files are on other servers of this database. Back up each of them too.`);
    if (sealed.missing.length > 0)
      say(`warning: ${sealed.missing.length} quarantined files are missing or damaged (the first: ${sealed.missing[0]}).`);
    process.exit(0);
  } catch (error) {
    fail(`We couldn’t create the backup: ${error instanceof Error ? error.message : String(error)}`);
  }
}
