import { join } from 'node:path';
import { openQuarantine, type Quarantine } from '#features/antivirus/quarantine.ts';
import { blobsIn } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openStorage } from '#platform/blobs/open-storage.ts';
import { openDisk } from '#platform/disk.ts';
import type { Surroundings } from './surroundings.ts';

/** The folder of the store of STORAGE_URL in which the files in quarantine are. */
export const QUARANTINE_IN_STORE = 'quarantine';

/** The folder of the store of STORAGE_URL in which the files of the chat are. */
export const ATTACHMENTS_IN_STORE = 'attachments';

/** A folder of DATA_DIR, and its disk. */
export function folderOf({ settings, free_bytes }: Surroundings, name: string) {
  const folder = join(settings.data_dir, name);
  return { folder, disk: openDisk(folder, settings.disk_reserve, free_bytes) };
}

/** Opens where files are kept: a folder of this server, and with STORAGE_URL the store that servers share. @throws what says in one line why the store cannot be used. */
export async function openKeptFiles(
  surroundings: Surroundings,
): Promise<{ quarantine: Quarantine; shared: Quarantine | undefined; attachments: Quarantine; close(): void }> {
  const { storage: location, quarantine_key_file: key_file } = surroundings.settings;
  const store = location && (await openStorage({ location, ...folderOf(surroundings, 'outgoing') }));
  return {
    quarantine: openQuarantine({ blobs: openFolderBlobs(folderOf(surroundings, 'quarantine')), key_file }),
    shared: store && openQuarantine({ blobs: blobsIn(store, QUARANTINE_IN_STORE), key_file }),
    attachments: openQuarantine({
      blobs: store ? blobsIn(store, ATTACHMENTS_IN_STORE) : openFolderBlobs(folderOf(surroundings, 'attachments')),
      key_file,
    }),
    close: () => store?.close(),
  };
}
