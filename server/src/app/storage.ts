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

/** Folder of quarantined files in the store at STORAGE_URL. */
export const QUARANTINE_IN_STORE = 'quarantine';

/** Folder of chat attachments in the store at STORAGE_URL. */
export const ATTACHMENTS_IN_STORE = 'attachments';

/** Folder of downloaded signature feeds in the store at STORAGE_URL. */
export const SIGNATURES_IN_STORE = 'signatures';

/** A folder below DATA_DIR, and its disk. */
export function folderOf({ settings, free_bytes }: AppOptions, name: string) {
  const folder = join(settings.data_dir, name);
  return { folder, disk: openDisk(folder, settings.disk_reserve, free_bytes) };
}

/** Opens the file storage: a folder of this server, and with STORAGE_URL the shared store. @throws Error with one line of explanation if the store cannot be used. */
export async function openKeptFiles(appOptions: AppOptions): Promise<{
  quarantine: Quarantine;
  shared: Quarantine | undefined;
  sharedSets: Blobs | undefined;
  attachments: Quarantine;
  /** Monitors the shared store. */
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
 * Opens a folder of the store at STORAGE_URL for `work`, also while a server runs.
 * @throws Error with one line of explanation if the store cannot be used.
 */
export async function withStored<T>(settings: Settings, name: string, work: (files: Blobs) => Promise<T>): Promise<T> {
  const { storage: location } = settings;
  if (location === undefined) throw new Error('Files are in a shared store. Set STORAGE_URL to that store.');
  // A separate temporary folder, because a running server removes unknown files from its own.
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
