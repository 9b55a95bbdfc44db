import { crc32 } from 'node:zlib';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { DEFLATE_RATIO_MAXIMUM, decompress, decompressed } from '#scanner/decompression/decompress.ts';
import { bzip2Streams } from '#scanner/formats/compression/bzip2.ts';
import { gathered } from '#scanner/formats/compression/compressed.ts';
import { withMacroSheets } from '#scanner/formats/documents/xlsx-macros.ts';
import { format, oneOf, patternOf, withBits } from '#scanner/formats/format.ts';
import { areOthers, type ListedMember, noted } from '#scanner/formats/seven-zip/listed-members.ts';
import { sevenZipMembers } from '#scanner/formats/seven-zip/seven-zip.ts';
import { type Content, joined, type Source, standsAt, streamOf } from '#scanner/reading/content.ts';
import { type Budget, LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type MemberBody, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { Ranges } from '#scanner/reading/ranges.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';
import { decodeBytes, passwordForms } from '#scanner/text/code-pages.ts';
import { type Aes, aesOf, decrypted } from './zip-crypto.ts';

// Own reader, because a scanner must read what any other program would: archives behind a program (SFX), with a wrong or no directory, with
// members that the directory hides, with headers that contradict each other. Numbers in comments are sections of PKWARE's APPNOTE 6.3.10.

const LOCAL = Buffer.from('PK\x03\x04', 'latin1');
const CENTRAL = Buffer.from('PK\x01\x02', 'latin1');
const END = Buffer.from('PK\x05\x06', 'latin1');
const DESCRIPTOR = Buffer.from('PK\x07\x08', 'latin1');
const ZIP64_END = Buffer.from('PK\x06\x06', 'latin1');
const ZIP64_LOCATOR = Buffer.from('PK\x06\x07', 'latin1');
const SIGNED_TAIL_BYTES = 24;

/** 4.3.7. */
const LOCAL_HEADER = struct('little', {
  signature: 4,
  version: 'u16',
  flags: 'u16',
  method: 'u16',
  time: 'u16',
  date: 'u16',
  crc: 'u32',
  packed: 'u32',
  unpacked: 'u32',
  name_bytes: 'u16',
  extra_bytes: 'u16',
});
/** 4.3.12. */
const CENTRAL_HEADER = struct('little', {
  signature: 4,
  made_by: 'u16',
  version: 'u16',
  flags: 'u16',
  method: 'u16',
  time: 'u16',
  date: 'u16',
  crc: 'u32',
  packed: 'u32',
  unpacked: 'u32',
  name_bytes: 'u16',
  extra_bytes: 'u16',
  comment_bytes: 'u16',
  disk: 'u16',
  internal_attributes: 'u16',
  external_attributes: 'u32',
  offset: 'u32',
});
/** 4.3.16. */
const END_RECORD = struct('little', {
  signature: 4,
  disk: 'u16',
  directory_disk: 'u16',
  entries_here: 'u16',
  entries: 'u16',
  directory_bytes: 'u32',
  directory_offset: 'u32',
  comment_bytes: 'u16',
});
/** 4.3.14. */
const ZIP64_END_RECORD = struct('little', {
  signature: 4,
  record_bytes: 'u64',
  made_by: 'u16',
  version: 'u16',
  disk: 'u32',
  directory_disk: 'u32',
  entries_here: 'u64',
  entries: 'u64',
  directory_bytes: 'u64',
  directory_offset: 'u64',
});
/** 4.3.15. */
const ZIP64_END_LOCATOR = struct('little', { signature: 4, disk: 'u32', offset: 'u64', disks: 'u32' });

const LOCAL_BYTES = LOCAL_HEADER.bytes;
const CENTRAL_BYTES = CENTRAL_HEADER.bytes;
const END_BYTES = END_RECORD.bytes;
const COMMENT_BYTES_MAXIMUM = 65_535;
const ZIP64_LOCATOR_BYTES = ZIP64_END_LOCATOR.bytes;
const ZIP64_END_BYTES = ZIP64_END_RECORD.bytes;
const ZIP64_EXTRA = 0x0001;
const ALL_ONES = 0xffffffff;
const FLAG = { encrypted: 1, descriptor: 1 << 3, utf8: 1 << 11 } as const;
const METHOD = { stored: 0, deflated: 8, bzip2: 12, aes: 99 } as const;
/** 4.4.5: deflate64, LZMA, zstd, xz, PPMd, and the old ones of PKZIP 1. */
const FOREIGN_METHODS: readonly number[] = [1, 2, 3, 4, 5, 6, 9, 14, 93, 95, 98];
/** One of them, and all of them together, which must stay below 4 GiB, where zip64 begins. */
const FOREIGN_BYTES_MAXIMUM = 1024 ** 3;
const FOREIGN_TOTAL_MAXIMUM = 3 * 1024 ** 3;
/** Members that are read both ways are there twice; more often than this the same bytes are no member. */
const FOREIGN_SHARED_MAXIMUM = 4;
const VERSION_MAXIMUM = 63;
const NAME_BYTES_MAXIMUM = 4096;

/** Deflate's own most. */
/** Members up to these sizes are inflated in one call instead of by a stream. Bytes. */
const QUICK = { packed: 4 * 1024 ** 2, unpacked: 8 * 1024 ** 2 } as const;
/** Where headers are missing, at most so much is searched for them. */
const DIRECTORY_PIECE_BYTES = 256 * 1024;

interface Entry {
  name: string;
  flags: number;
  method: number;
  crc: number;
  packed: number;
  unpacked: number;
  /** Where the packed bytes begin. */
  start: number;
  /** The sizes stand behind the data, so they are not known here. */
  open_end: boolean;
  /** The time of the file: the old encryption is checked by it when the checksum stands behind the data. */
  time: number;
  aes: Aes | undefined;
}

interface Directory {
  start: number;
  size: number;
  /** The number to add to the offsets of the directory: bytes that were put before the archive. */
  shift: number;
  /** The announced number of entries. */
  entries: number;
  /** Its end record, from the one of zip64 on. */
  end: { from: number; to: number };
}

/** The directory's place by the end record at `position` (4.3.16, with zip64 4.3.14), where both agree. */
function directoryAt(reader: Reader, position: number): Directory | undefined {
  const end = END_RECORD.read(reader.at(position, END_BYTES));
  if (end === undefined) return undefined;
  let { directory_bytes: size, directory_offset: offset, entries } = end;
  let last = position;
  const locator = ZIP64_END_LOCATOR.read(reader.at(position - ZIP64_LOCATOR_BYTES, ZIP64_LOCATOR_BYTES));
  if (position >= ZIP64_LOCATOR_BYTES + ZIP64_END_BYTES && locator?.signature.equals(ZIP64_LOCATOR)) {
    // The locator's offset is wrong behind a prefix; then the record stands directly before the locator.
    for (const at of [locator.offset, position - ZIP64_LOCATOR_BYTES - ZIP64_END_BYTES]) {
      const record = at <= position ? ZIP64_END_RECORD.read(reader.at(at, ZIP64_END_BYTES)) : undefined;
      if (!record?.signature.equals(ZIP64_END)) continue;
      ({ entries, directory_bytes: size, directory_offset: offset } = record);
      last = at;
      break;
    }
  }
  const record = { from: last, to: position + END_BYTES };
  const begins = (start: number) => start >= 0 && reader.at(start, 4).equals(CENTRAL);
  if (size === 0 && end.entries === 0) {
    return { start: last, size: 0, shift: Math.max(0, last - offset), entries: 0, end: record };
  }
  if (begins(last - size)) return { start: last - size, size, shift: last - size - offset, entries, end: record };
  return begins(offset)
    ? { start: offset, size: Math.min(size, reader.size - offset), shift: 0, entries, end: record }
    : undefined;
}

/** Programs differ in which end record they take, the first or the last: so many are followed. */
const DIRECTORIES_MAXIMUM = 4;

/** The directories that end records lead to, the last one first. */
function findDirectories(reader: Reader): Directory[] {
  const from = Math.max(0, reader.size - END_BYTES - COMMENT_BYTES_MAXIMUM);
  const tail = reader.at(from, reader.size - from);
  const found: Directory[] = [];
  for (let at = tail.lastIndexOf(END); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(END, at - 1)) {
    const directory = directoryAt(reader, from + at);
    if (directory !== undefined) found.push(directory);
    if (found.length === DIRECTORIES_MAXIMUM) break;
  }
  return found;
}

/** Whether a whole zip archive ends here, after any other bytes. */
function endsAsZip(reader: Reader): boolean {
  return findDirectories(reader).some(({ size }) => size > 0);
}

const UNICODE_PATH = { id: 0x7075, head: 5, version: 1 } as const;

/** The name in the extra field of Info-ZIP (4.6.9), if it belongs to the name in the header: that one's checksum stands before it. */
function unicodePath(raw: Buffer, extra: Buffer): string | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== UNICODE_PATH.id) continue;
    const field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    if (field.length <= UNICODE_PATH.head || field[0] !== UNICODE_PATH.version || field.readUInt32LE(1) !== crc32(raw)) continue;
    return field.toString('utf8', UNICODE_PATH.head);
  }
  return undefined;
}

/** A name says that it is UTF-8 by its flag (4.4.4), or is it all the same; otherwise it is in code page 437 (appendix D). */
function nameOf(raw: Buffer, flags: number, extra: Buffer): string {
  return unicodePath(raw, extra) ?? ((flags & FLAG.utf8) === 0 ? decodeBytes(raw, 'cp437') : raw.toString('utf8'));
}

/** Sizes and offset of more than 32 bits stand in an extra field, in this order, only those that are all ones outside (4.5.3). */
function wide(extra: Buffer, outside: readonly number[]): number[] {
  const values = [...outside];
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64_EXTRA) continue;
    const field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    let taken = 0;
    for (const [index, value] of values.entries()) {
      if (value !== ALL_ONES || taken + 8 > field.length) continue;
      values[index] = Number(field.readBigUInt64LE(taken));
      taken += 8;
    }
    break;
  }
  return values;
}

/** The local header at `position` (4.3.7), if one that makes sense is there. */
function localAt(reader: Reader, position: number): Entry | undefined {
  const head = LOCAL_HEADER.read(reader.at(position, LOCAL_BYTES));
  if (!head?.signature.equals(LOCAL)) return undefined;
  const { name_bytes, extra_bytes, flags, method, crc, time } = head;
  if ((head.version & 0xff) > VERSION_MAXIMUM || name_bytes === 0 || name_bytes > NAME_BYTES_MAXIMUM) return undefined;
  const rest = reader.at(position + LOCAL_BYTES, name_bytes + extra_bytes);
  const [unpacked = 0, packed = 0] = wide(rest.subarray(name_bytes), [head.unpacked, head.packed]);
  return {
    name: nameOf(rest.subarray(0, name_bytes), flags, rest.subarray(name_bytes)),
    flags,
    method,
    crc,
    packed,
    unpacked,
    start: position + LOCAL_BYTES + name_bytes + extra_bytes,
    open_end: (flags & FLAG.descriptor) !== 0 && packed === 0,
    time,
    aes: aesOf(rest.subarray(name_bytes)),
  };
}

interface Listed {
  entry: Omit<Entry, 'start'>;
  /** Of the local header. */
  position: number;
}

/** The entries of the directory (4.3.12). Ends early where it stops being one. */
function* listed(reader: Reader, directory: Directory): Generator<Listed> {
  let piece: Buffer = Buffer.alloc(0);
  let piece_start = directory.start;
  const end = directory.start + directory.size;
  for (let at = directory.start; at + CENTRAL_BYTES <= end; ) {
    const most = Math.min(end, at + CENTRAL_BYTES + 3 * 65_535);
    if (most > piece_start + piece.length) {
      piece = reader.at(at, Math.min(DIRECTORY_PIECE_BYTES, end - at));
      piece_start = at;
    }
    const bytes = piece.subarray(at - piece_start);
    const head = CENTRAL_HEADER.read(bytes);
    if (!head?.signature.equals(CENTRAL)) throw new Unreadable('damaged');
    const { name_bytes, extra_bytes, flags, method, crc, time } = head;
    const extra = bytes.subarray(CENTRAL_BYTES + name_bytes, CENTRAL_BYTES + name_bytes + extra_bytes);
    const [unpacked = 0, packed = 0, offset = 0] = wide(extra, [head.unpacked, head.packed, head.offset]);
    const name = nameOf(bytes.subarray(CENTRAL_BYTES, CENTRAL_BYTES + name_bytes), flags, extra);
    yield {
      entry: {
        name,
        flags,
        method,
        crc,
        packed,
        unpacked,
        open_end: false,
        time,
        aes: aesOf(extra),
      },
      position: offset + directory.shift,
    };
    at += CENTRAL_BYTES + name_bytes + extra_bytes + head.comment_bytes;
  }
}

function packedOf(content: Content, entry: Entry): AsyncGenerator<Buffer> {
  return streamOf(content, entry.start, Math.min(content.size, entry.start + entry.packed));
}

/** Inflates what there is, the good part of damaged data too. */
function inflated(packed: AsyncIterable<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  return decompressed('deflate', packed, budget);
}

/** Unpacks bzip2. Bytes behind its end, up to that of the member, are damage. */
function* unpackedByBzip2(reader: Reader, entry: Entry): Generator<Buffer> {
  const packed = Math.max(0, Math.min(reader.size - entry.start, entry.packed));
  let end = 0;
  yield* bzip2Streams(
    (at, bytes) => reader.at(entry.start + at, Math.max(0, Math.min(bytes, packed - at))),
    reader.budget,
    (at) => {
      end = at;
    },
  );
  if (!entry.open_end && end < packed) throw new Unreadable('damaged');
}

function unpacked(content: Content, reader: Reader, entry: Entry): AsyncGenerator<Buffer> {
  if (entry.method === METHOD.bzip2) return gathered(unpackedByBzip2(reader, entry));
  const packed = packedOf(content, entry);
  return entry.method === METHOD.stored ? packed : inflated(packed, reader.budget);
}

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

/** The content of an encrypted member. A wrong result in spite of the encryption's own check means a wrong password. */
async function* unlockedWith(content: Content, entry: Entry, password: Buffer, budget: Budget): AsyncGenerator<Buffer> {
  const { flags, aes, packed } = entry;
  // APPNOTE 6.1.6: the checksum's highest byte, or the time's where the checksum was not known yet.
  const check = (flags & FLAG.descriptor) === 0 ? entry.crc >>> 24 : entry.time >>> 8;
  const compressed = decrypted(packedOf(content, entry), { aes, check, packed }, password);
  const chunks = methodOf(entry) === METHOD.stored ? compressed : inflated(compressed, budget);
  if (aes !== undefined) {
    yield* chunks;
    return;
  }
  let crc = 0;
  try {
    for await (const chunk of chunks) {
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof LimitReached ? error : new Unreadable('encrypted');
  }
  if (!entry.open_end && crc !== entry.crc) throw new Unreadable('encrypted');
}

/**
 * The content of an encrypted member by the first form of the password that opens it. A wrong one is refused before it gives anything, but for one in 256 of the old cipher, or one in 65,536 of AES: what such a one
 * gives is kept until a form is right to the end, and only while it is small.
 */
async function* unlocked(content: Content, entry: Entry, password: string, budget: Budget): AsyncGenerator<Buffer> {
  const known = opened.get(budget) ?? { form: undefined, misses: 0 };
  opened.set(budget, known);
  const first = known.form ?? Buffer.from(password);
  const forms =
    known.misses < MISSES_MAXIMUM ? [first, ...passwordForms(password).filter((form) => !form.equals(first))] : [first];
  for (const [index, form] of forms.entries()) {
    const is_last = index === forms.length - 1;
    const held: Buffer[] = [];
    let bytes = 0;
    let is_sure = is_last;
    budget.spend(FORM_COST);
    try {
      for await (const chunk of unlockedWith(content, entry, form, budget)) {
        if (is_sure) {
          yield chunk;
          continue;
        }
        held.push(chunk);
        bytes += chunk.length;
        is_sure = bytes > HELD_BYTES_MAXIMUM;
        if (is_sure) yield* held;
      }
      if (!is_sure) yield* held;
      known.form = form;
      return;
    } catch (error) {
      // Bytes given out cannot be taken back, and damage is no sign of a wrong password.
      const is_locked = error instanceof Unreadable && error.detail === 'encrypted';
      if (is_locked && is_last) known.misses += 1;
      if (is_sure || !is_locked) throw error;
    }
  }
}

/** The form that opened a member of the same file, and how many members no form opened: after some of them only that one is tried. */
const opened = new WeakMap<Budget, { form: Buffer | undefined; misses: number }>();
const MISSES_MAXIMUM = 16;

/** Deriving a key costs as much as looking at so many bytes. */
const FORM_COST = 256 * 1024;
/** Deflate of a wrong password ends sooner than here. Bytes. */
const HELD_BYTES_MAXIMUM = 1024 ** 2;

/** The compression beneath the encryption. */
function methodOf({ method, aes }: Entry): number {
  return method === METHOD.aes ? (aes?.method ?? method) : method;
}

/** Undefined when it is longer than announced, or incomplete: the stream gives its good part. */
function inflateQuickly(raw: Buffer, entry: Entry, budget: Budget): Buffer | undefined {
  const most = entry.open_end ? QUICK.unpacked : Math.max(1, entry.unpacked);
  // In one piece, if its size is right: pieces would be put together once more.
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

/** Sizes and checksum behind the data (4.3.9), with their signature or without, and with 64 bits or without. */
function claimDescriptor(reader: Reader, at: number, context: ReadContext): void {
  const is_signed = reader.at(at, 4).equals(DESCRIPTOR);
  const after = at + (is_signed ? 16 : 12);
  // Another header follows there: with sizes of 64 bits it does so 8 bytes later.
  const is_wide = reader.at(after, 2).toString('latin1') !== 'PK' && reader.at(after + 8, 2).toString('latin1') === 'PK';
  context.claim(at, is_wide ? after + 8 : after);
}

/** The signatures of an Android package stand directly before its directory (APK Signature Scheme v2, "APK Signing Block"). */
function claimSigned(reader: Reader, directory: Directory, take: (from: number, to: number) => void): void {
  const tail = reader.at(directory.start - SIGNED_TAIL_BYTES, SIGNED_TAIL_BYTES);
  if (tail.length < SIGNED_TAIL_BYTES || tail.toString('latin1', 8) !== 'APK Sig Block 42') return;
  const from = directory.start - 8 - Number(tail.readBigUInt64LE(0));
  if (from >= 0 && reader.at(from, 8).equals(tail.subarray(0, 8))) take(from, directory.start);
}

/** Where the next local header stands that makes sense, from `from` to `to`. */
function nextLocal(reader: Reader, from: number, to: number): { entry: Entry; position: number } | undefined {
  for (let at = reader.find(LOCAL, from, to); at >= 0; at = reader.find(LOCAL, at + 1, to)) {
    const entry = localAt(reader, at);
    if (entry !== undefined) return { entry, position: at };
  }
  return undefined;
}

/** Members by their local headers alone, from `from` to `to`. */
function* walked(reader: Reader, from: number, to: number): Generator<Entry & { header: number }> {
  let found = nextLocal(reader, from, to);
  while (found !== undefined) {
    const { entry } = found;
    // Without a size the data ends at the next header at the latest; deflate knows its own end.
    const after = entry.open_end ? nextLocal(reader, entry.start, to) : undefined;
    const end = Math.min(entry.open_end ? (after?.position ?? to) : entry.start + entry.packed, reader.size);
    yield { ...entry, packed: Math.max(0, end - entry.start), header: found.position };
    found = after ?? (entry.open_end ? undefined : nextLocal(reader, Math.max(entry.start, Math.min(end, to)), to));
  }
}

/** A zip of these members alone, with names that count them, for a reader that knows their compression. */
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
 * The members of a zip archive: those of its directory, those that only a local header knows, and both readings where the two contradict each other.
 * @throws Unreadable at the end, when a part of it was damaged.
 */
async function* zipMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const reader = openReader(content, context.budget);
  const foreign: Entry[] = [];
  let foreign_bytes = 0;
  let damaged = false;
  try {
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
        // They share their packed bytes, over and over.
        if (foreign_bytes > FOREIGN_SHARED_MAXIMUM * reader.size) throw new LimitReached('bomb');
        if (foreign_bytes > FOREIGN_TOTAL_MAXIMUM) throw new LimitReached('too_large');
      } else yield memberOf(content, reader, entry, context);
    };
    /**
     * Members read already, as the directories describe them: of two directories with the same members, only the differences of the second are
     * read.
     */
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
    // Ranges outside of all entries may hide members, before the directory and behind it.
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
      // A size that stands behind the member is not known here.
      const is_known = given.length === count && foreign.every(({ open_end }) => !open_end);
      if (is_known && areOthers(listed_members, given)) {
        context.note(scanPhrase('archive.other_contents', {}));
        damaged = true;
      }
    }
  } finally {
    reader.close();
  }
  if (damaged) throw new Unreadable('damaged');
}

/**
 * The members that stand where a directory at the end of the file says. The others may be parts of archives that another format keeps in
 * pieces: they are no damage, and that format gives them.
 */
async function* membersInPlace(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const reader = openReader(content, context.budget);
  try {
    for (const directory of findDirectories(reader)) {
      for (const { entry, position } of whileReadable(listed(reader, directory))) {
        const local = localAt(reader, position);
        if (local?.name !== entry.name) continue;
        const member = { ...entry, start: local.start };
        if (!isFolder(member)) yield memberOf(content, reader, member, context);
      }
    }
  } finally {
    reader.close();
  }
}

/** Items up to the first that cannot be read. */
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

/** The media type of a zip, by a name in its first headers. */
function mediaTypeOfZip(head: Buffer): string {
  const name_bytes = LOCAL_HEADER.read(head)?.name_bytes ?? 0;
  const first = head.toString('latin1', LOCAL_BYTES, LOCAL_BYTES + Math.min(name_bytes, 64));
  if (first === 'mimetype' && head.includes('application/vnd.oasis.opendocument')) return 'application/vnd.oasis.opendocument';
  if (first === 'AndroidManifest.xml') return 'application/vnd.android.package-archive';
  if (first.startsWith('META-INF/')) return 'application/java-archive';
  if (!head.includes('[Content_Types].xml')) return 'application/zip';
  return NAMED_TYPES.find(({ name }) => head.includes(name))?.type ?? 'application/zip';
}

/** An end record without anything before it is of no archive of several disks; the same four bytes may stand in a comment. */
function isEmptyZip(head: Buffer): boolean {
  return head.length >= END_BYTES && standsAt(head, END, 0) && [0, ALL_ONES].includes(head.readUInt32LE(4));
}

/** Local header, empty archive, spanned archive (4.3.7, 4.3.16, 8.5.4). */
function isZip(head: Buffer): boolean {
  return standsAt(head, LOCAL, 0) || standsAt(head, DESCRIPTOR, 0) || isEmptyZip(head);
}

/** 4.3.7: a version that exists, and a name without control characters. */
function provesZip(reader: Reader, at: number): boolean {
  const head = LOCAL_HEADER.read(reader.at(at, LOCAL_BYTES));
  if (head === undefined || (head.version & 0xff) > VERSION_MAXIMUM) return false;
  const { name_bytes } = head;
  if (name_bytes === 0 || name_bytes > NAME_BYTES_MAXIMUM) return false;
  const name = reader.at(at + LOCAL_BYTES, name_bytes);
  return name.length === name_bytes && !name.some((byte) => byte < 0x20);
}

/** Where zips end within something else, by where they begin: behind the end record, which says how far before itself the archive began (4.3.16). */
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

/** An archive that follows something else, as behind a program that unpacks it. */
export const zipAtEnd = format({
  id: 'zip-at-end',
  media_type: mediaTypeOfZip,
  recogniseBeside: ({ reader, first }) => (first?.format.traits.owns_end?.(reader) !== true && endsAsZip(reader) ? 32 : 0),
  traits: zip.traits,
  limits: null,
  open: zip.open,
});

/** An archive in the pages of a file whose end belongs to another format: a program that looks for the end record opens it all the same. */
export const zipInPages = format({
  id: 'zip-in-pages',
  media_type: mediaTypeOfZip,
  recogniseBeside: ({ reader, first }) =>
    first !== undefined && first.format !== zip && first.format.traits.owns_end?.(reader) === true && endsAsZip(reader) ? 32 : 0,
  traits: { is_beside: true },
  limits: null,
  open: membersInPlace,
});
