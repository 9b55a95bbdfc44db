import { crc32 } from 'node:zlib';
import { provesBinaryCpio } from '#scanner/formats/archives/cpio-proof.ts';
import { isTarHeader } from '#scanner/formats/archives/tar.ts';
import { isSetup } from '#scanner/formats/programs/setup-launcher.ts';
import type { Reader } from '#scanner/walk/reader.ts';
import {
  provesArj,
  provesBzip2,
  provesGzip,
  provesLzh,
  provesLzma,
  provesLzop,
  provesOle,
  provesPdf,
  provesPhar,
  provesZip,
  provesZlib,
  provesZstd,
} from './carving-proofs.ts';

// The formats that are looked for inside of others, each with its pattern.

/** A format that is looked for inside of others. */
export interface Carved {
  /** 7-Zip's name where 7-Zip knows it. */
  format: string;
  /** What YARA-X searches for: a hex string or a regular expression. */
  pattern: string;
  /** How much of the container stands before the pattern. Bytes. */
  back?: number;
  /** What random bytes must agree with. Bits; computed from hex patterns, given for regular expressions. */
  bits?: number;
  /**
   * Whether a container begins there as far as its first bytes tell. What proves to be one and does not open is a container that could not be read; what
   * does not prove is nothing.
   */
  proves?: (reader: Reader, at: number) => boolean;
  /** It proves little: when it does not open, it was none. */
  is_guess?: true;
}

export const text = (characters: string) => Buffer.from(characters, 'latin1');

const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex');

const spelled = (characters: string) => [...text(characters)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');

const oneOf = (from: number, to: number) =>
  `(${Array.from({ length: to - from + 1 }, (_, index) => (from + index).toString(16).padStart(2, '0')).join('|')})`;

/** Bytes from `at` on are hexadecimal or octal digits. */
const digits = (reader: Reader, at: number, length: number, kind: RegExp) => kind.test(reader.at(at, length).toString('latin1'));

/** The higher byte of a mode of POSIX: the kind of file, and what of its rights stands there. */
const MODES = '(11|20|21|40|41|43|45|47|60|61|80|81|83|85|89|a0|a1|c1)';

/** Every carved format. */
export const CARVED: readonly Carved[] = [
  {
    format: 'zip',
    pattern: `50 4b 03 04 ${oneOf(10, 63)} ?? ?? ?? (00|01|02|03|04|05|06|08|09|0c|0e|5d|5f|61|62|63) 00`,
    proves: provesZip,
  },
  {
    format: 'gzip',
    pattern: `1f 8b 08 ${oneOf(0, 31)} ?? ?? ?? ?? (00|02|04) (00|01|02|03|04|05|06|07|08|09|0a|0b|0c|0d|ff)`,
    proves: provesGzip,
  },
  {
    format: '7z',
    pattern: '37 7a bc af 27 1c 00 (00|01|02|03|04)',
    proves(reader, at) {
      // 7zFormat.txt: the CRC of the 20 bytes that follow it.
      const head = reader.at(at, 32);
      return head.length === 32 && crc32(head.subarray(12)) === head.readUInt32LE(8);
    },
  },
  {
    format: 'rar5',
    pattern: '52 61 72 21 1a 07 01 00',
    // RAR 5.0 technote: CRC, size and type 1 (main) or 4 (encryption) of the first header.
    proves: (reader, at) => [1, 4].includes(reader.at(at + 13, 1)[0] ?? 0),
  },
  {
    format: 'rar',
    pattern: '52 61 72 21 1a 07 00',
    proves: (reader, at) => reader.at(at + 9, 1)[0] === 0x73,
  },
  {
    format: 'cab',
    pattern: `${spelled('MSCF')} 00 00 00 00`,
    proves(reader, at) {
      const head = reader.at(at, 36);
      return head.length === 36 && head.readUInt32LE(8) <= reader.size - at && head.readUInt16LE(24) === 0x0103;
    },
  },
  {
    format: 'bzip2',
    pattern: `${spelled('BZh')} ${oneOf(0x31, 0x39)} ${spelled('1AY&SY')}`,
    proves: provesBzip2,
  },
  { format: 'xz', pattern: 'fd 37 7a 58 5a 00 00 (00|01|04|0a)' },
  {
    format: 'zstd',
    pattern: '28 b5 2f fd (00|04|20|24|40|44|60|64|80|84|a0|a4|c0|c4|e0|e4)',
    proves: provesZstd,
  },
  {
    format: 'lz4',
    // Version 1 without a dictionary, and a block size that there is (LZ4 frame format 1.6.4).
    pattern: '04 22 4d 18 (40|44|48|4c|50|54|58|5c|60|64|68|6c|70|74|78|7c) (40|50|60|70)',
  },
  { format: 'lz4', pattern: '02 21 4c 18 ?? ?? (00|01|02|03|04|05|06|07) 00', is_guess: true },
  {
    format: 'lzma',
    pattern: '5d 00 00 ?? ?? ff ff ff ff ff ff ff ff 00',
    proves: provesLzma,
    is_guess: true,
  },
  {
    format: 'lzma',
    pattern: '5d 00 00 (00|01|02|04|08|10|20|40|80) ?? ?? ?? ?? ?? 00 00 00 00 00',
    proves: provesLzma,
    is_guess: true,
  },
  { format: 'lz4 of Java', pattern: `${spelled('LZ4Block')} ${oneOf(0x10, 0x2f)}` },
  { format: 'snappy of Java', pattern: '82 53 4e 41 50 50 59 00 00 00 00 (01|02)' },
  { format: 'unity', pattern: `${spelled('UnityFS')} 00 00 00 00 (06|07|08)` },
  { format: 'lzip', pattern: `${spelled('LZIP')} 01 ${oneOf(0x0c, 0x1d)}` },
  { format: 'lzop', pattern: '89 4c 5a 4f 00 0d 0a 1a 0a', proves: provesLzop },
  {
    format: 'tar',
    pattern: `${spelled('ustar')} (00|20) (30|20) (30|00)`,
    back: 257,
    proves: (reader, at) => isTarHeader(reader.at(at, 512)),
  },
  { format: 'ar', pattern: spelled('!<arch>\n'), proves: (reader, at) => reader.at(at + 66, 2).equals(text('`\n')) },
  {
    format: 'cpio',
    pattern: `/07070[12][0-9A-Fa-f]{16}/`,
    bits: 46 + 16 * 3.54,
    proves: (reader, at) => digits(reader, at + 6, 104, /^[0-9a-f]{104}$/i),
  },
  {
    format: 'cpio',
    pattern: `/070707[0-7]{16}/`,
    bits: 48 + 16 * 5,
    proves: (reader, at) => digits(reader, at + 6, 70, /^[0-7]{70}$/),
  },
  {
    format: 'cpio',
    // Binary, in either order: a mode, fewer than 256 links, a name of fewer than 512 bytes, a file of less than 256 MiB.
    pattern: `c7 71 ?? ?? ?? ?? ?? ${MODES} ?? ?? ?? ?? ?? 00 ?? ?? ?? ?? ?? ?? ?? (00|01) ?? ${oneOf(0, 15)}`,
    proves: provesBinaryCpio,
  },
  {
    format: 'cpio',
    pattern: `71 c7 ?? ?? ?? ?? ${MODES} ?? ?? ?? ?? ?? 00 ?? ?? ?? ?? ?? ?? ?? (00|01) ?? ${oneOf(0, 15)}`,
    proves: provesBinaryCpio,
  },
  {
    format: 'lzh',
    pattern: `2d 6c (68|7a) (30|31|32|33|34|35|36|37|64|73|78) 2d [13] (00|01|02|03)`,
    back: 2,
    proves: provesLzh,
  },
  {
    format: 'arj',
    pattern: `60 ea ?? ${oneOf(0, 10)} ${oneOf(0x1e, 0x2e)} ?? ?? ${oneOf(0, 11)} ?? ?? 02`,
    proves: provesArj,
  },
  { format: 'chm', pattern: `${spelled('ITSF')} 03 00 00 00` },
  { format: 'rpm', pattern: 'ed ab ee db 03 (00|01) 00 (00|01)' },
  { format: 'mslz', pattern: `${spelled('SZDD')} 88 f0 27 33 41` },
  { format: 'wim', pattern: `${spelled('MSWIM')} 00 00 00` },
  { format: 'xar', pattern: `${spelled('xar!')} 00 ?? 00 01` },
  { format: 'squashfs', pattern: `${spelled('hsqs')} [24] 04 00 00 00` },
  {
    format: 'cramfs',
    pattern: spelled('Compressed ROMFS'),
    back: 16,
    proves: (reader, at) => reader.at(at, 4).equals(hex('453dcd28')),
  },
  { format: 'iso', pattern: '01 43 44 30 30 31 01 00', back: 32_768 },
  { format: 'qcow', pattern: '51 46 49 fb 00 00 00 (02|03)' },
  { format: 'vmdk', pattern: `${spelled('KDMV')} (01|02|03) 00 00 00` },
  { format: 'vhdx', pattern: spelled('vhdxfile'), proves: (reader, at) => reader.at(at + 0x30000, 4).equals(text('regi')) },
  { format: 'vdi', pattern: '7f 10 da be (00|01) 00 01 00', back: 64 },
  {
    format: 'ntfs',
    pattern: `eb 52 90 ${spelled('NTFS    ')}`,
    proves: (reader, at) => reader.at(at + 510, 2).equals(hex('55aa')),
  },
  {
    format: 'gpt',
    pattern: `${spelled('EFI PART')} 00 00 01 00 5c 00 00 00`,
    back: 512,
    proves: (reader, at) => reader.at(at + 510, 2).equals(hex('55aa')),
  },
  { format: 'nsis', pattern: `ef be ad de ${spelled('NullsoftInst')}`, back: 4 },
  {
    format: 'setup',
    pattern: `${spelled('InstallShield')} 00 ?? ?? 00 00 00 00`,
    proves: (reader, at) => isSetup(reader, at),
  },
  {
    // Newer launchers have other records.
    format: 'setup stream',
    pattern: `${spelled('ISSetupStream')} 00 ?? ?? (00|01|02|03|04) 00 00 00`,
    proves: (reader, at) => reader.at(at + 14, 2).some((byte) => byte !== 0),
  },
  { format: 'installshield', pattern: `${spelled('ISc(')} ?? ?? ?? (00|01|02|04) ?? ?? ?? ?? 00 02 00 00` },
  // The identification of its data, 64 bytes with zeros at their end (innoextract, setup/version.cpp); the program before it names it as well.
  {
    format: 'inno',
    pattern: spelled('Inno Setup Setup Data ('),
    proves: (reader, at) => /^Inno Setup Setup Data \(\d[\d.]{2,12}\)[^\0]{0,40}\0+$/.test(reader.at(at, 64).toString('latin1')),
  },
  {
    format: 'ace',
    pattern: `${spelled('**ACE**')} ?? ?? (00|01|02|03|04|05|06|07|08|09|0a|0b)`,
    back: 7,
    proves: (reader, at) => reader.at(at + 4, 1)[0] === 0,
  },
  {
    format: 'ole',
    pattern: 'd0 cf 11 e0 a1 b1 1a e1',
    proves: provesOle,
  },
  {
    format: 'pdf',
    pattern: spelled('%PDF-'),
    proves: provesPdf,
  },
  {
    format: 'vba',
    // MS-OVBA 2.4.1: a compressed container, and `Attribute VB_` as its first chunk's literals.
    pattern: `01 ?? (b0|b1|b2|b3|b4|b5|b6|b7|b8|b9|ba|bb|bc|bd|be|bf) 00 ${spelled('Attribut')} 00 65 20`,
  },
  { format: 'tnef', pattern: '78 9f 3e 22 ?? ?? 01 06 90 08 00' },
  {
    format: 'swf',
    pattern: `43 57 53 ${oneOf(6, 60)} ?? ?? ?? ?? 78 (01|5e|9c|da)`,
    proves: (reader, at) => provesZlib(reader, at + 8),
  },
  { format: 'asar', pattern: `04 00 00 00 ?? ?? ?? 00 ?? ?? ?? 00 ?? ?? ?? 00 ${spelled('{"files":{')}` },
  { format: 'phar', pattern: spelled('__HALT_COMPILER();'), proves: provesPhar },
  {
    format: 'binhex',
    pattern: spelled('(This file must be converted with BinHex'),
    proves: (reader, at) => /^.{38,80}\s{1,8}:[!-z]{20}/s.test(reader.at(at, 120).toString('latin1')),
  },
  {
    format: 'yenc',
    pattern: spelled('=ybegin '),
    proves: (reader, at) => /^=ybegin (\w+=\d+ ){2,5}name=/.test(reader.at(at, 120).toString('latin1')),
  },
  {
    format: 'mime',
    pattern: '/[\\x00\\r\\n](Content-Transfer-Encoding: {0,4}(base64|quoted-p|x-uue)|MIME-Version: {0,4}1)/i',
    // Of the shorter one.
    bits: 14 * 7 + 6,
    is_guess: true,
  },
  { format: 'uuencode', pattern: '/\\nbegin(-base64)? [0-7]{3,4} [!-~]/', bits: 56 + 20, is_guess: true },
];
