import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Disk } from '#platform/disk.ts';
import { KEY_BYTES, openKeyFile } from '#platform/key-file.ts';

/** A file that is kept sealed: what its seal is bound to. */
interface Sealed {
  id: string;
  /** SHA-256 of its bytes, in hex. */
  file_hash: string;
  /** Bytes. */
  size: number;
}

/**
 * The folder of files that are kept but must not lie about as they are: encrypted, so that no other program finds a threat in them or runs one, and
 * whoever has the data without the key has nothing. Memory is that of a piece, whatever the size.
 */
export interface Quarantine {
  /** Seals the bytes of the file at `path`, which stays. When this fails nothing of it is left here. @throws NoSpaceError before a byte is written where there is no room. */
  seal(file: Sealed, path: string): Promise<void>;
  /** The bytes again, each piece only after it has proved to be what was sealed. @throws when the file is gone, or is not what was sealed. */
  read(file: Sealed): Promise<Readable>;
  /** Writes the bytes to `path`, which must not exist. */
  unseal(file: Sealed, path: string): Promise<void>;
  /** Nothing there is no error. */
  remove(id: string): Promise<void>;
  /** Ids of the files that are here. */
  list(): Promise<string[]>;
}

// The file: magic, salt, then pieces of PIECE_BYTES, each with its tag. The key of a file is HKDF-SHA256 (RFC 5869) of the installation's key and the
// file's salt, so that a counter can be its nonce (NIST SP 800-38D section 8.2.1). The last piece has a mark in its nonce: a file that was cut between
// two pieces, or whose pieces were exchanged, does not open (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
const MAGIC = Buffer.from('PALQ\x01\0\0\0', 'latin1');
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const PIECE_BYTES = 256 * 1024;
const CIPHER = 'aes-256-gcm';
const INCOMPLETE = '.part';

function nonceOf(piece: number, is_last: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(piece, 4);
  nonce[0] = is_last ? 1 : 0;
  return nonce;
}

/** Fills the buffer as far as the file goes. */
async function fill(handle: FileHandle, buffer: Buffer): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** @throws when the folder or the key cannot be made, read or written. */
export function openQuarantine(parts: { folder: string; key_file: string; disk: Disk }): Quarantine {
  const { folder, key_file, disk } = parts;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  // What a server that was killed was about to seal.
  for (const name of readdirSync(folder)) if (name.endsWith(INCOMPLETE)) rmSync(join(folder, name), { force: true });
  const installation_key = openKeyFile(key_file);
  const pathOf = (id: string) => join(folder, id);

  /** The key of a file, and what every piece of it vouches for. */
  function lockOf({ id, file_hash, size }: Sealed, header: Buffer): { key: Buffer; bound: Buffer } {
    const salt = header.subarray(MAGIC.length);
    const key = Buffer.from(hkdfSync('sha256', installation_key, salt, 'palisade quarantine 1', KEY_BYTES));
    return { key, bound: Buffer.concat([header, Buffer.from(`${id} ${file_hash} ${size}`)]) };
  }

  async function writeSealed(file: Sealed, source: FileHandle, target: FileHandle): Promise<void> {
    const header = Buffer.concat([MAGIC, randomBytes(SALT_BYTES)]);
    const { key, bound } = lockOf(file, header);
    await target.writeFile(header);
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    let left = file.size;
    for (let piece = 0; ; piece += 1) {
      const bytes = await fill(source, buffer.subarray(0, Math.min(PIECE_BYTES, left)));
      left -= bytes.length;
      if (left > 0 && bytes.length < PIECE_BYTES) throw new Error('The file became shorter while it was sealed.');
      const cipher = createCipheriv(CIPHER, key, nonceOf(piece, left === 0)).setAAD(bound);
      await target.writeFile(cipher.update(bytes));
      cipher.final();
      await target.writeFile(cipher.getAuthTag());
      if (left === 0) break;
    }
    await target.sync();
  }

  async function* readSealed(file: Sealed): AsyncGenerator<Buffer> {
    const handle = await open(pathOf(file.id), 'r');
    try {
      const header = await fill(handle, Buffer.allocUnsafe(MAGIC.length + SALT_BYTES));
      if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('This is no sealed file.');
      const { key, bound } = lockOf(file, header);
      const buffer = Buffer.allocUnsafe(PIECE_BYTES + TAG_BYTES);
      let left = file.size;
      for (let piece = 0; ; piece += 1) {
        const length = Math.min(PIECE_BYTES, left);
        const sealed = await fill(handle, buffer.subarray(0, length + TAG_BYTES));
        left -= length;
        const decipher = createDecipheriv(CIPHER, key, nonceOf(piece, left === 0)).setAAD(bound);
        decipher.setAuthTag(Buffer.concat([sealed.subarray(length)], TAG_BYTES));
        const bytes = decipher.update(sealed.subarray(0, length));
        decipher.final();
        yield bytes;
        if (left === 0) return;
      }
    } finally {
      await handle.close();
    }
  }

  return {
    async seal(file, path) {
      disk.require(file.size);
      const incomplete = pathOf(file.id) + INCOMPLETE;
      try {
        const source = await open(path, 'r');
        try {
          const target = await open(incomplete, 'w', 0o600);
          try {
            await writeSealed(file, source, target);
          } finally {
            await target.close();
          }
        } finally {
          await source.close();
        }
        await rename(incomplete, pathOf(file.id));
      } catch (error) {
        await rm(incomplete, { force: true });
        throw error;
      }
    },

    async read(file) {
      const pieces = readSealed(file);
      // What does not open is told before the first byte is sent.
      const first = await pieces.next();
      async function* all() {
        if (!first.done) yield first.value;
        yield* pieces;
      }
      const bytes = Readable.from(all(), { objectMode: false });
      // Of what nobody begins to read `all` does not begin either, and so does not end it.
      bytes.once('close', () => void pieces.return(undefined));
      return bytes;
    },

    async unseal(file, path) {
      const target = await open(path, 'wx', 0o600);
      try {
        for await (const bytes of readSealed(file)) await target.writeFile(bytes);
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      } finally {
        await target.close();
      }
    },

    remove: (id) => rm(pathOf(id), { force: true }),
    list: async () => (await readdir(folder)).filter((name) => !name.endsWith(INCOMPLETE)),
  };
}
