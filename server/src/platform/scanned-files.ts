import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { StoreAwayError } from './blobs/blobs.ts';
import { logFailure } from './database-patience.ts';
import type { Disk } from './disk.ts';
import { fileBytes } from './file-bytes.ts';
import { newId } from './id.ts';
import { refuse, refuseField } from './platform.refusals.ts';
import { storageProblem } from './storage-problem.ts';
import { receiveUpload } from './upload.ts';

/** The storage of sealed files: the store never holds a person's file unencrypted. */
export interface SealedFiles {
  seal(file: SealedFile, bytes: AsyncIterable<Uint8Array>): Promise<unknown>;
  read(file: SealedFile): Promise<Readable>;
  /** Removing a missing object succeeds. */
  remove(id: string): Promise<void>;
}

interface SealedFile {
  id: string;
  file_hash: string;
  size: number;
}

/** A received file without a verdict yet: its bytes are at `path`, in this server's own folder. */
export interface ArrivedFile {
  id: string;
  path: string;
  /** The name as sent: untrusted. */
  name: string;
  /** Bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}

/** `clean` only if every byte was read and nothing was found. */
export interface FileVerdict {
  status: 'clean' | 'infected' | 'unread' | 'failed';
  threat: string | null;
}

/** Scans a file with the engines. */
export type Inspect = (file: ArrivedFile & { user_id: string; signal: AbortSignal }) => Promise<FileVerdict>;

/** Files that one person sends to another: each is received, scanned, and sealed if it is clean; all others are removed. The feature that uses this decides who may send and read them. */
export interface ScannedFiles {
  /** Receives the file of an upload of at most `maximum` bytes. @throws Problem, the refusal of the upload. */
  receive(request: FastifyRequest, maximum: number): Promise<ArrivedFile>;
  /** Stores a file that was not uploaded. @throws Problem `storage_full`. */
  take(file: { name: string; bytes: Uint8Array }): Promise<ArrivedFile>;
  /** Seals bytes that could not be scanned; readers are told so. */
  keep(file: Pick<ArrivedFile, 'id' | 'size' | 'sha256'>, bytes: Uint8Array): Promise<void>;
  /** Removes a received file that was not recorded. */
  discard(file: ArrivedFile): Promise<void>;
  /**
   * Scans a file; resolves when that is over, with any outcome. `conclude` stores the verdict (of a clean file, after its bytes are sealed) and returns whether the file is
   * still wanted; `fail` records that there is no verdict.
   */
  scan(
    file: ArrivedFile,
    how: {
      user_id: string;
      conclude: (verdict: FileVerdict) => Promise<boolean>;
      fail: () => Promise<void>;
    },
  ): Promise<void>;
  /** @throws StoreAwayError while the store is away, Problem `unavailable` when the sealed bytes cannot be decrypted. */
  read(file: Pick<ArrivedFile, 'id' | 'size' | 'sha256'>): Promise<Readable>;
  /** Removes the sealed bytes of files, and stops their running scans. */
  removeBytes(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const STALL_MS = 30_000;
const SLOW = { window_ms: 30_000, bytes: 30 * 1024 } as const;

export function createScannedFiles(parts: {
  /** This server's own folder of files without a verdict. */
  folder: string;
  disk: Disk;
  files: SealedFiles;
  inspect: Inspect;
  upload_ms: number;
  logger: FastifyBaseLogger;
}): ScannedFiles {
  const { folder, disk, files, inspect, upload_ms, logger } = parts;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const running = new Map<string, { done: Promise<void>; stop: AbortController }>();
  const sealedOf = ({ id, sha256, size }: Pick<ArrivedFile, 'id' | 'size' | 'sha256'>): SealedFile => ({
    ...{ id, file_hash: sha256, size },
  });

  function requireRoom(bytes: number): void {
    try {
      disk.require(bytes);
    } catch (error) {
      throw storageProblem(error);
    }
  }

  return {
    async receive(request, maximum) {
      const id = newId();
      const path = join(folder, id);
      const upload = await receiveUpload(request, {
        ...{ field: 'file', path, memory_bytes: 0, maximum, take: requireRoom },
        ...{ stall_ms: STALL_MS, slow: SLOW, total_ms: upload_ms, signal: new AbortController().signal },
      });
      if (upload.size === 0) throw refuseField('file', 'file.empty');
      return { id, path, name: upload.filename, size: upload.size, sha256: upload.sha256 };
    },

    async take({ name, bytes }) {
      const id = newId();
      const path = join(folder, id);
      requireRoom(bytes.byteLength);
      await writeFile(path, bytes, { mode: 0o600 });
      return { id, path, name, size: bytes.byteLength, sha256: createHash('sha256').update(bytes).digest('hex') };
    },

    async keep(file, bytes) {
      requireRoom(bytes.byteLength);
      await files.seal(sealedOf(file), Readable.from([bytes]));
    },

    discard: ({ path }) => rm(path, { force: true }),

    scan(file, { user_id, conclude, fail }) {
      const stop = new AbortController();
      async function decide(): Promise<void> {
        const verdict = await inspect({ ...file, user_id, signal: stop.signal });
        // Seal the bytes before the verdict says that they exist.
        if (verdict.status === 'clean') await files.seal(sealedOf(file), fileBytes(file.path));
        if (!(await conclude(verdict))) await files.remove(file.id);
      }
      const done = decide()
        .catch(async (error: unknown) => {
          logFailure(logger, error, 'could not scan a file');
          await fail();
        })
        .catch((error: unknown) => logFailure(logger, error, 'could not store that a file was not scanned'))
        .then(async () => {
          running.delete(file.id);
          await rm(file.path, { force: true });
        });
      running.set(file.id, { done, stop });
      return done;
    },

    async read(file) {
      try {
        return await files.read(sealedOf(file));
      } catch (error) {
        if (error instanceof StoreAwayError) throw error;
        logger.error({ err: error, file: file.id }, 'a kept file could not be opened');
        throw refuse('file.copy_unreadable', {}, { cause: error });
      }
    },

    async removeBytes(ids) {
      for (const id of ids) {
        running.get(id)?.stop.abort();
        await files.remove(id).catch((error: unknown) => logFailure(logger, error, 'could not remove a file from the store'));
      }
    },

    async close() {
      for (const { stop } of running.values()) stop.abort();
      await Promise.allSettled([...running.values()].map(({ done }) => done));
    },
  };
}
