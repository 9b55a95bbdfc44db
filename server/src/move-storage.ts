import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { moveKeptFiles } from '#features/antivirus/move-kept-files.ts';
import { blobsIn } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openStorage } from '#platform/blobs/open-storage.ts';
import { openDisk } from '#platform/disk.ts';
import { homeId } from '#platform/home.ts';
import { QUARANTINE_IN_STORE } from './app/storage.ts';
import { fail, prepare, say, withDatabase } from './command.ts';

// `npm run storage:move`: moves the files that DATA_DIR/quarantine keeps into the store of STORAGE_URL, with the server running or not. The key is not needed.

const settings = prepare();
const location = settings.storage;
if (location === undefined) fail('Set STORAGE_URL to the store that the files of DATA_DIR/quarantine are to be moved into.');
const folder = join(settings.data_dir, 'quarantine');
if (!existsSync(folder)) fail(`There is no folder ${folder}. Set DATA_DIR to where the server keeps its data.`);

try {
  const { failed } = await withDatabase(settings, async (database) => {
    // A folder of its own on the way: what lies in that of a running server is that server's.
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
      onFailed: (id, error) => say(`${id} stays where it is: ${error instanceof Error ? error.message : String(error)}`),
    });
    say(`${done.moved} files (${done.bytes} bytes) were moved, ${done.failed} could not be.`);
    return done;
  });
  process.exit(failed === 0 ? 0 : 1);
} catch (error) {
  fail(`The files could not be moved: ${error instanceof Error ? error.message : String(error)}`);
}
