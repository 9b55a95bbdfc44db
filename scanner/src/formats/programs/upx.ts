import { decompress } from '#scanner/decompression/decompress.ts';
import { format } from '#scanner/formats/format.ts';
import { sevenZipMembers } from '#scanner/formats/seven-zip/seven-zip.ts';
import { type Content, isDiskError, openSource } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { isProgramHead } from './program-formats.ts';
import { unpackedByProgram, upxProgram } from './upx-program.ts';

// Unpacks programs packed by UPX. Its headers (upx/src/packhead.cpp, upx/src/stub/src/include/linux.h) give the packed ranges and the method: NRV of the UCL
// library (ucl/src/n2b_d.c, n2d_d.c, n2e_d.c), LZMA or deflate. The output is the memory image of the program. The UPX filter for jump targets in code is not
// undone; texts are unaffected.

const MARK = Buffer.from('UPX!');
/** Range in which the magic is searched. In Windows programs, the header is in the first page. Bytes. */
const SEARCHED_BYTES = 64 * 1024;
const MARKS_MAXIMUM = 4;
const SECTIONS_MAXIMUM = 8;
const PACK_HEADER_BYTES = 32;
const LOADER_INFO_BYTES = 12;
const PROGRAM_INFO_BYTES = 12;
const BLOCK_INFO_BYTES = 12;
const UNPACKED_MAXIMUM = 256 * 1024 ** 2;
const METHOD = { lzma: 14, deflate: 15 } as const;

/** Variant of NRV by method number, and the number of bytes with which its bit buffer is refilled. */
const NRV: Readonly<Record<number, { kind: 'b' | 'd' | 'e'; word: 1 | 2 | 4 }>> = {
  2: { kind: 'b', word: 4 },
  3: { kind: 'b', word: 1 },
  4: { kind: 'b', word: 2 },
  5: { kind: 'd', word: 4 },
  6: { kind: 'd', word: 1 },
  7: { kind: 'd', word: 2 },
  8: { kind: 'e', word: 4 },
  9: { kind: 'e', word: 1 },
  10: { kind: 'e', word: 2 },
};

/** Unpacks NRV data, to at most `size` bytes. @throws Unreadable */
function unpackNrv(source: Buffer, size: number, { kind, word }: { kind: 'b' | 'd' | 'e'; word: 1 | 2 | 4 }): Buffer {
  const target = Buffer.alloc(size);
  let from = 0;
  let at = 0;
  let bits = 0;
  let left = 0;
  const byte = (): number => {
    const next = source[from];
    if (next === undefined) throw new Unreadable('damaged');
    from += 1;
    return next;
  };
  const bit = (): number => {
    if (left === 0) {
      if (from + word > source.length) throw new Unreadable('damaged');
      bits = source.readUIntLE(from, word);
      from += word;
      left = 8 * word;
    }
    left -= 1;
    return (bits >>> left) & 1;
  };
  const grown = (value: number): number => {
    if (value > 2 ** 31) throw new Unreadable('damaged');
    return value;
  };
  /** Reads a number in which each bit is followed by a bit that is 1 after the last one. */
  const counted = (first: number): number => {
    let value = first;
    do value = grown(value * 2 + bit());
    while (bit() === 0);
    return value;
  };
  const offset = (): number => {
    if (kind === 'b') return counted(1);
    let value = 1;
    for (;;) {
      value = grown(value * 2 + bit());
      if (bit() === 1) return value;
      value = grown((value - 1) * 2 + bit());
    }
  };
  const far = kind === 'b' ? 0xd00 : 0x500;
  let last = 1;
  for (;;) {
    while (bit() === 1) {
      if (at >= size) throw new Unreadable('damaged');
      target[at] = byte();
      at += 1;
    }
    let distance = offset();
    let length = 0;
    let coded: number | undefined;
    if (distance === 2) {
      distance = last;
      if (kind !== 'b') coded = bit();
    } else {
      const value = ((distance - 3) * 256 + byte()) >>> 0;
      if (value === 0xffffffff) return target.subarray(0, at);
      if (kind !== 'b') coded = ~value & 1;
      distance = (kind === 'b' ? value : value >>> 1) + 1;
      last = distance;
    }
    if (kind === 'e') {
      if (coded === 1) length = 1 + bit();
      else if (bit() === 1) length = 3 + bit();
      else length = counted(1) + 3;
    } else {
      length = (coded ?? bit()) * 2 + bit();
      if (length === 0) length = counted(1) + 2;
    }
    length += (distance > far ? 1 : 0) + 1;
    if (distance > at || at + length > size) throw new Unreadable('damaged');
    for (const end = at + length; at < end; at += 1) target[at] = target[at - distance] ?? 0;
  }
}

interface Block {
  from: number;
  packed: number;
  unpacked: number;
  method: number;
}

const MODULUS = 65_521;

/** Adler-32 (RFC 1950), which UPX uses to check packed data. */
function adler32(bytes: Buffer): number {
  let low = 1;
  let high = 0;
  for (let start = 0; start < bytes.length; start += 3800) {
    for (const byte of bytes.subarray(start, start + 3800)) {
      low += byte;
      high += low;
    }
    low %= MODULUS;
    high %= MODULUS;
  }
  return high * 65_536 + low;
}

/** Positions of the sections of a Windows program in the file (PE format, "Section Table"). */
function sectionsOf(reader: Reader): number[] {
  const start = reader.at(0x3c, 4);
  const at = start.length < 4 ? reader.size : start.readUInt32LE(0);
  const head = reader.at(at, 24);
  if (head.length < 24 || head.toString('latin1', 0, 4) !== 'PE\0\0') return [];
  const table = at + 24 + head.readUInt16LE(20);
  const count = Math.min(head.readUInt16LE(6), SECTIONS_MAXIMUM);
  const rows = reader.at(table, count * 40);
  return Array.from({ length: Math.floor(rows.length / 40) }, (_, index) => rows.readUInt32LE(index * 40 + 20));
}

/**
 * The single block of a Windows program, or of old programs for other systems. It may begin after the header or in a section; the correct checksum decides.
 * Undefined if there is none.
 */
function packHeaderAt(reader: Reader, at: number): Block | undefined {
  const head = reader.at(at, PACK_HEADER_BYTES);
  if (head.length < PACK_HEADER_BYTES) return undefined;
  const packed = head.readUInt32LE(20);
  const unpacked = head.readUInt32LE(16);
  if (packed === 0 || packed > reader.size || unpacked === 0) return undefined;
  for (const from of [at + PACK_HEADER_BYTES, ...sectionsOf(reader)]) {
    const bytes = reader.at(from, packed);
    if (bytes.length === packed && adler32(bytes) === head.readUInt32LE(12))
      return { from, packed, unpacked, method: head[6] ?? 0 };
  }
  return undefined;
}

/** The consecutive blocks of a program for Linux and similar systems. */
function blocksAt(reader: Reader, mark: number): Block[] {
  const blocks: Block[] = [];
  const info = reader.at(mark - 4 + LOADER_INFO_BYTES, PROGRAM_INFO_BYTES);
  if (info.length < PROGRAM_INFO_BYTES) return [];
  const size = info.readUInt32LE(4);
  let total = 0;
  for (let at = mark - 4 + LOADER_INFO_BYTES + PROGRAM_INFO_BYTES; total < size; ) {
    const head = reader.at(at, BLOCK_INFO_BYTES);
    if (head.length < BLOCK_INFO_BYTES) return [];
    const [unpacked, packed] = [head.readUInt32LE(0), head.readUInt32LE(4)];
    if (unpacked === 0) break;
    const method = packed === unpacked ? 0 : (head[8] ?? 0);
    const from = at + BLOCK_INFO_BYTES;
    if (packed === 0 || packed > unpacked || from + packed > reader.size || (method !== 0 && !isKnown(method))) return [];
    blocks.push({ from, packed, unpacked, method });
    total += unpacked;
    at = from + packed;
  }
  return blocks;
}

const isKnown = (method: number) => method in NRV || method === METHOD.lzma || method === METHOD.deflate;

/** The blocks of a program packed by UPX; none if no magic belongs to a valid block. */
function upxBlocks(reader: Reader): Block[] {
  let at = 0;
  for (let marks = 0; marks < MARKS_MAXIMUM; marks += 1) {
    at = reader.find(MARK, at + 1, SEARCHED_BYTES);
    if (at < 0) return [];
    const block = packHeaderAt(reader, at);
    if (block !== undefined) return [block];
    const blocks = blocksAt(reader, at);
    if (blocks.length > 0) return blocks;
  }
  return [];
}

/** Whether a program may be unpacked as UPX: by this reader, or by UPX if it is installed. */
function isUpxPacked(reader: Reader): boolean {
  return upxBlocks(reader).length > 0 || (upxProgram() !== undefined && reader.find(MARK, 1, SEARCHED_BYTES) >= 0);
}

/** Adds a standard header to the LZMA data of UPX, which has two bytes of properties and neither dictionary size nor length. */
function asLzma(packed: Buffer, unpacked: number): Buffer {
  const [first = 0, second = 0] = packed;
  const header = Buffer.alloc(13);
  header[0] = ((first & 7) * 5 + (second >> 4)) * 9 + (second & 15);
  header.writeUInt32LE(Math.max(4096, 2 ** Math.ceil(Math.log2(unpacked))), 1);
  header.writeUInt32LE(unpacked, 5);
  return Buffer.concat([header, packed.subarray(2)]);
}

/**
 * The unpacked program: its memory image or, if this reader finds none or fails, the output of an installed UPX. @throws Unreadable if it cannot be unpacked.
 */
export async function* upxMembers(content: Content, context: ReadContext, program = upxProgram()): AsyncGenerator<Member> {
  let failure: unknown;
  try {
    let is_read = false;
    for await (const member of ownMembers(content, context)) {
      is_read = true;
      yield member;
    }
    if (is_read) return;
  } catch (error) {
    if (error instanceof LimitReached || isDiskError(error)) throw error;
    failure = error;
  }
  const unpacked = program === undefined ? undefined : await unpackedByProgram(content, context, program);
  if (unpacked !== undefined) yield unpacked;
  else if (failure !== undefined) throw failure;
}

async function* ownMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  const { budget } = context;
  const blocks = upxBlocks(reader);
  const pieces: Buffer[] = [];
  const size = blocks.reduce((sum, { unpacked }) => sum + unpacked, 0);
  if (size > UNPACKED_MAXIMUM) throw new Unreadable('too_large');
  for (const { from, packed, unpacked, method } of blocks) {
    // Charged before memory is allocated.
    budget.addUnpacked(unpacked, size, content.size);
    budget.spend(unpacked);
    const bytes = reader.at(from, packed);
    const nrv = NRV[method];
    if (method === 0) pieces.push(bytes);
    else if (nrv !== undefined) pieces.push(unpackNrv(bytes, unpacked, nrv));
    else if (method === METHOD.deflate) {
      const answer = decompress('deflate', bytes, budget, { most: unpacked });
      if (answer.kind !== 'whole') throw new Unreadable('damaged');
      pieces.push(answer.plain);
    } else if (method === METHOD.lzma) {
      const lzma = asLzma(bytes, unpacked);
      for await (const member of sevenZipMembers(openSource({ size: lzma.length, bytes: lzma }), 'lzma', context)) {
        const body = await member.read();
        if ('content' in body && 'bytes' in body.content) pieces.push(body.content.bytes);
      }
    } else throw new Unreadable('unsupported');
  }
  const bytes = Buffer.concat(pieces);
  // The program format determines where the packed program ends, so nothing is claimed here.
  if (bytes.length > 0) yield { name: 'unpacked program', read: () => ({ content: { size: bytes.length, bytes } }) };
}

export const packedProgram = format({
  id: 'upx',
  recogniseBeside: ({ reader, head }) => (isProgramHead(head) && isUpxPacked(reader) ? 32 : 0),
  traits: { is_beside: true },
  limits: 'What neither the own reader nor an installed `upx` unpacks is not read.',
  open: upxMembers,
});
