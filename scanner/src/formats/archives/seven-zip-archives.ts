import { crc32 } from 'node:zlib';
import { byMarks, type Format, hexMark, mark, oneOf, patternOf, spelled, withBits } from '#scanner/formats/format.ts';
import {
  listOfAr,
  listOfArj,
  listOfCab,
  listOfCpio,
  listOfLzh,
  listOfOne,
  listOfRar4,
  listOfRar5,
} from '#scanner/formats/seven-zip/listed-members.ts';
import { sevenZipFormat } from '#scanner/formats/seven-zip/seven-zip-format.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { provesBinaryCpio } from './cpio-proof.ts';
import { listOf7z } from './listed-7z.ts';
import { listOfWim } from './listed-wim.ts';

// Archive formats that 7-Zip opens.

const SEVEN = hexMark('377abcaf271c');

export const sevenZip = sevenZipFormat({
  id: '7z',
  type: '7z',
  list: listOf7z,
  media_type: 'application/x-7z-compressed',
  recognise: byMarks([SEVEN]),
  carve: [
    {
      pattern: `${patternOf(SEVEN)} 00 (00|01|02|03|04)`,
      proves(reader, at) {
        // 7zFormat.txt: bytes 8 to 11 are the CRC of the 20 bytes that follow.
        const head = reader.at(at, 32);
        return head.length === 32 && crc32(head.subarray(12)) === head.readUInt32LE(8);
      },
    },
  ],
  limits: 'Archives over several files are not read.',
});

const RAR_OF_ANY_KIND = '526172211a07';
const RAR = hexMark(`${RAR_OF_ANY_KIND}00`);
const RAR_5 = hexMark(`${RAR_OF_ANY_KIND}0100`);

export const rar = sevenZipFormat({
  id: 'rar',
  type: 'rar',
  list: listOfRar4,
  media_type: 'application/vnd.rar',
  recognise: byMarks([RAR]),
  carve: [{ pattern: patternOf(RAR), proves: (reader, at) => reader.at(at + 9, 1)[0] === 0x73 }],
  limits: 'Archives over several files are not read.',
});

export const rar5 = sevenZipFormat({
  id: 'rar5',
  type: 'rar5',
  list: listOfRar5,
  media_type: 'application/vnd.rar',
  recognise: byMarks([hexMark(`${RAR_OF_ANY_KIND}01`)]),
  // RAR 5.0 technical note: byte 13 is the type of the first header, 1 (main) or 4 (encryption).
  carve: [{ pattern: patternOf(RAR_5), proves: (reader, at) => [1, 4].includes(reader.at(at + 13, 1)[0] ?? 0) }],
  limits: 'Archives over several files are not read.',
});

/** The first bytes that all versions of RAR have. Unknown versions are recognised by it but not opened. */
export const RAR_MARK = hexMark(RAR_OF_ANY_KIND);

const CAB = mark('MSCF\0\0\0\0');

export const cab = sevenZipFormat({
  id: 'cab',
  type: 'cab',
  list: listOfCab,
  media_type: 'application/vnd.ms-cab-compressed',
  recognise: byMarks([CAB]),
  carve: [
    {
      pattern: patternOf(CAB),
      proves(reader, at) {
        const head = reader.at(at, 36);
        return head.length === 36 && head.readUInt32LE(8) <= reader.size - at && head.readUInt16LE(24) === 0x0103;
      },
    },
  ],
});

const AR = mark('!<arch>\n');
const AR_HEAD_END = Buffer.from('`\n');

export const ar = sevenZipFormat({
  id: 'ar',
  type: 'ar',
  list: listOfAr,
  media_type: 'application/x-archive',
  recognise: byMarks([AR]),
  carve: [{ pattern: patternOf(AR), proves: (reader, at) => reader.at(at + 66, 2).equals(AR_HEAD_END) }],
});

const CPIO_BINARY = 0o070707;
const CPIO_SWAPPED = 0xc771;
const CPIO_KINDS: readonly number[] = [0o4, 0o10, 0o12, 0o2, 0o6];
const cpioByMarks = byMarks([mark('070701'), mark('070702'), mark('070707')]);

/** Whether the bytes begin with a binary cpio header, in either byte order: a file type of POSIX and a name that ends with a zero. */
function isBinaryCpio(head: Buffer): boolean {
  const magic = head.length >= 26 ? head.readUInt16LE(0) : 0;
  if (magic !== CPIO_BINARY && magic !== CPIO_SWAPPED) return false;
  const word = (at: number) => (magic === CPIO_BINARY ? head.readUInt16LE(at) : head.readUInt16BE(at));
  const name_bytes = word(20);
  return CPIO_KINDS.includes(word(6) >> 12) && name_bytes > 1 && head[26 + name_bytes - 1] === 0;
}

/** Possible upper bytes of a POSIX mode: the file type, and the setuid, setgid, sticky and owner-read bits. */
const MODES = '(11|20|21|40|41|43|45|47|60|61|80|81|83|85|89|a0|a1|c1)';

const isWritten = (reader: Reader, at: number, length: number, digits: RegExp) =>
  digits.test(reader.at(at, length).toString('latin1'));

export const cpio = sevenZipFormat({
  id: 'cpio',
  type: 'cpio',
  list: listOfCpio,
  media_type: 'application/x-cpio',
  recognise: (head) => cpioByMarks(head) || (isBinaryCpio(head) ? 26 : 0),
  carve: [
    {
      id: 'cpio-hex',
      title: 'cpio',
      pattern: '/07070[12][0-9A-Fa-f]{16}/',
      bits: 46 + 16 * 3.54,
      proves: (reader, at) => isWritten(reader, at + 6, 104, /^[0-9a-f]{104}$/i),
    },
    {
      id: 'cpio-octal',
      title: 'cpio',
      pattern: '/070707[0-7]{16}/',
      bits: 48 + 16 * 5,
      proves: (reader, at) => isWritten(reader, at + 6, 70, /^[0-7]{70}$/),
    },
    {
      id: 'cpio-binary',
      title: 'cpio',
      // In both byte orders: a mode, fewer than 256 links, a name of fewer than 512 bytes, and a file of less than 256 MiB.
      pattern: `c7 71 ?? ?? ?? ?? ?? ${MODES} ?? ?? ?? ?? ?? 00 ?? ?? ?? ?? ?? ?? ?? (00|01) ?? ${oneOf(0, 15)}`,
      proves: provesBinaryCpio,
    },
    {
      id: 'cpio-swapped',
      title: 'cpio',
      pattern: `71 c7 ?? ?? ?? ?? ${MODES} ?? ?? ?? ?? ?? 00 ?? ?? ?? ?? ?? ?? ?? (00|01) ?? ${oneOf(0, 15)}`,
      proves: provesBinaryCpio,
    },
  ],
  traits: { is_weak: true, holds_whole_files: true },
});

/** LHA levels 0 and 1 have a header checksum, which must match. Levels 2 and 3 have a CRC in an extended header; only their header size is checked. */
function provesLzh(reader: Reader, at: number): boolean {
  const head = reader.at(at, 257);
  const level = head[20] ?? 9;
  if (level > 1) return level <= 3 && head.readUInt16LE(0) >= 24;
  const size = head[0] ?? 0;
  const header = head.subarray(2, 2 + size);
  return size >= 20 && header.length === size && header.reduce((sum, byte) => (sum + byte) & 0xff, 0) === head[1];
}

export const lzh = sevenZipFormat({
  id: 'lzh',
  type: 'lzh',
  list: listOfLzh,
  recognise: byMarks([mark('-lh', 2)]),
  carve: [{ pattern: `2d 6c (68|7a) (30|31|32|33|34|35|36|37|64|73|78) 2d [13] (00|01|02|03)`, back: 2, proves: provesLzh }],
});

const CHM = mark('ITSF\x03\0\0\0');
export const chm = sevenZipFormat({ id: 'chm', type: 'chm', recognise: byMarks([CHM]), carve: [{ pattern: patternOf(CHM) }] });

const RPM = hexMark('edabeedb');
export const rpm = sevenZipFormat({
  id: 'rpm',
  type: 'rpm',
  media_type: 'application/x-rpm',
  recognise: byMarks([RPM]),
  carve: [{ pattern: `${patternOf(RPM)} 03 (00|01) 00 (00|01)` }],
});

const SZDD = mark('SZDD\x88\xf0\x27\x33');
export const mslz = sevenZipFormat({
  id: 'mslz',
  type: 'mslz',
  // After the magic: the method, one character of the name, and then the size.
  list: listOfOne(10, 4),
  recognise: byMarks([SZDD]),
  carve: [{ pattern: `${patternOf(SZDD)} 41` }],
  traits: { is_named_after_file: true },
});

const WIM = mark('MSWIM\0\0\0');
export const wim = sevenZipFormat({
  id: 'wim',
  type: 'wim',
  list: listOfWim,
  has_sha1: true,
  recognise: byMarks([WIM]),
  carve: [{ pattern: patternOf(WIM) }],
  limits: 'Pipable archives of wimlib are not read.',
});

const XAR = mark('xar!');
export const xar = sevenZipFormat({
  id: 'xar',
  type: 'xar',
  recognise: byMarks([mark('xar!\0')]),
  carve: [{ pattern: `${patternOf(XAR)} 00 ?? 00 01` }],
});

/** The magic has only two bytes, so the following fields are checked as well. */
const ARJ = { magic: 0x60ea, header_bytes_maximum: 2600, main_header: 2 } as const;

function isArj(head: Buffer): boolean {
  return (
    head.length > 10 &&
    head.readUInt16BE(0) === ARJ.magic &&
    head.readUInt16LE(2) <= ARJ.header_bytes_maximum &&
    head[10] === ARJ.main_header
  );
}

/** Whether the CRC after the main header matches. */
function provesArj(reader: Reader, at: number): boolean {
  const size = reader.at(at + 2, 2);
  if (size.length < 2) return false;
  const bytes = size.readUInt16LE(0);
  const header = reader.at(at + 4, bytes + 4);
  return bytes >= 30 && header.length === bytes + 4 && crc32(header.subarray(0, bytes)) === header.readUInt32LE(bytes);
}

export const arj = sevenZipFormat({
  id: 'arj',
  type: 'arj',
  list: listOfArj,
  recognise: withBits(28, isArj),
  carve: [{ pattern: `60 ea ?? ${oneOf(0, 10)} ${oneOf(0x1e, 0x2e)} ?? ?? ${oneOf(0, 11)} ?? ?? 02`, proves: provesArj }],
  traits: { is_weak: true },
});

export const nsis = sevenZipFormat({
  id: 'nsis',
  type: 'nsis',
  carve: [{ pattern: `ef be ad de ${spelled('NullsoftInst')}`, back: 4, is_own: true }],
  limits: 'Nothing of the script of an installer is run.',
});

/** Lets 7-Zip detect the type, for a matched pattern whose first bytes do not identify the format. */
export const anyArchive: Format = sevenZipFormat({ id: 'archive', type: undefined });
