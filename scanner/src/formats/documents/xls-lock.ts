import { createHash } from 'node:crypto';
import { DEFAULT_PASSWORD } from './office-lock.ts';

// Workbooks of Excel 97 to 2003, and 5 and 95, behind a password (MS-XLS 2.2.10): the records keep their heads, and their bodies are encrypted by RC4, or
// turned by bits of the password ("obfuscated"). As with later ones, Excel tries a password of its own before it asks for any.

const RECORD = { bof: 0x0809, file_pass: 0x002f, bound_sheet: 0x0085 } as const;
/** The most records before FilePass. */
const FIRST_RECORDS = 4096;
/** Their bodies are never encrypted: BOF, FilePass, UsrExcl, FileLock, InterfaceHdr, RRDInfo and RRDHead. */
const OPEN_RECORDS: readonly number[] = [0x0809, 0x002f, 0x0194, 0x0195, 0x00e1, 0x0196, 0x0138];
/** Where its sheet begins is never encrypted in BoundSheet8. Bytes. */
const SHEET_POSITION_BYTES = 4;
/** RC4 begins anew with another key after so many bytes of the stream (MS-XLS 2.2.10). */
const BLOCK_BYTES = 1024;

/** RC4 has left OpenSSL. `key` is of 5 to 16 bytes. */
function rc4(key: Buffer): () => number {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const at = (index: number) => state[index] ?? 0;
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + at(i) + (key[i % key.length] ?? 0)) & 0xff;
    [state[i], state[j]] = [at(j), at(i)];
  }
  let i = 0;
  let j = 0;
  return () => {
    i = (i + 1) & 0xff;
    j = (j + at(i)) & 0xff;
    [state[i], state[j]] = [at(j), at(i)];
    return at((at(i) + at(j)) & 0xff);
  };
}

function applied(next: () => number, bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => byte ^ next()));
}

function digest(hash: 'md5' | 'sha1', ...pieces: Buffer[]): Buffer {
  const made = createHash(hash);
  for (const piece of pieces) made.update(piece);
  return made.digest();
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Turns the byte at `within` of a record back; records come in their order. `position` is of its body in the stream. */
type Turn = (byte: number, record: { position: number; size: number }, within: number) => number;

/** RC4, where the key of each block comes from `keyOf`. */
function byBlocks(keyOf: (block: number) => Buffer): Turn {
  let block = -1;
  let passed = 0;
  let next = () => 0;
  return (byte, { position }, within) => {
    const at = position + within;
    if (Math.floor(at / BLOCK_BYTES) !== block) {
      block = Math.floor(at / BLOCK_BYTES);
      passed = block * BLOCK_BYTES;
      next = rc4(keyOf(block));
    }
    // The heads of the records in between use up the key as well.
    for (; passed < at; passed += 1) next();
    passed += 1;
    return byte ^ next();
  };
}

/** MS-OFFCRYPTO 2.3.6: 40 bits of the password's MD5. */
function office97(info: Buffer, password: string): Turn | undefined {
  if (info.length < 52) return undefined;
  const salt = info.subarray(4, 20);
  const first = digest('md5', Buffer.from(password, 'utf16le')).subarray(0, 5);
  const mixed = digest('md5', ...Array.from({ length: 16 }, () => [first, salt]).flat()).subarray(0, 5);
  const keyOf = (block: number) => digest('md5', mixed, number(block));
  const next = rc4(keyOf(0));
  const verifier = applied(next, info.subarray(20, 36));
  return digest('md5', verifier).equals(applied(next, info.subarray(36, 52))) ? byBlocks(keyOf) : undefined;
}

const CRYPTO_API = { header_at: 12, verifier_bytes: 4 + 16 + 16 + 4 + 20, key_bits_at: 16 } as const;

/** MS-OFFCRYPTO 2.3.5: the same by Windows, with up to 128 bits of the password's SHA-1. */
function cryptoApi(info: Buffer, password: string): Turn | undefined {
  if (info.length < CRYPTO_API.header_at + 32) return undefined;
  const header_bytes = info.readUInt32LE(8);
  const verifier = info.subarray(CRYPTO_API.header_at + header_bytes);
  if (header_bytes < 32 || verifier.length < CRYPTO_API.verifier_bytes) return undefined;
  const bits = info.readUInt32LE(CRYPTO_API.header_at + CRYPTO_API.key_bits_at) || 40;
  if (bits % 8 !== 0 || bits < 40 || bits > 128) return undefined;
  const base = digest('sha1', verifier.subarray(4, 20), Buffer.from(password, 'utf16le'));
  const keyOf = (block: number) => {
    const key = digest('sha1', base, number(block)).subarray(0, bits / 8);
    // 2.3.5.2: keys of 40 bits are filled up with zeros.
    return bits === 40 ? Buffer.concat([key], 16) : key;
  };
  const next = rc4(keyOf(0));
  const plain = applied(next, verifier.subarray(20, 36));
  return digest('sha1', plain).equals(applied(next, verifier.subarray(40, 60))) ? byBlocks(keyOf) : undefined;
}

/** MS-OFFCRYPTO 2.3.7.2, InitialCode: by the length of the password. */
const OBFUSCATION_STARTS = [
  0xe1f0, 0x1d0f, 0xcc9c, 0x84c0, 0x110c, 0x0e10, 0xf1ce, 0x313e, 0x1872, 0xe139, 0xd40f, 0x84f9, 0x280c, 0xa96a, 0x4ec3,
];
const OBFUSCATION_PADDING = Buffer.from('bbffffbaffffb98000be0f00bf0f00', 'hex');
const OBFUSCATION_BYTES = 16;

/** The table XorMatrix of 2.3.7.2, from its last number to its first, is a shift register of the polynomial of CRC-16: of each eight steps seven are in use. */
function obfuscationKey(password: Buffer): number {
  const twice = (value: number) => ((value << 1) & 0xffff) ^ ((value & 0x8000) === 0 ? 0 : 0x1021);
  let key = OBFUSCATION_STARTS[password.length - 1] ?? 0;
  let value = 0x1021;
  for (const byte of password.toReversed()) {
    for (let bit = 0; bit < 7; bit += 1) {
      if ((byte & (1 << bit)) !== 0) key ^= value;
      value = twice(value);
    }
    value = twice(value);
  }
  return key;
}

/** 2.3.7.1. */
function obfuscationVerifier(password: Buffer): number {
  let verifier = 0;
  for (const byte of [...password.toReversed(), password.length])
    verifier = (((verifier & 0x4000) === 0 ? 0 : 1) | ((verifier * 2) & 0x7fff)) ^ byte;
  return verifier ^ 0xce4b;
}

const turnedRight = (byte: number, bits: number) => ((byte >>> bits) | (byte << (8 - bits))) & 0xff;

/** MS-OFFCRYPTO 2.3.7: 16 bytes made of the password, over and over; where they begin in a record depends on its place and size (MS-XLS 2.2.10). */
function obfuscated(key: number, verifier: number, text: string): Turn | undefined {
  const password = Buffer.from(text, 'latin1').subarray(0, 15);
  if (password.length === 0 || key !== obfuscationKey(password) || verifier !== obfuscationVerifier(password)) return undefined;
  const bytes = Array.from({ length: OBFUSCATION_BYTES }, (_, index) => {
    const byte = password[index] ?? OBFUSCATION_PADDING[index - password.length] ?? 0;
    return turnedRight(byte ^ (index % 2 === 1 ? key >>> 8 : key & 0xff), 1);
  });
  return (byte, { position, size }, within) => turnedRight(byte ^ (bytes[(position + size + within) % bytes.length] ?? 0), 5);
}

function turnFor(file_pass: Buffer, password: string): Turn | undefined {
  // Excel 5 and 95 know one kind, and do not say which.
  if (file_pass.length === 4) return obfuscated(file_pass.readUInt16LE(0), file_pass.readUInt16LE(2), password);
  if (file_pass.length < 6) return undefined;
  if (file_pass.readUInt16LE(0) === 0) return obfuscated(file_pass.readUInt16LE(2), file_pass.readUInt16LE(4), password);
  const info = file_pass.subarray(2);
  if (info.readUInt16LE(0) === 1) return office97(info, password);
  return info.readUInt16LE(2) === 2 ? cryptoApi(info, password) : undefined;
}

/** The body of FilePass; undefined for a workbook without it. */
function filePassOf(stream: Buffer): Buffer | undefined {
  for (let at = 0, count = 0; at + 4 <= stream.length && count < FIRST_RECORDS; count += 1) {
    const body = stream.subarray(at + 4, at + 4 + stream.readUInt16LE(at + 2));
    if (stream.readUInt16LE(at) === RECORD.file_pass) return body;
    at += 4 + body.length;
  }
  return undefined;
}

/**
 * The stream of an encrypted workbook as it was before, where Excel's own password or the one that was given opens it; undefined where neither does. FilePass
 * stays where it was, as a record of no meaning.
 */
export function openedWorkbook(stream: Buffer, password: string | undefined): Buffer | undefined {
  const file_pass = filePassOf(stream);
  if (file_pass === undefined) return undefined;
  const turn = [DEFAULT_PASSWORD, ...(password === undefined ? [] : [password])].reduce<Turn | undefined>(
    (found, one) => found ?? turnFor(file_pass, one),
    undefined,
  );
  if (turn === undefined) return undefined;
  const opened = Buffer.from(stream);
  let is_behind = false;
  for (let at = 0; at + 4 <= stream.length; ) {
    const type = stream.readUInt16LE(at);
    const record = { position: at + 4, size: Math.min(stream.readUInt16LE(at + 2), stream.length - at - 4) };
    if (is_behind && !OPEN_RECORDS.includes(type)) {
      for (let within = type === RECORD.bound_sheet ? SHEET_POSITION_BYTES : 0; within < record.size; within += 1)
        opened[record.position + within] = turn(stream[record.position + within] ?? 0, record, within);
    }
    if (type === RECORD.file_pass) {
      is_behind = true;
      // A type that no record has.
      opened.writeUInt16LE(0xffff, at);
    }
    at = record.position + record.size;
  }
  return opened;
}
