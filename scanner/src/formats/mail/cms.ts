import { decompressed } from '#scanner/decompression/decompress.ts';
import { closedFormat, format, HEAD_BYTES, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// Cryptographic messages (RFC 5652), as used by S/MIME, in DER and in BER with indefinite lengths. Signed content is read; enveloped content is encrypted.

const SEQUENCE = 0x30;
const OCTETS = 0x04;
const OCTETS_IN_PIECES = 0x24;
const IDENTIFIER = 0x06;
const EXPLICIT = 0xa0;
/** Prefixes of content type identifiers: 1.2.840.113549.1.7 and 1.2.840.113549.1.9.16.1. */
const PKCS7 = Buffer.from('2a864886f70d0107', 'hex');
const SMIME = Buffer.from('2a864886f70d01091001', 'hex');
const PLAIN = 1;
const SIGNED = 2;
const DIGESTED = 5;
const LOCKED: readonly number[] = [3, 4, 6];
const COMPRESSED = 9;
const AUTHENTICATED_LOCKED = 23;
/** Maximum number of values that are read while walking a value. */
const VALUES_MAXIMUM = 100_000;
const LOOK_BYTES = 32;

interface Value {
  tag: number;
  start: number;
  /** Undefined for an indefinite length, where two zeros end the value. */
  end: number | undefined;
}

function valueIn(head: Buffer, at: number): Value | undefined {
  const tag = head[0];
  const first = head[1];
  if (tag === undefined || first === undefined) return undefined;
  if (first === 0x80) return { tag, start: at + 2, end: undefined };
  if (first < 0x80) return { tag, start: at + 2, end: at + 2 + first };
  const count = first - 0x80;
  if (count > 6 || head.length < 2 + count) return undefined;
  const start = at + 2 + count;
  return { tag, start, end: start + head.readUIntBE(2, count) };
}

function valueAt(reader: Reader, at: number): Value | undefined {
  return valueIn(reader.at(at, 8), at);
}

/** The kind of a message, by its content type identifier; undefined for unknown types. */
function kindOf(identifier: Buffer): 'plain' | 'signed' | 'digested' | 'locked' | 'compressed' | undefined {
  const last = identifier.at(-1) ?? 0;
  if (identifier.subarray(0, -1).equals(PKCS7)) {
    if (last === PLAIN) return 'plain';
    if (last === DIGESTED) return 'digested';
    return last === SIGNED ? 'signed' : LOCKED.includes(last) ? 'locked' : undefined;
  }
  if (!identifier.subarray(0, -1).equals(SMIME)) return undefined;
  return last === COMPRESSED ? 'compressed' : last === AUTHENTICATED_LOCKED ? 'locked' : undefined;
}

/** Whether the bytes begin with a message of a known kind. */
function isCms(head: Buffer): boolean {
  const outer = head[0] === SEQUENCE ? valueIn(head.subarray(0, 8), 0) : undefined;
  const inner = outer === undefined ? undefined : valueIn(head.subarray(outer.start, outer.start + 8), outer.start);
  if (inner === undefined || inner.tag !== IDENTIFIER || inner.end === undefined) return false;
  return inner.end - inner.start <= LOOK_BYTES && kindOf(head.subarray(inner.start, inner.end)) !== undefined;
}

/** The end of a value. Values of indefinite length are walked to their end-of-contents octets. @throws Unreadable */
function endOf(reader: Reader, value: Value): number {
  if (value.end !== undefined) return value.end;
  let depth = 1;
  let at = value.start;
  for (let count = 0; count < VALUES_MAXIMUM && at < reader.size; count += 1) {
    const next = valueAt(reader, at);
    if (next === undefined) break;
    if (next.tag === 0 && next.end === next.start) {
      at = next.start;
      depth -= 1;
      if (depth === 0) return at;
    } else if (next.end === undefined) {
      depth += 1;
      at = next.start;
    } else at = next.end;
  }
  throw new Unreadable('damaged');
}

/** The bytes of an octet string, which may be split into pieces. */
function* octets(reader: Reader, value: Value): Generator<Buffer> {
  if (value.tag === OCTETS) {
    yield* reader.chunks(value.start, Math.min(value.end ?? value.start, reader.size));
    return;
  }
  const end = value.end ?? reader.size;
  let at = value.start;
  for (let count = 0; count < VALUES_MAXIMUM && at < end; count += 1) {
    const piece = valueAt(reader, at);
    if (piece === undefined || piece.tag !== OCTETS || piece.end === undefined) return;
    yield* reader.chunks(piece.start, Math.min(piece.end, reader.size));
    at = piece.end;
  }
}

/** The first value with one of these tags at `from`, after skipping at most `skip_maximum` values. */
function childOf(reader: Reader, from: number, tags: readonly number[], skip_maximum: number): Value | undefined {
  let at = from;
  for (let count = 0; count <= skip_maximum; count += 1) {
    const value = valueAt(reader, at);
    if (value === undefined) return undefined;
    if (tags.includes(value.tag)) return value;
    at = endOf(reader, value);
  }
  return undefined;
}

/**
 * The content of a message; none if it has only certificates or a detached signature. @throws Unreadable `encrypted` for enveloped content, `damaged` if the
 * structure is invalid.
 */
async function* cmsMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const outer = valueAt(reader, 0);
  const identifier = outer === undefined ? undefined : valueAt(reader, outer.start);
  if (outer === undefined || identifier?.end === undefined) throw new Unreadable('damaged');
  const kind = kindOf(reader.at(identifier.start, Math.min(LOOK_BYTES, identifier.end - identifier.start)));
  if (kind === 'locked') throw new Unreadable('encrypted');
  const explicit = childOf(reader, identifier.end, [EXPLICIT], 0);
  if (kind === 'plain') {
    const plain = explicit === undefined ? undefined : childOf(reader, explicit.start, [OCTETS, OCTETS_IN_PIECES], 0);
    if (plain === undefined) throw new Unreadable('damaged');
    async function* whole(): AsyncGenerator<Buffer> {
      if (plain !== undefined) yield* octets(reader, plain);
    }
    yield { name: 'content', read: () => ({ stream: whole(), packed_bytes: reader.size }) };
    claim(0, Math.min(endOf(reader, outer), reader.size));
    return;
  }
  const message = explicit === undefined ? undefined : childOf(reader, explicit.start, [SEQUENCE], 0);
  if (message === undefined) throw new Unreadable('damaged');
  // The version and the digest algorithms precede it.
  const enclosed = childOf(reader, message.start, [SEQUENCE], 2);
  const has_algorithm = kind === 'compressed' || kind === 'digested';
  const algorithm = has_algorithm && enclosed !== undefined ? endOf(reader, enclosed) : undefined;
  const info = algorithm === undefined ? enclosed : childOf(reader, algorithm, [SEQUENCE], 0);
  const info_identifier = info === undefined ? undefined : valueAt(reader, info.start);
  if (info === undefined || info_identifier?.end === undefined) throw new Unreadable('damaged');
  const wrapped = valueAt(reader, info_identifier.end);
  const value = wrapped?.tag === EXPLICIT ? valueAt(reader, wrapped.start) : undefined;
  if (value !== undefined && (value.tag === OCTETS || value.tag === OCTETS_IN_PIECES)) {
    const found = value;
    async function* pieces(): AsyncGenerator<Buffer> {
      yield* octets(reader, found);
    }
    async function* unpacked(): AsyncGenerator<Buffer> {
      yield* decompressed('zlib', pieces(), budget);
    }
    yield {
      name: 'content',
      read: () => ({ stream: kind === 'compressed' ? unpacked() : pieces(), packed_bytes: reader.size }),
    };
  }
  claim(0, Math.min(endOf(reader, outer), reader.size));
}

export const cmsMessage = format({
  id: 'cms',
  media_type: 'application/pkcs7-mime',
  recognise: withBits(80, isCms),
  limits: 'Enveloped messages are encrypted, and not read.',
  open: cmsMembers,
});

/** Password-protected keys and certificates (RFC 7292, 4): version 3, with CMS content of type data or signed data. */
const PKCS12 = /^30(?:8[0-4](?:..){0,4}|..)02010330(?:8[0-4](?:..){0,4}|..)06092a864886f70d01070[12]/;

/** Whether the bytes are a PKCS #12 file. Source code that quotes its first bytes is shorter than the stated length. */
function isPkcs12(head: Buffer): boolean {
  if (head[0] !== SEQUENCE || !PKCS12.test(head.toString('hex', 0, 40))) return false;
  const short = head[1] ?? 0;
  const length_bytes = short > 0x80 ? short - 0x80 : 0;
  const length = length_bytes > 0 ? head.readUIntBE(2, length_bytes) : short;
  // The length may be indefinite (X.690, 8.1.3.6). Files longer than the examined bytes are accepted.
  return short === 0x80 || head.length >= HEAD_BYTES || 2 + length_bytes + length <= head.length;
}

export const pkcs12 = closedFormat({ id: 'pkcs12', title: 'PKCS #12', detail: 'encrypted', recognise: withBits(96, isPkcs12) });
