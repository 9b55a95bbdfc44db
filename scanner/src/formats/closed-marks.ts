import type { StatusDetail } from '@palisade/contract/antivirus';
import { standsAt } from '#scanner/walk/content.ts';
import type { Reader } from '#scanner/walk/reader.ts';

// Archives, images of disks and file systems that ordinary programs open and nothing here does: told by their marks, so that a file of theirs is not called clean.

interface Mark {
  magic: Buffer;
  at: number;
  name: string;
  detail?: StatusDetail;
}

const text = (characters: string) => Buffer.from(characters, 'latin1');
const hex = (digits: string) => Buffer.from(digits, 'hex');

/** At the beginning of a file. */
const FIRST: readonly Mark[] = [
  ...['-lz4-', '-lz5-', '-lz7-', '-lz8-', '-lzs-', '-pc1-', '-pm0-', '-pm1-', '-pm2-', '-pms-'].map((method) => ({
    magic: text(method),
    at: 2,
    name: 'LHarc or PMarc',
  })),
  { magic: text('ArC\x01'), at: 0, name: 'FreeArc' },
  { magic: text('WLPWM\0\0\0'), at: 0, name: 'pipable archive of wimlib' },
  { magic: text('KGB_arch -'), at: 0, name: 'KGB' },
  { magic: text('BZ3v1'), at: 0, name: 'bzip3' },
  { magic: text('bvx2'), at: 0, name: 'LZFSE' },
  { magic: text('bvx1'), at: 0, name: 'LZFSE' },
  { magic: text('bvxn'), at: 0, name: 'LZVN' },
  { magic: text('AA01'), at: 0, name: 'Apple Archive' },
  { magic: text('YAA1'), at: 0, name: 'Apple Archive' },
  { magic: text('SZ \x88\xf0\x27\x33\xd1'), at: 0, name: 'file of COMPRESS (QBasic)' },
  { magic: text('DAA\0'), at: 0, name: 'PowerISO' },
  { magic: text('IsZ!'), at: 0, name: 'packed disc (ISZ)' },
  { magic: text('CISO'), at: 0, name: 'packed disc (CSO)' },
  { magic: text('ZISO'), at: 0, name: 'packed disc (ZSO)' },
  { magic: text('partclone-image'), at: 0, name: 'Partclone' },
  { magic: text('\0ntfsclone-image'), at: 0, name: 'ntfsclone' },
  { magic: text('EVF2\x0d\x0a\x81\0'), at: 0, name: 'EnCase disk' },
  { magic: text('LVF\x09\x0d\x0a\xff\0'), at: 0, name: 'EnCase files' },
  { magic: text('AFF10\r\n'), at: 0, name: 'AFF disk' },
  { magic: text('COWD\x01\0\0\0'), at: 0, name: 'disk of VMware (COWD)' },
  { magic: text('Bochs Virtual HD Image'), at: 0, name: 'disk of Bochs' },
  { magic: text('sprs\0\0\0'), at: 0, name: 'sparse disk of Apple' },
  { magic: text('UBI#\x01'), at: 0, name: 'UBI' },
  { magic: hex('31181006'), at: 0, name: 'UBIFS' },
  { magic: text('HWP Document File V'), at: 0, name: 'Hangul 3' },
  { magic: text('LABELONE'), at: 512, name: 'LVM' },
  { magic: hex('fc4e2ba901000000'), at: 4096, name: 'RAID of Linux' },
  { magic: text('\0\0\0ReFS\0'), at: 0, name: 'ReFS' },
  { magic: text('encrcdsa'), at: 0, name: 'encrypted disk of Apple', detail: 'encrypted' },
  { magic: hex('c0b9072e4f93f146a015792ca1d9e821'), at: 0, name: 'AxCrypt', detail: 'encrypted' },
];

/** Further on: superblocks of file systems. */
const LATER: readonly Mark[] = [
  { magic: text('JFS1'), at: 32_768, name: 'JFS' },
  { magic: text('ReIsErFs'), at: 65_588, name: 'ReiserFS' },
  { magic: text('ReIsEr2Fs'), at: 65_588, name: 'ReiserFS' },
  { magic: text('ReIsEr3Fs'), at: 65_588, name: 'ReiserFS' },
  { magic: text('ReIsEr4'), at: 65_536, name: 'Reiser4' },
  { magic: text('_BHRfS_M'), at: 65_600, name: 'Btrfs' },
  { magic: hex('19540119'), at: 65_536 + 1372, name: 'UFS' },
  { magic: hex('54190100'), at: 8192 + 1372, name: 'UFS' },
  { magic: hex('0cb1ba0000000000'), at: 131_072, name: 'ZFS' },
  { magic: hex('0000000000bab10c'), at: 131_072, name: 'ZFS' },
];

const SUPERBLOCK_AT = 1024;
const BLOCK_BYTES = 1024;

/** MINIX (Linux, fs/minix): the magic is of two bytes, so that the number of inodes, of zones and of blocks of their maps must fit each other and the file. */
function isMinix(head: Buffer, size: number): boolean {
  if (head.length < SUPERBLOCK_AT + 32 || size % BLOCK_BYTES !== 0) return false;
  const block = head.subarray(SUPERBLOCK_AT);
  const magic = block.readUInt16LE(16);
  const is_third = block.readUInt16LE(24) === 0x4d5a;
  if (!is_third && ![0x137f, 0x138f, 0x2468, 0x2478].includes(magic)) return false;
  const at = is_third ? 6 : 4;
  const inodes = is_third ? block.readUInt32LE(0) : block.readUInt16LE(0);
  const [inode_maps, zone_maps, first_zone] = [block.readUInt16LE(at), block.readUInt16LE(at + 2), block.readUInt16LE(at + 4)];
  const bits = 8 * (is_third ? block.readUInt16LE(28) : BLOCK_BYTES);
  return inodes > 0 && inode_maps > 0 && inode_maps * bits >= inodes && zone_maps > 0 && first_zone > inode_maps + zone_maps;
}

const JFFS2 = { magic: 0x1985, types: [0xe001, 0xe002, 0x2003, 0x2004, 0x2006, 0xe008, 0xe009], bytes: 12 } as const;

/** JFFS2 (Linux, include/uapi/linux/jffs2.h): a node begins with its magic, its kind, and a checksum of both and the length. */
function isJffs2(head: Buffer): boolean {
  if (head.length < JFFS2.bytes) return false;
  const is_big = head.readUInt16BE(0) === JFFS2.magic;
  if (!is_big && head.readUInt16LE(0) !== JFFS2.magic) return false;
  const kind = is_big ? head.readUInt16BE(2) : head.readUInt16LE(2);
  const bytes = is_big ? head.readUInt32BE(4) : head.readUInt32LE(4);
  return JFFS2.types.some((known) => known === kind) && bytes >= JFFS2.bytes && bytes <= 64 * 1024;
}

/** The beginning of a slice of dar (libdar, header.cpp): its magic, a label, whether it is the last one, and an extension. */
function isDar(head: Buffer): boolean {
  return (
    head.length > 16 &&
    head.readUInt32BE(0) === 0x7b &&
    'TNE'.includes(String.fromCharCode(head[14] ?? 0)) &&
    'NST'.includes(String.fromCharCode(head[15] ?? 0))
  );
}

const FOOTER = { magic: text('cdsaencr'), bytes: 8 } as const;

/** What a file is that nothing here opens, by its beginning (`head`) or by what stands further on. */
export function closedFormatOf(reader: Reader, head: Buffer): { name: string; detail: StatusDetail } | undefined {
  const mark =
    FIRST.find(({ magic, at }) => standsAt(head, magic, at)) ??
    LATER.find(({ magic, at }) => reader.size >= at + magic.length && reader.at(at, magic.length).equals(magic));
  if (mark !== undefined) return { name: mark.name, detail: mark.detail ?? 'unsupported' };
  if (isJffs2(head)) return { name: 'JFFS2', detail: 'unsupported' };
  if (isDar(head)) return { name: 'dar', detail: 'unsupported' };
  if (isMinix(head, reader.size)) return { name: 'MINIX', detail: 'unsupported' };
  if (reader.size > FOOTER.bytes && reader.at(reader.size - FOOTER.bytes, FOOTER.bytes).equals(FOOTER.magic))
    return { name: 'encrypted disk of Apple', detail: 'encrypted' };
  return undefined;
}
