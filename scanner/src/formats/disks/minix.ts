import { struct } from '#scanner/reading/struct.ts';

// The superblock of the MINIX file system (Linux, include/uapi/linux/minix_fs.h). Linux writes it in the byte order of the processor.

const SUPERBLOCK_AT = 1024;
/** Block size of versions 1 and 2. Bytes. */
const BLOCK_BYTES = 1024;
/** The boot block and the superblock. */
const BLOCKS_BEFORE_MAPS = 2;
/** A zone has at most 2^8 blocks. */
const LOG_ZONE_MAXIMUM = 8;

const ORDERS = ['little', 'big'] as const;

const OLD = ORDERS.map((order) =>
  struct(order, {
    inodes: 'u16',
    zones: 'u16',
    inode_maps: 'u16',
    zone_maps: 'u16',
    first_zone: 'u16',
    log_zone: 'u16',
    file_bytes_maximum: 'u32',
    magic_and_state: 4,
    large_zones: 'u32',
  }),
);
const THIRD = ORDERS.map((order) =>
  struct(order, {
    inodes: 'u32',
    unused: 2,
    inode_maps: 'u16',
    zone_maps: 'u16',
    first_zone: 'u16',
    log_zone: 'u16',
    unused_too: 2,
    file_bytes_maximum: 'u32',
    zones: 'u32',
    magic_and_unused: 4,
    block_bytes: 'u16',
  }),
);

/** Magics of versions 1 and 2, with file names of 14 or 30 bytes, and the size of an inode. Bytes. */
const OLD_INODE_BYTES: ReadonlyMap<number, number> = new Map([
  [0x137f, 32],
  [0x138f, 32],
  [0x2468, 64],
  [0x2478, 64],
]);
const SHORT_INODE_BYTES = 32;
const OLD_MAGIC_AT = 16;
const THIRD_MAGIC = 0x4d5a;
const THIRD_MAGIC_AT = 24;
const THIRD_INODE_BYTES = 64;
const THIRD_BLOCK = { least: 1024, most: 32_768 } as const;

/** Superblock fields that are checked against each other. */
interface Layout {
  inodes: number;
  zones: number;
  inode_maps: number;
  zone_maps: number;
  first_zone: number;
  log_zone: number;
  inode_bytes: number;
  block_bytes: number;
}

/**
 * Whether the fields are consistent: each map has enough blocks for one bit per inode or data zone, and the first zone follows the maps and the inodes. Some
 * programs count one bit more, or all zones.
 */
function fits({ inodes, zones, inode_maps, zone_maps, first_zone, log_zone, inode_bytes, block_bytes }: Layout): boolean {
  const blocksFor = (bits: number) => Math.ceil(bits / (8 * block_bytes));
  if (inodes === 0 || log_zone > LOG_ZONE_MAXIMUM || zones <= first_zone) return false;
  if (inode_maps === 0 || inode_maps < blocksFor(inodes) || inode_maps > blocksFor(inodes + 1) + 1) return false;
  if (zone_maps === 0 || zone_maps < blocksFor(zones - first_zone) || zone_maps > blocksFor(zones + 1) + 1) return false;
  const inode_blocks = Math.ceil(inodes / Math.floor(block_bytes / inode_bytes));
  return first_zone === Math.ceil((BLOCKS_BEFORE_MAPS + inode_maps + zone_maps + inode_blocks) / 2 ** log_zone);
}

/** Confidence in bits: the magic, the two map sizes, the first zone, and the zone size. */
export const MINIX_BITS = 64;

const isPowerOfTwo = (number: number) => (number & (number - 1)) === 0;

/** Whether a MINIX file system begins with these bytes. */
export function isMinix(head: Buffer): boolean {
  if (head.length < SUPERBLOCK_AT + THIRD_MAGIC_AT + 2) return false;
  return ORDERS.some((order, index) => {
    const wordAt = (at: number) => (order === 'little' ? head.readUInt16LE(at) : head.readUInt16BE(at));
    const inode_bytes = OLD_INODE_BYTES.get(wordAt(SUPERBLOCK_AT + OLD_MAGIC_AT));
    if (inode_bytes !== undefined) {
      const block = OLD[index]?.read(head, SUPERBLOCK_AT);
      if (block === undefined) return false;
      const zones = inode_bytes === SHORT_INODE_BYTES ? block.zones : block.large_zones;
      return fits({ ...block, zones, inode_bytes, block_bytes: BLOCK_BYTES });
    }
    if (wordAt(SUPERBLOCK_AT + THIRD_MAGIC_AT) !== THIRD_MAGIC) return false;
    const block = THIRD[index]?.read(head, SUPERBLOCK_AT);
    const { block_bytes = 0 } = block ?? {};
    if (block === undefined || block_bytes < THIRD_BLOCK.least || block_bytes > THIRD_BLOCK.most) return false;
    return isPowerOfTwo(block_bytes) && fits({ ...block, inode_bytes: THIRD_INODE_BYTES });
  });
}
