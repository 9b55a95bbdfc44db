import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openQuarantine, type Quarantine } from '#features/antivirus/quarantine.ts';
import { type Blobs, blobsIn } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openStorage } from '#platform/blobs/open-storage.ts';
import { createStoreWatch, type StoreWatch } from '#platform/blobs/store-watch.ts';
import { openDisk } from '#platform/disk.ts';
import type { Settings } from '#platform/settings.ts';
import type { AppOptions } from './app-options.ts';

/** The folder of the store of STORAGE_URL in which the files in quarantine are. */
export const QUARANTINE_IN_STORE = 'quarantine';

/** The folder of the store of STORAGE_URL in which the files of the chat are. */
export const ATTACHMENTS_IN_STORE = 'attachments';

/** The one in which servers share what feeds of signatures brought. */
export const SIGNATURES_IN_STORE = 'signatures';

/** A folder of DATA_DIR, and its disk. */
export function folderOf({ settings, free_bytes }: AppOptions, name: string) {
  const folder = join(settings.data_dir, name);
  return { folder, disk: openDisk(folder, settings.disk_reserve, free_bytes) };
}

/** Opens where files are kept: a folder of this server, and with STORAGE_URL the store that servers share. @throws what says in one line why the store cannot be used. */
export async function openKeptFiles(appOptions: AppOptions): Promise<{
  quarantine: Quarantine;
  shared: Quarantine | undefined;
  sharedSets: Blobs | undefined;
  attachments: Quarantine;
  /** The watch of the store that servers share. */
  storeWatch: StoreWatch | undefined;
  close(): void;
}> {
  const { storage: location, quarantine_key_file: key_file } = appOptions.settings;
  const store = location && (await openStorage({ location, ...folderOf(appOptions, 'outgoing') }));
  return {
    quarantine: openQuarantine({ blobs: openFolderBlobs(folderOf(appOptions, 'quarantine')), key_file }),
    shared: store && openQuarantine({ blobs: blobsIn(store, QUARANTINE_IN_STORE), key_file }),
    attachments: openQuarantine({
      blobs: store ? blobsIn(store, ATTACHMENTS_IN_STORE) : openFolderBlobs(folderOf(appOptions, 'attachments')),
      key_file,
    }),
    sharedSets: store && blobsIn(store, SIGNATURES_IN_STORE),
    storeWatch: store && createStoreWatch({ check: () => store.check() }),
    close: () => store?.close(),
  };
}

/**
 * Does `work` with a folder of the store of STORAGE_URL, beside a server or without one.
 * @throws what says in one line why the store cannot be used.
 */
export async function withStored<T>(settings: Settings, name: string, work: (files: Blobs) => Promise<T>): Promise<T> {
  const { storage: location } = settings;
  if (location === undefined) throw new Error('Files are in a shared store. Set STORAGE_URL to that store.');
  // Its own: a server that runs removes from the folder of its own what it does not know.
  const folder = mkdtempSync(join(settings.data_dir, 'outgoing-'));
  const store = await openStorage({ location, folder, disk: openDisk(folder, settings.disk_reserve) }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  try {
    return await work(blobsIn(store, name));
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
