import { pipeline } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import { cmsMembers, isCms } from './cms.ts';
import { type Content, openSource, rangeOf, type Source, streamOf } from './content.ts';
import type { Budget } from './limits.ts';
import { encodedMembers, holdsEncoded, isMailboxBehind, mailboxMembers, mailKind, mailMembers } from './mail.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';
import { oleMembers } from './ole.ts';
import { isOneNote, oneNoteMembers } from './onenote.ts';
import { isPdf, pdfMembers } from './pdf.ts';
import { openReader, type Reader } from './reader.ts';
import { isRtf, rtfMembers } from './rtf.ts';
import { sevenZipMembers } from './seven-zip.ts';
import { isTarHeader, tarMembers } from './tar.ts';
import { isTnef, tnefMembers } from './tnef.ts';
import { endsAsZip, zipMembers } from './zip.ts';

/** What holds members. `seven`: 7-Zip opens it, as `format`, from `start` on; `opaque`: recognised, but not opened;
 * `is_guess`: it may be something else, so that it is no fault when it does not open. */
export type Container =
  | {
      kind:
        | 'zip'
        | 'gzip'
        | 'tar'
        | 'mail'
        | 'mailbox'
        | 'uuencode'
        | 'pdf'
        | 'ole'
        | 'rtf'
        | 'onenote'
        | 'tnef'
        | 'cms'
        | 'opaque';
    }
  | { kind: 'seven'; format: string | undefined; start: number; is_guess?: true };

/** Bytes that `containerOf` needs: one tar block, and the volume descriptor of ISO 9660 lies at 32 KiB. */
export const HEAD_BYTES = 33_000;

const hex = (digits: string) => Buffer.from(digits, 'hex');
const text = (characters: string) => Buffer.from(characters, 'latin1');

/** Magic bytes at `offset`, and 7-Zip's name of the format; no name for what nothing here opens. */
const MAGIC: readonly { magic: Buffer; offset: number; format: string | undefined; opaque?: true }[] = [
  { magic: hex('377abcaf271c'), offset: 0, format: '7z' },
  { magic: hex('526172211a0700'), offset: 0, format: 'rar' },
  { magic: hex('526172211a0701'), offset: 0, format: 'rar5' },
  { magic: hex('fd377a585a00'), offset: 0, format: 'xz' },
  { magic: hex('28b52ffd'), offset: 0, format: 'zstd' },
  { magic: text('MSCF\0\0\0\0'), offset: 0, format: 'cab' },
  { magic: text('!<arch>\n'), offset: 0, format: 'ar' },
  { magic: text('070701'), offset: 0, format: 'cpio' },
  { magic: text('070702'), offset: 0, format: 'cpio' },
  { magic: text('070707'), offset: 0, format: 'cpio' },
  { magic: text('-lh'), offset: 2, format: 'lzh' },
  { magic: text('ITSF\x03\0\0\0'), offset: 0, format: 'chm' },
  { magic: hex('edabeedb'), offset: 0, format: 'rpm' },
  { magic: text('SZDD\x88\xf0\x27\x33'), offset: 0, format: 'mslz' },
  { magic: text('MSWIM\0\0\0'), offset: 0, format: 'wim' },
  { magic: text('xar!\0'), offset: 0, format: 'xar' },
  { magic: text('hsqs'), offset: 0, format: 'squashfs' },
  { magic: text('CD001'), offset: 32_769, format: undefined },
  { magic: hex('04224d18'), offset: 0, format: undefined, opaque: true }, // LZ4
  { magic: hex('02214c18'), offset: 0, format: undefined, opaque: true }, // LZ4, as it was at first
  { magic: text('LZIP'), offset: 0, format: undefined, opaque: true },
  { magic: text('LRZI'), offset: 0, format: undefined, opaque: true },
  { magic: hex('894c5a4f000d0a1a0a'), offset: 0, format: undefined, opaque: true }, // lzop
  { magic: text('**ACE**'), offset: 7, format: undefined, opaque: true },
  { magic: text('ALZ\x01'), offset: 0, format: undefined, opaque: true },
  { magic: text('EGGA'), offset: 0, format: undefined, opaque: true },
  { magic: text('StuffIt (c)'), offset: 0, format: undefined, opaque: true },
  { magic: text('7kSt'), offset: 0, format: undefined, opaque: true }, // ZPAQ
  { magic: hex('526172211a07'), offset: 0, format: undefined, opaque: true }, // a RAR of a kind to come
];

/** Two bytes alone would take one random file in 32,768 for an archive, so what follows them must make sense too. */
const ARJ_HEADER_BYTES_MAXIMUM = 2600;
const ARJ_MAIN_HEADER = 2;

function isArj(head: Buffer): boolean {
  return (
    head.length > 10 &&
    head.readUInt16BE(0) === 0x60ea &&
    head.readUInt16LE(2) <= ARJ_HEADER_BYTES_MAXIMUM &&
    head[10] === ARJ_MAIN_HEADER
  );
}

/** LZW of compress(1): the third byte holds the code size (9 to 16 bits) and two bits that are always zero. */
function isCompress(head: Buffer): boolean {
  const flags = head[2] ?? 0;
  return (
    head.length > 2 && head.readUInt16BE(0) === 0x1f9d && (flags & 0x60) === 0 && (flags & 0x1f) >= 9 && (flags & 0x1f) <= 16
  );
}

/**
 * LZMA before xz has no magic (LZMA SDK, lzma-specification.txt): properties of which only the usual ones are taken, any dictionary, a size of
 * which the upper bytes say unknown or below 1 TiB, and the range coder's first byte, which is 0.
 */
function isLzma(head: Buffer): boolean {
  if (head.length < 18 || head[0] !== 0x5d || head[13] !== 0) return false;
  const size = head.readBigUInt64LE(5);
  return size === 2n ** 64n - 1n || size < 2n ** 40n;
}

/** Whether the dictionary is one that programs choose: 2^n or 2^n + 2^(n-1) bytes. They open others as well. */
function hasUsualDictionary(head: Buffer): boolean {
  const dictionary = head.readUInt32LE(1);
  const lowest = dictionary & -dictionary;
  return dictionary >= 4096 && (lowest >>> 0 === dictionary || (lowest >>> 0) * 3 === dictionary);
}

/** Binary cpio in either byte order: device, inode and a mode of which the type is one of POSIX's, a name with its end. */
function isBinaryCpio(head: Buffer): boolean {
  const magic = head.length >= 26 ? head.readUInt16LE(0) : 0;
  if (magic !== 0o070707 && magic !== 0xc771) return false;
  const word = (at: number) => (magic === 0o070707 ? head.readUInt16LE(at) : head.readUInt16BE(at));
  const name_bytes = word(20);
  return [0o4, 0o10, 0o12, 0o2, 0o6].includes(word(6) >> 12) && name_bytes > 1 && head[26 + name_bytes - 1] === 0;
}

const BZIP2 = /^BZh[1-9]1AY&SY/;
const OLE = hex('d0cf11e0a1b11ae1');

/** What kind of container begins with these bytes (at least HEAD_BYTES of them, where there are as many); undefined for none. */
export function containerOf(head: Buffer): Container | undefined {
  const signature = head.length >= 4 ? head.readUInt32LE(0) : 0;
  const seven = (format: string | undefined): Container => ({ kind: 'seven', format, start: 0 });
  // Local header, empty archive, spanned archive (APPNOTE 4.3.7, 4.3.16, 8.5.4).
  if (signature === 0x04034b50 || signature === 0x06054b50 || signature === 0x08074b50) return { kind: 'zip' };
  // RFC 1952: deflate is the only method there is.
  if (signature % 0x1000000 === 0x088b1f) return { kind: 'gzip' };
  if (head.subarray(0, OLE.length).equals(OLE)) return { kind: 'ole' };
  if (BZIP2.test(head.toString('latin1', 0, 10))) return seven('bzip2');
  const known = MAGIC.find(({ magic, offset }) => head.subarray(offset, offset + magic.length).equals(magic));
  if (known !== undefined) return known.opaque ? { kind: 'opaque' } : seven(known.format);
  if (isArj(head)) return seven('arj');
  if (isCompress(head)) return seven('Z');
  if (isLzma(head)) return hasUsualDictionary(head) ? seven('lzma') : { kind: 'seven', format: 'lzma', start: 0, is_guess: true };
  if (isBinaryCpio(head)) return seven('cpio');
  if (isTarHeader(head)) return { kind: 'tar' };
  if (isRtf(head)) return { kind: 'rtf' };
  if (isOneNote(head)) return { kind: 'onenote' };
  if (isTnef(head)) return { kind: 'tnef' };
  if (isCms(head)) return { kind: 'cms' };
  if (isPdf(head)) return { kind: 'pdf' };
  const mail = mailKind(head);
  return mail === undefined ? undefined : { kind: mail };
}

/** Archives that are put behind a program which unpacks them. What looks like one inside a program that can read them must prove to be one. */
const BEHIND_PROGRAM: readonly { magic: Buffer; format: string; back: number; proves(reader: Reader, at: number): boolean }[] = [
  {
    magic: hex('377abcaf271c'),
    format: '7z',
    back: 0,
    proves(reader, at) {
      // 7zFormat.txt: the CRC of the 20 bytes that follow it.
      const head = reader.at(at, 32);
      return head.length === 32 && crc32(head.subarray(12)) === head.readUInt32LE(8);
    },
  },
  {
    magic: hex('526172211a0701'),
    format: 'rar5',
    back: 0,
    // RAR 5.0 technote: CRC, size and type 1 (main) or 4 (encryption) of the first header.
    proves: (reader, at) => reader.at(at + 7, 1)[0] === 0 && [1, 4].includes(reader.at(at + 13, 1)[0] ?? 0),
  },
  {
    magic: hex('526172211a0700'),
    format: 'rar',
    back: 0,
    proves: (reader, at) => reader.at(at + 9, 1)[0] === 0x73,
  },
  {
    magic: text('MSCF\0\0\0\0'),
    format: 'cab',
    back: 0,
    proves(reader, at) {
      const head = reader.at(at, 36);
      return head.length === 36 && head.readUInt32LE(8) <= reader.size - at && head.readUInt16LE(24) === 0x0103;
    },
  },
  { magic: Buffer.concat([hex('efbeadde'), text('NullsoftInst')]), format: 'nsis', back: 4, proves: () => true },
];
function isProgram(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 4);
  return start.startsWith('MZ') || start === '\x7fELF' || start.startsWith('#!');
}

/** Whether a file that somebody would hide begins with these bytes: a container or a program. */
export function isFileHead(head: Buffer): boolean {
  const container = containerOf(head);
  return isProgram(head) || (container !== undefined && !(container.kind === 'seven' && container.is_guess === true));
}

/** Containers inside a file, whatever it is itself: files encoded in its text, a zip at its end, whatever stands before it, and archives behind a program. */
export function containersBehind(reader: Reader, head: Buffer, container: Container | undefined): Container[] {
  const found: Container[] = [];
  if (container?.kind === 'zip') return found;
  if (endsAsZip(reader)) found.push({ kind: 'zip' });
  if (container === undefined && isMailboxBehind(reader, head)) found.push({ kind: 'mailbox' });
  // The mails of a mailbox are looked at one by one.
  if (container?.kind !== 'mailbox' && holdsEncoded(reader, head)) found.push({ kind: 'uuencode' });
  if (!isProgram(head)) return found;
  for (const { magic, format, back, proves } of BEHIND_PROGRAM) {
    for (let at = reader.find(magic, back); at >= 0; at = reader.find(magic, at + 1)) {
      if (!proves(reader, at - back)) continue;
      found.push({ kind: 'seven', format, start: at - back });
      break;
    }
  }
  return found;
}

const ZEROS = Buffer.alloc(4096);

/** Where something else than zeros stands next. */
function nextByte(reader: Reader, from: number): number | undefined {
  for (let at = from; at < reader.size; at += ZEROS.length) {
    const piece = reader.at(at, ZEROS.length);
    if (!piece.equals(ZEROS.subarray(0, piece.length))) return at + piece.findIndex((byte) => byte !== 0);
  }
  return undefined;
}

/** What gzip's streams hold, one behind the other, as one member; and what stands behind the zeros that may fill them up. */
async function* gzipMembers(content: Content, name: string, budget: Budget): AsyncGenerator<Member> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  async function* unpacked(): AsyncGenerator<Buffer> {
    // The error that ends the pipeline is the one that reading the last stream throws.
    yield* pipeline(streamOf(content), gunzip, () => {});
  }
  yield { name, read: () => ({ stream: unpacked(), packed_bytes: content.size }) };
  const reader = openReader(content, budget);
  try {
    const rest = nextByte(reader, gunzip.bytesWritten);
    if (rest === undefined) return;
    async function* behind(from: number): AsyncGenerator<Buffer> {
      yield* reader.chunks(from, reader.size);
    }
    yield { name: `behind ${name}`, read: () => ({ stream: behind(rest), packed_bytes: reader.size - rest }) };
  } finally {
    reader.close();
  }
}

/** The one member of a packed file is named after it. */
function innerName(name: string): string {
  return name.replace(/\.(gz|gzip|bz2|xz|zst|lzma|Z)$/i, '').replace(/\.(tgz|tbz2?|txz|tzst|taz)$/i, '.tar') || 'content';
}
const ONE_MEMBER: readonly (string | undefined)[] = ['xz', 'lzma', 'bzip2', 'zstd', 'Z', 'mslz'];

/** Whether the one member of a container is named after the file that it came in. */
export function isNamedAfterFile(container: Container): boolean {
  return container.kind === 'gzip' || (container.kind === 'seven' && ONE_MEMBER.includes(container.format));
}

const DICTIONARY = { at: 1, bytes: 4, most: 2 ** 28 } as const;

/** The same LZMA with the next dictionary that 7-Zip takes: one that is too large unpacks to the same. */
function withUsualDictionary(source: Source): Source {
  const head = Buffer.from(source.read(0, HEAD_BYTES));
  if (head.length < DICTIONARY.at + DICTIONARY.bytes) return source;
  const claimed = head.readUInt32LE(DICTIONARY.at);
  let dictionary = 4096;
  while (dictionary < claimed && dictionary < DICTIONARY.most) dictionary *= 2;
  head.writeUInt32LE(dictionary, DICTIONARY.at);
  return {
    ...source,
    fill(target, position) {
      const filled = source.fill(target, position);
      if (position >= 0 && position < head.length) head.copy(target, 0, position, Math.min(head.length, position + filled));
      return filled;
    },
  };
}

async function* sevenMembers(
  content: Content,
  { format, start, is_guess }: { format: string | undefined; start: number; is_guess?: true },
  name: string,
  workshop: Workshop,
): AsyncGenerator<Member> {
  const source = openSource(content);
  try {
    const from = is_guess ? withUsualDictionary(source) : rangeOf(source, start, source.size - start);
    const members = sevenZipMembers(from, format, workshop);
    for await (const member of members) yield ONE_MEMBER.includes(format) ? { ...member, name: innerName(name) } : member;
  } catch (error) {
    if (is_guess && error instanceof Unreadable) return;
    throw error;
  } finally {
    source.close();
  }
}

/** The members of a container in their order. Throws where it is damaged; what came before is good. */
export function membersOf(container: Container, content: Content, name: string, workshop: Workshop): AsyncGenerator<Member> {
  switch (container.kind) {
    case 'zip':
      return zipMembers(content, workshop);
    case 'gzip':
      return gzipMembers(content, innerName(name), workshop.budget);
    case 'tar':
      return tarMembers(content, workshop);
    case 'mail':
      return mailMembers(content, workshop);
    case 'mailbox':
      return mailboxMembers(content, workshop);
    case 'uuencode':
      return encodedMembers(content, workshop);
    case 'pdf':
      return pdfMembers(content, workshop, {
        head_bytes: HEAD_BYTES,
        isFile: (head) => containerOf(head) !== undefined || isProgram(head),
      });
    case 'ole':
      return oleMembers(content, workshop);
    case 'rtf':
      return rtfMembers(content, workshop);
    case 'tnef':
      return tnefMembers(content, workshop);
    case 'cms':
      return cmsMembers(content, workshop);
    case 'onenote':
      return oneNoteMembers(content, workshop);
    case 'seven':
      return sevenMembers(content, container, name, workshop);
    case 'opaque':
      throw new Unreadable('unsupported');
  }
}
