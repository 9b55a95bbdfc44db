import { standsAt } from '#scanner/walk/content.ts';
import type { Reader } from '#scanner/walk/reader.ts';

// File systems, partition tables and virtual disks: 7-Zip opens them where it is asked to. It is asked where their magic stands at its place, and where a
// boot sector or a superblock of which the magic is two bytes makes sense beside it: one ask takes some milliseconds, which not every file should cost.

/** 7-Zip's name of a format, undefined to let it find out (and open what lies in it in one go). `is_guess`: it may be something else. */
export interface Image {
  format: string | undefined;
  is_guess?: true;
}

const text = (characters: string) => Buffer.from(characters, 'latin1');
const hex = (digits: string) => Buffer.from(digits, 'hex');

const MAGIC: readonly { magic: Buffer; at: number; image: Image }[] = [
  { magic: text('CD001'), at: 32_769, image: { format: 'iso' } },
  { magic: hex('514649fb000000'), at: 0, image: { format: undefined } }, // QCOW
  { magic: text('KDMV'), at: 0, image: { format: undefined } }, // VMDK
  { magic: text('vhdxfile'), at: 0, image: { format: undefined } },
  { magic: text('conectix\0\0'), at: 0, image: { format: undefined } }, // VHD
  { magic: hex('7f10dabe'), at: 64, image: { format: undefined } }, // VDI
  { magic: hex('3aff26ed01'), at: 0, image: { format: undefined } }, // Android's sparse image
  { magic: text('EFI PART\0\0\x01\0'), at: 512, image: { format: 'gpt' } },
  { magic: text('Compressed ROMFS'), at: 16, image: { format: 'cramfs' } },
  { magic: text('NXSB'), at: 32, image: { format: 'apfs' } },
  { magic: text('gDla'), at: 4096, image: { format: 'lp' } },
  { magic: text('hsqs'), at: 0, image: { format: 'squashfs' } },
  { magic: text('sqsh'), at: 0, image: { format: 'squashfs' } },
  { magic: text('shsq'), at: 0, image: { format: 'squashfs' } },
  { magic: text('qshs'), at: 0, image: { format: 'squashfs' } },
  { magic: text('H+\0\x04'), at: 1024, image: { format: 'hfs' } },
  { magic: text('HX\0\x05'), at: 1024, image: { format: 'hfs' } },
  { magic: text('_FVH'), at: 40, image: { format: 'uefif', is_guess: true } },
  { magic: hex('8fafac84'), at: 0, image: { format: 'ppmd' } },
  { magic: text('ITOLITLS'), at: 0, image: { format: 'hxs' } },
];

/** At the end of the file: the 512 bytes there begin so. */
const FOOTERS: readonly { magic: Buffer; image: Image }[] = [
  { magic: text('koly\0\0\0\x04'), image: { format: 'dmg' } },
  { magic: text('conectix\0\0'), image: { format: undefined } }, // VHD of fixed size
];
const SECTOR_BYTES = 512;
const BOOT_SIGNATURE_AT = 510;
const BOOT_SIGNATURE = hex('55aa');

const isPowerOfTwo = (number: number) => number > 0 && (number & (number - 1)) === 0;

/** A boot sector of FAT (Microsoft FAT specification, 3.1): a jump, and sizes that make sense. */
function isFat(head: Buffer): boolean {
  if (head.length < SECTOR_BYTES || (head[0] !== 0xeb && head[0] !== 0xe9)) return false;
  const sector = head.readUInt16LE(11);
  const [cluster = 0, fats = 0, media = 0] = [head[13], head[16], head[21]];
  const makes_sense = isPowerOfTwo(sector) && sector >= 512 && sector <= 4096 && isPowerOfTwo(cluster);
  return makes_sense && head.readUInt16LE(14) > 0 && (fats === 1 || fats === 2) && (media === 0xf0 || media >= 0xf8);
}

const PARTITIONS = { at: 446, bytes: 16, count: 4 } as const;

/** A table of partitions of which one lies in the file, and none is neither active nor inactive. */
function isMasterBootRecord(head: Buffer, size: number): boolean {
  if (head.length < SECTOR_BYTES || !head.subarray(BOOT_SIGNATURE_AT).subarray(0, 2).equals(BOOT_SIGNATURE)) return false;
  let found = false;
  for (let index = 0; index < PARTITIONS.count; index += 1) {
    const entry = head.subarray(PARTITIONS.at + index * PARTITIONS.bytes);
    if (entry[0] !== 0 && entry[0] !== 0x80) return false;
    const start = entry.readUInt32LE(8) * SECTOR_BYTES;
    found ||= entry[4] !== 0 && start > 0 && start < size && entry.readUInt32LE(12) > 0;
  }
  return found;
}

/** Where the partitions of a table lie, as far as they are in the file. 7-Zip opens no table without cylinders, heads and sectors; systems do. */
export function partitionsOf(head: Buffer, size: number): { start: number; end: number }[] {
  return Array.from({ length: PARTITIONS.count }, (_, index) => {
    const entry = head.subarray(PARTITIONS.at + index * PARTITIONS.bytes);
    const start = entry.readUInt32LE(8) * SECTOR_BYTES;
    return { start, end: Math.min(size, start + entry.readUInt32LE(12) * SECTOR_BYTES) };
  }).filter(({ start, end }) => start > 0 && start < end);
}

/** The superblock of ext2, ext3 and ext4 (kernel, ext4 documentation, "The Super Block"): magic, some inodes, a block of at most 64 KiB. */
function isExt(head: Buffer): boolean {
  if (head.length < 1024 + 96 || head.readUInt16LE(1080) !== 0xef53) return false;
  return head.readUInt32LE(1024) > 0 && head.readUInt32LE(1048) <= 6;
}

/** It says so much of itself that it is nothing else: when 7-Zip knows a feature of it not, it is no file system that was read. */
function isSurelyExt(head: Buffer): boolean {
  const [state, creator, revision] = [head.readUInt16LE(1082), head.readUInt32LE(1096), head.readUInt32LE(1100)];
  const blocks = head.readUInt32LE(1028);
  return (
    state >= 1 && state <= 7 && creator <= 4 && revision <= 1 && blocks > head.readUInt32LE(1036) && head.readUInt32LE(1064) > 0
  );
}

/** The master directory block of HFS (Inside Macintosh: Files, 2-60): its signature, and blocks of whole sectors. */
function isHfs(head: Buffer): boolean {
  if (head.length < 1024 + 24 || head.toString('latin1', 1024, 1026) !== 'BD') return false;
  const block = head.readUInt32BE(1024 + 20);
  return block > 0 && block % SECTOR_BYTES === 0 && head.readUInt16BE(1024 + 18) > 0;
}

/** Apple's partition map: a driver descriptor, and a map entry in the next block. */
function isApplePartitionMap(head: Buffer): boolean {
  if (head.length < 4 || head.toString('latin1', 0, 2) !== 'ER') return false;
  const block = head.readUInt16BE(2);
  return isPowerOfTwo(block) && block >= SECTOR_BYTES && block <= 4096 && head.toString('latin1', block, block + 2) === 'PM';
}

/** Whether an image begins with these bytes: by a magic, or a boot sector or superblock that makes sense. `size` is of all of it. */
export function isImageHead(head: Buffer, size: number): boolean {
  if (MAGIC.some(({ magic, at }) => standsAt(head, magic, at)) || head.toString('latin1', 3, 11) === 'NTFS    ') return true;
  return isFat(head) || isExt(head) || isHfs(head) || isApplePartitionMap(head) || isMasterBootRecord(head, size);
}

const VOLUME_SECTOR_BYTES = 2048;
const VOLUME_AT = 32_768;
const VOLUMES_MAXIMUM = 16;
/** ECMA-167 3/9.1: the descriptor by which a volume says that it is of UDF. */
const UDF_MARKS: readonly string[] = ['NSR02', 'NSR03'];

/** UDF, beside ISO 9660 or alone. */
function isUdf(reader: Reader): boolean {
  for (let index = 0; index < VOLUMES_MAXIMUM; index += 1) {
    const mark = reader.at(VOLUME_AT + index * VOLUME_SECTOR_BYTES + 1, 5).toString('latin1');
    if (UDF_MARKS.includes(mark)) return true;
    if (!/^(CD001|BEA01|BOOT2|TEA01)$/.test(mark)) return false;
  }
  return false;
}

/** What people's systems mount by the name alone. */
const IMAGE_NAME = /\.(iso|img|ima|vfd|vhd|vhdx|vmdk|vdi|qcow2?|dmg|udf|hfs|simg|sfs|squashfs|wim|swm|esd)$/i;

/** The images that a file is: more than one where it is a disc for two systems, or a partition table beside a file system. */
export function imagesIn(reader: Reader, head: Buffer, name: string): Image[] {
  const images = MAGIC.filter(({ magic, at }) => standsAt(head, magic, at)).map(({ image }) => image);
  if (isUdf(reader)) images.push({ format: 'udf' });
  const footer = reader.size < 2 * SECTOR_BYTES ? undefined : reader.at(reader.size - SECTOR_BYTES, SECTOR_BYTES);
  images.push(...FOOTERS.filter(({ magic }) => footer !== undefined && standsAt(footer, magic, 0)).map(({ image }) => image));
  const has_table = images.some(({ format }) => format === 'gpt' || format === undefined);
  const guess = (format: string) => images.push({ format, is_guess: true });
  if (head.toString('latin1', 3, 11) === 'NTFS    ') guess('ntfs');
  if (isFat(head)) guess('fat');
  // Asked for a partition table alone, 7-Zip does not go on to the file system in it.
  if (!has_table && isMasterBootRecord(head, reader.size)) images.push({ format: undefined, is_guess: true });
  if (isExt(head)) images.push({ format: 'ext', ...(isSurelyExt(head) ? {} : { is_guess: true }) });
  if (isHfs(head)) guess('hfs');
  if (isApplePartitionMap(head)) guess('apm');
  if (images.length === 0 && IMAGE_NAME.test(name)) images.push({ format: undefined, is_guess: true });
  return images;
}
