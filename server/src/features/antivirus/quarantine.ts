import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { allBlobs, type BlobEntry, type BlobFacts, type Blobs, streamOf } from '#platform/blobs/blobs.ts';
import { KEY_BYTES, openKeyFile } from '#platform/key-file.ts';

/** The values that a sealed file is bound to (authenticated data). */
interface Sealed {
  id: string;
  /** SHA-256 of its bytes, in hex. */
  file_hash: string;
  /** Bytes. */
  size: number;
}

/**
 * Kept files are encrypted before they reach a store, so that no other program detects or runs a threat in them, and the data is useless without the key. Memory use is one
 * piece for any size.
 */
export interface Quarantine {
  /** Seals the bytes of a file, and returns the store's facts about them. On a failure the store keeps nothing. @throws StoreFullError when there is no room, StoreAwayError. */
  seal(file: Sealed, bytes: AsyncIterable<Uint8Array>): Promise<BlobFacts>;
  /** The decrypted bytes, each piece only after it was verified. `sealed_sha256` is the checksum that `seal` returned. @throws when the file is missing or was changed; StoreAwayError. */
  read(file: Sealed, sealed_sha256?: string | null): Promise<Readable>;
  /** A missing object is no error. @throws StoreAwayError */
  remove(id: string): Promise<void>;
  /** The stored files. Their ids are the keys. */
  list(): AsyncIterable<BlobEntry>;
}

// The format: magic, salt, then pieces of PIECE_BYTES, each with its tag. The key of a file is HKDF-SHA256 (RFC 5869) of the installation's key and the file's salt, so that
// a counter can be its nonce (NIST SP 800-38D section 8.2.1). The last piece has a mark in its nonce: a file that was cut between two pieces, or whose pieces were swapped,
// fails to open (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
const MAGIC = Buffer.from('PALQ\x01\0\0\0', 'latin1');
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const PIECE_BYTES = 256 * 1024;
const CIPHER = 'aes-256-gcm';

function nonceOf(piece: number, is_last: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(piece, 4);
  nonce[0] = is_last ? 1 : 0;
  return nonce;
}

/** Reads a stream in pieces of requested lengths. A shorter piece is the last one. */
function cutter(bytes: AsyncIterable<Uint8Array>): { take(length: number): Promise<Buffer>; close(): Promise<void> } {
  const source = bytes[Symbol.asyncIterator]();
  let rest: Buffer[] = [];
  let here = 0;
  return {
    async take(length) {
      while (here < length) {
        const next = await source.next();
        if (next.done === true) break;
        rest.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
        here += next.value.length;
      }
      const all = rest.length === 1 && rest[0] !== undefined ? rest[0] : Buffer.concat(rest);
      const taken = all.subarray(0, length);
      rest = [all.subarray(taken.length)];
      here = all.length - taken.length;
      return taken;
    },
    async close() {
      await source.return?.();
    },
  };
}

/** Bytes of a file once it is sealed. */
function sealedSize(size: number): number {
  return MAGIC.length + SALT_BYTES + size + TAG_BYTES * Math.max(1, Math.ceil(size / PIECE_BYTES));
}

/** @throws when the key cannot be created or read. */
export function openQuarantine({ blobs, key_file }: { blobs: Blobs; key_file: string }): Quarantine {
  const installation_key = openKeyFile(key_file);

  /** The key of a file, and the authenticated data of all its pieces. */
  function lockOf({ id, file_hash, size }: Sealed, header: Buffer): { key: Buffer; bound: Buffer } {
    const salt = header.subarray(MAGIC.length);
    const key = Buffer.from(hkdfSync('sha256', installation_key, salt, 'palisade quarantine 1', KEY_BYTES));
    return { key, bound: Buffer.concat([header, Buffer.from(`${id} ${file_hash} ${size}`)]) };
  }

  async function* sealing(file: Sealed, source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    const header = Buffer.concat([MAGIC, randomBytes(SALT_BYTES)]);
    const { key, bound } = lockOf(file, header);
    const plain = cutter(source);
    try {
      yield header;
      let left = file.size;
      for (let piece = 0; ; piece += 1) {
        const length = Math.min(PIECE_BYTES, left);
        const bytes = await plain.take(length);
        left -= length;
        if (bytes.length < length) throw new Error('The file became shorter while it was moved to quarantine.');
        const cipher = createCipheriv(CIPHER, key, nonceOf(piece, left === 0)).setAAD(bound);
        const sealed = cipher.update(bytes);
        cipher.final();
        yield Buffer.concat([sealed, cipher.getAuthTag()]);
        if (left === 0) return;
      }
    } finally {
      await plain.close();
    }
  }

  async function* opening(file: Sealed, source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    const sealed = cutter(source);
    try {
      const header = await sealed.take(MAGIC.length + SALT_BYTES);
      if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('This is not a quarantined file.');
      const { key, bound } = lockOf(file, header);
      let left = file.size;
      for (let piece = 0; ; piece += 1) {
        const length = Math.min(PIECE_BYTES, left);
        const bytes = await sealed.take(length + TAG_BYTES);
        left -= length;
        if (bytes.length < length + TAG_BYTES) throw new Error('The quarantined file was cut.');
        const decipher = createDecipheriv(CIPHER, key, nonceOf(piece, left === 0)).setAAD(bound);
        decipher.setAuthTag(bytes.subarray(length));
        const plain = decipher.update(bytes.subarray(0, length));
        decipher.final();
        // Reading to the end makes the store verify its checksum.
        if (left === 0 && (await sealed.take(1)).length > 0) throw new Error('The quarantined file has data after its end.');
        yield plain;
        if (left === 0) return;
      }
    } finally {
      await sealed.close();
    }
  }

  return {
    seal: async (file, bytes) => await blobs.put(file.id, sealing(file, bytes), { size: sealedSize(file.size) }),

    async read(file, sealed_sha256) {
      const expected = sealed_sha256 ? { size: sealedSize(file.size), sha256: sealed_sha256 } : undefined;
      const source = await blobs.get(file.id, { expected });
      const pieces = opening(file, source);
      // Open the first piece now, so that a file that fails is reported before the first byte is sent.
      const first = await pieces.next();
      async function* all() {
        if (!first.done) yield first.value;
        yield* pieces;
      }
      return streamOf(all(), () => source.destroy());
    },

    remove: (id) => blobs.delete(id),
    list: () => allBlobs(blobs),
  };
}
