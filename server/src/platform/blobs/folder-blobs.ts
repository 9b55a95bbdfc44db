import { accessSync, constants, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Disk } from '#platform/disk.ts';
import { newId } from '#platform/id.ts';
import { isStorageError } from '#platform/storage-problem.ts';
import {
  BlobDamagedError,
  type BlobFacts,
  BlobNotFoundError,
  type Blobs,
  counted,
  isKey,
  proved,
  rangeIn,
  requireKey,
  requirePrefix,
  StoreFullError,
  streamOf,
} from './blobs.ts';

/** Valid keys contain no dot, so this suffix cannot collide with one. */
const INCOMPLETE = '.part';
const READ_BYTES = 256 * 1024;
/** Free disk space is checked again after this many bytes: other writes meanwhile must stay below the reserve. */
const LOOK_EVERY_BYTES = 1024 ** 2;

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

const full = (error: unknown) =>
  isStorageError(error) ? new StoreFullError('The store’s disk is full.', { cause: error }) : error;

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

/** A new name in a folder is durable only after the folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Bytes `start` to `end` of an open file; closes it after the last byte, or when the reader stops. */
async function* bytesOf(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at <= end; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(READ_BYTES, end + 1 - at)), 0, null, at);
    if (bytesRead === 0) throw new BlobDamagedError('The file got shorter while we read it.');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/**
 * A folder whose files are objects. Files are readable by their owner only, and synced to the disk before `put` returns. Unfinished files of a killed server are removed.
 * @throws when the folder cannot be created, read or written.
 */
export function openFolderBlobs(parts: {
  folder: string;
  disk: Disk;
  /** Another server may be writing in this folder, so no file is removed. */
  is_in_use?: boolean;
}): Blobs {
  const { folder, disk, is_in_use = false } = parts;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  for (const name of is_in_use ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith(INCOMPLETE)) rmSync(join(folder, name), { force: true });

  const pathOf = (key: string) => {
    requireKey(key);
    return join(folder, key);
  };

  async function write(path: string, bytes: AsyncIterable<Uint8Array>, known: { size: number } | undefined): Promise<BlobFacts> {
    disk.require(known?.size ?? 0);
    const facts: BlobFacts[] = [];
    const handle = await open(path, 'wx', 0o600);
    try {
      let since_look = 0;
      for await (const chunk of counted(bytes, known, (all) => facts.push(all))) {
        since_look += chunk.length;
        if (since_look >= LOOK_EVERY_BYTES) {
          disk.require(0);
          since_look = 0;
        }
        await writeAll(handle, chunk);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    const [all] = facts;
    if (all === undefined) throw new Error('The stream ended early.');
    return all;
  }

  return {
    async put(key, bytes, known) {
      const path = pathOf(key);
      const incomplete = `${path}.${newId()}${INCOMPLETE}`;
      try {
        if (key.includes('/')) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const facts = await write(incomplete, bytes, known);
        await rename(incomplete, path);
        await syncFolder(dirname(path));
        return facts;
      } catch (error) {
        await rm(incomplete, { force: true });
        throw full(error);
      }
    },

    async get(key, { range, expected } = {}) {
      const handle = await open(pathOf(key), 'r').catch((error: unknown) => {
        throw isMissing(error) ? new BlobNotFoundError(key) : error;
      });
      try {
        const { size } = await handle.stat();
        if (expected !== undefined && size !== expected.size)
          throw new BlobDamagedError(`The object ${key} has changed: it has ${size} bytes, not ${expected.size}.`);
        const { start, end } = rangeIn(size, range);
        const bytes = bytesOf(handle, start, end);
        return streamOf(
          range === undefined ? proved(key, bytes, expected?.sha256) : bytes,
          () => void handle.close().catch(() => {}),
        );
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    async stat(key) {
      const found = await stat(pathOf(key)).catch((error: unknown) => {
        throw isMissing(error) ? new BlobNotFoundError(key) : error;
      });
      return { size: found.size, sha256: undefined, modified_at: found.mtime.toISOString() };
    },

    async delete(key) {
      await unlink(pathOf(key)).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    },

    async list({ prefix = '', after = '', limit }) {
      requirePrefix(prefix);
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const keys = found
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .replaceAll('\\', '/'),
        )
        .filter((key) => isKey(key) && key.startsWith(prefix) && key > after)
        .sort((one, other) => (one < other ? -1 : 1));
      const page = keys.slice(0, limit);
      const entries = await Promise.all(
        page.map(async (key) => {
          const facts = await stat(join(folder, key)).catch((error: unknown) => {
            // Deleted in the meantime.
            if (isMissing(error)) return undefined;
            throw error;
          });
          return facts === undefined ? [] : [{ key, size: facts.size, modified_at: facts.mtime.toISOString() }];
        }),
      );
      return { entries: entries.flat(), next: keys.length > limit ? page.at(-1) : undefined };
    },
  };
}
