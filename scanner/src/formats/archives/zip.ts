import { crc32 } from 'node:zlib';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { DEFLATE_RATIO_MAXIMUM, decompress } from '#scanner/decompression/decompress.ts';
import { withMacroSheets } from '#scanner/formats/documents/xlsx-macros.ts';
import { format, oneOf, patternOf, withBits } from '#scanner/formats/format.ts';
import { areOthers, type ListedMember, noted } from '#scanner/formats/seven-zip/listed-members.ts';
import { sevenZipMembers } from '#scanner/formats/seven-zip/seven-zip.ts';
import { type Content, joined, type Source, standsAt } from '#scanner/reading/content.ts';
import { type Budget, LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type MemberBody, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { Ranges } from '#scanner/reading/ranges.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import {
  ALL_ONES,
  CENTRAL,
  DESCRIPTOR,
  type Directory,
  END,
  END_BYTES,
  END_RECORD,
  type Entry,
  endsAsZip,
  FLAG,
  FOREIGN_BYTES_MAXIMUM,
  FOREIGN_METHODS,
  FOREIGN_SHARED_MAXIMUM,
  FOREIGN_TOTAL_MAXIMUM,
  findDirectories,
  LOCAL,
  LOCAL_BYTES,
  LOCAL_HEADER,
  listed,
  localAt,
  METHOD,
  NAME_BYTES_MAXIMUM,
  QUICK,
  SIGNED_TAIL_BYTES,
  VERSION_MAXIMUM,
} from './zip-directory.ts';
import { methodOf, unlocked, unpacked } from './zip-unlock.ts';

// A reader of its own, because a scanner must read whatever other programs would: archives after a program (SFX), with a wrong or missing directory, with
// members missing from the directory, or with contradictory headers. Numbers in comments are sections of PKWARE's APPNOTE 6.3.10.

async function* checked(chunks: AsyncGenerator<Buffer>, entry: Entry): AsyncGenerator<Buffer> {
  let crc = 0;
  let size = 0;
  for await (const chunk of chunks) {
    crc = crc32(chunk, crc);
    size += chunk.length;
    yield chunk;
  }
  if (!entry.open_end && (size !== entry.unpacked || crc !== entry.crc)) throw new Unreadable('damaged');
}

function bodyOf(content: Content, reader: Reader, entry: Entry, context: ReadContext): MemberBody {
  if (entry.method !== METHOD.bzip2 && entry.packed <= QUICK.packed && entry.unpacked <= QUICK.unpacked) {
    const raw = reader.at(entry.start, entry.packed);
    const bytes = entry.method === METHOD.stored ? raw : inflateQuickly(raw, entry, reader.budget);
    if (bytes !== undefined) {
      context.budget.addUnpacked(bytes.length, bytes.length, entry.packed);
      const whole = entry.open_end || (bytes.length === entry.unpacked && crc32(bytes) === entry.crc);
      return { content: { size: bytes.length, bytes }, damage: whole ? undefined : 'damaged' };
    }
  }
  return { stream: checked(unpacked(content, reader, entry), entry), packed_bytes: entry.packed };
}

/** Inflates a member in one call. Undefined if it is incomplete or longer than announced; the stream then gives the part that can be read. */
function inflateQuickly(raw: Buffer, entry: Entry, budget: Budget): Buffer | undefined {
  const most = entry.open_end ? QUICK.unpacked : Math.max(1, entry.unpacked);
  // One chunk of the announced size avoids concatenation.
  const chunk_bytes = entry.open_end ? undefined : Math.min(most, raw.length * DEFLATE_RATIO_MAXIMUM) + 1;
  const answer = decompress('deflate', raw, budget, { most, chunk_bytes });
  return answer.kind === 'whole' ? answer.plain : undefined;
}

function memberOf(content: Content, reader: Reader, entry: Entry, context: ReadContext): Member {
  const method = methodOf(entry);
  const is_unlocked_here = method === METHOD.stored || method === METHOD.deflated;
  const readable = is_unlocked_here || method === METHOD.bzip2;
  const encrypted = (entry.flags & FLAG.encrypted) !== 0 || entry.method === METHOD.aes;
  const { password } = context;
  if (encrypted && is_unlocked_here && password !== undefined) {
    return {
      name: entry.name,
      read: () => ({ stream: unlocked(content, entry, password, context.budget), packed_bytes: entry.packed }),
    };
  }
  return {
    name: entry.name,
    closed: encrypted ? 'encrypted' : readable ? undefined : 'unsupported',
    read: () => bodyOf(content, reader, entry, context),
  };
}

function isFolder(entry: Entry): boolean {
  return entry.name.endsWith('/') && entry.unpacked === 0 && entry.packed === 0;
}

function isForeign(entry: Entry): boolean {
  const small = entry.packed < FOREIGN_BYTES_MAXIMUM && entry.unpacked < FOREIGN_BYTES_MAXIMUM;
  return small && FOREIGN_METHODS.includes(entry.method) && (entry.flags & FLAG.encrypted) === 0;
}

/** Claims the data descriptor (4.3.9): with or without a signature, with 32-bit or 64-bit sizes. */
function claimDescriptor(reader: Reader, at: number, context: ReadContext): void {
  const is_signed = reader.at(at, 4).equals(DESCRIPTOR);
  const after = at + (is_signed ? 16 : 12);
  // The next record begins with PK. With 64-bit sizes it begins 8 bytes later.
  const is_wide = reader.at(after, 2).toString('latin1') !== 'PK' && reader.at(after + 8, 2).toString('latin1') === 'PK';
  context.claim(at, is_wide ? after + 8 : after);
}

/** Claims the signatures of an Android package, which are directly before its directory (APK Signature Scheme v2, "APK Signing Block"). */
function claimSigned(reader: Reader, directory: Directory, take: (from: number, to: number) => void): void {
  const tail = reader.at(directory.start - SIGNED_TAIL_BYTES, SIGNED_TAIL_BYTES);
  if (tail.length < SIGNED_TAIL_BYTES || tail.toString('latin1', 8) !== 'APK Sig Block 42') return;
  const from = directory.start - 8 - Number(tail.readBigUInt64LE(0));
  if (from >= 0 && reader.at(from, 8).equals(tail.subarray(0, 8))) take(from, directory.start);
}

/** The next valid local header between `from` and `to`. */
function nextLocal(reader: Reader, from: number, to: number): { entry: Entry; position: number } | undefined {
  for (let at = reader.find(LOCAL, from, to); at >= 0; at = reader.find(LOCAL, at + 1, to)) {
    const entry = localAt(reader, at);
    if (entry !== undefined) return { entry, position: at };
  }
  return undefined;
}

/** Members between `from` and `to`, found by their local headers alone. */
function* walked(reader: Reader, from: number, to: number): Generator<Entry & { header: number }> {
  let found = nextLocal(reader, from, to);
  while (found !== undefined) {
    const { entry } = found;
    // Without a size, the data ends at the next header or earlier; deflate marks its own end.
    const after = entry.open_end ? nextLocal(reader, entry.start, to) : undefined;
    const end = Math.min(entry.open_end ? (after?.position ?? to) : entry.start + entry.packed, reader.size);
    yield { ...entry, packed: Math.max(0, end - entry.start), header: found.position };
    found = after ?? (entry.open_end ? undefined : nextLocal(reader, Math.max(entry.start, Math.min(end, to)), to));
  }
}

/** Builds a zip archive of these members, named by index, for 7-Zip, which supports their compression. */
function rebuilt(reader: Reader, entries: readonly Entry[]): Source {
  const parts: (Buffer | { start: number; size: number })[] = [];
  const centrals: Buffer[] = [];
  let size = 0;
  for (const [index, entry] of entries.entries()) {
    const name = Buffer.from(String(index));
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION_MAXIMUM, 0);
    common.writeUInt16LE(entry.flags & 0x6, 2);
    common.writeUInt16LE(entry.method, 4);
    common.writeUInt32LE(entry.crc, 10);
    common.writeUInt32LE(entry.packed, 14);
    common.writeUInt32LE(entry.unpacked, 18);
    common.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(size, 10);
    centrals.push(CENTRAL, Buffer.from([VERSION_MAXIMUM, 0]), common, tail, name);
    const local = Buffer.concat([LOCAL, common, name]);
    parts.push(local, { start: entry.start, size: entry.packed });
    size += local.length + entry.packed;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(END_BYTES);
  END.copy(end);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(size, 16);
  return joined({ fill: (target, position) => reader.at(position, target.length).copy(target) }, [...parts, central, end]);
}

/**
 * The members of a zip archive: members of the directories, members that have only a local header, and both versions if the two headers contradict each other.
 * @throws Unreadable at the end, if part of the archive is damaged.
 */
async function* zipMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  const foreign: Entry[] = [];
  let foreign_bytes = 0;
  let damaged = false;
  const directories = findDirectories(reader);
  for (const { entries } of directories.slice(0, 1)) context.budget.announce(entries);
  const taken = new Ranges(reader.size);
  const take = (from: number, to: number) => {
    taken.add(from, to);
    context.claim(from, to);
  };
  const members = function* (entry: Entry): Generator<Member> {
    if (isFolder(entry)) return;
    if (isForeign(entry)) {
      const packed = Math.max(0, Math.min(entry.packed, reader.size - entry.start));
      foreign.push({ ...entry, packed });
      foreign_bytes += packed;
      context.budget.expectMembers(foreign.length);
      // Entries that share the same packed bytes again and again.
      if (foreign_bytes > FOREIGN_SHARED_MAXIMUM * reader.size) throw new LimitReached('bomb');
      if (foreign_bytes > FOREIGN_TOTAL_MAXIMUM) throw new LimitReached('too_large');
    } else yield memberOf(content, reader, entry, context);
  };
  /** Keys of members that were read, from the directories. If several directories list the same member, it is read once. */
  const read = new Set<string>();
  damaged ||= directories.length === 0;
  for (const directory of directories) {
    take(directory.end.from, directory.end.to);
    if (directory.size === 0) continue;
    take(directory.start, directory.start + directory.size);
    claimSigned(reader, directory, take);
    try {
      for (const { entry, position } of listed(reader, directory)) {
        const local = localAt(reader, position);
        if (local === undefined) {
          damaged = true;
          continue;
        }
        take(position, local.start + entry.packed);
        if ((local.flags & FLAG.descriptor) !== 0) claimDescriptor(reader, local.start + entry.packed, context);
        if (directories.length > 1) {
          const key = [position, entry.packed, entry.method, entry.flags, entry.unpacked, entry.crc].join();
          if (read.has(key)) continue;
          read.add(key);
        }
        yield* members({ ...entry, start: local.start });
        const differs =
          local.method !== entry.method ||
          (local.flags & FLAG.encrypted) !== (entry.flags & FLAG.encrypted) ||
          (!local.open_end && local.packed !== entry.packed);
        if (differs) yield* members({ ...local, packed: local.open_end ? entry.packed : local.packed, name: entry.name });
      }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      damaged = true;
    }
  }
  // Ranges outside all entries may contain hidden members.
  for (const { start, end } of taken.gaps()) {
    for (const entry of end - start >= LOCAL_BYTES ? walked(reader, start, end) : []) {
      context.claim(entry.header, entry.start + entry.packed);
      if (entry.open_end) claimDescriptor(reader, entry.start + entry.packed, context);
      yield* members(entry);
    }
  }
  if (foreign.length > 0) {
    const name = (index: string) => foreign[Number(index)]?.name ?? index;
    const given: ListedMember[] = [];
    let count = 0;
    for await (const member of sevenZipMembers(rebuilt(reader, foreign), 'zip', context)) {
      count += 1;
      yield noted({ ...member, name: name(member.name) }, given);
    }
    const listed_members = foreign.flatMap(({ unpacked, crc }) => (unpacked > 0 ? [{ size: unpacked, crc }] : []));
    // Sizes in data descriptors are unknown here, so the lists are not compared.
    const is_known = given.length === count && foreign.every(({ open_end }) => !open_end);
    if (is_known && areOthers(listed_members, given)) {
      context.note(scanPhrase('archive.other_contents', {}));
      damaged = true;
    }
  }
  if (damaged) throw new Unreadable('damaged');
}

/**
 * Members of the directories whose local header is in place and has the same name. Other entries may belong to archives that another format stores in pieces
 * and gives itself, so they do not count as damage.
 */
async function* membersInPlace(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  for (const directory of findDirectories(reader)) {
    for (const { entry, position } of whileReadable(listed(reader, directory))) {
      const local = localAt(reader, position);
      if (local?.name !== entry.name) continue;
      const member = { ...entry, start: local.start };
      if (!isFolder(member)) yield memberOf(content, reader, member, context);
    }
  }
}

/** The items before the first Unreadable error. */
function* whileReadable<Item>(items: Iterable<Item>): Generator<Item> {
  try {
    yield* items;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
}

const NAMED_TYPES: readonly { name: string; type: string }[] = [
  { name: 'word/', type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  { name: 'xl/', type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  { name: 'ppt/', type: 'application/vnd.openxmlformats-officedocument.presentationml.presentation' },
];

/** The media type of a zip archive, from the names in its first headers. */
function mediaTypeOfZip(head: Buffer): string {
  const name_bytes = LOCAL_HEADER.read(head)?.name_bytes ?? 0;
  const first = head.toString('latin1', LOCAL_BYTES, LOCAL_BYTES + Math.min(name_bytes, 64));
  if (first === 'mimetype' && head.includes('application/vnd.oasis.opendocument')) return 'application/vnd.oasis.opendocument';
  if (first === 'AndroidManifest.xml') return 'application/vnd.android.package-archive';
  if (first.startsWith('META-INF/')) return 'application/java-archive';
  if (!head.includes('[Content_Types].xml')) return 'application/zip';
  return NAMED_TYPES.find(({ name }) => head.includes(name))?.type ?? 'application/zip';
}

/** Whether the bytes are an end record without an archive before it. Archives on several disks are excluded, since the magic may also occur in comments. */
function isEmptyZip(head: Buffer): boolean {
  return head.length >= END_BYTES && standsAt(head, END, 0) && [0, ALL_ONES].includes(head.readUInt32LE(4));
}

/** Whether the bytes begin with a local header, an empty archive or a spanned archive (4.3.7, 4.3.16, 8.5.4). */
function isZip(head: Buffer): boolean {
  return standsAt(head, LOCAL, 0) || standsAt(head, DESCRIPTOR, 0) || isEmptyZip(head);
}

/** Whether the local header has an existing version and a name without control characters (4.3.7). */
function provesZip(reader: Reader, at: number): boolean {
  const head = LOCAL_HEADER.read(reader.at(at, LOCAL_BYTES));
  if (head === undefined || (head.version & 0xff) > VERSION_MAXIMUM) return false;
  const { name_bytes } = head;
  if (name_bytes === 0 || name_bytes > NAME_BYTES_MAXIMUM) return false;
  const name = reader.at(at + LOCAL_BYTES, name_bytes);
  return name.length === name_bytes && !name.some((byte) => byte < 0x20);
}

/** Maps the start of each zip archive in the file to its end, calculated from the end records (4.3.16). */
function zipEnds(reader: Reader): Map<number, number> {
  const ends = new Map<number, number>();
  for (let found = reader.find(END, 0); found >= 0; found = reader.find(END, found + 1)) {
    const end = END_RECORD.read(reader.at(found, END_BYTES));
    if (end === undefined) break;
    ends.set(found - end.directory_bytes - end.directory_offset, found + END_BYTES + end.comment_bytes);
  }
  return ends;
}

export const zip = format({
  id: 'zip',
  media_type: mediaTypeOfZip,
  recognise: withBits(32, isZip),
  carve: [
    {
      pattern: `${patternOf({ at: 0, bytes: LOCAL })} ${oneOf(10, VERSION_MAXIMUM)} ?? ?? ?? (00|01|02|03|04|05|06|08|09|0c|0e|5d|5f|61|62|63) 00`,
      proves: provesZip,
      endsIn(reader) {
        let ends: Map<number, number> | undefined;
        return (at) => {
          ends ??= zipEnds(reader);
          return ends.get(at);
        };
      },
    },
  ],
  traits: { reads_ahead: true, owns_end: () => true },
  limits:
    'Members that are encrypted are read with their password; strong encryption of PKWARE and archives over several files are not.',
  open: (content, context) => withMacroSheets(zipMembers(content, context), context.budget),
});

/** A zip archive at the end of another file, for example of a self-extracting program. */
export const zipAtEnd = format({
  id: 'zip-at-end',
  media_type: mediaTypeOfZip,
  recogniseBeside: ({ reader, first }) => (first?.format.traits.owns_end?.(reader) !== true && endsAsZip(reader) ? 32 : 0),
  traits: zip.traits,
  limits: null,
  open: zip.open,
});

/** A zip archive within a file whose end belongs to another format, for example in the pages of a database. Programs that search for the end record open it. */
export const zipInPages = format({
  id: 'zip-in-pages',
  media_type: mediaTypeOfZip,
  recogniseBeside: ({ reader, first }) =>
    first !== undefined && first.format !== zip && first.format.traits.owns_end?.(reader) === true && endsAsZip(reader) ? 32 : 0,
  traits: { is_beside: true },
  limits: null,
  open: membersInPlace,
});
