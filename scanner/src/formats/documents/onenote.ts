import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// OneNote files (MS-ONESTORE). Each attached file is in a FileDataStoreObject (2.6.13), which is found by its GUID and has a length. The tables of files are
// not followed; a file without an entry is read as well.

/** {7B5C52E4-D88C-4DA7-AEB1-5378D02996D3} and {43FF2FA1-EFD9-4C76-9EE2-10EA5722765F}: types of a section and of a table of contents (2.3.1). */
const FILE_TYPES: readonly Buffer[] = [
  Buffer.from('e4525c7b8cd8a74daeb15378d02996d3', 'hex'),
  Buffer.from('a12fff43d9ef764c9ee210ea5722765f', 'hex'),
];
/** {BDE316E7-2665-4511-A4C4-8D4D0B7A9EAC}: begins a FileDataStoreObject (2.6.13). */
const OBJECT = Buffer.from('e716e3bd65261145a4c48d4d0b7a9eac', 'hex');
const HEADER_BYTES = 36;

function isOneNote(head: Buffer): boolean {
  return FILE_TYPES.some((type) => head.subarray(0, type.length).equals(type));
}

/** {109ADD3F-911B-49F5-A5D0-1791EDC8AED8}, at 48: a section packaged for transfer (2.8.1, guidFileFormat; MS-FSSHTTPB). */
const PACKED = Buffer.from('3fdd9a101b91f549a5d01791edc8aed8', 'hex');
const PACKED_AT = 48;
const STORE_HEADER_BYTES = 1024;
/** Positions of references in the store header: hashed chunks, transaction log, root node list, and free chunks (2.3.1). */
const CHUNKS_AT = { hashed: 148, log: 160, nodes: 172, free: 184 } as const;
const FREE = { head: 16, entry: 16, most: 1000 } as const;
/** Magics at the start and the end of a node list fragment (2.4). */
const FRAGMENT = Buffer.from('c4f4f7f5b17a56a4', 'hex');
const FRAGMENT_END = Buffer.from('4bba3382c315c28b', 'hex');
const FRAGMENT_HEAD_BYTES = 16;
const FRAGMENT_TAIL_BYTES = 20;
/** {71FBA722-0F79-4A0B-BB13-899256426B24}: ends a FileDataStoreObject (2.6.13). */
const OBJECT_END = Buffer.from('22a7fb71790f0b4abb13899256426b24', 'hex');

/** Encodings of a node's reference, which four bits of the node select: two for the offset, two for the size (2.4.3). */
const PLACE_FORMS = [
  { bytes: 8, times: 1 },
  { bytes: 4, times: 1 },
  { bytes: 2, times: 8 },
  { bytes: 4, times: 8 },
] as const;
const SIZE_FORMS = [
  { bytes: 4, times: 1 },
  { bytes: 8, times: 1 },
  { bytes: 1, times: 8 },
  { bytes: 2, times: 8 },
] as const;

function numberAt(bytes: Buffer, at: number, length: number): number {
  return length === 8 ? Number(bytes.readBigUInt64LE(at)) : bytes.readUIntLE(at, length);
}

/** The reference of a node, if it has one: to data (kind 1) or to another node list (kind 2). */
function referenceOf(node: Buffer): { kind: number; start: number; size: number } | undefined {
  const head = node.readUInt32LE(0);
  const kind = (head >>> 27) & 15;
  const place = PLACE_FORMS[(head >>> 23) & 3] ?? PLACE_FORMS[0];
  const length = SIZE_FORMS[(head >>> 25) & 3] ?? SIZE_FORMS[0];
  if ((kind !== 1 && kind !== 2) || node.length < 4 + place.bytes + length.bytes) return undefined;
  const start = numberAt(node, 4, place.bytes) * place.times;
  return { kind, start, size: numberAt(node, 4 + place.bytes, length.bytes) * length.times };
}

/** Maximum size read of a node list fragment. Bytes. */
const FRAGMENT_BYTES_MAXIMUM = 4 * 1024 ** 2;

/** Follows the node lists from `first`, each fragment once, and claims them and the data that they refer to. */
function claimNodes(reader: Reader, first: readonly { start: number; size: number }[], { budget, claim }: ReadContext): void {
  const waiting = [...first];
  const seen = new Set<number>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { start, size } = next;
    if (seen.has(start) || start < STORE_HEADER_BYTES || start + size > reader.size) continue;
    seen.add(start);
    claim(start, start + size);
    const piece = reader.at(start, Math.min(size, FRAGMENT_BYTES_MAXIMUM));
    const end = piece.length - FRAGMENT_TAIL_BYTES;
    if (end < FRAGMENT_HEAD_BYTES || !piece.subarray(0, FRAGMENT.length).equals(FRAGMENT)) continue;
    if (!piece.subarray(-FRAGMENT_END.length).equals(FRAGMENT_END)) continue;
    const after = { start: numberAt(piece, end, 8), size: piece.readUInt32LE(end + 8) };
    if (after.size > 0) waiting.push(after);
    for (let at = FRAGMENT_HEAD_BYTES; at + 4 <= end; ) {
      budget.spend(16);
      const bytes = (piece.readUInt32LE(at) >>> 10) & 0x1fff;
      if (bytes < 4) break;
      const reference = referenceOf(piece.subarray(at, Math.min(at + bytes, end)));
      if (reference?.kind === 2) waiting.push(reference);
      else if (reference !== undefined) claim(reference.start, reference.start + reference.size);
      at += bytes;
    }
  }
}

/** Claims the parts of a store. Free chunks are members, because they may contain anything. */
function* storeMembers(reader: Reader, context: ReadContext): Generator<Member> {
  const header = reader.at(0, STORE_HEADER_BYTES);
  context.claim(0, STORE_HEADER_BYTES);
  if (header.length < STORE_HEADER_BYTES) return;
  const chunkAt = (at: number) => ({ start: numberAt(header, at, 8), size: header.readUInt32LE(at + 8) });
  const chunks = [CHUNKS_AT.hashed, CHUNKS_AT.log, CHUNKS_AT.nodes].map(chunkAt);
  claimNodes(reader, chunks, context);
  const { start, size } = chunkAt(CHUNKS_AT.free);
  const list =
    start < STORE_HEADER_BYTES ? Buffer.alloc(0) : reader.at(start, Math.min(size, FREE.head + FREE.most * FREE.entry));
  context.claim(start, start + list.length);
  for (let at = FREE.head; at + FREE.entry <= list.length; at += FREE.entry) {
    const from = numberAt(list, at, 8);
    const to = Math.min(reader.size, from + numberAt(list, at + 8, 8));
    if (!(from >= STORE_HEADER_BYTES && from < to)) continue;
    context.claim(from, to);
    async function* pieces(): AsyncGenerator<Buffer> {
      yield* reader.chunks(from, to);
    }
    yield { name: `unused, at ${from}`, read: () => ({ stream: pieces(), packed_bytes: to - from }) };
  }
}

/**
 * The files of a section. @throws Unreadable at the end: `damaged` if a file is longer than the section, `unsupported` if the section is packaged for transfer.
 */
async function* oneNoteMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  let number = 0;
  let is_damaged = false;
  for (let at = reader.find(OBJECT, 0); at >= 0; ) {
    const header = reader.at(at, HEADER_BYTES);
    const start = at + HEADER_BYTES;
    const length = header.length < HEADER_BYTES ? 0 : Number(header.readBigUInt64LE(OBJECT.length));
    const end = Math.min(start + length, reader.size);
    is_damaged ||= start + length > reader.size;
    context.claim(at, end);
    if (end > start) {
      number += 1;
      async function* pieces(): AsyncGenerator<Buffer> {
        yield* reader.chunks(start, end);
      }
      yield { name: `file ${number}`, read: () => ({ stream: pieces(), packed_bytes: end - start }) };
    }
    const tail = start + Math.ceil(length / 8) * 8;
    if (reader.at(tail, OBJECT_END.length).equals(OBJECT_END)) context.claim(tail, tail + OBJECT_END.length);
    // The search continues inside the file, so that a wrong length cannot hide other files.
    at = reader.find(OBJECT, start);
  }
  yield* storeMembers(reader, context);
  if (reader.at(PACKED_AT, PACKED.length).equals(PACKED)) throw new Unreadable('unsupported');
  if (is_damaged) throw new Unreadable('damaged');
}

export const oneNote = format({
  id: 'onenote',
  media_type: 'application/onenote',
  recognise: withBits(128, isOneNote),
  limits: null,
  open: oneNoteMembers,
});
