import { createHash } from 'node:crypto';
import { DEFAULT_PASSWORD } from './office-lock.ts';

// Encrypted workbooks of Excel 5 to 2003 (MS-XLS 2.2.10). Record headers are plain; record bodies are encrypted with RC4 or obfuscated with bits of the
// password. Excel tries a default password first, as for later formats.

const RECORD = { bof: 0x0809, file_pass: 0x002f, bound_sheet: 0x0085 } as const;
/** Maximum number of records before FilePass. */
const FIRST_RECORDS = 4096;
/** Records whose bodies are never encrypted: BOF, FilePass, UsrExcl, FileLock, InterfaceHdr, RRDInfo and RRDHead. */
const OPEN_RECORDS: readonly number[] = [0x0809, 0x002f, 0x0194, 0x0195, 0x00e1, 0x0196, 0x0138];
/** The position of the sheet in BoundSheet8 is never encrypted. Bytes. */
const SHEET_POSITION_BYTES = 4;
/** RC4 restarts with another key after each block of this size (MS-XLS 2.2.10). Bytes. */
const BLOCK_BYTES = 1024;

/** Generates the RC4 key stream; OpenSSL no longer has this cipher. `key` has 5 to 16 bytes. */
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

/** Decrypts the byte at offset `within` of a record body. Records must be decrypted in order. `position` is the position of the body in the stream. */
type Turn = (byte: number, record: { position: number; size: number }, within: number) => number;

/** RC4 with a key for each block from `keyOf`. */
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
    // The key stream also advances over record headers and unencrypted bytes.
    for (; passed < at; passed += 1) next();
    passed += 1;
    return byte ^ next();
  };
}

/** RC4 encryption (MS-OFFCRYPTO 2.3.6): 40-bit keys from MD5 hashes of the password. */
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

/** RC4 CryptoAPI encryption (MS-OFFCRYPTO 2.3.5): keys of 40 to 128 bits from SHA-1 hashes of the password. */
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
    // 2.3.5.2: 40-bit keys are padded with zeros.
    return bits === 40 ? Buffer.concat([key], 16) : key;
  };
  const next = rc4(keyOf(0));
  const plain = applied(next, verifier.subarray(20, 36));
  return digest('sha1', plain).equals(applied(next, verifier.subarray(40, 60))) ? byBlocks(keyOf) : undefined;
}

/** InitialCode of MS-OFFCRYPTO 2.3.7.2, indexed by the length of the password. */
const OBFUSCATION_STARTS = [
  0xe1f0, 0x1d0f, 0xcc9c, 0x84c0, 0x110c, 0x0e10, 0xf1ce, 0x313e, 0x1872, 0xe139, 0xd40f, 0x84f9, 0x280c, 0xa96a, 0x4ec3,
];
const OBFUSCATION_PADDING = Buffer.from('bbffffbaffffb98000be0f00bf0f00', 'hex');
const OBFUSCATION_BYTES = 16;

/**
 * The obfuscation key. The table XorMatrix of 2.3.7.2, read from the end, is a shift register with the CRC-16 polynomial, of which seven of every eight steps
 * are used.
 */
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

/** The password verifier (2.3.7.1). */
function obfuscationVerifier(password: Buffer): number {
  let verifier = 0;
  for (const byte of [...password.toReversed(), password.length])
    verifier = (((verifier & 0x4000) === 0 ? 0 : 1) | ((verifier * 2) & 0x7fff)) ^ byte;
  return verifier ^ 0xce4b;
}

const turnedRight = (byte: number, bits: number) => ((byte >>> bits) | (byte << (8 - bits))) & 0xff;

/**
 * Obfuscation (MS-OFFCRYPTO 2.3.7): XOR with 16 bytes derived from the password. The first index depends on the position and size of the record (MS-XLS
 * 2.2.10).
 */
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
  // Excel 5 and 95 have a single method, so FilePass has no type field.
  if (file_pass.length === 4) return obfuscated(file_pass.readUInt16LE(0), file_pass.readUInt16LE(2), password);
  if (file_pass.length < 6) return undefined;
  if (file_pass.readUInt16LE(0) === 0) return obfuscated(file_pass.readUInt16LE(2), file_pass.readUInt16LE(4), password);
  const info = file_pass.subarray(2);
  if (info.readUInt16LE(0) === 1) return office97(info, password);
  return info.readUInt16LE(2) === 2 ? cryptoApi(info, password) : undefined;
}

/** The body of FilePass; undefined if the workbook has none. */
function filePassOf(stream: Buffer): Buffer | undefined {
  for (let at = 0, count = 0; at + 4 <= stream.length && count < FIRST_RECORDS; count += 1) {
    const body = stream.subarray(at + 4, at + 4 + stream.readUInt16LE(at + 2));
    if (stream.readUInt16LE(at) === RECORD.file_pass) return body;
    at += 4 + body.length;
  }
  return undefined;
}

/** Decrypts the stream of a workbook; undefined if neither Excel's default password nor the given one opens it. FilePass is kept with an unused record type. */
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
      // An unused record type.
      opened.writeUInt16LE(0xffff, at);
    }
    at = record.position + record.size;
  }
  return opened;
}
