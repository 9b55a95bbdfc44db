import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { chmod, chown, type FileHandle, link, lstat, mkdir, open, readFile, rm, unlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { createStore, writeWhole } from '#agent/store.ts';

/**
 * Keeps found files where they cannot be run: sealed with AES-256-GCM under a key of this computer's own, as the server's quarantine is. A sealed file is 12 bytes of
 * nonce, the ciphertext and 16 bytes of tag; the file's id is authenticated with it, so that one cannot be put in another's place.
 */
export interface Quarantine {
  /** Seals a file and takes it away. Nothing is taken away where it could not be sealed whole, or where it is not as it was when it was found. */
  take(id: string, path: Buffer, stats: BigIntStats): Promise<{ ok: true } | { ok: false; reason: string }>;
  /** Puts a file back where it was, as it was, if nothing else is there now. */
  restore(id: string): Promise<{ ok: true; path: Buffer } | { ok: false; reason: string }>;
  /** Reads a sealed file, as often as it is called, in parts; undefined where there is none. One that was changed throws at its end. */
  read(id: string): Promise<(() => AsyncIterable<Buffer>) | undefined>;
  /** Deletes a sealed file for ever. */
  remove(id: string): Promise<void>;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHUNK_BYTES = 1024 ** 2;
const ALGORITHM = 'aes-256-gcm';

const recordSchema = z.object({
  path: z.base64(),
  mode: z.int(),
  uid: z.int(),
  gid: z.int(),
  mtime_ms: z.number(),
});
const NO_ROOM = 'There is no room on the disk to seal it, so it lies where it was.';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error));
const isSame = (a: BigIntStats, b: BigIntStats) =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;

async function keyIn(folder: string): Promise<Buffer> {
  const path = join(folder, 'key');
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined) return Buffer.from(kept.trim(), 'hex');
  const key = randomBytes(KEY_BYTES);
  await writeWhole(path, `${key.toString('hex')}\n`);
  return key;
}

export function createQuarantine(folder: string): Quarantine {
  const sealed = (id: string) => join(folder, `${id}.sealed`);
  const record = (id: string) => createStore(join(folder, `${id}.json`), recordSchema);

  async function seal(id: string, from: FileHandle, key: Buffer): Promise<bigint> {
    const to = await open(sealed(id), 'wx', 0o600);
    try {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id));
      await to.writeFile(nonce);
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      let bytes = 0n;
      for (;;) {
        const { bytesRead } = await from.read(buffer, 0, CHUNK_BYTES);
        if (bytesRead === 0) break;
        bytes += BigInt(bytesRead);
        await to.writeFile(cipher.update(buffer.subarray(0, bytesRead)));
      }
      await to.writeFile(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
      await to.sync();
      return bytes;
    } finally {
      await to.close();
    }
  }

  /** What is sealed, in parts; whether it is whole is known at its end. @throws Error where it was changed, or is not there */
  async function* unsealed(id: string, key: Buffer): AsyncGenerator<Buffer> {
    const from = await open(sealed(id), 'r');
    try {
      const { size } = await from.stat();
      const nonce = Buffer.alloc(NONCE_BYTES);
      const tag = Buffer.alloc(TAG_BYTES);
      await from.read(nonce, 0, NONCE_BYTES, 0);
      await from.read(tag, 0, TAG_BYTES, size - TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id)).setAuthTag(tag);
      const end = size - TAG_BYTES;
      for (let at = NONCE_BYTES; at < end; ) {
        const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - at));
        const { bytesRead } = await from.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) throw new Error('the sealed file is cut off');
        at += bytesRead;
        yield decipher.update(buffer.subarray(0, bytesRead));
      }
      yield decipher.final();
    } finally {
      await from.close();
    }
  }

  async function unseal(id: string, to: FileHandle, key: Buffer): Promise<void> {
    for await (const part of unsealed(id, key)) await to.writeFile(part);
    await to.sync();
  }

  async function remove(id: string): Promise<void> {
    await rm(sealed(id), { force: true });
    await record(id).remove();
  }

  return {
    remove,

    async read(id) {
      const is_there = await lstat(sealed(id)).then(
        () => true,
        () => false,
      );
      if (!is_there) return undefined;
      const key = await keyIn(folder);
      return () => unsealed(id, key);
    },

    async take(id, path, stats) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      let from: FileHandle | undefined;
      try {
        // Not by a link that somebody put in its place meanwhile.
        from = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
        const changed = { ok: false, reason: 'It was changed while it was being sealed, so it lies where it was.' } as const;
        if (!isSame(await from.stat({ bigint: true }), stats)) return changed;
        const key = await keyIn(folder);
        await record(id).write({
          path: path.toString('base64'),
          ...{
            mode: Number(stats.mode & 0o7777n),
            uid: Number(stats.uid),
            gid: Number(stats.gid),
            mtime_ms: Number(stats.mtimeMs),
          },
        });
        const bytes = await seal(id, from, key);
        if (bytes !== stats.size || !isSame(await lstat(path, { bigint: true }), stats)) {
          await remove(id);
          return changed;
        }
        await unlink(path);
        return { ok: true };
      } catch (error) {
        await remove(id);
        if (isFull(error)) return { ok: false, reason: NO_ROOM };
        if (codeOf(error) === 'ENOENT') return { ok: false, reason: 'It was gone before it could be sealed.' };
        return { ok: false, reason: `It could not be sealed (${codeOf(error) || String(error)}), so it lies where it was.` };
      } finally {
        await from?.close();
      }
    },

    async restore(id) {
      const kept = await record(id).read();
      if (kept === undefined) return { ok: false, reason: 'It is not in the quarantine of this device any more.' };
      const path = Buffer.from(kept.path, 'base64');
      const beside = join(dirname(path.toString('latin1')), `.palisade-${randomBytes(6).toString('hex')}`);
      const temporary = Buffer.from(beside, 'latin1');
      try {
        const to = await open(temporary, 'wx', 0o600);
        try {
          await unseal(id, to, await keyIn(folder));
        } finally {
          await to.close();
        }
        await chown(temporary, kept.uid, kept.gid);
        await chmod(temporary, kept.mode);
        await utimes(temporary, kept.mtime_ms / 1_000, kept.mtime_ms / 1_000);
        // Fails where something is there: nothing is overwritten.
        await link(temporary, path);
        await remove(id);
        return { ok: true, path };
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return { ok: false, reason: 'Another file has its name now. Move that one away first.' };
        if (codeOf(error) === 'ENOENT') return { ok: false, reason: 'The folder that it was in is gone.' };
        if (isFull(error)) return { ok: false, reason: 'There is no room on the disk.' };
        return { ok: false, reason: `It could not be restored: ${error instanceof Error ? error.message : String(error)}` };
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}
