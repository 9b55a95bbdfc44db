import type { StatusDetail } from '@palisade/contract/antivirus';
import { asarMembers, isAsar } from '#scanner/formats/archives/asar.ts';
import { gitPackMembers, isGitPack } from '#scanner/formats/archives/git-pack.ts';
import { pharMembers } from '#scanner/formats/archives/phar.ts';
import { isPieces, pieceMembers } from '#scanner/formats/archives/pieces.ts';
import { NotAnArchive, sevenZipMembers } from '#scanner/formats/archives/seven-zip.ts';
import { isShellArchive, shellArchiveMembers } from '#scanner/formats/archives/shell-archive.ts';
import { isTar, tarMembers } from '#scanner/formats/archives/tar.ts';
import { isUnity, unityMembers } from '#scanner/formats/archives/unity.ts';
import { endsAsZip, zipMembers } from '#scanner/formats/archives/zip.ts';
import { areSizedBlocks, blockStreamMembers, isBlockStream, isSizedBlocks } from '#scanner/formats/compression/block-streams.ts';
import {
  type Compressor,
  compressedMembers,
  endOfZeros,
  isBrotli,
  isLz4,
  isSkippable,
  isZlib,
  LZOP,
  MOZ_LZ4,
  ZISOFS,
} from '#scanner/formats/compression/compressed.ts';
import { isHuffmanPack } from '#scanner/formats/compression/huffman-pack.ts';
import { isSnappyStream, snappyMembers } from '#scanner/formats/compression/snappy.ts';
import { brokenStringMembers, holdsBrokenStrings } from '#scanner/formats/data/broken-strings.ts';
import { captureMembers, isCapture } from '#scanner/formats/data/capture.ts';
import { httpMembers, isHttp } from '#scanner/formats/data/http.ts';
import { endsAsTable, tableMembers } from '#scanner/formats/data/leveldb.ts';
import { isNumpy, numpyMembers } from '#scanner/formats/data/numpy.ts';
import { isPickle, pickleMembers } from '#scanner/formats/data/pickle.ts';
import { isRedis, redisMembers } from '#scanner/formats/data/redis.ts';
import { isSqlite, sqliteMembers } from '#scanner/formats/data/sqlite.ts';
import { imagesIn, isImageHead, partitionsOf } from '#scanner/formats/disks/disk-images.ts';
import { isoTreeMembers } from '#scanner/formats/disks/iso-trees.ts';
import { isRawDisc, rawDiscMembers } from '#scanner/formats/disks/raw-disc.ts';
import { isStreamDisk, streamDiskMembers } from '#scanner/formats/disks/stream-disk.ts';
import { isIwa, iwaMembers } from '#scanner/formats/documents/iwa.ts';
import { oleMembers } from '#scanner/formats/documents/ole.ts';
import { isOneNote, oneNoteMembers } from '#scanner/formats/documents/onenote.ts';
import { isPdf, isPdfWithin, pdfMembers } from '#scanner/formats/documents/pdf.ts';
import { isRtf, rtfMembers } from '#scanner/formats/documents/rtf.ts';
import { macroSources } from '#scanner/formats/documents/vba.ts';
import { withMacroSheets } from '#scanner/formats/documents/xlsx-macros.ts';
import { cmsMembers, isCms } from '#scanner/formats/mail/cms.ts';
import {
  encodedMembers,
  holdsEncoded,
  isMailboxBehind,
  mailboxMembers,
  mailKind,
  mailMembers,
} from '#scanner/formats/mail/mail.ts';
import { armourMembers, holdsArmour, isOpenPgp, openPgpMembers } from '#scanner/formats/mail/openpgp.ts';
import { isOtherMailbox, otherMailboxMembers } from '#scanner/formats/mail/other-mailboxes.ts';
import { isTnef, tnefMembers } from '#scanner/formats/mail/tnef.ts';
import { isPyc, pycMembers } from '#scanner/formats/programs/pyc.ts';
import { setupMembers } from '#scanner/formats/programs/setup-launcher.ts';
import { isUpxPacked, upxMembers } from '#scanner/formats/programs/upx.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';
import { type Content, joined, openSource, rangeOf, type Source, standsAt, streamOf } from '#scanner/walk/content.ts';
import type { Budget } from '#scanner/walk/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/walk/member.ts';
import { openReader, type Reader } from '#scanner/walk/reader.ts';
import { closedFormatOf } from './closed-marks.ts';

/** What holds members. `seven`: 7-Zip opens it, as `format`, from `start` on; `opaque`: recognised, but not opened;
 * `is_guess`: it may be something else, so that it is no fault when it does not open; `is_within`: it stands behind something else, and may be a part of that. */
export type Container =
  | {
      kind: 'zip' | 'gzip' | 'tar' | 'stream-disk' | 'shell-archive' | 'upx' | 'mail' | 'mailbox' | 'uuencode' | 'ole' | 'macros';
    }
  | {
      kind:
        | 'rtf'
        | 'onenote'
        | 'tnef'
        | 'cms'
        | 'openpgp'
        | 'armour'
        | 'asar'
        | 'phar'
        | 'pieces'
        | 'iso-trees'
        | 'sqlite'
        | 'disc'
        | 'pyc'
        | 'pickle'
        | 'numpy'
        | 'capture'
        | 'snappy'
        | 'table'
        | 'blocks'
        | 'unity'
        | 'setup'
        | 'redis'
        | 'strings'
        | 'iwa'
        | 'http'
        | 'other-mailbox'
        | 'git';
    }
  | { kind: 'pdf'; is_within?: true }
  | { kind: 'packed'; compressor: Compressor }
  | { kind: 'opaque'; name: string; detail: StatusDetail }
  | { kind: 'seven'; format: string | undefined; start: number; is_guess?: true };

/** Bytes that `containerOf` needs: one tar block, and the volume descriptor of ISO 9660 lies at 32 KiB. */
export const HEAD_BYTES = 33_000;

const hex = (digits: string) => Buffer.from(digits, 'hex');
const text = (characters: string) => Buffer.from(characters, 'latin1');

/** Magic bytes at `offset`, and 7-Zip's name of the format; no name for what nothing here opens. */
const MAGIC: readonly { magic: Buffer; offset: number; format: string }[] = [
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
  { magic: text('CWS'), offset: 0, format: 'swfc' },
  { magic: text('ZWS'), offset: 0, format: 'swfc' },
];

/** What nothing here opens, and what is encrypted as a whole. */
const OPAQUE: readonly { magic: Buffer; offset: number; name: string; detail?: StatusDetail }[] = [
  { magic: text('LRZI'), offset: 0, name: 'lrzip' },
  { magic: text('RZIP\x02'), offset: 0, name: 'rzip' },
  { magic: text('**ACE**'), offset: 7, name: 'ACE' },
  { magic: text('ALZ\x01'), offset: 0, name: 'ALZ' },
  { magic: text('EGGA'), offset: 0, name: 'EGG' },
  { magic: text('StuffIt (c)'), offset: 0, name: 'StuffIt' },
  { magic: text('StuffIt!'), offset: 0, name: 'StuffIt' },
  { magic: text('7kSt'), offset: 0, name: 'ZPAQ' },
  { magic: hex('dca7c4fd'), offset: 20, name: 'ZOO' },
  { magic: hex('526172211a07'), offset: 0, name: 'RAR of a new kind' },
  { magic: text('pbzx'), offset: 0, name: 'pbzx (Apple)' },
  { magic: text('#@~^'), offset: 0, name: 'Windows Script Encoder' },
  { magic: text('ISc('), offset: 0, name: 'InstallShield' },
  { magic: text('WithoutFreeSpace'), offset: 0, name: 'Parallels disk' },
  { magic: text('WithouFreSpacExt'), offset: 0, name: 'Parallels disk' },
  { magic: text('QED\0'), offset: 0, name: 'QED disk' },
  { magic: hex('455646090d0aff00'), offset: 0, name: 'EnCase disk' },
  { magic: text('!BDN'), offset: 0, name: 'folders of Outlook' },
  { magic: hex('cfad12fe'), offset: 0, name: 'folders of Outlook Express' },
  { magic: hex('1a0000040000'), offset: 0, name: 'Lotus Notes' },
  { magic: text('Standard Jet DB\0'), offset: 4, name: 'Access' },
  { magic: text('Standard ACE DB\0'), offset: 4, name: 'Access' },
  { magic: hex('efcdab89'), offset: 4, name: 'database of Windows (ESE)' },
  { magic: hex('3f5f0300'), offset: 0, name: 'Windows Help' },
  { magic: hex('377f0682'), offset: 0, name: 'log of a database (SQLite WAL)' },
  { magic: hex('377f0683'), offset: 0, name: 'log of a database (SQLite WAL)' },
  { magic: hex('d9d505f920a163d7'), offset: 0, name: 'journal of a database (SQLite)' },
  { magic: text('KWAJ\x88\xf0\x27\xd1'), offset: 0, name: 'file of COMPRESS (KWAJ)' },
  { magic: text('PGDMP\x01'), offset: 0, name: 'archive of pg_dump' },
  { magic: text('EXFAT   '), offset: 3, name: 'exFAT' },
  { magic: text('XFSB'), offset: 0, name: 'XFS' },
  { magic: text('-rom1fs-'), offset: 0, name: 'romfs' },
  { magic: hex('e2e1f5e0'), offset: 1024, name: 'EROFS' },
  { magic: hex('1020f5f2'), offset: 1024, name: 'F2FS' },
  { magic: hex('4c554b53babe'), offset: 0, name: 'LUKS', detail: 'encrypted' },
  { magic: text('Salted__'), offset: 0, name: 'file of openssl enc', detail: 'encrypted' },
  { magic: text('age-encryption.org/v1\n'), offset: 0, name: 'age', detail: 'encrypted' },
  { magic: text('-----BEGIN AGE ENCRYPTED FILE-----'), offset: 0, name: 'age', detail: 'encrypted' },
  { magic: text('$ANSIBLE_VAULT;1.'), offset: 0, name: 'Ansible Vault', detail: 'encrypted' },
  { magic: text('AES\x01\0'), offset: 0, name: 'AES Crypt', detail: 'encrypted' },
  { magic: text('AES\x02\0'), offset: 0, name: 'AES Crypt', detail: 'encrypted' },
  { magic: hex('03d9a29a67fb4bb5'), offset: 0, name: 'KeePass', detail: 'encrypted' },
  { magic: hex('03d9a29a65fb4bb5'), offset: 0, name: 'KeePass', detail: 'encrypted' },
  { magic: text('-FVE-FS-'), offset: 3, name: 'BitLocker', detail: 'encrypted' },
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

const LZW = { first_bits: 9, most_bits: 16, clear: 256, codes_least: 16 } as const;

/**
 * LZW of compress(1): the third byte holds the code size (9 to 16 bits) and two bits that are always zero. The magic is of two bytes, so that its first codes,
 * of 9 bits each, must be ones that a decoder knows by then: of noise one in 30,000 has as many.
 */
function isCompress(head: Buffer): boolean {
  const flags = head[2] ?? 0;
  const most_bits = flags & 0x1f;
  if (head.length < 5 || head.readUInt16BE(0) !== 0x1f9d || (flags & 0x60) !== 0) return false;
  if (most_bits < LZW.first_bits || most_bits > LZW.most_bits) return false;
  const has_clear = (flags & 0x80) !== 0;
  const first = has_clear ? LZW.clear + 1 : LZW.clear;
  let next = first;
  let is_first = true;
  for (let count = 0, bit = 0; count < LZW.codes_least; count += 1) {
    const at = 3 + (bit >> 3);
    if (at + 2 > head.length) return true;
    const code = (head.readUInt16LE(at) >> (bit & 7)) & 0x1ff;
    bit += LZW.first_bits;
    if (has_clear && code === LZW.clear && !is_first) {
      // The table begins anew, with the next eight codes.
      bit = Math.ceil(bit / (8 * LZW.first_bits)) * 8 * LZW.first_bits;
      next = first;
      is_first = true;
      continue;
    }
    // The first is a byte as it is; then one that is known, or the one that is about to be.
    if (is_first ? code > 255 : code > next) return false;
    if (!is_first) next += 1;
    is_first = false;
  }
  return true;
}

const LZMA_USUAL = 0x5d;
const LZMA_PROPERTIES = 9 * 5 * 5;
const UNKNOWN_SIZE = 2n ** 64n - 1n;

/**
 * LZMA before xz has no magic (LZMA SDK, lzma-specification.txt): the usual properties with any dictionary, or others where the size is unknown, as most
 * programs write it, or the dictionary one that they choose; a size below 1 TiB, and the range coder's first byte, which is 0.
 */
function isLzma(head: Buffer): boolean {
  const [properties = 0] = head;
  if (head.length < 18 || properties >= LZMA_PROPERTIES || head[13] !== 0) return false;
  const size = head.readBigUInt64LE(5);
  if (size === UNKNOWN_SIZE) return true;
  return size < 2n ** 40n && (properties === LZMA_USUAL || (size > 0n && hasUsualDictionary(head)));
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

const ARC_HEAD_BYTES = 29;

/** The first head of an ARC archive: its mark, a method from 2 on (terminfo begins with the mark and 1), a name with its end; and behind its file the next mark, as far as that is seen. */
function isArc(head: Buffer): boolean {
  const method = head[1] ?? 0;
  if (head.length < ARC_HEAD_BYTES || head[0] !== 0x1a || method < 2 || method > 11) return false;
  const name = /^[\w!#$%&'()@^`{}~-]{1,8}(?:\.[\w!#$%&'()@^`{}~-]{0,3})?\0/;
  const next = ARC_HEAD_BYTES + head.readUInt32LE(15);
  return name.test(head.toString('latin1', 2, 15)) && next < 2 ** 31 && (next >= head.length || head[next] === 0x1a);
}

/** A file system of old Macs (Inside Macintosh: Files, 2-59): its mark, blocks of a multiple of 512 bytes, a name of at most 27. */
function isHfs(head: Buffer): boolean {
  if (head.length < 1200 || head.toString('latin1', 1024, 1026) !== 'BD') return false;
  const block_bytes = head.readUInt32BE(1024 + 20);
  return (
    block_bytes > 0 &&
    block_bytes % 512 === 0 &&
    block_bytes <= 2 ** 24 &&
    (head[1024 + 36] ?? 0) <= 27 &&
    head.readUInt16BE(1024 + 14) >= 3
  );
}

/** A backup by adb, which is zlib or tar behind four lines: the third says whether it is packed, the last how it is encrypted. */
const ANDROID_BACKUP = /^ANDROID BACKUP\n\d{1,2}\n[01]\nAES-256\n/;
/** Blocks of Avro (specification 1.11, object container files), packed one by one. */
const AVRO_PACKED = /avro\.codec.{1,2}(?:deflate|snappy|bzip2|xz|zstandard)/s;

/** RFC 1952, 2.3.1: no method but deflate is in use, and the mark is of two bytes: the flags, what says how well it is packed, and the system make sense too. */
function isGzipOfAnotherMethod(head: Buffer): boolean {
  const [first, second, method = 8, flags = 0xff] = head;
  const [extra = 0xff, system = 0xff] = head.subarray(8, 10);
  return first === 0x1f && second === 0x8b && method < 8 && flags < 0x20 && [0, 2, 4].includes(extra) && system <= 13;
}

/** What is told by more than one mark, and not opened. */
function closedOf(head: Buffer): { name: string; detail: StatusDetail } | undefined {
  const start = head.toString('latin1', 0, 4);
  const beginning = start === 'ANDR' || start === 'Obj\x01' ? head.toString('latin1', 0, CLOSED_HEAD_BYTES) : '';
  if (ANDROID_BACKUP.test(beginning)) return { name: 'backup of Android', detail: 'encrypted' };
  if (start === 'Obj\x01' && AVRO_PACKED.test(beginning)) return { name: 'packed Avro', detail: 'unsupported' };
  if (isArc(head)) return { name: 'ARC', detail: 'unsupported' };
  if (isGzipOfAnotherMethod(head)) return { name: 'gzip of an unknown method', detail: 'unsupported' };
  return isHfs(head) ? { name: 'HFS', detail: 'unsupported' } : undefined;
}

const CLOSED_HEAD_BYTES = 16 * 1024;

/** Keys and whatever else is behind a password (RFC 7292, 4): version 3, and content of CMS that is data or signed. */
const PKCS12 = /^30(?:8[0-4](?:..){0,4}|..)02010330(?:8[0-4](?:..){0,4}|..)06092a864886f70d01070[12]/;

/** A source that quotes the first bytes of one holds less than their length says. */
function isPkcs12(head: Buffer): boolean {
  if (head[0] !== 0x30 || !PKCS12.test(head.toString('hex', 0, 40))) return false;
  const short = head[1] ?? 0;
  const length_bytes = short > 0x80 ? short - 0x80 : 0;
  const length = length_bytes > 0 ? head.readUIntBE(2, length_bytes) : short;
  // Its end may not be told before it (X.690, 8.1.3.6), and what is longer than a head is not looked at here.
  return short === 0x80 || head.length >= HEAD_BYTES || 2 + length_bytes + length <= head.length;
}

/** A stream begins with a block, or is empty and ends at once. */
const BZIP2 = /^425a683[1-9](314159265359|177245385090)/;
const OLE = hex('d0cf11e0a1b11ae1');

/** An end record without anything before it is of no archive of several disks; the same four bytes may stand in a comment. */
function isEmptyZip(head: Buffer): boolean {
  return head.length >= 22 && head.readUInt32LE(0) === 0x06054b50 && [0, 0xffffffff].includes(head.readUInt32LE(4));
}

/** What kind of container begins with these bytes (at least HEAD_BYTES of them, where there are as many); undefined for none. */
export function containerOf(head: Buffer, budget: Budget): Container | undefined {
  const signature = head.length >= 4 ? head.readUInt32LE(0) : 0;
  const seven = (format: string | undefined): Container => ({ kind: 'seven', format, start: 0 });
  // Local header, empty archive, spanned archive (APPNOTE 4.3.7, 4.3.16, 8.5.4).
  if (signature === 0x04034b50 || signature === 0x08074b50 || isEmptyZip(head)) return { kind: 'zip' };
  const packed = (compressor: Compressor): Container => ({ kind: 'packed', compressor });
  // RFC 1952: deflate is the only method there is.
  if (signature % 0x1000000 === 0x088b1f) return { kind: 'gzip' };
  if (isLz4(head)) return packed('lz4');
  if (standsAt(head, LZOP, 0)) return packed('lzop');
  if (head.toString('latin1', 0, 5) === 'LZIP\x01') return packed('lzip');
  if (standsAt(head, OLE, 0)) return { kind: 'ole' };
  if (head[0] === 0x42 && BZIP2.test(head.toString('hex', 0, 10))) return seven('bzip2');
  const stands = ({ magic, offset }: { magic: Buffer; offset: number }) => standsAt(head, magic, offset);
  if (isStreamDisk(head)) return { kind: 'stream-disk' };
  const known = MAGIC.find(stands);
  if (known !== undefined) return seven(known.format);
  const closed = OPAQUE.find(stands);
  if (closed !== undefined) return { kind: 'opaque', name: closed.name, detail: closed.detail ?? 'unsupported' };
  const other = closedOf(head);
  if (other !== undefined) return { kind: 'opaque', ...other };
  if (isSkippable(head)) return seven('zstd');
  if (isArj(head)) return seven('arj');
  if (isCompress(head)) return seven('Z');
  if (isLzma(head))
    return head[0] === LZMA_USUAL && hasUsualDictionary(head)
      ? seven('lzma')
      : { kind: 'seven', format: 'lzma', start: 0, is_guess: true };
  if (isGitPack(head)) return { kind: 'git' };
  if (isHuffmanPack(head)) return packed('pack');
  if (standsAt(head, ZISOFS, 0)) return packed('zisofs');
  if (standsAt(head, MOZ_LZ4, 0)) return packed('mozlz4');
  if (isPkcs12(head)) return { kind: 'opaque', name: 'PKCS #12', detail: 'encrypted' };
  if (isBinaryCpio(head)) return seven('cpio');
  if (isTar(head)) return { kind: 'tar' };
  if (isRtf(head)) return { kind: 'rtf' };
  if (isOneNote(head)) return { kind: 'onenote' };
  if (isTnef(head)) return { kind: 'tnef' };
  if (isCms(head)) return { kind: 'cms' };
  if (isAsar(head)) return { kind: 'asar' };
  if (isZlib(head, budget)) return packed('zlib');
  if (isPieces(head)) return { kind: 'pieces' };
  if (isSqlite(head)) return { kind: 'sqlite' };
  if (isRawDisc(head)) return { kind: 'disc' };
  if (isPyc(head)) return { kind: 'pyc' };
  if (isNumpy(head)) return { kind: 'numpy' };
  if (isCapture(head)) return { kind: 'capture' };
  if (isSnappyStream(head)) return { kind: 'snappy' };
  if (isBlockStream(head)) return { kind: 'blocks' };
  if (isUnity(head)) return { kind: 'unity' };
  if (isRedis(head)) return { kind: 'redis' };
  if (isPickle(head)) return { kind: 'pickle' };
  if (isOpenPgp(head, budget)) return { kind: 'openpgp' };
  if (isOtherMailbox(head)) return { kind: 'other-mailbox' };
  const mail = mailKind(head);
  // A document that a mail carries may begin within the mail's first bytes.
  if (isPdf(head) && (mail === undefined || PDF_FIRST.test(head.toString('latin1', 0, 68))))
    return isPdfWithin(head) ? { kind: 'pdf', is_within: true } : { kind: 'pdf' };
  return mail === undefined ? undefined : { kind: mail };
}

const PDF_FIRST = /^\s{0,64}%(?:PDF|FDF)/;

function isProgram(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 4);
  return start.startsWith('MZ') || start === '\x7fELF' || start.startsWith('#!');
}

/** Whether a file that somebody would hide begins with these bytes: a container, an image of a disk or a program. */
function isFileHead(head: Buffer, budget: Budget): boolean {
  const container = containerOf(head, budget);
  return (
    isProgram(head) ||
    isImageHead(head, head.length) ||
    (container !== undefined && !(container.kind === 'seven' && container.is_guess === true))
  );
}

/** Whether a value is a file. What has no magic is tried as well: it is none where it does not open. */
export function isFileWhole(bytes: Buffer, budget: Budget): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  return isProgram(head) || isImageHead(head, bytes.length) || containerOf(head, budget) !== undefined || areSizedBlocks(bytes);
}

/** Whether what was opened tells nothing of what else the file is. */
export function isBeside(container: Container): boolean {
  const { kind } = container;
  if (kind === 'pdf') return container.is_within === true;
  return ['upx', 'armour', 'iso-trees', 'strings', 'http', 'uuencode'].includes(kind);
}

/** Carved formats that the reader of a container which tells nothing of the rest has read already, wherever they stand in its content. */
export function readBeside(container: Container): readonly string[] {
  if (container.kind === 'uuencode') return ['uuencode', 'yenc', 'binhex'];
  return container.kind === 'pdf' && container.is_within === true ? ['pdf'] : [];
}

const LATER_PART = 'a later part of a split archive';

/** A part of an archive that was cut has no mark of its own but for the first: its name alone tells what it is. */
function isLaterPart(name: string): boolean {
  const number = /\.(?:7z|zip|rar|tar|tgz|gz|bz2|xz|zst|lz4|arj|lzh|cab|iso|wim|exe)\.(\d{3})$/i.exec(name)?.[1];
  return (number !== undefined && Number(number) > 1) || /\.(?:z(?:0[2-9]|[1-5]\d)|r\d\d)$/i.test(name);
}

/** A PDF whose header does not stand at the first byte, so that the file may be something else that holds one. */
export function isLatePdf(container: Container | undefined, head: Buffer): boolean {
  return container?.kind === 'pdf' && head.toString('latin1', 0, 4) !== '%PDF';
}

/** Whether a file is no container, or one that is told by lines which may stand in anything. */
function isLoose(container: Container | undefined, head: Buffer): boolean {
  return container === undefined || container.kind === 'mail' || container.kind === 'mailbox' || isLatePdf(container, head);
}

/** Containers that are told by the whole of a file, whatever it is itself: images of disks, files encoded in its text, a zip at its end, a packed program. */
export function containersBehind(reader: Reader, head: Buffer, container: Container | undefined, name: string): Container[] {
  const images = container?.kind === 'stream-disk' ? [] : imagesIn(reader, head, name);
  const found: Container[] = images.map((image) => ({ kind: 'seven', start: 0, ...image }));
  if (images.some(({ format }) => format === 'iso')) found.push({ kind: 'iso-trees' });
  if (container === undefined && isShellArchive(reader, head)) found.push({ kind: 'shell-archive' });
  if (container === undefined && isLaterPart(name) && textFormOf(head) === undefined)
    found.push({ kind: 'opaque', name: LATER_PART, detail: 'unsupported' });
  const is_guessed = images.every(({ is_guess }) => is_guess === true);
  const closed = container === undefined && is_guessed ? closedFormatOf(reader, head) : undefined;
  if (closed !== undefined) found.push({ kind: 'opaque', ...closed });
  if (container === undefined && isIwa(reader, head)) found.push({ kind: 'iwa' });
  if (container === undefined && isBrotli(head, name, reader.budget)) found.push({ kind: 'packed', compressor: 'brotli' });
  // An archive in the last value of a database is that value, and no end of the file.
  if (container?.kind === 'zip' || container?.kind === 'sqlite') return found;
  // They are proven to their last byte, and what is packed may begin as something else does that may begin anywhere: a PDF, for one.
  if (isSizedBlocks(reader)) found.push({ kind: 'blocks' });
  if (container === undefined && endsAsTable(reader)) found.push({ kind: 'table' });
  if (isLoose(container, head) && holdsBrokenStrings(reader, (bytes) => isFileWhole(bytes, reader.budget)))
    found.push({ kind: 'strings' });
  if (endsAsZip(reader)) found.push({ kind: 'zip' });
  if ((container?.kind === 'mail' || container?.kind === 'mailbox') && isPdf(head)) found.push({ kind: 'pdf' });
  if (container === undefined && isMailboxBehind(reader, head)) found.push({ kind: 'mailbox' });
  // The mails of a mailbox are looked at one by one.
  if (container?.kind !== 'mailbox' && holdsEncoded(reader, head)) found.push({ kind: 'uuencode' });
  if (container === undefined && isHttp(head)) found.push({ kind: 'http' });
  if (container === undefined && holdsArmour(reader)) found.push({ kind: 'armour' });
  if (isProgram(head) && isUpxPacked(reader)) found.push({ kind: 'upx' });
  return found;
}

/** What a carved format is opened as, where its first bytes do not tell it themselves. 7-Zip finds out what it knows. */
const BY_FORMAT: Readonly<Record<string, Container>> = {
  nsis: { kind: 'seven', format: 'nsis', start: 0 },
  mime: { kind: 'mail' },
  uuencode: { kind: 'uuencode' },
  yenc: { kind: 'uuencode' },
  binhex: { kind: 'uuencode' },
  vba: { kind: 'macros' },
  asar: { kind: 'asar' },
  phar: { kind: 'phar' },
  setup: { kind: 'setup' },
};
/** Nothing here opens these. */
const CLOSED: Readonly<Record<string, string>> = {
  ace: 'ACE',
  installshield: 'InstallShield',
  'setup stream': 'InstallShield',
  inno: 'Inno Setup',
};

/** What to open as a carved format that begins with `head`. */
export function containerFor(format: string, head: Buffer, budget: Budget): Container {
  const known = BY_FORMAT[format] ?? containerOf(head, budget);
  if (known !== undefined) return known;
  const name = CLOSED[format];
  return name === undefined ? { kind: 'seven', format: undefined, start: 0 } : { kind: 'opaque', name, detail: 'unsupported' };
}

/** The one member of a packed file is named after it. */
function innerName(name: string): string {
  return (
    name
      .replace(/\.(gz|gzip|bz2|xz|zst|lzma|lz4|lz|lzo|zz|br|sz|snappy|Z)$/i, '')
      .replace(/\.(tgz|tbz2?|txz|tzst|taz|tlz|tlz4|tzo)$/i, '.tar') || 'content'
  );
}
const ONE_MEMBER: readonly string[] = ['xz', 'lzma', 'bzip2', 'zstd', 'Z', 'mslz'];

/** Whether the one member of a container is named after the file that it came in. */
export function isNamedAfterFile(container: Container): boolean {
  return (
    container.kind === 'gzip' ||
    container.kind === 'packed' ||
    container.kind === 'snappy' ||
    container.kind === 'blocks' ||
    (container.kind === 'opaque' && container.name === LATER_PART) ||
    (container.kind === 'seven' && ONE_MEMBER.includes(container.format ?? ''))
  );
}

const BOOT_BYTES = 512;
const DICTIONARY = { at: 1, bytes: 4, most: 2 ** 28 } as const;

/** The same LZMA with the next dictionary that 7-Zip takes: one that is too large unpacks to the same. */
function withUsualDictionary(source: Source): Source {
  const head = Buffer.from(source.read(0, DICTIONARY.at + DICTIONARY.bytes));
  if (head.length < DICTIONARY.at + DICTIONARY.bytes) return source;
  const claimed = head.readUInt32LE(DICTIONARY.at);
  let dictionary = 4096;
  while (dictionary < claimed && dictionary < DICTIONARY.most) dictionary *= 2;
  head.writeUInt32LE(dictionary, DICTIONARY.at);
  return joined(source, [head, { start: head.length, size: source.size - head.length }]);
}

async function* partitionMembers(content: Content, reader: Reader, { claim }: ReadContext): AsyncGenerator<Member> {
  claim(0, BOOT_BYTES);
  for (const { start, end } of partitionsOf(reader.at(0, BOOT_BYTES), reader.size)) {
    claim(start, end);
    yield { name: `partition at ${start}`, read: () => ({ stream: streamOf(content, start, end), packed_bytes: end - start }) };
  }
}

async function* sevenMembers(
  content: Content,
  { format, start, is_guess }: { format: string | undefined; start: number; is_guess?: true },
  name: string,
  context: ReadContext,
): AsyncGenerator<Member> {
  const source = openSource(content);
  const reader = openReader(content, context.budget);
  const claim = (from: number, to: number) => context.claim(start + from, endOfZeros(reader, start + to));
  const from = format === 'lzma' && is_guess ? withUsualDictionary(source) : rangeOf(source, start, source.size - start);
  try {
    const members = sevenZipMembers(from, format, context, claim);
    for await (const member of members) yield ONE_MEMBER.includes(format ?? '') ? { ...member, name: innerName(name) } : member;
  } catch (error) {
    if (format === 'mbr' && error instanceof NotAnArchive) {
      yield* partitionMembers(content, reader, context);
      return;
    }
    // LZMA has no magic, so that anything may look like it; the others are opened as what they are, or they are something else.
    if (is_guess && error instanceof (format === 'lzma' ? Unreadable : NotAnArchive)) return;
    throw error;
  } finally {
    reader.close();
    source.close();
  }
}

/** A macro's packed source is shorter. Bytes. */
const MACRO_BYTES_MAXIMUM = 4 * 1024 ** 2;

/** A macro as it stands in a stream of an Office document, wherever that is. */
async function* macroMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  const source = openSource(content);
  try {
    for (const { bytes, packed_bytes, is_cut } of macroSources(source.read(0, MACRO_BYTES_MAXIMUM), budget)) {
      budget.addUnpacked(bytes.length, bytes.length, packed_bytes);
      claim(0, packed_bytes);
      yield { name: 'macro', read: () => ({ content: { size: bytes.length, bytes }, damage: is_cut ? 'too_large' : undefined }) };
      return;
    }
  } finally {
    source.close();
  }
  throw new Unreadable('damaged');
}

/** The members of a container in their order. Throws where it is damaged; what came before is good. */
export function membersOf(container: Container, content: Content, name: string, context: ReadContext): AsyncGenerator<Member> {
  const isFile = (bytes: Buffer) => isFileWhole(bytes, context.budget);
  switch (container.kind) {
    case 'zip':
      return withMacroSheets(zipMembers(content, context), context.budget);
    case 'gzip':
      return compressedMembers('gzip', content, innerName(name), context);
    case 'packed':
      return compressedMembers(container.compressor, content, innerName(name), context);
    case 'tar':
      return tarMembers(content, context);
    case 'stream-disk':
      return streamDiskMembers(content, name, context);
    case 'shell-archive':
      return shellArchiveMembers(content, context);
    case 'upx':
      return upxMembers(content, context);
    case 'mail':
      return mailMembers(content, context);
    case 'mailbox':
      return mailboxMembers(content, context);
    case 'uuencode':
      return encodedMembers(content, context);
    case 'pdf':
      return pdfMembers(content, context, {
        head_bytes: HEAD_BYTES,
        isFile: (head) => containerOf(head, context.budget) !== undefined || isProgram(head),
      });
    case 'ole':
      return oleMembers(content, context);
    case 'rtf':
      return rtfMembers(content, context);
    case 'tnef':
      return tnefMembers(content, context);
    case 'cms':
      return cmsMembers(content, context);
    case 'onenote':
      return oneNoteMembers(content, context);
    case 'openpgp':
      return openPgpMembers(content, context);
    case 'armour':
      return armourMembers(content, context);
    case 'asar':
      return asarMembers(content, context);
    case 'phar':
      return pharMembers(content, context);
    case 'sqlite':
      return sqliteMembers(content, context, { head_bytes: HEAD_BYTES, isFile: (head) => isFileHead(head, context.budget) });
    case 'disc':
      return rawDiscMembers(content, context);
    case 'pyc':
      return pycMembers(
        content,
        context,
        (bytes) => isFileHead(bytes, context.budget) || textFormOf(bytes.subarray(0, LOOK_BYTES)) !== undefined,
      );
    case 'pickle':
      return pickleMembers(content, context, isFile);
    case 'numpy':
      return numpyMembers(content, context, isFile);
    case 'capture':
      return captureMembers(content, context);
    case 'snappy':
      return snappyMembers(content, innerName(name), context);
    case 'table':
      return tableMembers(content, context, isFile);
    case 'blocks':
      return blockStreamMembers(content, innerName(name), context);
    case 'unity':
      return unityMembers(content, context);
    case 'setup':
      return setupMembers(content, context);
    case 'redis':
      return redisMembers(content, context, isFile);
    case 'strings':
      return brokenStringMembers(content, context, isFile);
    case 'iwa':
      return iwaMembers(content, innerName(name), context);
    case 'http':
      return httpMembers(content, context);
    case 'other-mailbox':
      return otherMailboxMembers(content, context);
    case 'git':
      return gitPackMembers(content, context);
    case 'iso-trees':
      return isoTreeMembers(content, context);
    case 'pieces':
      return pieceMembers(content, context);
    case 'seven':
      return sevenMembers(content, container, name, context);
    case 'macros':
      return macroMembers(content, context);
    case 'opaque':
      context.note(
        `Its format is ${container.name}, which ${container.detail === 'encrypted' ? 'is encrypted as a whole' : 'nothing here opens'}.`,
      );
      throw new Unreadable(container.detail);
  }
}
