import { need, unpackedBlock } from '#scanner/formats/compression/block-streams.ts';
import { format, patternOf, withBits } from '#scanner/formats/format.ts';
import { sevenZipMembers } from '#scanner/formats/seven-zip/seven-zip.ts';
import { type Content, joined, openSource, partOf } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Bundles of Unity (UnityFS, formats 6 to 8, as published by UnityPy and AssetStudio): a list of blocks, each packed on its own, and of files in the unpacked blocks together.

const MAGIC = Buffer.from('UnityFS\0');
const HEAD_BYTES = 512;
/** Numbers behind the two texts of the head: the size, how long the list is, packed and unpacked, and flags. */
const FLAG = { packing: 0x3f, list_at_end: 0x80, padded: 0x200 } as const;
const PACKING = { none: 0, lzma: 1, lz4: 2, lz4hc: 3 } as const;
const ALIGNED_FORMAT = 7;
const ALIGNMENT = 16;
const LIST_BYTES_MAXIMUM = 4 * 1024 ** 2;
/** In the list: a hash, then ten bytes for each block, and for each file 20 and a name. */
const HASH_BYTES = 16;
const NAME_BYTES_MAXIMUM = 1024;
const LZMA_HEAD_BYTES = 5;
/** Further files packed together are not taken apart. */
const FILES_MAXIMUM = 1000;

const START = struct('big', { magic: MAGIC.length, format: 'u32' });
/** Behind the versions of the player and the engine. */
const NUMBERS = struct('big', { bundle_bytes: 'u64', list_packed_bytes: 'u32', list_bytes: 'u32', flags: 'u32' });
const BLOCK = struct('big', { bytes: 'u32', packed_bytes: 'u32', flags: 'u16' });
const FILE = struct('big', { from: 'u64', bytes: 'u64', flags: 'u32' });

function isUnity(head: Buffer): boolean {
  const start = START.read(head);
  return start?.magic.equals(MAGIC) === true && [6, 7, 8].includes(start.format);
}

interface Block {
  /** Its place in the bundle, and in the unpacked blocks together. */
  start: number;
  packed_bytes: number;
  from: number;
  size: number;
  packing: number;
}

interface File {
  name: string;
  from: number;
  size: number;
}

const aligned = (at: number) => Math.ceil(at / ALIGNMENT) * ALIGNMENT;

function unpacked(packed: Buffer, size: number, packing: number, budget: Budget): Buffer {
  if (packing === PACKING.none) return packed;
  if (packing === PACKING.lz4 || packing === PACKING.lz4hc) return unpackedBlock(packed, size, budget);
  throw new Unreadable('unsupported');
}

/** Where the list stands, and where the blocks begin. @throws Unreadable */
function placesOf(reader: Reader): { list: Buffer; start: number } {
  const head = reader.at(0, HEAD_BYTES);
  const format = START.read(head)?.format ?? 0;
  const player = head.indexOf(0, 12);
  const engine = player < 0 ? -1 : head.indexOf(0, player + 1);
  if (engine < 0 || engine + 1 + NUMBERS.bytes > head.length) throw new Unreadable('damaged');
  const numbers = engine + 1;
  const fields = NUMBERS.read(head, numbers);
  if (fields === undefined) throw new Unreadable('damaged');
  const { list_packed_bytes: packed_bytes, list_bytes: size, flags } = fields;
  const behind = format >= ALIGNED_FORMAT ? aligned(numbers + NUMBERS.bytes) : numbers + NUMBERS.bytes;
  const is_at_end = (flags & FLAG.list_at_end) !== 0;
  if (packed_bytes > reader.size) throw new Unreadable('damaged');
  if (packed_bytes > LIST_BYTES_MAXIMUM || size > LIST_BYTES_MAXIMUM) throw new Unreadable('too_large');
  const packed = need(reader, is_at_end ? reader.size - packed_bytes : behind, packed_bytes);
  const start = is_at_end ? behind : behind + packed_bytes;
  return {
    list: unpacked(packed, size, flags & FLAG.packing, reader.budget),
    start: (flags & FLAG.padded) === 0 ? start : aligned(start),
  };
}

function listOf(list: Buffer, first: number): { blocks: Block[]; files: File[] } {
  const number = (at: number) => {
    if (at + 4 > list.length) throw new Unreadable('damaged');
    return list.readUInt32BE(at);
  };
  const blocks: Block[] = [];
  let at = HASH_BYTES + 4;
  let start = first;
  let from = 0;
  for (const end = at + number(HASH_BYTES) * BLOCK.bytes; at < end; at += BLOCK.bytes) {
    const block = BLOCK.read(list, at);
    if (block === undefined) throw new Unreadable('damaged');
    const { bytes: size, packed_bytes } = block;
    blocks.push({ start, packed_bytes, from, size, packing: block.flags & FLAG.packing });
    start += packed_bytes;
    from += size;
  }
  const files: File[] = [];
  const count = number(at);
  at += 4;
  for (let index = 0; index < count; index += 1) {
    const name_end = list.indexOf(0, at + FILE.bytes);
    const file = FILE.read(list, at);
    if (file === undefined || name_end < 0) throw new Unreadable('damaged');
    files.push({
      name: list.toString('utf8', at + FILE.bytes, Math.min(name_end, at + FILE.bytes + NAME_BYTES_MAXIMUM)),
      from: file.from,
      size: file.bytes,
    });
    at = name_end + 1;
  }
  return { blocks, files };
}

/** The first block that ends behind `from`. */
function firstBehind(blocks: readonly Block[], from: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle];
    if (block !== undefined && block.from + block.size <= from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The files of a bundle; LZMA comes block by block. @throws Unreadable */
async function* unityMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const { budget, claim } = context;
  const reader = openReader(content, budget);
  const source = openSource(content);
  try {
    const { list, start } = placesOf(reader);
    const { blocks, files } = listOf(list, start);
    claim(0, start);
    const last = blocks.at(-1);
    const end = last === undefined ? start : last.start + last.packed_bytes;
    // The list may stand behind the blocks.
    claim(start, Math.min(end, reader.size));
    if (reader.size - end <= list.length) claim(Math.min(end, reader.size), reader.size);
    async function* bytesOf({ from, size }: File): AsyncGenerator<Buffer> {
      for (let index = firstBehind(blocks, from); index < blocks.length; index += 1) {
        const block = blocks[index];
        if (block === undefined || block.from >= from + size) return;
        const plain = unpacked(need(reader, block.start, block.packed_bytes), block.size, block.packing, budget);
        budget.spend(plain.length);
        yield Buffer.from(plain.subarray(Math.max(0, from - block.from), from + size - block.from));
      }
    }
    for (const [index, block] of blocks.entries()) {
      if (block.packing !== PACKING.lzma) continue;
      const head = Buffer.alloc(LZMA_HEAD_BYTES + 8);
      reader.at(block.start, LZMA_HEAD_BYTES).copy(head);
      head.writeBigUInt64LE(BigInt(block.size), LZMA_HEAD_BYTES);
      const rest = {
        start: block.start + LZMA_HEAD_BYTES,
        size: Math.max(0, Math.min(end, reader.size) - block.start - LZMA_HEAD_BYTES),
      };
      const packed = joined(source, [
        head,
        { ...rest, size: Math.min(rest.size, Math.max(0, block.packed_bytes - LZMA_HEAD_BYTES)) },
      ]);
      for await (const member of sevenZipMembers(packed, 'lzma', context, () => {})) {
        const body = await member.read();
        if (!('content' in body)) continue;
        const inside = files.filter(({ from, size }) => from >= block.from && from + size <= block.from + body.content.size);
        // A file over several blocks is read block by block.
        if (inside.length < files.length || files.length > FILES_MAXIMUM) yield { name: `block ${index}`, read: () => body };
        else
          for (const { name, from, size } of inside)
            yield { name, read: () => ({ content: partOf(body.content, from - block.from, from - block.from + size) }) };
      }
    }
    if (blocks.some(({ packing }) => packing === PACKING.lzma)) return;
    for (const file of files)
      yield { name: file.name, read: () => ({ stream: bytesOf(file), packed_bytes: Math.max(1, end - start) }) };
  } finally {
    source.close();
    reader.close();
  }
}

export const unity = format({
  id: 'unity',
  media_type: 'application/x-packed',
  recognise: withBits(92, isUnity),
  carve: [{ pattern: `${patternOf({ at: 0, bytes: MAGIC })} 00 00 00 (06|07|08)` }],
  limits: 'Bundles before format 6 are not read.',
  open: unityMembers,
});
