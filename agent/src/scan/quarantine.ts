import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { createStore, writeWhole } from '#agent/store.ts';
import { asOwner } from '#files/as-owner.ts';
import { Folder, type ForeignFile, isSameContent, openForeign, type Stats, splitPath } from '#files/foreign.ts';
import { makeOwnFolder, openOwn, ownSize, ownText, removeOwn } from '#files/own-state.ts';
import type { OwnerAnswer } from '#files/owner-jobs.ts';

/**
 * Keeps found files where they cannot be run: sealed with AES-256-GCM under a key of this computer's own, as the server's quarantine is. A sealed file is 12 bytes of
 * nonce, the ciphertext and 16 bytes of tag; the file's id is authenticated with it, so that one cannot be put in another's place.
 */
export interface Quarantine {
  /** Seals a file and takes it away. Nothing is taken away where it could not be sealed whole, or where it is not as it was when it was found. */
  take(id: string, path: Buffer, stats: Stats): Promise<{ ok: true } | { ok: false; reason: string }>;
  /** Puts a file back where it was, as it was, if nothing else is there now. */
  restore(id: string): Promise<{ ok: true; path: Buffer } | { ok: false; reason: string }>;
  /** Reads a sealed file, as often as it is called, in parts; undefined where there is none. One that was changed throws at its end. */
  read(id: string): Promise<(() => AsyncIterable<Buffer>) | undefined>;
  /** Deletes a sealed file for ever. */
  remove(id: string): Promise<void>;
}

/** No larger file is read on a device, so that none is found. Bytes. */
const SEALED_MAXIMUM = 2n * 1024n ** 3n;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHUNK_BYTES = 256 * 1024;
const ALGORITHM = 'aes-256-gcm';

const recordSchema = z.object({
  path: z.base64(),
  mode: z.int(),
  uid: z.int(),
  gid: z.int(),
  mtime_ms: z.number(),
});
const NO_ROOM = 'There is no room on the disk to seal it, so it lies where it was.';
const CHANGED = 'It was changed while it was being sealed, so it lies where it was.';
const ROOTS_FILE = 'It belongs to root, and others can write to its folder: root puts nothing where somebody could exchange it.';
const GONE = 'It was gone before it could be sealed.';

const codeOf = (error: unknown) => (typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '');
const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error));
/** Refusals of `foreign.ts` that mean that something else is there now. */
const ELSE = new Set(['link', 'not_regular', 'changed']);
const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Whose rights take an entry out of a folder: its own person's. Root does it alone where nobody else could have put anything else there, or could move what is root's
 * (sticky folders of root); root's file in the folder of a person is taken out with that person's rights.
 */
async function removerOf(path: Buffer, stats: Stats): Promise<number | undefined> {
  const folder = await Folder.open(splitPath(path).folder);
  await folder.close();
  if (folder.isRootsAlone) return 0;
  if (stats.uid !== 0n) return Number(stats.uid);
  if (folder.stats.uid !== 0n) return Number(folder.stats.uid);
  return folder.writers === 'others' ? undefined : 0;
}

function reasonOfRestore(answer: Extract<OwnerAnswer, { ok: false }>): string {
  if (answer.code === 'EEXIST') return 'Another file has its name now. Move that one away first.';
  if (ABSENT.has(answer.code)) return 'The folder that it was in is gone.';
  if (answer.code === 'link') return 'A link stands where a folder was: nothing is restored through a link.';
  if (answer.code === 'not_roots') return ROOTS_FILE;
  if (isFull({ code: answer.code })) return 'There is no room on the disk.';
  if (answer.code === 'EACCES' || answer.code === 'EPERM') return 'Its owner may not write to the folder that it was in.';
  return `It could not be restored (${answer.code}).`;
}

async function keyIn(folder: string): Promise<Buffer> {
  const path = join(folder, 'key');
  const kept = await ownText(path);
  if (kept !== undefined) return Buffer.from(kept.trim(), 'hex');
  const key = randomBytes(KEY_BYTES);
  await writeWhole(path, `${key.toString('hex')}\n`);
  return key;
}

export function createQuarantine(folder: string): Quarantine {
  const sealed = (id: string) => join(folder, `${id}.sealed`);
  const record = (id: string) => createStore(join(folder, `${id}.json`), recordSchema);
  let key: Promise<Buffer> | undefined;
  /** The same for all that comes at once, the first time too. */
  function keyNow(): Promise<Buffer> {
    key ??= keyIn(folder).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  }

  async function seal(id: string, from: ForeignFile, sealing_key: Buffer): Promise<bigint> {
    const to = await openOwn(sealed(id), 'wx');
    try {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, sealing_key, nonce).setAAD(Buffer.from(id));
      await to.writeFile(nonce);
      let bytes = 0n;
      for await (const part of from.chunks()) {
        bytes += BigInt(part.length);
        await to.writeFile(cipher.update(part));
      }
      await to.writeFile(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
      await to.sync();
      return bytes;
    } finally {
      await to.close();
    }
  }

  /** What is sealed, in parts; whether it is whole is known at its end. @throws Error where it was changed, or is not there */
  async function* unsealed(id: string, sealing_key: Buffer): AsyncGenerator<Buffer> {
    const from = await openOwn(sealed(id), 'r');
    try {
      const { size } = await from.stat();
      const nonce = Buffer.alloc(NONCE_BYTES);
      const tag = Buffer.alloc(TAG_BYTES);
      await from.read(nonce, 0, NONCE_BYTES, 0);
      await from.read(tag, 0, TAG_BYTES, size - TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, sealing_key, nonce).setAAD(Buffer.from(id)).setAuthTag(tag);
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

  async function remove(id: string): Promise<void> {
    await removeOwn(sealed(id));
    await record(id).remove();
  }

  /** Seals what is open, and takes exactly this file away. Answers why not, or undefined. */
  async function takeOpen(id: string, from: ForeignFile, stats: Stats): Promise<string | undefined> {
    if (!isSameContent(from.stats, stats)) return CHANGED;
    if (stats.size > SEALED_MAXIMUM) return 'It is too large to be sealed, so it lies where it was.';
    const { path } = from;
    const { dev, ino, size, mtimeNs } = from.stats;
    const remover = await removerOf(path, from.stats);
    if (remover === undefined) return 'It belongs to root in a folder that others can change, so it lies where it was.';
    await record(id).write({
      path: path.toString('base64'),
      mode: Number(stats.mode & 0o7777n),
      uid: Number(stats.uid),
      gid: Number(stats.gid),
      mtime_ms: Number(stats.mtimeMs),
    });
    const bytes = await seal(id, from, await keyNow());
    if (bytes !== stats.size || !(await from.isUnchanged())) return CHANGED;
    const answer = await asOwner(remover, {
      kind: 'remove',
      path: path.toString('base64'),
      ...{ dev: `${dev}`, ino: `${ino}`, size: `${size}`, mtime_ns: `${mtimeNs}` },
    });
    if (answer.ok) return undefined;
    // Its person may have ended the process: what has no name any more was taken away.
    if (answer.code === 'ended' && (await from.statNow()).nlink === 0n) return undefined;
    if (ABSENT.has(answer.code)) return GONE;
    if (ELSE.has(answer.code)) return CHANGED;
    if (answer.code === 'EACCES' || answer.code === 'EPERM')
      return 'Its owner may not remove it from the folder that it is in, so it lies where it was.';
    return `It could not be removed (${answer.code}), so it lies where it was.`;
  }

  return {
    remove,

    async read(id) {
      if ((await ownSize(sealed(id))) === undefined) return undefined;
      const sealing_key = await keyNow();
      return () => unsealed(id, sealing_key);
    },

    async take(id, path, stats) {
      await makeOwnFolder(folder);
      let from: ForeignFile | undefined;
      try {
        // Not by a link that somebody put in its place meanwhile, nor through one.
        from = await openForeign(path);
        const reason = await takeOpen(id, from, stats);
        if (reason === undefined) return { ok: true };
        await remove(id);
        return { ok: false, reason };
      } catch (error) {
        await remove(id);
        if (isFull(error)) return { ok: false, reason: NO_ROOM };
        if (ABSENT.has(codeOf(error))) return { ok: false, reason: GONE };
        if (ELSE.has(codeOf(error))) return { ok: false, reason: CHANGED };
        return { ok: false, reason: `It could not be sealed (${codeOf(error) || String(error)}), so it lies where it was.` };
      } finally {
        await from?.close();
      }
    },

    async restore(id) {
      const kept = await record(id).read();
      const bytes = await ownSize(sealed(id));
      if (kept === undefined || bytes === undefined)
        return { ok: false, reason: 'It is not in the quarantine of this device any more.' };
      const { path: path_text, mode, uid, gid, mtime_ms } = kept;
      try {
        const path = Buffer.from(path_text, 'base64');
        const sealing_key = await keyNow();
        const size = bytes - NONCE_BYTES - TAG_BYTES;
        const job = { kind: 'put' as const, path: path_text, size, mode, gid, mtime_ms };
        const answer = await asOwner(uid, job, () => unsealed(id, sealing_key));
        if (!answer.ok) return { ok: false, reason: reasonOfRestore(answer) };
        await remove(id);
        return { ok: true, path };
      } catch (error) {
        const code = codeOf(error);
        if (ABSENT.has(code) || code === 'link') return { ok: false, reason: reasonOfRestore({ ok: false, code, at: 'folder' }) };
        return { ok: false, reason: `It could not be restored: ${error instanceof Error ? error.message : String(error)}` };
      }
    },
  };
}
