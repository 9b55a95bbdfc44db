import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { moveKeptFiles } from '#features/antivirus/move-kept-files.ts';
import { blobsIn } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openStorage } from '#platform/blobs/open-storage.ts';
import { openDisk } from '#platform/disk.ts';
import { homeId } from '#platform/home.ts';
import { QUARANTINE_IN_STORE } from '#server/app/storage.ts';
import { fail, prepare, say, withDatabase } from '#server/command.ts';

/** Moves the files of DATA_DIR/quarantine into the store at STORAGE_URL, also while a server runs. It does not need the key. */
export async function run(): Promise<void> {
  const settings = prepare({ as: 'command' });
  const location = settings.storage;
  if (location === undefined) fail('Set STORAGE_URL to the store for the files in DATA_DIR/quarantine.');
  const folder = join(settings.data_dir, 'quarantine');
  if (!existsSync(folder)) fail(`The folder ${folder} doesn’t exist. Set DATA_DIR to the server’s data folder.`);

  try {
    const { failed } = await withDatabase(settings, async (database) => {
      // A separate temporary folder, because the folder `outgoing` belongs to the running server.
      const store = await openStorage({
        location,
        folder: join(settings.data_dir, 'moving'),
        disk: openDisk(settings.data_dir, settings.disk_reserve),
      });
      const done = await moveKeptFiles({
        database: database.$pickTables<'scans'>(),
        home: homeId(settings.data_dir),
        from: openFolderBlobs({ folder, disk: openDisk(folder, settings.disk_reserve), is_in_use: true }),
        to: blobsIn(store, QUARANTINE_IN_STORE),
        onFailed: (id, error) => say(`${id} was not moved: ${error instanceof Error ? error.message : String(error)}`),
      });
      say(`${done.moved} files (${done.bytes} bytes) moved, ${done.failed} failed.`);
      return done;
    });
    process.exit(failed === 0 ? 0 : 1);
  } catch (error) {
    fail(`We couldn’t move the files: ${error instanceof Error ? error.message : String(error)}`);
  }
}
