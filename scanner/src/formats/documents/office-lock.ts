import { createDecipheriv, createHash } from 'node:crypto';
import type { Budget } from '#scanner/reading/limits.ts';

// Encrypted documents of Office 2007 and later (MS-OFFCRYPTO 2.3.4): an OLE file with the encryption parameters and the encrypted package. Excel tries a
// default password first, which it also uses for workbooks that are only protected against changes.

/** The default password of Excel (MS-OFFCRYPTO 2.3.1). */
export const DEFAULT_PASSWORD = 'VelvetSweatshop';
/** Maximum number of hash iterations. Office writes 100,000; a higher count would only cost time and is refused. */
const SPINS_MAXIMUM = 1_000_000;
const SEGMENT_BYTES = 4096;
const HASHES: Readonly<Record<string, string>> = { SHA1: 'sha1', SHA256: 'sha256', SHA384: 'sha384', SHA512: 'sha512' };
/** Block keys for the keys derived from the password hash (2.3.4.13). */
const BLOCK = { input: 'fea7d2763b4b9e79', value: 'd7aa0f6d3061344e', key: '146e0be7abacd0d6' } as const;

function digest(hash: string, ...pieces: Buffer[]): Buffer {
  const made = createHash(hash);
  for (const piece of pieces) made.update(piece);
  return made.digest();
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function spun(hash: string, salt: Buffer, password: string, spins: number, budget: Budget): Buffer {
  let key = digest(hash, salt, Buffer.from(password, 'utf16le'));
  for (let spin = 0; spin < spins; spin += 1) {
    if (spin % 1024 === 0) budget.spend(1024);
    key = digest(hash, number(spin), key);
  }
  return key;
}

/** Truncates or pads to the given length in bytes. */
function fitted(bytes: Buffer, length: number, filler: number): Buffer {
  return bytes.length >= length ? bytes.subarray(0, length) : Buffer.concat([bytes, Buffer.alloc(length - bytes.length, filler)]);
}

function aes(mode: 'cbc' | 'ecb', key: Buffer, iv: Buffer | null, bytes: Buffer): Buffer {
  const decipher = createDecipheriv(`aes-${key.length * 8}-${mode}`, key, iv);
  decipher.setAutoPadding(false);
  return decipher.update(bytes.subarray(0, bytes.length - (bytes.length % 16)));
}

/** The attributes of the first element with this name in `EncryptionInfo`; empty if there is none. */
function attributesOf(xml: string, element: string): Map<string, string> {
  const [, list = ''] = new RegExp(`<(?:\\w{1,16}:)?${element}\\b([^>]{0,4096})>`).exec(xml) ?? [];
  return new Map([...list.matchAll(/(\w{1,64})="([^"]{0,2048})"/g)].map(([, name = '', value = '']) => [name, value]));
}

/** Agile encryption (2.3.4.10 and following). Undefined for a wrong password or unsupported parameters. */
function agile(info: Buffer, locked: Buffer, password: string, budget: Budget): Buffer | undefined {
  const xml = info.toString('latin1', 8);
  const data = attributesOf(xml, 'keyData');
  const key = attributesOf(xml, 'encryptedKey');
  const bytes = (from: Map<string, string>, name: string) => Buffer.from(from.get(name) ?? '', 'base64');
  const hash = HASHES[key.get('hashAlgorithm') ?? ''];
  const data_hash = HASHES[data.get('hashAlgorithm') ?? ''];
  const spins = Number(key.get('spinCount'));
  const key_bytes = Number(key.get('keyBits')) / 8;
  const salt = bytes(key, 'saltValue');
  if (
    hash === undefined ||
    data_hash === undefined ||
    !(spins >= 0 && spins <= SPINS_MAXIMUM) ||
    ![16, 24, 32].includes(key_bytes)
  )
    return undefined;
  if (key.get('cipherAlgorithm') !== 'AES' || key.get('cipherChaining') !== 'ChainingModeCBC' || salt.length < 16)
    return undefined;
  const spun_key = spun(hash, salt, password, spins, budget);
  const opened = (block: string, name: string) =>
    aes(
      'cbc',
      fitted(digest(hash, spun_key, Buffer.from(block, 'hex')), key_bytes, 0x36),
      salt.subarray(0, 16),
      bytes(key, name),
    );
  const input = opened(BLOCK.input, 'encryptedVerifierHashInput').subarray(0, salt.length);
  const expected = digest(hash, input);
  if (!opened(BLOCK.value, 'encryptedVerifierHashValue').subarray(0, expected.length).equals(expected)) return undefined;
  const own = opened(BLOCK.key, 'encryptedKeyValue').subarray(0, key_bytes);
  if (own.length !== key_bytes) return undefined;
  const data_salt = bytes(data, 'saltValue');
  const pieces: Buffer[] = [];
  for (let at = 8, segment = 0; at < locked.length; at += SEGMENT_BYTES, segment += 1) {
    const iv = fitted(digest(data_hash, data_salt, number(segment)), 16, 0x36);
    pieces.push(aes('cbc', own, iv, locked.subarray(at, at + SEGMENT_BYTES)));
  }
  return Buffer.concat(pieces);
}

const STANDARD_SPINS = 50_000;

/** Standard encryption (2.3.4.5 and following): SHA-1, and AES in ECB mode. Undefined for a wrong password or unsupported parameters. */
function standard(info: Buffer, locked: Buffer, password: string, budget: Budget): Buffer | undefined {
  const header_bytes = info.readUInt32LE(8);
  const verifier = info.subarray(12 + header_bytes);
  if (info.length < 12 + 20 || verifier.length < 72) return undefined;
  const key_bytes = info.readUInt32LE(12 + 16) / 8;
  if (![16, 24, 32].includes(key_bytes)) return undefined;
  const salt = verifier.subarray(4, 20);
  const hashed = digest('sha1', spun('sha1', salt, password, STANDARD_SPINS, budget), number(0));
  const half = (filler: number) => {
    const pad = Buffer.alloc(64, filler);
    for (const [index, byte] of hashed.entries()) pad[index] = byte ^ filler;
    return digest('sha1', pad);
  };
  const key = Buffer.concat([half(0x36), half(0x5c)]).subarray(0, key_bytes);
  const expected = digest('sha1', aes('ecb', key, null, verifier.subarray(20, 36)));
  if (!aes('ecb', key, null, verifier.subarray(40, 72)).subarray(0, 20).equals(expected)) return undefined;
  return aes('ecb', key, null, locked.subarray(8));
}

/** Decrypts a package from its streams `EncryptionInfo` and `EncryptedPackage`; undefined if neither Excel's default password nor the given one opens it. */
export function openedPackage(info: Buffer, locked: Buffer, password: string | undefined, budget: Budget): Buffer | undefined {
  if (info.length < 12 || locked.length < 8) return undefined;
  const is_agile = info.readUInt32LE(0) === 0x00040004;
  const is_standard = info.readUInt16LE(2) === 2 && [2, 3, 4].includes(info.readUInt16LE(0));
  for (const one of [DEFAULT_PASSWORD, ...(password === undefined ? [] : [password])]) {
    const plain = is_agile ? agile(info, locked, one, budget) : is_standard ? standard(info, locked, one, budget) : undefined;
    if (plain !== undefined) return plain.subarray(0, Math.min(plain.length, Number(locked.readBigUInt64LE(0))));
  }
  return undefined;
}
