import { format } from '#scanner/formats/format.ts';
import { LISTED_MAXIMUM, type ListedMember, type ReadList } from '#scanner/formats/seven-zip/listed-members.ts';
import type { Content } from '#scanner/reading/content.ts';
import { decodeName, type Member, type ReadContext } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// A disc may have two directory trees, ISO 9660 (ECMA-119) and Joliet for Windows, which need not agree. 7-Zip reads the Joliet tree, Linux may read the other
// one. Files that only the other tree has are given here.

/** Identifier after the type in each volume descriptor (ECMA-119, 8.1.2). */
export const VOLUME_ID = 'CD001';
const DESCRIPTOR = { at: 32_768, bytes: 2048, most: 16, mark: Buffer.from(VOLUME_ID), primary: 1, other: 2 } as const;
const ROOT_AT = 156;
const RECORD_BYTES_LEAST = 34;
/** File flags (ECMA-119, 9.1.6). `beside` marks an associated file, `goes_on` a file that continues in the next record. */
const FLAG = { folder: 2, beside: 4, goes_on: 0x80 } as const;
const FOLDERS_MAXIMUM = 10_000;
const FOLDER_BYTES_MAXIMUM = 16 * 1024 ** 2;

interface File {
  name: string;
  start: number;
  size: number;
  flags: number;
}

/** Reads the record of a directory or a file (ECMA-119, 9.1); undefined if it is invalid. */
function recordAt(bytes: Buffer, at: number, block: number): (File & { length: number }) | undefined {
  const length = bytes[at] ?? 0;
  const name_bytes = bytes[at + 32] ?? 0;
  if (length < RECORD_BYTES_LEAST || at + length > bytes.length || 33 + name_bytes > length) return undefined;
  return {
    name: decodeName(bytes.subarray(at + 33, at + 33 + name_bytes)).replace(/;\d+$/, ''),
    start: (bytes.readUInt32LE(at + 2) + (bytes[at + 1] ?? 0)) * block,
    size: bytes.readUInt32LE(at + 10),
    flags: bytes[at + 25] ?? 0,
    length,
  };
}

/** The files of the tree whose root is in the descriptor. Each directory is read once. */
function* filesOf(reader: Reader, descriptor: Buffer): Generator<File> {
  const block = descriptor.readUInt16LE(128) || DESCRIPTOR.bytes;
  const root = recordAt(descriptor, ROOT_AT, block);
  const waiting = root === undefined ? [] : [root];
  const seen = new Set<number>();
  for (let folder = waiting.pop(); folder !== undefined && seen.size < FOLDERS_MAXIMUM; folder = waiting.pop()) {
    if (seen.has(folder.start)) continue;
    seen.add(folder.start);
    const bytes = reader.at(folder.start, Math.min(folder.size, FOLDER_BYTES_MAXIMUM));
    for (let at = 0; at < bytes.length; ) {
      const record = recordAt(bytes, at, block);
      if (record === undefined) {
        // Records do not cross block boundaries.
        at = (Math.floor(at / block) + 1) * block;
        continue;
      }
      if ((record.flags & FLAG.folder) !== 0) waiting.push(record);
      else if (record.size > 0) yield record;
      at += record.length;
    }
  }
}

/** The volume descriptors (ECMA-119, 8). */
function descriptorsOf(reader: Reader): Buffer[] {
  const descriptors: Buffer[] = [];
  for (let index = 0; index < DESCRIPTOR.most; index += 1) {
    const bytes = Buffer.from(reader.at(DESCRIPTOR.at + index * DESCRIPTOR.bytes, DESCRIPTOR.bytes));
    if (bytes.length < DESCRIPTOR.bytes || !bytes.subarray(1, 6).equals(DESCRIPTOR.mark)) break;
    descriptors.push(bytes);
  }
  return descriptors;
}

/** Lists the files of the tree that 7-Zip reads; undefined if there is no tree, a file has several records, or the list is too long. */
export const listOfIso: ReadList = (reader) => {
  const descriptors = descriptorsOf(reader);
  const tree =
    descriptors.findLast(([type]) => type === DESCRIPTOR.other) ?? descriptors.find(([type]) => type === DESCRIPTOR.primary);
  if (tree === undefined) return undefined;
  const listed: ListedMember[] = [];
  for (const { start, size, flags } of filesOf(reader, tree)) {
    if ((flags & FLAG.goes_on) !== 0 || listed.length === LISTED_MAXIMUM) return undefined;
    const may_be_absent = (flags & FLAG.beside) !== 0 || start + size > reader.size;
    listed.push({ size, crc: undefined, may_be_absent });
  }
  return listed;
};

/** The files of the ISO 9660 tree that no Joliet tree has. */
async function* isoTreeMembers(content: Content, { budget }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const descriptors = descriptorsOf(reader);
  const others = descriptors.filter(([type]) => type === DESCRIPTOR.other);
  if (others.length === 0) return;
  const known = new Set<string>();
  for (const other of others) for (const { start, size } of filesOf(reader, other)) known.add(`${start} ${size}`);
  for (const primary of descriptors.filter(([type]) => type === DESCRIPTOR.primary)) {
    for (const { name, start, size } of filesOf(reader, primary)) {
      const end = Math.min(start + size, reader.size);
      if (known.has(`${start} ${size}`) || start >= end) continue;
      known.add(`${start} ${size}`);
      async function* pieces(): AsyncGenerator<Buffer> {
        yield* reader.chunks(start, end);
      }
      yield { name, read: () => ({ stream: pieces(), packed_bytes: end - start }) };
    }
  }
}

/** Files of a disc that 7-Zip does not list. */
export const isoTrees = format({
  id: 'iso-trees',
  recogniseBeside: ({ beside }) => (beside.some(({ format: { id } }) => id === 'iso') ? 40 : 0),
  traits: { is_beside: true },
  limits: null,
  open: isoTreeMembers,
});
