import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { createStore, type Store, writeWhole } from '#agent/store.ts';
import { asOwner } from '#files/as-owner.ts';
import { Folder, type ForeignFile, isSameContent, openForeign, type Stats, splitPath } from '#files/foreign.ts';
import { makeOwnFolder, openOwn, ownSize, ownText, removeOwn } from '#files/own-state.ts';
import { hiddenName, type OwnerAnswer, type RemoveJob, removeJobSchema } from '#files/owner-jobs.ts';

/** Largest file that is quarantined, in bytes. Larger files are not scanned either. */
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
  /** The job that removes the original, and the user id that it runs as. Missing in records of earlier versions. */
  removal: z.object({ remover: z.int().min(0), job: removeJobSchema }).optional(),
});
const NO_ROOM = 'There is no room on the disk to seal it, so it lies where it was.';
const CHANGED = 'It was changed while it was being sealed, so it lies where it was.';
const ROOTS_FILE = 'It belongs to root, and others can write to its folder: root puts nothing where somebody could exchange it.';
const GONE = 'It was gone before it could be sealed.';

const codeOf = (error: unknown) => (typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '');
const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error));
/** Error codes for a path that now holds a different file. */
const ELSE = new Set(['link', 'not_regular', 'changed']);
const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

/**
 * The user id with whose rights a file is removed: its owner. Root removes its own files if no other user can replace entries of the folder
 * or move root's entries (sticky folders of root); otherwise the owner of the folder removes them. Undefined for root's file in a folder of root that others can write to.
 */
async function removerOf(path: Buffer, stats: Stats): Promise<number | undefined> {
  const folder = await Folder.open(splitPath(path).folder);
  await folder.close();
  if (folder.isRootsAlone) return 0;
  if (stats.uid !== 0n) return Number(stats.uid);
  if (folder.stats.uid !== 0n) return Number(folder.stats.uid);
  return folder.writers === 'others' ? undefined : 0;
}

function reasonOfTake(error: unknown): string {
  if (isFull(error)) return NO_ROOM;
  if (ABSENT.has(codeOf(error))) return GONE;
  if (ELSE.has(codeOf(error))) return CHANGED;
  return `It could not be sealed (${codeOf(error) || String(error)}), so it lies where it was.`;
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

/**
 * Stores found files where they cannot be run: encrypted with AES-256-GCM under a key of this computer, as in the server's quarantine. A sealed file is 12 bytes of
 * nonce, the ciphertext and 16 bytes of tag; the file's id is authenticated with it, so that one sealed file cannot replace another.
 */
export class Quarantine {
  readonly #folder: string;
  #key: Promise<Buffer> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Seals a file and removes the original. The original stays if it cannot be sealed completely or has changed since it was found. */
  async take(id: string, path: Buffer, stats: Stats): Promise<{ ok: true } | { ok: false; reason: string }> {
    await makeOwnFolder(this.#folder);
    let from: ForeignFile | undefined;
    try {
      // Opened without following links, because the path may now be another file or a link.
      from = await openForeign(path);
      const reason = await this.#takeOpen(id, from, stats);
      if (reason === undefined) return { ok: true };
      await this.remove(id);
      return { ok: false, reason };
    } catch (error) {
      await this.remove(id);
      return { ok: false, reason: reasonOfTake(error) };
    } finally {
      await from?.close();
    }
  }

  /** Restores a file to its path with its owner, mode and time, if the path is unused. */
  async restore(id: string): Promise<{ ok: true; path: Buffer } | { ok: false; reason: string }> {
    const kept = await this.#record(id).read();
    const bytes = await ownSize(this.#sealed(id));
    if (kept === undefined || bytes === undefined)
      return { ok: false, reason: 'It is not in the quarantine of this device any more.' };
    const { path: path_text, mode, uid, gid, mtime_ms } = kept;
    try {
      const key = await this.#keyNow();
      const size = bytes - NONCE_BYTES - TAG_BYTES;
      const job = { kind: 'put' as const, path: path_text, size, mode, gid, mtime_ms };
      const answer = await asOwner(uid, job, () => unsealed(this.#sealed(id), id, key));
      if (!answer.ok) return { ok: false, reason: reasonOfRestore(answer) };
      await this.remove(id);
      return { ok: true, path: Buffer.from(path_text, 'base64') };
    } catch (error) {
      const code = codeOf(error);
      if (ABSENT.has(code) || code === 'link') return { ok: false, reason: reasonOfRestore({ ok: false, code, at: 'folder' }) };
      return { ok: false, reason: `It could not be restored: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  /** Returns a function that reads a sealed file in chunks, each call from the start; undefined if there is none. A modified file throws at its end. */
  async read(id: string): Promise<(() => AsyncIterable<Buffer>) | undefined> {
    if ((await ownSize(this.#sealed(id))) === undefined) return undefined;
    const key = await this.#keyNow();
    return () => unsealed(this.#sealed(id), id, key);
  }

  /** Permanently deletes a sealed file. */
  async remove(id: string): Promise<void> {
    await removeOwn(this.#sealed(id));
    await this.#record(id).remove();
  }

  /**
   * Finishes the removal of an original that was interrupted between renaming and deletion: otherwise a scan would find the file under its temporary name as
   * a new finding.
   */
  async finishRemoval(id: string): Promise<void> {
    const removal = (await this.#record(id).read())?.removal;
    if (removal === undefined) return;
    const { remover, job } = removal;
    const { folder } = splitPath(Buffer.from(job.path, 'base64'));
    const path = Buffer.concat([folder, Buffer.from(`/${job.set_aside}`)]).toString('base64');
    await asOwner(remover, { ...job, path, set_aside: hiddenName() });
  }

  #sealed(id: string): string {
    return join(this.#folder, `${id}.sealed`);
  }

  #record(id: string): Store<z.infer<typeof recordSchema>> {
    return createStore(join(this.#folder, `${id}.json`), recordSchema);
  }

  /** Creates the key only once, also for concurrent first calls. */
  #keyNow(): Promise<Buffer> {
    this.#key ??= keyIn(this.#folder).catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  /** Seals an open file, and removes exactly this file. @returns the reason of a failure, or undefined */
  async #takeOpen(id: string, from: ForeignFile, stats: Stats): Promise<string | undefined> {
    if (!isSameContent(from.stats, stats)) return CHANGED;
    if (stats.size > SEALED_MAXIMUM) return 'It is too large to be sealed, so it lies where it was.';
    const remover = await removerOf(from.path, from.stats);
    if (remover === undefined) return 'It belongs to root in a folder that others can change, so it lies where it was.';
    const removal = { remover, job: removeJobOf(from) };
    await this.#record(id).write({
      path: from.path.toString('base64'),
      mode: Number(stats.mode & 0o7777n),
      uid: Number(stats.uid),
      gid: Number(stats.gid),
      mtime_ms: Number(stats.mtimeMs),
      removal,
    });
    const bytes = await seal(this.#sealed(id), id, from, await this.#keyNow());
    if (bytes !== stats.size || !(await from.isUnchanged())) return CHANGED;
    return removeSealed(from, removal);
  }
}

/** Encrypts a file into a new file. @returns the number of bytes read */
async function seal(path: string, id: string, from: ForeignFile, key: Buffer): Promise<bigint> {
  const to = await openOwn(path, 'wx');
  try {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id));
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

/** Decrypts a sealed file in chunks. Its integrity is verified only at the end. @throws Error if it was modified or does not exist */
async function* unsealed(path: string, id: string, key: Buffer): AsyncGenerator<Buffer> {
  const from = await openOwn(path, 'r');
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

function removeJobOf({ path, stats: { dev, ino, size, mtimeNs } }: ForeignFile): RemoveJob {
  return {
    kind: 'remove',
    path: path.toString('base64'),
    dev: `${dev}`,
    ino: `${ino}`,
    size: `${size}`,
    mtime_ns: `${mtimeNs}`,
    set_aside: hiddenName(),
  };
}

/** Removes the original of a sealed file with the rights of a user. @returns the reason of a failure, or undefined */
async function removeSealed(
  from: ForeignFile,
  { remover, job }: { remover: number; job: RemoveJob },
): Promise<string | undefined> {
  const answer = await asOwner(remover, job);
  if (answer.ok) return undefined;
  // The user may have killed the process. A link count of 0 shows that it had removed the file.
  if (answer.code === 'ended' && (await from.statNow()).nlink === 0n) return undefined;
  if (ABSENT.has(answer.code)) return GONE;
  if (ELSE.has(answer.code)) return CHANGED;
  if (answer.code === 'EACCES' || answer.code === 'EPERM')
    return 'Its owner may not remove it from the folder that it is in, so it lies where it was.';
  return `It could not be removed (${answer.code}), so it lies where it was.`;
}
