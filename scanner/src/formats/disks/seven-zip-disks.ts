import { byMarks, type Format, hexMark, type Mark, mark, patternOf, withBits } from '#scanner/formats/format.ts';
import { sevenZipFormat } from '#scanner/formats/seven-zip/seven-zip-format.ts';
import { standsAt } from '#scanner/reading/content.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';
import { isoTrees, listOfIso, VOLUME_ID } from './iso-trees.ts';
import { listOfNtfs } from './ntfs-list.ts';
import { VMDK_MARK } from './stream-disk.ts';

// File systems, partition tables and virtual disks that 7-Zip opens. An attempt takes some milliseconds, so 7-Zip is called only if a magic is in place or, for
// boot sectors and superblocks with a two-byte magic, the other fields are plausible.

type Definition = Omit<Parameters<typeof sevenZipFormat>[0], 'recogniseDisk' | 'type'> & {
  marks: readonly Mark[];
  type?: string;
};

const WHOLE_DISK_LIMITS = 'Of a disk image, what its file systems list is read, not what was deleted from them.';

/** A disk or file system that is recognised by its magics. Without `type`, 7-Zip detects the type and opens nested images in one pass. */
function diskByMarks({ marks, type, traits, limits, ...definition }: Definition): Format {
  return sevenZipFormat({
    ...definition,
    type,
    recogniseDisk: byMarks(marks),
    traits: { ...traits, is_disk: true },
    limits: limits ?? WHOLE_DISK_LIMITS,
  });
}

const ISO = mark(VOLUME_ID, 32_769);

export const iso = diskByMarks({
  id: 'iso',
  list: listOfIso,
  // 7-Zip also gives boot images.
  has_more: true,
  type: 'iso',
  media_type: 'application/x-iso9660-image',
  leaf: { marks: [ISO] },
  marks: [ISO],
  carve: [{ pattern: `01 ${patternOf(ISO)} 01 00`, back: 32_768, also: () => isoTrees }],
});

const QCOW = hexMark('514649fb000000');
export const qcow = diskByMarks({
  id: 'qcow',
  marks: [QCOW],
  carve: [{ pattern: `${patternOf(QCOW)} (02|03)` }],
  traits: { holds_partitions: true },
});

const VMDK = { at: 0, bytes: VMDK_MARK };
export const vmdk = diskByMarks({
  id: 'vmdk',
  marks: [VMDK],
  carve: [{ pattern: `${patternOf(VMDK)} (01|02|03) 00 00 00` }],
  traits: { holds_partitions: true },
});

const VHDX = mark('vhdxfile');
const VHDX_REGIONS = Buffer.from('regi');
export const vhdx = diskByMarks({
  id: 'vhdx',
  marks: [VHDX],
  carve: [{ pattern: patternOf(VHDX), proves: (reader, at) => reader.at(at + 0x30000, 4).equals(VHDX_REGIONS) }],
  traits: { holds_partitions: true },
});

const VHD = mark('conectix\0\0');
export const vhd = diskByMarks({ id: 'vhd', marks: [VHD], traits: { holds_partitions: true } });

const VDI = hexMark('7f10dabe', 64);
export const vdi = diskByMarks({
  id: 'vdi',
  marks: [VDI],
  carve: [{ pattern: `${patternOf(VDI)} (00|01) 00 01 00`, back: 64 }],
  traits: { holds_partitions: true },
});

export const androidSparse = diskByMarks({
  id: 'android-sparse',
  marks: [hexMark('3aff26ed01')],
  traits: { holds_partitions: true },
});

const SECTOR_BYTES = 512;
const BOOT_SIGNATURE_AT = 510;
const BOOT_SIGNATURE = Buffer.from('55aa', 'hex');
const isBootSector = (reader: Reader, at: number) => reader.at(at + BOOT_SIGNATURE_AT, 2).equals(BOOT_SIGNATURE);

const GPT = mark('EFI PART\0\0\x01\0', SECTOR_BYTES);
export const gpt = diskByMarks({
  id: 'gpt',
  type: 'gpt',
  marks: [GPT],
  carve: [{ pattern: `${patternOf(GPT)} 5c 00 00 00`, back: SECTOR_BYTES, proves: isBootSector }],
  traits: { holds_partitions: true },
});

const CRAMFS = mark('Compressed ROMFS', 16);
const CRAMFS_MAGIC = Buffer.from('453dcd28', 'hex');
export const cramfs = diskByMarks({
  id: 'cramfs',
  type: 'cramfs',
  marks: [CRAMFS],
  carve: [{ pattern: patternOf(CRAMFS), back: CRAMFS.at, proves: (reader, at) => reader.at(at, 4).equals(CRAMFS_MAGIC) }],
});

export const apfs = diskByMarks({ id: 'apfs', type: 'apfs', marks: [mark('NXSB', 32)] });
export const androidSuper = diskByMarks({ id: 'android-super', type: 'lp', marks: [mark('gDla', 4096)] });

const SQUASHFS = mark('hsqs');
export const squashfs = diskByMarks({
  id: 'squashfs',
  type: 'squashfs',
  marks: [SQUASHFS, mark('sqsh'), mark('shsq'), mark('qshs')],
  carve: [{ pattern: `${patternOf(SQUASHFS)} [24] 04 00 00 00` }],
});

export const hfsPlus = diskByMarks({ id: 'hfs-plus', type: 'hfs', marks: [mark('H+\0\x04', 1024), mark('HX\0\x05', 1024)] });
export const uefiVolume = diskByMarks({ id: 'uefi', type: 'uefif', marks: [mark('_FVH', 40)], traits: { is_guess: true } });
/** PPMd files and help files, which 7-Zip opens like disks. */
function storageByMarks(id: string, type: string, marks: readonly Mark[]): Format {
  return sevenZipFormat({ id, type, recogniseDisk: byMarks(marks), traits: { is_disk: true } });
}

export const ppmd = storageByMarks('ppmd', 'ppmd', [hexMark('8fafac84')]);
export const helpStorage = storageByMarks('hxs', 'hxs', [mark('ITOLITLS')]);

/** Volume recognition descriptors of UDF (ECMA-167 3/9.1). */
const VOLUME_SECTOR_BYTES = 2048;
const VOLUME_AT = 32_768;
const VOLUMES_MAXIMUM = 16;
const UDF_MARKS: readonly string[] = ['NSR02', 'NSR03'];
/** Identifiers of the other volume descriptors. */
const VOLUME_MARKS: readonly string[] = [VOLUME_ID, 'BEA01', 'BOOT2', 'TEA01'];

/** Whether the file has a UDF volume, with or without ISO 9660. */
function isUdf(reader: Reader): boolean {
  for (let index = 0; index < VOLUMES_MAXIMUM; index += 1) {
    const mark = reader.at(VOLUME_AT + index * VOLUME_SECTOR_BYTES + 1, 5).toString('latin1');
    if (UDF_MARKS.includes(mark)) return true;
    if (!VOLUME_MARKS.includes(mark)) return false;
  }
  return false;
}

export const udf = sevenZipFormat({
  id: 'udf',
  type: 'udf',
  recogniseBeside: ({ reader }) => (isUdf(reader) ? 40 : 0),
  traits: { is_disk: true },
  limits: WHOLE_DISK_LIMITS,
});

/** Whether the last sector of the file begins with the magic. */
function endsWithSector(reader: Reader, { bytes }: Mark): boolean {
  return reader.size >= 2 * SECTOR_BYTES && standsAt(reader.at(reader.size - SECTOR_BYTES, SECTOR_BYTES), bytes, 0);
}

const DMG = mark('koly\0\0\0\x04');
export const dmg = sevenZipFormat({
  id: 'dmg',
  type: 'dmg',
  recogniseBeside: ({ reader }) => (endsWithSector(reader, DMG) ? 64 : 0),
  traits: { is_disk: true },
  limits: WHOLE_DISK_LIMITS,
});

export const fixedVhd = sevenZipFormat({
  id: 'vhd-fixed',
  type: undefined,
  recogniseBeside: ({ reader }) => (endsWithSector(reader, VHD) ? 80 : 0),
  traits: { is_disk: true, holds_partitions: true },
  limits: WHOLE_DISK_LIMITS,
});

const NTFS = mark('NTFS    ', 3);
export const ntfs = diskByMarks({
  id: 'ntfs',
  type: 'ntfs',
  list: listOfNtfs,
  has_more: true,
  marks: [NTFS],
  carve: [{ pattern: `eb 52 90 ${patternOf(NTFS)}`, proves: isBootSector }],
  traits: { is_guess: true },
});

const isPowerOfTwo = (number: number) => number > 0 && (number & (number - 1)) === 0;

/** First fields of a FAT boot sector. */
const BOOT_SECTOR = struct('little', {
  jump: 3,
  maker: 8,
  sector_bytes: 'u16',
  cluster_sectors: 'u8',
  reserved_sectors: 'u16',
  tables: 'u8',
  root_entries: 'u16',
  sectors: 'u16',
  media: 'u8',
});

/** Whether a FAT boot sector begins here (Microsoft FAT specification, 3.1): a jump instruction and plausible sizes. */
function isFat(head: Buffer): boolean {
  if (head.length < SECTOR_BYTES || (head[0] !== 0xeb && head[0] !== 0xe9)) return false;
  const fields = BOOT_SECTOR.read(head);
  if (fields === undefined) return false;
  const { sector_bytes: sector, cluster_sectors: cluster, tables: fats, media } = fields;
  const makes_sense = isPowerOfTwo(sector) && sector >= 512 && sector <= 4096 && isPowerOfTwo(cluster);
  return makes_sense && fields.reserved_sectors > 0 && (fats === 1 || fats === 2) && (media === 0xf0 || media >= 0xf8);
}

export const fat = sevenZipFormat({
  id: 'fat',
  type: 'fat',
  recogniseDisk: withBits(32, isFat),
  traits: { is_disk: true, is_guess: true },
  limits: WHOLE_DISK_LIMITS,
});

const PARTITION = struct('little', { state: 'u8', first_place: 3, kind: 'u8', last_place: 3, start: 'u32', sectors: 'u32' });
const PARTITIONS = { at: 446, count: 4 } as const;

/** Whether the sector is a valid partition table: every entry is marked active or inactive, and at least one partition begins within the file. */
function isMasterBootRecord(head: Buffer, size: number): boolean {
  if (head.length < SECTOR_BYTES || !standsAt(head, BOOT_SIGNATURE, BOOT_SIGNATURE_AT)) return false;
  let found = false;
  for (let index = 0; index < PARTITIONS.count; index += 1) {
    const entry = PARTITION.read(head, PARTITIONS.at + index * PARTITION.bytes);
    if (entry === undefined || (entry.state !== 0 && entry.state !== 0x80)) return false;
    const start = entry.start * SECTOR_BYTES;
    found ||= entry.kind !== 0 && start > 0 && start < size && entry.sectors > 0;
  }
  return found;
}

/** No type is given, because 7-Zip as `mbr` would not open the file systems of the partitions. */
export const mbr = sevenZipFormat({
  id: 'mbr',
  type: undefined,
  recogniseDisk: withBits(24, isMasterBootRecord),
  recogniseBeside: ({ reader, head, beside }) =>
    !beside.some(({ format: { traits } }) => traits.holds_partitions) && isMasterBootRecord(head, reader.size) ? 24 : 0,
  traits: { is_disk: true, is_guess: true },
  limits: WHOLE_DISK_LIMITS,
});

const SUPERBLOCK_AT = 1024;
const EXT_MAGIC = 0xef53;
/** Superblock fields up to the last one that is used. */
const SUPERBLOCK = struct('little', {
  inodes: 'u32',
  blocks: 'u32',
  reserved_blocks: 'u32',
  free_blocks: 'u32',
  free_inodes: 'u32',
  first_block: 'u32',
  block_size: 'u32',
  cluster_size: 'u32',
  group_blocks: 'u32',
  group_clusters: 'u32',
  group_inodes: 'u32',
  mounted_at: 'u32',
  written_at: 'u32',
  mounts: 'u16',
  mounts_maximum: 'u16',
  magic: 'u16',
  state: 'u16',
  on_errors: 'u16',
  minor_revision: 'u16',
  checked_at: 'u32',
  check_interval: 'u32',
  creator: 'u32',
  revision: 'u32',
  rest: 16,
});

/**
 * Whether the superblock of ext2, ext3 or ext4 is present (kernel, ext4 documentation, "The Super Block"): the magic, at least one inode, and blocks of at most
 * 64 KiB.
 */
function isExt(head: Buffer): boolean {
  const block = SUPERBLOCK.read(head, SUPERBLOCK_AT);
  return block?.magic === EXT_MAGIC && block.inodes > 0 && block.block_size <= 6;
}

/**
 * Whether further superblock fields are plausible too. The match is then certain: if 7-Zip does not support a feature of the file system, the file counts as
 * unread.
 */
function isSurelyExt(head: Buffer): boolean {
  const block = SUPERBLOCK.read(head, SUPERBLOCK_AT);
  if (block === undefined) return false;
  const { state, creator, revision } = block;
  return state >= 1 && state <= 7 && creator <= 4 && revision <= 1 && block.blocks > block.free_blocks && block.group_inodes > 0;
}

const SURELY_EXT_BITS = 48;
/** The two-byte magic alone is a guess. */
const PERHAPS_EXT_BITS = 15;

export const ext = sevenZipFormat({
  id: 'ext',
  type: 'ext',
  recogniseDisk: (head) => (!isExt(head) ? 0 : isSurelyExt(head) ? SURELY_EXT_BITS : PERHAPS_EXT_BITS),
  traits: { is_disk: true },
  limits: WHOLE_DISK_LIMITS,
});

/** Signature of HFS, the file system of classic Mac OS. */
export const HFS_SIGNATURE = 'BD';

/** Whether the master directory block of HFS is present (Inside Macintosh: Files, 2-60): its signature, and allocation blocks of whole sectors. */
function isHfs(head: Buffer): boolean {
  if (head.length < 1024 + 24 || head.toString('latin1', 1024, 1026) !== HFS_SIGNATURE) return false;
  const block = head.readUInt32BE(1024 + 20);
  return block > 0 && block % SECTOR_BYTES === 0 && head.readUInt16BE(1024 + 18) > 0;
}

export const hfs = sevenZipFormat({
  id: 'hfs',
  type: 'hfs',
  recogniseDisk: withBits(30, isHfs),
  traits: { is_disk: true, is_guess: true },
  limits: WHOLE_DISK_LIMITS,
});

/** Whether the file begins with Apple's partition map: a driver descriptor, and a map entry in the next block. */
function isApplePartitionMap(head: Buffer): boolean {
  if (head.length < 4 || head.toString('latin1', 0, 2) !== 'ER') return false;
  const block = head.readUInt16BE(2);
  return isPowerOfTwo(block) && block >= SECTOR_BYTES && block <= 4096 && head.toString('latin1', block, block + 2) === 'PM';
}

export const apm = sevenZipFormat({
  id: 'apm',
  type: 'apm',
  recogniseDisk: withBits(36, isApplePartitionMap),
  traits: { is_disk: true, is_guess: true },
  limits: WHOLE_DISK_LIMITS,
});

/** File names of images that systems mount. 7-Zip is tried on them. */
const IMAGE_NAME = /\.(iso|img|ima|vfd|vhd|vhdx|vmdk|vdi|qcow2?|dmg|udf|hfs|simg|sfs|squashfs|wim|swm|esd)$/i;

export const namedImage = sevenZipFormat({
  id: 'disk-by-name',
  type: undefined,
  recogniseBeside: ({ name, beside }) => (beside.length === 0 && IMAGE_NAME.test(name) ? 1 : 0),
  traits: { is_disk: true, is_guess: true },
});
