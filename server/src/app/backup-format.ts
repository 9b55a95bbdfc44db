import { createHmac } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BlobDamagedError, BlobNotFoundError, type Blobs } from '#platform/blobs/blobs.ts';
import type { Settings } from '#platform/settings.ts';

// A backup is one tar file: first `backup.json` with its description, then the database, the id of the data folder, the keys if requested, and the sealed files.
// At the end, `manifest.json` has the size and SHA-256 of each file, `manifest.mac` the manifest's HMAC with the key of BACKUP_KEY_FILE, and `manifest.sha256` its SHA-256. An archive without them is incomplete.

export const HEAD = 'backup.json';
export const MANIFEST = 'manifest.json';
export const MANIFEST_MAC = 'manifest.mac';
export const MANIFEST_SUM = 'manifest.sha256';
export const HOME = 'home';
export const DATABASES = { sqlite: 'database.sqlite', postgresql: 'database.dump' } as const;
export const SEALED = 'quarantine/';
/** Sealed files from the store that servers share: quarantined files, and files that wait for their scan. */
export const STORED = 'store/';
/** Chat attachments, from a folder or from the shared store. */
export const ATTACHMENTS = 'attachments/';
export const KEYS = 'keys/';

/** Allowed names of files in a backup, which exclude path traversal. */
export const ENTRY =
  /^(?:backup\.json|manifest\.json|manifest\.mac|manifest\.sha256|home|database\.(?:sqlite|dump)|quarantine\/[\da-f-]{36}|store\/[\da-f-]{36}|attachments\/[\da-f-]{36}|keys\/[a-z-]{1,20}\.key)$/;

/** Version of the format, incremented when older versions cannot restore the archive. 4 added the signed manifest. */
export const FORMAT = 4;

/** The HMAC over the manifest's SHA-256 (hex). It covers the whole backup, because the manifest contains the SHA-256 of every file. */
export function signManifest(key: Buffer, sha256: string): string {
  return createHmac('sha256', key).update(`palisade backup 1 ${sha256}`).digest('hex');
}

export const headSchema = z.object({
  format: z.int(),
  version: z.string(),
  created_at: z.iso.datetime(),
  database: z.enum(['sqlite', 'postgresql']),
  /** Names of the migrations applied to the database. */
  migrations: z.array(z.string()),
});
export type Head = z.infer<typeof headSchema>;

export const manifestSchema = z.object({
  files: z.array(z.object({ name: z.string(), size: z.int(), sha256: z.string() })),
  /** Number of rows by table. */
  rows: z.record(z.string(), z.int()),
  sealed: z.object({
    /** Ids of files that are not in the backup: `gone` were deleted while it was written, and `missing` were not found or damaged in storage. */
    gone: z.array(z.string()),
    missing: z.array(z.string()),
    /** Number of files on other servers of the same database. */
    elsewhere: z.int(),
    /** Number of files in the shared store. */
    in_store: z.int(),
    /** Files of the shared store that were left out on request, with their checksums. After a restore they are still in that store. */
    listed: z.array(z.object({ id: z.string(), sha256: z.string().nullable() })).default([]),
  }),
  /** Number of files that wait for their scan. They are not sealed, and so not in the backup. */
  waiting: z.int(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** A backup or restore failed. The message is one line with a remedy. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** Read access to sealed files. */
export interface SealedFiles {
  /** Undefined if the file does not exist. */
  read(id: string): Promise<{ size: number; content: AsyncIterable<Buffer> } | undefined>;
}

export function attachmentsFolder(settings: Pick<Settings, 'data_dir'>): string {
  return join(settings.data_dir, 'attachments');
}

export function quarantineFolder(settings: Pick<Settings, 'data_dir'>): string {
  return join(settings.data_dir, 'quarantine');
}

/** Sealed files in a folder. A file that is deleted while it is open is still read completely. */
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

/** The record of a file in the shared store. */
export interface StoredFile {
  id: string;
  sealed_sha256: string | null;
}

/**
 * Reads a file of a store; undefined if it does not exist. After the content was read, `isDamaged` returns whether its checksum differs. A damaged file does not stop the backup.
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
