import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeBackup } from './app/backup.ts';
import { fail, prepare, say } from './command.ts';

// `npm run backup -- <folder or file>`: backs up what the settings name, whether a server runs on it or not. `--with-keys` puts the keys into it: whoever has such a
// backup can open everything in it. `--without-store` lists what lies in the store of STORAGE_URL in place of copying it.

const MIB = 1024 ** 2;
const USAGE = 'Say where to: npm run backup -- <folder or file> [--with-keys] [--without-store]';

function readArguments() {
  try {
    const options = { 'with-keys': { type: 'boolean' }, 'without-store': { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [target, ...more] = positionals;
    if (target !== undefined && more.length === 0)
      return { target, with_keys: values['with-keys'] === true, without_store: values['without-store'] === true };
  } catch {
    // An option that there is not.
  }
  return fail(USAGE);
}

const { target, with_keys, without_store } = readArguments();
try {
  let unfinished: string | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      if (unfinished !== undefined) rmSync(unfinished, { recursive: true, force: true });
      fail('The backup was interrupted. Nothing is left of it.');
    });
  }
  const { file, bytes, manifest, keys } = await writeBackup({
    settings: prepare(),
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
    `${file} is written: ${total} rows in ${Object.keys(rows).length} tables, ${kept} sealed files, ${(bytes / MIB).toFixed(1)} MB.`,
  );
  if (keys.length > 0) say('The keys are in it: whoever has this file can open everything in it. Keep it as you keep the keys.');
  else say('The keys are not in it: keep a copy of the key files elsewhere. Without them no sealed file can be opened.');
  if (waiting > 0)
    say(
      `${waiting} files have not been read to their end yet: their records are in it, their bytes are not. Back up again when they are done.`,
    );
  if (sealed.listed.length > 0)
    say(`${sealed.listed.length} sealed files lie in the store of STORAGE_URL, and are not in it: back up that bucket as well.`);
  if (sealed.elsewhere > 0)
    say(`${sealed.elsewhere} sealed files lie on other servers of this database: back up each of those as well.`);
  if (sealed.missing.length > 0)
    say(
      `warning: ${sealed.missing.length} sealed files are not where the database has them, or are damaged (the first: ${sealed.missing[0]}).`,
    );
  process.exit(0);
} catch (error) {
  fail(`The backup could not be made: ${error instanceof Error ? error.message : String(error)}`);
}
