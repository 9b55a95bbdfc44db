import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Content } from '#scanner/reading/content.ts';
import type { Member } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Lists the members of archives from their headers, without 7-Zip, to compare them with the output of 7-Zip: a memory error in 7-Zip must not turn an infected
// file into a clean one. Empty members are omitted, because 7-Zip writes nothing for them.

/** A member as listed in a header or as given by 7-Zip. `crc` is the CRC-32 of its content; undefined if unknown. */
export interface ListedMember {
  size: number;
  crc: number | undefined;
  /** SHA-1 in hexadecimal, for formats that store it. */
  sha1?: string;
  /** Whether 7-Zip may give no content for it, for example for a link. */
  may_be_absent?: boolean;
  /** Whether several members may have this content. */
  may_repeat?: boolean;
}

/** Lists the members of an archive. Undefined if its headers are not understood, encrypted, split over several files, or list too many members. */
export type ReadList = (reader: Reader) => ListedMember[] | undefined;

export const LISTED_MAXIMUM = 20_000;
/** Maximum size of a header. Bytes. */
const HEADER_BYTES_MAXIMUM = 64 * 1024;

/** Reads numbers with seven bits in each byte, lowest first (RAR 5.0 technote; xz-file-format.txt, 1.2). */
export class Numbers {
  at: number;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  next(): number {
    let value = 0;
    for (let shift = 0; shift < 8; shift += 1) {
      const byte = this.bytes[this.at];
      if (byte === undefined) return Number.NaN;
      this.at += 1;
      value += (byte & 0x7f) * 2 ** (7 * shift);
      if ((byte & 0x80) === 0) return value;
    }
    return Number.NaN;
  }

  skip(bytes: number): void {
    this.at += bytes;
  }

  fixed(): number | undefined {
    const value = this.at + 4 <= this.bytes.length ? this.bytes.readUInt32LE(this.at) : undefined;
    this.at += 4;
    return value;
  }
}

const RAR_5_SIGN_BYTES = 8;
const RAR_5 = { file: 2, service: 3, lock: 4, end: 5 } as const;
const RAR_5_HEAD = { extra: 1, data: 2, from_before: 8, goes_on: 16 } as const;
/** Extra records that are accepted: hash, time, link and owner. Other types are for encryption and versions. */
const RAR_5_EXTRA = { hash: 2, time: 3, link: 5, owner: 6 } as const;
const RAR_5_EXTRAS: ReadonlySet<number> = new Set(Object.values(RAR_5_EXTRA));
const RAR_5_FILE = { folder: 1, time: 2, crc: 4, unknown_size: 8 } as const;

/** RAR 5 (RAR 5.0 archive format, technote): consecutive headers, each with the size of its data. */
export const listOfRar5: ReadList = (reader) => {
  const listed: ListedMember[] = [];
  for (let at = RAR_5_SIGN_BYTES; listed.length < LISTED_MAXIMUM; ) {
    const head = reader.at(at, HEADER_BYTES_MAXIMUM);
    const numbers = new Numbers(head, 4);
    const size = numbers.next();
    const body = numbers.at;
    if (!(size > 0) || body + size > head.length) return undefined;
    const type = numbers.next();
    const flags = numbers.next();
    const extra_bytes = (flags & RAR_5_HEAD.extra) === 0 ? 0 : numbers.next();
    const data_bytes = (flags & RAR_5_HEAD.data) === 0 ? 0 : numbers.next();
    if (type === RAR_5.end) return listed;
    if (type === RAR_5.lock || (flags & (RAR_5_HEAD.from_before | RAR_5_HEAD.goes_on)) !== 0) return undefined;
    if (type === RAR_5.file) {
      // Links, encryption and versions are in the extra area.
      const of_file = numbers.next();
      const bytes = numbers.next();
      numbers.next();
      if ((of_file & RAR_5_FILE.time) !== 0) numbers.skip(4);
      const crc = (of_file & RAR_5_FILE.crc) === 0 ? undefined : numbers.fixed();
      const extras = extrasOf(head, body + size, extra_bytes);
      const is_plain =
        (of_file & RAR_5_FILE.unknown_size) === 0 &&
        Number.isSafeInteger(bytes) &&
        extras.every((extra) => RAR_5_EXTRAS.has(extra));
      if (!is_plain) return undefined;
      const may_be_absent = extras.includes(RAR_5_EXTRA.link);
      if ((of_file & RAR_5_FILE.folder) === 0 && bytes > 0) listed.push({ size: bytes, crc, may_be_absent });
    }
    at += body + size + data_bytes;
    if (!Number.isSafeInteger(at)) return undefined;
  }
  return undefined;
};

/** The types of the records in the extra area at the end of a header. `end` is the end of the header. */
function extrasOf(head: Buffer, end: number, extra_bytes: number): number[] {
  const numbers = new Numbers(head, end - extra_bytes);
  const types: number[] = [];
  while (numbers.at < end) {
    const size = numbers.next();
    const from = numbers.at;
    types.push(size > 0 ? numbers.next() : Number.NaN);
    if (!(size > 0)) return types;
    numbers.at = from + size;
  }
  return types;
}

const RAR_4_SIGN_BYTES = 7;
const RAR_4 = { main: 0x73, file: 0x74, end: 0x7b, unix: 3, link: 10 } as const;
const RAR_4_FLAG = { split: 3, locked: 4, large: 0x100, has_data: 0x8000, folder: 0xe0, locked_headers: 0x80 } as const;

/** RAR 1.5 to 4 (unrar, archive.hpp and headers.hpp). */
export const listOfRar4: ReadList = (reader) => {
  const listed: ListedMember[] = [];
  for (let at = RAR_4_SIGN_BYTES; listed.length < LISTED_MAXIMUM; ) {
    const head = reader.at(at, 64);
    if (head.length < 7) return at === reader.size ? listed : undefined;
    const type = head[2];
    const flags = head.readUInt16LE(3);
    const size = head.readUInt16LE(5);
    if (size < 7) return undefined;
    if (type === RAR_4.end) return listed;
    if (type === RAR_4.main && (flags & RAR_4_FLAG.locked_headers) !== 0) return undefined;
    const has_data = type === RAR_4.file || (flags & RAR_4_FLAG.has_data) !== 0;
    let data_bytes = has_data && head.length >= 11 ? head.readUInt32LE(7) : 0;
    if (type === RAR_4.file) {
      if (head.length < 40 || (flags & (RAR_4_FLAG.split | RAR_4_FLAG.locked)) !== 0) return undefined;
      let bytes = head.readUInt32LE(11);
      if ((flags & RAR_4_FLAG.large) !== 0) {
        data_bytes += head.readUInt32LE(32) * 2 ** 32;
        bytes += head.readUInt32LE(36) * 2 ** 32;
      }
      const is_folder = (flags & RAR_4_FLAG.folder) === RAR_4_FLAG.folder;
      const may_be_absent = head[15] === RAR_4.unix && (head.readUInt32LE(28) >>> 12) % 16 === RAR_4.link;
      if (!is_folder && bytes > 0) listed.push({ size: bytes, crc: head.readUInt32LE(16), may_be_absent });
    }
    at += size + data_bytes;
  }
  return undefined;
};

const CAB = { files_at: 16, count: 28, entry_bytes: 16, name_maximum: 257, folders_maximum: 0xfffd } as const;

/** CAB: the table of files ([MS-CAB] 2.3 and 2.4). */
export const listOfCab: ReadList = (reader) => {
  const head = reader.at(0, 36);
  if (head.length < 36) return undefined;
  const count = head.readUInt16LE(CAB.count);
  const listed: ListedMember[] = [];
  let at = head.readUInt32LE(CAB.files_at);
  if (count > LISTED_MAXIMUM) return undefined;
  for (let index = 0; index < count; index += 1) {
    const entry = reader.at(at, CAB.entry_bytes + CAB.name_maximum);
    const end = entry.indexOf(0, CAB.entry_bytes);
    // Files that are continued from or in another cabinet have special folder numbers.
    if (end < 0 || entry.readUInt16LE(8) >= CAB.folders_maximum) return undefined;
    if (entry.readUInt32LE(0) > 0) listed.push({ size: entry.readUInt32LE(0), crc: undefined });
    at += end + 1;
  }
  return listed;
};

const XZ = { footer_bytes: 12, head_bytes: 12, magic: 0x5a59 } as const;

/** The total size of a single stream, from the index at its end (xz-file-format.txt 1.2, 2.1.2 and 4). */
export const listOfXz: ReadList = (reader) => {
  const footer = reader.at(reader.size - XZ.footer_bytes, XZ.footer_bytes);
  if (footer.length < XZ.footer_bytes || footer.readUInt16LE(10) !== XZ.magic) return undefined;
  if (crc32(footer.subarray(4, 10)) !== footer.readUInt32LE(0)) return undefined;
  const index_bytes = (footer.readUInt32LE(4) + 1) * 4;
  if (index_bytes > HEADER_BYTES_MAXIMUM) return undefined;
  const index = reader.at(reader.size - XZ.footer_bytes - index_bytes, index_bytes);
  if (index.length < index_bytes || index[0] !== 0 || crc32(index.subarray(0, -4)) !== index.readUInt32LE(index_bytes - 4))
    return undefined;
  const numbers = new Numbers(index, 1);
  const records = numbers.next();
  let packed = 0;
  let size = 0;
  for (let record = 0; record < records && record < LISTED_MAXIMUM; record += 1) {
    packed += Math.ceil(numbers.next() / 4) * 4;
    size += numbers.next();
  }
  // Each of several streams has its own index.
  const is_alone = XZ.head_bytes + packed + index_bytes + XZ.footer_bytes === reader.size;
  if (!is_alone) return undefined;
  return size > 0 ? [{ size, crc: undefined }] : [];
};

const ARJ = { magic: 0xea60, first_bytes: 2, locked: 1, spread: 0x0c, header_maximum: 2600, folder: 3, name_label: 4 } as const;

/** The end of an ARJ header (unarj, technote): its data and CRC, followed by extended headers with their CRCs. */
function arjHeaderEnd(reader: Reader, at: number, bytes: number): number | undefined {
  let end = at + 4 + bytes + 4;
  for (let more = 0; more < LISTED_MAXIMUM; more += 1) {
    const size = reader.at(end, 2);
    if (size.length < 2) return undefined;
    end += 2;
    if (size.readUInt16LE(0) === 0) return end;
    end += size.readUInt16LE(0) + 4;
  }
  return undefined;
}

/** ARJ (unarj, technote): a header for the archive, and one before each file. */
export const listOfArj: ReadList = (reader) => {
  const listed: ListedMember[] = [];
  for (let at = 0, is_first = true; listed.length < LISTED_MAXIMUM; is_first = false) {
    const size = reader.at(at, 4);
    if (size.length < 4 || size.readUInt16LE(0) !== ARJ.magic) return undefined;
    const bytes = size.readUInt16LE(2);
    if (bytes === 0) return listed;
    const head = Buffer.from(reader.at(at + 4, bytes + 4));
    if (bytes < 30 || bytes > ARJ.header_maximum || head.length < bytes + 4) return undefined;
    if (crc32(head.subarray(0, bytes)) !== head.readUInt32LE(bytes)) return undefined;
    const end = arjHeaderEnd(reader, at, bytes);
    if (end === undefined) return undefined;
    at = end;
    if (is_first) continue;
    const [, , , , flags = 0, , kind = 0] = head;
    if ((flags & (ARJ.locked | ARJ.spread)) !== 0 || kind > ARJ.name_label) return undefined;
    const is_file = kind !== ARJ.folder && kind !== ARJ.name_label;
    if (is_file && head.readUInt32LE(16) > 0) listed.push({ size: head.readUInt32LE(16), crc: head.readUInt32LE(20) });
    at += head.readUInt32LE(12);
  }
  return undefined;
};

/** LHA, levels 0 to 2 (LHa for UNIX, header.doc.md). Its checksums are CRC-16, so they are not compared. */
export const listOfLzh: ReadList = (reader) => {
  const listed: ListedMember[] = [];
  for (let at = 0; listed.length < LISTED_MAXIMUM; ) {
    const head = reader.at(at, 24);
    if (head.length === 0 || head[0] === 0) return listed;
    const level = head[20] ?? 9;
    if (head.length < 24 || level > 2 || head[2] !== 0x2d || head[6] !== 0x2d) return undefined;
    const header_bytes = level === 2 ? head.readUInt16LE(0) : (head[0] ?? 0) + 2;
    const size = head.readUInt32LE(11);
    if (header_bytes < 22) return undefined;
    if (size > 0) listed.push({ size, crc: undefined });
    // At level 1, the packed size includes the extended headers.
    at += header_bytes + head.readUInt32LE(7);
  }
  return undefined;
};

const AR = { sign_bytes: 8, head_bytes: 60, end: Buffer.from('`\n') } as const;

/** An ar archive (ar(5)) without symbol table or long names, such as a Debian package. */
export const listOfAr: ReadList = (reader) => {
  const listed: ListedMember[] = [];
  for (let at = AR.sign_bytes; listed.length < LISTED_MAXIMUM; ) {
    const head = reader.at(at, AR.head_bytes);
    if (head.length === 0) return listed;
    const name = head.toString('latin1', 0, 16);
    const digits = /^(\d+) *$/.exec(head.toString('latin1', 48, 58))?.[1];
    if (!head.subarray(58).equals(AR.end) || digits === undefined || /^(\/|#1\/|__\.)/.test(name)) return undefined;
    const size = Number(digits);
    // 7-Zip omits the first member of a Debian package, which holds the version.
    const is_version = at === AR.sign_bytes && /^debian-binary[ /]/.test(name);
    if (size > 0 && !is_version) listed.push({ size, crc: undefined });
    at += AR.head_bytes + size + (size % 2);
  }
  return undefined;
};

const CPIO = {
  head_bytes: 110,
  magic: /^07070[12][0-9a-f]{104}$/i,
  last: 'TRAILER!!!\0',
  kind: 0xf000,
  file: 0x8000,
} as const;

/** cpio in the "newc" form of rpm and Linux (cpio(5)). Of several links to a file, the last one has the content. */
export const listOfCpio: ReadList = (reader) => {
  const listed: ListedMember[] = [];
  for (let at = 0; listed.length < LISTED_MAXIMUM; ) {
    const head = reader.at(at, CPIO.head_bytes).toString('latin1');
    if (!CPIO.magic.test(head)) return undefined;
    const field = (index: number) => Number.parseInt(head.slice(6 + 8 * index, 14 + 8 * index), 16);
    const [mode, size, name_bytes] = [field(1), field(6), field(11)];
    if (reader.at(at + CPIO.head_bytes, name_bytes).toString('latin1') === CPIO.last) return listed;
    const may_be_absent = (mode & CPIO.kind) !== CPIO.file;
    if (size > 0) listed.push({ size, crc: undefined, may_be_absent });
    at += padded(CPIO.head_bytes + name_bytes) + padded(size);
  }
  return undefined;
};

const padded = (bytes: number) => Math.ceil(bytes / 4) * 4;

/** A format with a single file whose size is in the header at `at`. A size of `most` or more means that it is unknown. */
export const listOfOne =
  (at: number, bytes: 4 | 8, most = 2 ** 53): ReadList =>
  (reader) => {
    const field = reader.at(at, bytes);
    if (field.length < bytes) return undefined;
    const size = bytes === 4 ? field.readUInt32LE(0) : Number(field.readBigUInt64LE(0));
    if (size >= most) return undefined;
    return size === 0 ? [] : [{ size, crc: undefined }];
  };

/** Adds the content of a member to `given` when it is read, for the comparison with the headers. */
export function noted(member: Member, given: ListedMember[], has_sha1 = false): Member {
  if (member.closed !== undefined) return member;
  return {
    ...member,
    async read() {
      const body = await member.read();
      if ('content' in body) given.push(givenMember(body.content, has_sha1));
      return body;
    },
  };
}

/** Size and hashes of a member from 7-Zip. Contents stored on disk are not hashed. */
function givenMember(content: Content, has_sha1: boolean): ListedMember {
  const bytes = 'bytes' in content ? content.bytes.subarray(0, content.size) : undefined;
  return {
    size: content.size,
    crc: bytes && crc32(bytes),
    ...(has_sha1 && bytes ? { sha1: createHash('sha1').update(bytes).digest('hex') } : {}),
  };
}

/**
 * Whether the members given by 7-Zip differ from the listed ones in number, sizes or content. Their order is ignored. With `has_more`, 7-Zip may give members
 * that are not listed.
 */
export function areOthers(listed: readonly ListedMember[], given: readonly ListedMember[], has_more = false): boolean {
  const left = Map.groupBy(given, ({ size }) => size);
  left.delete(0);
  for (const { size, crc, sha1, may_be_absent = false, may_repeat = false } of listed) {
    const fits = (one: ListedMember) => (one.crc ?? crc) === (crc ?? one.crc) && (one.sha1 ?? sha1) === (sha1 ?? one.sha1);
    const same = left.get(size) ?? [];
    const at = same.findIndex(fits);
    if (at < 0 && !may_be_absent) return true;
    if (may_repeat)
      left.set(
        size,
        same.filter((one) => !fits(one)),
      );
    else if (at >= 0) same.splice(at, 1);
  }
  return !has_more && [...left.values()].some((more) => more.length > 0);
}
