import { createHmac } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BlobDamagedError, BlobNotFoundError, type Blobs } from '#platform/blobs/blobs.ts';
import type { Settings } from '#platform/settings.ts';

// A backup is one tar file: first `backup.json`, which describes it, then the database, the id of the data folder, the keys if asked for, and the sealed files;
// `manifest.json` has the size and SHA-256 of each, `manifest.mac` its HMAC with the key of BACKUP_KEY_FILE, and `manifest.sha256` its SHA-256. An archive without that end is no backup.

export const HEAD = 'backup.json';
export const MANIFEST = 'manifest.json';
export const MANIFEST_MAC = 'manifest.mac';
export const MANIFEST_SUM = 'manifest.sha256';
export const HOME = 'home';
export const DATABASES = { sqlite: 'database.sqlite', postgresql: 'database.dump' } as const;
export const SEALED = 'quarantine/';
/** Sealed files of the store that servers share: those that are kept, and those that no engine has read yet. */
export const STORED = 'store/';
/** Files of the chat, wherever they lie. */
export const ATTACHMENTS = 'attachments/';
export const KEYS = 'keys/';

/** Allowed names of a backup's files: no path leads out of a folder. */
export const ENTRY =
  /^(?:backup\.json|manifest\.json|manifest\.mac|manifest\.sha256|home|database\.(?:sqlite|dump)|quarantine\/[\da-f-]{36}|store\/[\da-f-]{36}|attachments\/[\da-f-]{36}|keys\/[a-z-]{1,20}\.key)$/;

/** Raised when an older version could not restore the archive: 4 with a signed manifest. */
export const FORMAT = 4;

/** The HMAC of a manifest, by its SHA-256 in hex: all bytes of the backup are in it by theirs. */
export function signManifest(key: Buffer, sha256: string): string {
  return createHmac('sha256', key).update(`palisade backup 1 ${sha256}`).digest('hex');
}

export const headSchema = z.object({
  format: z.int(),
  version: z.string(),
  created_at: z.iso.datetime(),
  database: z.enum(['sqlite', 'postgresql']),
  /** Names of the migrations that the database has. */
  migrations: z.array(z.string()),
});
export type Head = z.infer<typeof headSchema>;

export const manifestSchema = z.object({
  files: z.array(z.object({ name: z.string(), size: z.int(), sha256: z.string() })),
  /** Rows by table. */
  rows: z.record(z.string(), z.int()),
  sealed: z.object({
    /** Ids of files whose bytes are not in the backup: they were removed while it was written, or were not where the database has them. */
    gone: z.array(z.string()),
    missing: z.array(z.string()),
    /** Files that lie on other servers of the same database. */
    elsewhere: z.int(),
    /** Files in the store that servers share. */
    in_store: z.int(),
    /** Those of them that were left out because that was asked for, with the checksum of each: the records find them in the store again. */
    listed: z.array(z.object({ id: z.string(), sha256: z.string().nullable() })).default([]),
  }),
  /** Files that no engine had read yet: they wait unsealed, and are in no backup. */
  waiting: z.int(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Why there is no backup, or none is restored: one line that says what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** The store of sealed files, as far as a backup reads it. */
export interface SealedFiles {
  /** Undefined when there is none. */
  read(id: string): Promise<{ size: number; content: AsyncIterable<Buffer> } | undefined>;
}

export function attachmentsFolder(settings: Pick<Settings, 'data_dir'>): string {
  return join(settings.data_dir, 'attachments');
}

export function quarantineFolder(settings: Pick<Settings, 'data_dir'>): string {
  return join(settings.data_dir, 'quarantine');
}

/** Sealed files in a folder. One that is removed while it is read is read to its end. */
export function sealedFilesOf(folder: string): SealedFiles {
  return {
    async read(id) {
      const handle = await open(join(folder, id), 'r').catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (handle === undefined) return undefined;
      const { size } = await handle.stat();
      return { size, content: createReadStream('', { fd: handle }) };
    },
  };
}

/** A file of the store that servers share, as its record has it. */
export interface StoredFile {
  id: string;
  sealed_sha256: string | null;
}

/**
 * Reads a file of a store. Undefined when there is none. `isDamaged` says, once it was read, whether the bytes differ from those that were stored: the archive is written all the same.
 * @throws StoreAwayError
 */
export async function readStored(
  store: Blobs,
  { id, sealed_sha256 }: StoredFile,
): Promise<{ size: number; content: AsyncIterable<Buffer>; isDamaged: () => boolean } | undefined> {
  try {
    const { size } = await store.stat(id);
    const bytes: AsyncIterable<Buffer> = await store.get(id, {
      expected: sealed_sha256 === null ? undefined : { size, sha256: sealed_sha256 },
    });
    let is_damaged = false;
    async function* content() {
      try {
        yield* bytes;
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw error;
        is_damaged = true;
      }
    }
    return { size, content: content(), isDamaged: () => is_damaged };
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined;
    throw error;
  }
}

/** Tables that a backup reads. */
export interface BackupTables {
  chat_attachments: { id: string; status: string };
  scans: {
    id: string;
    home: string | null;
    sealed: number;
    spooled: number;
    in_store: number;
    sealed_sha256: string | null;
    kept_until: string | null;
  };
  installation: { name: string; value: string };
  sessions: { id: string };
  jobs: { claimed_by: string | null; lease_until: string | null };
  kysely_migration: { name: string };
}

/** Whether something failed because a disk is full. */
export function isNoSpace(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return (
    ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code) ||
    (error instanceof Error && /No space left on device/.test(error.message))
  );
}
