import { createCipheriv, createHmac, pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import { Unreadable } from '#scanner/reading/member.ts';

// Decryption of zip members: the old PKZIP cipher (APPNOTE 6.1) and WinZip's AES (winzip.com/aes_info.htm). Both verify the password before the data: the old
// cipher with one byte, so that 1 in 256 wrong passwords passes, AES with two. The checksum at the end finds the others.

/** AES parameters of a member, from its extra field 0x9901. `method` is the compression of the decrypted data. */
export interface Aes {
  key_bytes: number;
  method: number;
}

/** Properties of an encrypted member. `check` is the byte with which the old cipher verifies the password. */
interface Locked {
  aes: Aes | undefined;
  check: number;
  /** Size of the encrypted data with its salt, verifier, header and authentication code. Bytes. */
  packed: number;
}

const AES_EXTRA = 0x9901;
/** Key length in bytes, by the strength in the extra field. The salt is half as long. */
const STRENGTHS: Readonly<Record<number, number>> = { 1: 16, 2: 24, 3: 32 };
const VERIFIER_BYTES = 2;
const MAC_BYTES = 10;
const ITERATIONS = 1000;
const BLOCK_BYTES = 16;
/** Blocks of key stream that are generated at once. */
const BLOCKS = 4096;
const OLD_HEADER_BYTES = 12;

/** @returns undefined if there is no such extra field or its strength is unknown. */
export function aesOf(extra: Buffer): Aes | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== AES_EXTRA || extra.readUInt16LE(at + 2) < 7 || at + 11 > extra.length) continue;
    const key_bytes = STRENGTHS[extra[at + 8] ?? 0];
    return key_bytes === undefined ? undefined : { key_bytes, method: extra.readUInt16LE(at + 9) };
  }
  return undefined;
}

/** Reads a stream in pieces of requested lengths. */
function createReader(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return {
    /** The next `length` bytes. @throws Unreadable at the end of the stream. */
    async take(length: number): Promise<Buffer> {
      while (rest.length < length) {
        const next = await iterator.next();
        if (next.done) throw new Unreadable('damaged');
        rest = Buffer.concat([rest, next.value]);
      }
      const taken = rest.subarray(0, length);
      rest = rest.subarray(length);
      return taken;
    },
    /** The next `length` bytes in pieces as they arrive. @throws Unreadable at the end of the stream. */
    async *upTo(length: number): AsyncGenerator<Buffer> {
      for (let left = length; left > 0; ) {
        if (rest.length === 0) {
          const next = await iterator.next();
          if (next.done) throw new Unreadable('damaged');
          rest = next.value;
        }
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
  };
}

/** AES in counter mode with a little-endian counter. OpenSSL has no such cipher, so the key stream is generated with ECB. */
function createAesStream(key: Buffer): (bytes: Buffer) => Buffer {
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null).setAutoPadding(false);
  let counter = 1;
  let stream: Buffer = Buffer.alloc(0);
  function more(): void {
    const blocks = Buffer.alloc(BLOCKS * BLOCK_BYTES);
    for (let block = 0; block < BLOCKS; block += 1, counter += 1) {
      blocks.writeUInt32LE(counter >>> 0, block * BLOCK_BYTES);
      blocks.writeUInt32LE(Math.floor(counter / 2 ** 32), block * BLOCK_BYTES + 4);
    }
    stream = cipher.update(blocks);
  }
  return (bytes) => {
    const plain = Buffer.allocUnsafe(bytes.length);
    for (let at = 0; at < bytes.length; ) {
      if (stream.length === 0) more();
      const length = Math.min(stream.length, bytes.length - at);
      for (let index = 0; index < length; index += 1) plain[at + index] = (bytes[at + index] ?? 0) ^ (stream[index] ?? 0);
      stream = stream.subarray(length);
      at += length;
    }
    return plain;
  };
}

async function* decryptAes(
  chunks: AsyncIterable<Buffer>,
  { key_bytes }: Aes,
  packed: number,
  password: Buffer,
): AsyncGenerator<Buffer> {
  const reader = createReader(chunks);
  const salt = await reader.take(key_bytes / 2);
  const verifier = await reader.take(VERIFIER_BYTES);
  const derived = pbkdf2Sync(password, salt, ITERATIONS, 2 * key_bytes + VERIFIER_BYTES, 'sha1');
  if (!derived.subarray(2 * key_bytes).equals(verifier)) throw new Unreadable('encrypted');
  const decrypt = createAesStream(derived.subarray(0, key_bytes));
  const mac = createHmac('sha1', derived.subarray(key_bytes, 2 * key_bytes));
  for await (const piece of reader.upTo(Math.max(0, packed - key_bytes / 2 - VERIFIER_BYTES - MAC_BYTES))) {
    mac.update(piece);
    yield decrypt(piece);
  }
  if (!timingSafeEqual(mac.digest().subarray(0, MAC_BYTES), await reader.take(MAC_BYTES))) throw new Unreadable('damaged');
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** The PKZIP cipher with its three keys (APPNOTE 6.1.3 to 6.1.5). */
function createOldStream(password: Buffer): (bytes: Buffer) => Buffer {
  let key0 = 0x12345678;
  let key1 = 0x23456789;
  let key2 = 0x34567890;
  const turn = (byte: number) => {
    key0 = (key0 >>> 8) ^ (CRC_TABLE[(key0 ^ byte) & 0xff] ?? 0);
    key1 = (Math.imul(key1 + (key0 & 0xff), 134_775_813) + 1) >>> 0;
    key2 = (key2 >>> 8) ^ (CRC_TABLE[(key2 ^ (key1 >>> 24)) & 0xff] ?? 0);
  };
  for (const byte of password) turn(byte);
  return (bytes) => {
    const plain = Buffer.allocUnsafe(bytes.length);
    for (let index = 0; index < bytes.length; index += 1) {
      const mixed = (key2 | 2) & 0xffff;
      const byte = (bytes[index] ?? 0) ^ ((Math.imul(mixed, mixed ^ 1) >>> 8) & 0xff);
      turn(byte);
      plain[index] = byte;
    }
    return plain;
  };
}

async function* decryptOld(
  chunks: AsyncIterable<Buffer>,
  check: number,
  packed: number,
  password: Buffer,
): AsyncGenerator<Buffer> {
  const reader = createReader(chunks);
  const decrypt = createOldStream(password);
  const header = decrypt(await reader.take(OLD_HEADER_BYTES));
  if (header[OLD_HEADER_BYTES - 1] !== check) throw new Unreadable('encrypted');
  for await (const piece of reader.upTo(Math.max(0, packed - OLD_HEADER_BYTES))) yield decrypt(piece);
}

/**
 * Decrypts the content of a member; the result is still compressed. @throws Unreadable `encrypted` for a wrong password, `damaged` for truncated or changed
 * data.
 */
export function decrypted(
  chunks: AsyncIterable<Buffer>,
  { aes, check, packed }: Locked,
  password: Buffer,
): AsyncGenerator<Buffer> {
  return aes === undefined ? decryptOld(chunks, check, packed, password) : decryptAes(chunks, aes, packed, password);
}
