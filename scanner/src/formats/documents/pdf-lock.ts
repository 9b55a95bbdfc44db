import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Reader } from '#scanner/reading/reader.ts';

// Encrypted documents that open without a password because the user password is empty (ISO 32000-1, 7.6; ISO 32000-2 for AES-256). Every viewer opens them.

/** Decrypts the streams of a document. */
export interface Lock {
  opened(pieces: Iterable<Buffer>, stream: { number: number | undefined; dictionary: string }): Iterable<Buffer>;
}

const PADDING = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');
const AES_SALT = Buffer.from('sAlT');
const DICTIONARY_BYTES = 16 * 1024;
const STRING_BYTES_MAXIMUM = 128;
const BLOCK = 16;

type Method = 'none' | 'rc4' | 'aes128' | 'aes256';

function rc4(key: Buffer, pieces: Iterable<Buffer>): Generator<Buffer> {
  const state = new Uint8Array(256);
  for (let at = 0; at < 256; at += 1) state[at] = at;
  for (let at = 0, other = 0; at < 256; at += 1) {
    other = (other + (state[at] ?? 0) + (key[at % key.length] ?? 0)) & 0xff;
    [state[at], state[other]] = [state[other] ?? 0, state[at] ?? 0];
  }
  let one = 0;
  let two = 0;
  return (function* () {
    for (const piece of pieces) {
      const plain = Buffer.allocUnsafe(piece.length);
      for (let at = 0; at < piece.length; at += 1) {
        one = (one + 1) & 0xff;
        const first = state[one] ?? 0;
        two = (two + first) & 0xff;
        const second = state[two] ?? 0;
        state[one] = second;
        state[two] = first;
        plain[at] = (piece[at] ?? 0) ^ (state[(first + second) & 0xff] ?? 0);
      }
      yield plain;
    }
  })();
}

/** Decrypts AES-CBC data that begins with its initialisation vector. An incomplete last block is omitted. */
function* aes(key: Buffer, pieces: Iterable<Buffer>): Generator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  let decipher: ReturnType<typeof createDecipheriv> | undefined;
  let last: Buffer = Buffer.alloc(0);
  for (const piece of pieces) {
    let bytes = piece;
    if (decipher === undefined) {
      head = Buffer.concat([head, bytes]);
      if (head.length < BLOCK) continue;
      decipher = createDecipheriv(key.length === 32 ? 'aes-256-cbc' : 'aes-128-cbc', key, head.subarray(0, BLOCK));
      decipher.setAutoPadding(false);
      bytes = head.subarray(BLOCK);
    }
    const plain = Buffer.concat([last, decipher.update(bytes)]);
    const kept = Math.max(0, plain.length - BLOCK);
    last = plain.subarray(kept);
    if (kept > 0) yield plain.subarray(0, kept);
  }
  const padding = last.at(-1) ?? 0;
  yield padding >= 1 && padding <= BLOCK ? last.subarray(0, Math.max(0, last.length - padding)) : last;
}

/** Reads the string value of a dictionary key: `(text)` with escapes, or `<digits>`. Undefined if there is none. */
function stringIn(text: string, name: string): Buffer | undefined {
  const at = new RegExp(`/${name}\\s{0,16}(?=[(<])`).exec(text);
  if (at === null) return undefined;
  const rest = text.slice(at.index + at[0].length);
  const hex = /^<([0-9a-fA-F\s]{0,600})>/.exec(rest)?.[1];
  if (hex !== undefined) return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');
  const bytes: number[] = [];
  let depth = 0;
  for (let index = 0; index < rest.length && bytes.length < STRING_BYTES_MAXIMUM; index += 1) {
    const character = rest[index] ?? '';
    if (character === '\\') {
      const [octal] = /^[0-7]{1,3}/.exec(rest.slice(index + 1, index + 4)) ?? [];
      const next = rest[index + 1] ?? '';
      const control = 'nrtbf'.indexOf(next);
      if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
      else if (next !== '' && next !== '\n' && next !== '\r')
        bytes.push(control < 0 ? next.charCodeAt(0) : ([10, 13, 9, 8, 12][control] ?? 0));
      index += octal?.length ?? 1;
      continue;
    }
    if (character === '(' && depth++ === 0) continue;
    if (character === ')' && --depth === 0) break;
    bytes.push(character.charCodeAt(0));
  }
  return Buffer.from(bytes);
}

function numberIn(text: string, name: string): number | undefined {
  const number = new RegExp(`/${name}\\s{0,16}(-?\\d{1,10})(?!\\s+\\d+\\s+R)`).exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The encryption method of streams, from the version and the crypt filter for streams. */
function methodOf(text: string, version: number): Method | undefined {
  if (version === 1 || version === 2) return 'rc4';
  if (version !== 4 && version !== 5) return undefined;
  const filter = /\/StmF\s{0,16}\/(\w{1,40})/.exec(text)?.[1] ?? 'Identity';
  if (filter === 'Identity') return 'none';
  const method = new RegExp(`/${filter}\\s{0,16}<<[^>]{0,400}/CFM\\s{0,16}/(\\w{1,10})`).exec(text)?.[1];
  if (method === 'V2') return 'rc4';
  if (method === 'AESV2') return 'aes128';
  if (method === 'AESV3') return 'aes256';
  return method === 'None' ? 'none' : undefined;
}

const md5 = (...parts: Buffer[]) => parts.reduce((hash, part) => hash.update(part), createHash('md5')).digest();

/** The key for an empty password (7.6.3.3, algorithm 2); undefined if the user password is not empty. */
function legacyKey(text: string, id: Buffer, revision: number, version: number): Buffer | undefined {
  const owner = stringIn(text, 'O');
  const permissions = numberIn(text, 'P');
  if (owner === undefined || permissions === undefined) return undefined;
  // In version 4, all keys have 128 bits; lengths in the dictionary belong to crypt filters.
  const bytes = version === 1 ? 5 : version === 4 ? 16 : Math.min(16, Math.max(5, (numberIn(text, 'Length') ?? 40) / 8));
  const number = Buffer.alloc(4);
  number.writeInt32LE(permissions | 0);
  const is_plain = revision >= 4 && /\/EncryptMetadata\s{0,16}false/.test(text);
  let key = md5(PADDING, owner.subarray(0, 32), number, id, ...(is_plain ? [Buffer.alloc(4, 0xff)] : []));
  if (revision >= 3) for (let round = 0; round < 50; round += 1) key = md5(key.subarray(0, bytes));
  key = key.subarray(0, bytes);
  const user = stringIn(text, 'U');
  return user !== undefined && opens(key, user, id, revision) ? key : undefined;
}

/** Whether the user password is empty (algorithms 4 and 5). */
function opens(key: Buffer, user: Buffer, id: Buffer, revision: number): boolean {
  if (revision === 2) return Buffer.concat([...rc4(key, [PADDING])]).equals(user.subarray(0, 32));
  let text = md5(PADDING, id);
  for (let round = 0; round < 20; round += 1)
    text = Buffer.concat([...rc4(Buffer.from(key.map((byte) => byte ^ round)), [text])]);
  return text.equals(user.subarray(0, 16));
}

/** The hash of an empty password (ISO 32000-2, algorithm 2.B): SHA-256 and, from revision 6 on, further rounds. */
function hardened(salt: Buffer, revision: number): Buffer {
  let key = createHash('sha256').update(salt).digest();
  if (revision < 6) return key;
  for (let round = 0, last = 0; round < 64 || last > round - 32; round += 1) {
    const text = Buffer.concat(Array.from({ length: 64 }, () => key));
    const by = createCipheriv('aes-128-cbc', key.subarray(0, 16), key.subarray(16, 32));
    by.setAutoPadding(false);
    const cipher = by.update(text);
    const sum = cipher.subarray(0, 16).reduce((total, byte) => total + byte, 0) % 3;
    key = createHash(sum === 0 ? 'sha256' : sum === 1 ? 'sha384' : 'sha512')
      .update(cipher)
      .digest();
    last = cipher.at(-1) ?? 0;
  }
  return key.subarray(0, 32);
}

/** The key of revisions 5 and 6: `UE`, decrypted with a hash of the salt in `U`. Undefined if the user password is not empty. */
function aes256Key(text: string, revision: number): Buffer | undefined {
  const user = stringIn(text, 'U');
  const packed = stringIn(text, 'UE');
  if (user === undefined || user.length < 48 || packed === undefined || packed.length < 32) return undefined;
  if (!hardened(user.subarray(32, 40), revision).equals(user.subarray(0, 32))) return undefined;
  const decipher = createDecipheriv('aes-256-cbc', hardened(user.subarray(40, 48), revision), Buffer.alloc(BLOCK));
  decipher.setAutoPadding(false);
  return decipher.update(packed.subarray(0, 32));
}

/** The encryption dictionary, which is in the trailer or in an object of its own, and the first part of the document's ID. */
function dictionaryOf(reader: Reader): { text: string; id: Buffer } | undefined {
  const mark = Buffer.from('/Encrypt');
  const id_mark = Buffer.from('/ID');
  let id: Buffer | undefined;
  for (let at = reader.find(id_mark, 0); at >= 0 && id === undefined; at = reader.find(id_mark, at + 3)) {
    const list = reader.at(at + 3, DICTIONARY_BYTES / 16).toString('latin1');
    if (/^\s{0,16}\[\s{0,16}[<(]/.test(list)) id = stringIn(`/ID ${list.slice(list.indexOf('[') + 1)}`, 'ID');
  }
  for (let at = reader.find(mark, 0); at >= 0; at = reader.find(mark, at + mark.length)) {
    const rest = reader.at(at + mark.length, DICTIONARY_BYTES).toString('latin1');
    if (/^\s{0,16}<</.test(rest)) return { text: rest, id: id ?? Buffer.alloc(0) };
    const number = /^\s{1,16}(\d{1,10})\s{1,16}(\d{1,5})\s{1,16}R/.exec(rest);
    if (number === null) continue;
    const object = Buffer.from(`${number[1]} ${number[2]} obj`);
    const found = reader.find(object, 0);
    if (found < 0) return undefined;
    const text =
      reader
        .at(found + object.length, DICTIONARY_BYTES)
        .toString('latin1')
        .split('endobj', 1)[0] ?? '';
    return { text, id: id ?? Buffer.alloc(0) };
  }
  return undefined;
}

/** Decryption of a document that opens without a password; undefined for other documents. */
export function lockOf(reader: Reader): Lock | undefined {
  const found = dictionaryOf(reader);
  if (found === undefined || !/\/Filter\s{0,16}\/Standard\b/.test(found.text)) return undefined;
  // `V` and `R` are numbers; keys with these names in nested dictionaries have other values.
  const version = numberIn(found.text, 'V') ?? 0;
  const revision = numberIn(found.text, 'R') ?? 0;
  const method = methodOf(found.text, version);
  if (method === undefined) return undefined;
  const key = version === 5 ? aes256Key(found.text, revision) : legacyKey(found.text, found.id, revision, version);
  if (key === undefined) return undefined;
  return {
    opened(pieces, { number, dictionary }) {
      // Cross-reference streams are never encrypted (7.5.8.2).
      if (method === 'none' || /\/Type\s{0,16}\/XRef\b/.test(dictionary)) return pieces;
      if (method === 'aes256') return aes(key, pieces);
      if (number === undefined) return pieces;
      const suffix = Buffer.alloc(5);
      suffix.writeUIntLE(number % 2 ** 24, 0, 3);
      const own = md5(key, suffix, ...(method === 'aes128' ? [AES_SALT] : [])).subarray(0, Math.min(16, key.length + 5));
      return method === 'rc4' ? rc4(own, pieces) : aes(own, pieces);
    },
  };
}
