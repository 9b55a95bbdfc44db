import { decompress, decompressed } from '#scanner/decompression/decompress.ts';
import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { fromBase64 } from '#scanner/text/text-codings.ts';

// OpenPGP (RFC 9580): a sequence of packets, in binary or as ASCII armour. Signed data is read as it is, compressed data is unpacked, and encrypted data is
// reported.

const TAG = {
  key: 1,
  signature: 2,
  password: 3,
  one_pass: 4,
  packed: 8,
  encrypted: 9,
  literal: 11,
  protected: 18,
  aead: 20,
} as const;
const ENCRYPTED: readonly number[] = [TAG.encrypted, TAG.protected, TAG.aead];
const PUBLIC_KEY_ALGORITHMS: readonly number[] = [1, 2, 3, 16, 17, 18, 19, 20, 22, 25, 26, 27, 28];
/** Maximum number of packets that are read. A message has a few, and one for each recipient. */
const PACKETS_MAXIMUM = 10_000;

interface Range {
  start: number;
  end: number;
}

/** A packet, whose body may be split into pieces (4.2.1.4). `end` may lie after the end of the file. */
interface Packet {
  tag: number;
  pieces: Range[];
  end: number;
}

/** Reads the packet header at `position` (4.2); undefined if it is invalid. */
function packetAt(at: (position: number, length: number) => Buffer, position: number, size: number): Packet | undefined {
  const head = at(position, 6);
  const first = head[0] ?? 0;
  if (first < 0x80 || head.length < 2) return undefined;
  if (first < 0xc0) {
    const length_bytes = [1, 2, 4][first & 3];
    const start = position + 1 + (length_bytes ?? 0);
    if (head.length < 1 + (length_bytes ?? 0)) return undefined;
    const end = length_bytes === undefined ? size : start + head.readUIntBE(1, length_bytes);
    return { tag: (first >> 2) & 15, pieces: [{ start, end: Math.min(end, size) }], end };
  }
  const pieces: Range[] = [];
  for (let next = position + 1; pieces.length < PACKETS_MAXIMUM; ) {
    const length = at(next, 5);
    const [one = 0, two = 0] = length;
    if (length.length === 0) return undefined;
    const is_partial = one >= 224 && one < 255;
    const head_bytes = one < 192 || is_partial ? 1 : one < 224 ? 2 : 5;
    if (length.length < head_bytes) return undefined;
    const bytes = is_partial
      ? 2 ** (one & 31)
      : one < 192
        ? one
        : one < 224
          ? (one - 192) * 256 + two + 192
          : length.readUInt32BE(1);
    const start = next + head_bytes;
    pieces.push({ start, end: Math.min(start + bytes, size) });
    next = start + bytes;
    if (!is_partial || next > size) return { tag: first & 63, pieces, end: next };
  }
  return undefined;
}

/** Whether raw deflate data begins here, as far as it can be tried. */
function isDeflate(bytes: Buffer, budget: Budget): boolean {
  return decompress('deflate', bytes, budget, { most: 16 * 1024, is_open: true }).kind !== 'none';
}

/** Whether a timestamp in seconds since 1970 is plausible: 0, or since 1991, when the first such program appeared. */
function isTime(seconds: number): boolean {
  return seconds === 0 || (seconds > 662_688_000 && seconds < 2 ** 31);
}

/** Whether the body of a packet begins validly for its type. */
function makesSense(tag: number, body: Buffer, budget: Budget): boolean {
  const [first = 0, second = 0, third = 0, fourth = 0] = body;
  switch (tag) {
    case TAG.key:
      return (first === 3 && PUBLIC_KEY_ALGORITHMS.includes(body[9] ?? 0)) || first === 6;
    case TAG.password:
      return first >= 4 && first <= 6 && second >= 1 && second <= 60;
    case TAG.one_pass:
      return (first === 3 || first === 6) && second <= 2 && third <= 14 && PUBLIC_KEY_ALGORITHMS.includes(fourth);
    case TAG.signature:
      return (
        (first === 3 && second === 5) || ((first === 4 || first === 6) && PUBLIC_KEY_ALGORITHMS.includes(third) && fourth <= 14)
      );
    case TAG.packed:
      // Deflate is tried; zlib and bzip2 are recognised by their headers.
      if (first === 1) return isDeflate(body.subarray(1), budget);
      return (
        (first === 2 && second % 16 === 8 && (256 * second + third) % 31 === 0) ||
        (first === 3 && second === 0x42 && third === 0x5a) ||
        (first === 0 && isOpenPgp(body.subarray(1), budget))
      );
    case TAG.literal:
      return (
        'btul1m'.includes(String.fromCharCode(first)) &&
        body.length > 6 &&
        2 + second + 4 <= body.length &&
        body.subarray(2, 2 + second).every((letter) => letter >= 0x20) &&
        isTime(body.readUInt32BE(2 + second))
      );
    case TAG.protected:
      return first === 1 || (first === 2 && second >= 1 && second <= 13 && third >= 1 && third <= 3);
    default:
      return false;
  }
}

/** Packet types that are followed by other packets in a message. */
const FOLLOWED: readonly number[] = [TAG.key, TAG.password, TAG.one_pass, TAG.signature];
const FIRST_BYTES = 1024;

/** Whether the bytes begin with a message: valid packets, up to one that holds data and is followed by another packet, by zeros or by nothing. */
function isOpenPgp(head: Buffer, budget: Budget): boolean {
  const at = (position: number, length: number) => head.subarray(position, position + length);
  let position = 0;
  for (let count = 0; count < 16; count += 1) {
    const packet = packetAt(at, position, head.length);
    const [body] = packet?.pieces ?? [];
    if (packet === undefined || body === undefined) return false;
    if (!makesSense(packet.tag, head.subarray(body.start, Math.min(body.end, body.start + FIRST_BYTES)), budget)) return false;
    // A packet of this type follows a key packet; alone, its first bytes prove too little.
    if (packet.tag === TAG.protected && count === 0 && head[body.start] === 1) return false;
    const after = head[packet.end];
    if (!FOLLOWED.includes(packet.tag))
      return packet.pieces.length > 1 || (after ?? 0) >= 0x80 || head.subarray(packet.end).every((byte) => byte === 0);
    // A detached signature, or a key packet without its message.
    if (after === undefined) return false;
    position = packet.end;
  }
  return true;
}

async function* bytesOf(reader: Reader, pieces: readonly Range[], skipped: number): AsyncGenerator<Buffer> {
  let skip = skipped;
  for (const { start, end } of pieces) {
    const from = Math.min(end, start + skip);
    skip -= from - start;
    yield* reader.chunks(from, end);
  }
}

/** The contents of the packets of a message. */
async function* openPgpMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  let position = 0;
  for (let count = 0; count < PACKETS_MAXIMUM && position < reader.size; count += 1) {
    const packet = packetAt(reader.at, position, reader.size);
    const [body] = packet?.pieces ?? [];
    if (packet === undefined || body === undefined) break;
    const { tag, pieces, end } = packet;
    const head = reader.at(body.start, Math.min(FIRST_BYTES, body.end - body.start));
    if (count > 0 && !makesSense(tag, head, budget) && !ENCRYPTED.includes(tag)) break;
    claim(position, end);
    position = end;
    const packed_bytes = pieces.reduce((sum, piece) => sum + piece.end - piece.start, 0);
    if (ENCRYPTED.includes(tag)) {
      yield { name: 'message', closed: 'encrypted', read: () => ({ content: { size: 0, bytes: Buffer.alloc(0) } }) };
    } else if (tag === TAG.literal) {
      const name_bytes = head[1] ?? 0;
      const name = head.toString('latin1', 2, 2 + name_bytes) || 'message';
      yield { name, read: () => ({ stream: bytesOf(reader, pieces, 6 + name_bytes), packed_bytes }) };
    } else if (tag === TAG.packed) {
      const plain = bytesOf(reader, pieces, 1);
      const stream = head[0] === 1 ? decompressed('deflate', plain, budget) : plain;
      yield { name: 'packed message', read: () => ({ stream, packed_bytes }) };
    }
  }
}

const BEGIN = Buffer.from('-----BEGIN PGP ');
const SIGNED = 'SIGNED MESSAGE-----';
const MESSAGE = 'MESSAGE';
const DASHES = Buffer.from('\n-----');
const TEXT_BYTES_MAXIMUM = 64 * 1024 ** 2;

/** Whether a text contains ASCII armour or a cleartext signed message. */
function holdsArmour(reader: Reader): boolean {
  return reader.find(BEGIN, 0, TEXT_BYTES_MAXIMUM) >= 0;
}

/** The messages of a text (6.2, 7): signed ones without dash escapes, others without their armour. */
async function* armourMembers(content: Content, { budget }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  let number = 0;
  for (let at = reader.find(BEGIN, 0); at >= 0; ) {
    const line = reader.at(at, 80).toString('latin1');
    const kind = line.slice(BEGIN.length);
    const is_signed = kind.startsWith(SIGNED);
    const head = reader.at(at, 4096).toString('latin1');
    const blank = /\r?\n[ \t]*\r?\n/.exec(head);
    const start = blank === null ? at + line.length : at + blank.index + blank[0].length;
    const found = reader.find(DASHES, Math.max(at, start - 1));
    const end = found < 0 ? reader.size : found;
    if ((is_signed || kind.startsWith(MESSAGE)) && end > start) {
      number += 1;
      const packed_bytes = end - start;
      const pieces = is_signed ? withoutDashes(reader, start, end) : fromBase64(withoutSum(reader, start, end));
      async function* stream(): AsyncGenerator<Buffer> {
        yield* pieces;
      }
      yield {
        name: is_signed ? `signed text ${number}` : `message ${number}`,
        read: () => ({ stream: stream(), packed_bytes }),
      };
    }
    at = reader.find(BEGIN, Math.max(end, at + BEGIN.length));
  }
}

/** Removes the dash escapes of lines. The last line break belongs to the signature. */
function* withoutDashes(reader: Reader, start: number, end: number): Generator<Buffer> {
  const last = reader.at(end - 1, 1)[0] === 0x0d ? end - 1 : end;
  let from = reader.at(start, 2).toString('latin1') === '- ' ? start + 2 : start;
  let held = '';
  while (from < last) {
    const chunk = reader.at(from, Math.min(64 * 1024, last - from));
    if (chunk.length === 0) break;
    from += chunk.length;
    const text = (held + chunk.toString('latin1')).replaceAll('\n- ', '\n');
    // The escape may continue in the next piece.
    held = /\n-?$/.exec(text)?.[0] ?? '';
    yield Buffer.from(text.slice(0, text.length - held.length), 'latin1');
  }
  if (held !== '') yield Buffer.from(held, 'latin1');
}

/** The armoured data without its checksum, a last line that begins with an equals sign. */
function* withoutSum(reader: Reader, start: number, end: number): Generator<Buffer> {
  const tail = reader.at(Math.max(start, end - 12), Math.min(12, end - start)).toString('latin1');
  const sum = /\n=[A-Za-z0-9+/]{4}\r?\n?$/.exec(tail);
  yield* reader.chunks(start, sum === null ? end : end - (tail.length - sum.index));
}

export const openPgp = format({
  id: 'openpgp',
  media_type: 'application/pgp-encrypted',
  recognise: withBits(24, isOpenPgp),
  limits: 'Encrypted messages are not read.',
  open: openPgpMembers,
});

export const openPgpArmour = format({
  id: 'openpgp-armour',
  recogniseBeside: ({ reader, first }) => (first === undefined && holdsArmour(reader) ? 96 : 0),
  traits: { is_text: true, is_beside: true },
  limits: null,
  open: armourMembers,
});
