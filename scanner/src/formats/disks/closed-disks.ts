import {
  closedByMarks,
  closedFormat,
  closedWhereUnknown,
  type Format,
  hexMark,
  mark,
  type WholeFile,
  whereUnknown,
  withBits,
} from '#scanner/formats/format.ts';
import { isMinix, MINIX_BITS } from './minix.ts';
import { HFS_SIGNATURE } from './seven-zip-disks.ts';

// Disks and file systems that this scanner recognises but cannot open.

/**
 * Whether an HFS volume of classic Mac OS begins here (Inside Macintosh: Files, 2-59): its signature, blocks of a multiple of 512 bytes, and a volume name of
 * at most 27 bytes.
 */
function isOldHfs(head: Buffer): boolean {
  if (head.length < 1200 || head.toString('latin1', 1024, 1026) !== HFS_SIGNATURE) return false;
  const block_bytes = head.readUInt32BE(1024 + 20);
  return (
    block_bytes > 0 &&
    block_bytes % 512 === 0 &&
    block_bytes <= 2 ** 24 &&
    (head[1024 + 36] ?? 0) <= 27 &&
    head.readUInt16BE(1024 + 14) >= 3
  );
}

const JFFS2 = { magic: 0x1985, types: [0xe001, 0xe002, 0x2003, 0x2004, 0x2006, 0xe008, 0xe009], bytes: 12 } as const;

/** Whether a JFFS2 node begins here (Linux, include/uapi/linux/jffs2.h): its magic, a known type, and a plausible length. */
function isJffs2(head: Buffer): boolean {
  if (head.length < JFFS2.bytes) return false;
  const is_big = head.readUInt16BE(0) === JFFS2.magic;
  if (!is_big && head.readUInt16LE(0) !== JFFS2.magic) return false;
  const kind = is_big ? head.readUInt16BE(2) : head.readUInt16LE(2);
  const bytes = is_big ? head.readUInt32BE(4) : head.readUInt32LE(4);
  return JFFS2.types.some((known) => known === kind) && bytes >= JFFS2.bytes && bytes <= 64 * 1024;
}

const FOOTER = mark('cdsaencr');
const FOOTER_BYTES = 8;

/** Whether the file ends with the footer of Apple's encrypted disk format, version 1. */
function endsWithFooter({ reader }: WholeFile): boolean {
  return reader.size > FOOTER_BYTES && reader.at(reader.size - FOOTER_BYTES, FOOTER_BYTES).equals(FOOTER.bytes);
}

/** Formats that are recognised by their first bytes. */
export const closedDisks: readonly Format[] = [
  closedByMarks('parallels-disk', 'Parallels disk', [mark('WithoutFreeSpace'), mark('WithouFreSpacExt')]),
  closedByMarks('qed-disk', 'QED disk', [mark('QED\0')]),
  closedByMarks('encase-disk', 'EnCase disk', [hexMark('455646090d0aff00')]),
  closedByMarks('exfat', 'exFAT', [mark('EXFAT   ', 3)]),
  closedByMarks('xfs', 'XFS', [mark('XFSB')]),
  closedByMarks('romfs', 'romfs', [mark('-rom1fs-')]),
  closedByMarks('erofs', 'EROFS', [hexMark('e2e1f5e0', 1024)]),
  closedByMarks('f2fs', 'F2FS', [hexMark('1020f5f2', 1024)]),
  closedByMarks('luks', 'LUKS', [hexMark('4c554b53babe')], 'encrypted'),
  closedByMarks('bitlocker', 'BitLocker', [mark('-FVE-FS-', 3)], 'encrypted'),
  closedFormat({ id: 'hfs-old', title: 'HFS', recognise: withBits(36, isOldHfs) }),
];

/** Formats that are recognised only if the file matches no other format. */
export const unknownDisks: readonly Format[] = [
  closedWhereUnknown('poweriso', 'PowerISO', [mark('DAA\0')]),
  closedWhereUnknown('isz', 'packed disc (ISZ)', [mark('IsZ!')]),
  closedWhereUnknown('cso', 'packed disc (CSO)', [mark('CISO')]),
  closedWhereUnknown('zso', 'packed disc (ZSO)', [mark('ZISO')]),
  closedWhereUnknown('partclone', 'Partclone', [mark('partclone-image')]),
  closedWhereUnknown('ntfsclone', 'ntfsclone', [mark('\0ntfsclone-image')]),
  closedWhereUnknown('encase-disk-2', 'EnCase disk', [mark('EVF2\x0d\x0a\x81\0')]),
  closedWhereUnknown('encase-files', 'EnCase files', [mark('LVF\x09\x0d\x0a\xff\0')]),
  closedWhereUnknown('aff-disk', 'AFF disk', [mark('AFF10\r\n')]),
  closedWhereUnknown('vmware-cowd', 'disk of VMware (COWD)', [mark('COWD\x01\0\0\0')]),
  closedWhereUnknown('bochs', 'disk of Bochs', [mark('Bochs Virtual HD Image')]),
  closedWhereUnknown('apple-sparse', 'sparse disk of Apple', [mark('sprs\0\0\0')]),
  closedWhereUnknown('ubi', 'UBI', [mark('UBI#\x01')]),
  closedWhereUnknown('ubifs', 'UBIFS', [hexMark('31181006')]),
  closedWhereUnknown('lvm', 'LVM', [mark('LABELONE', 512)]),
  closedWhereUnknown('linux-raid', 'RAID of Linux', [hexMark('fc4e2ba901000000', 4096)]),
  closedWhereUnknown('refs', 'ReFS', [mark('\0\0\0ReFS\0')]),
  closedWhereUnknown('apple-encrypted-disk', 'encrypted disk of Apple', [mark('encrcdsa')], 'encrypted'),
  closedWhereUnknown('jfs', 'JFS', [mark('JFS1', 32_768)]),
  closedWhereUnknown('reiserfs', 'ReiserFS', [mark('ReIsErFs', 65_588), mark('ReIsEr2Fs', 65_588), mark('ReIsEr3Fs', 65_588)]),
  closedWhereUnknown('reiser4', 'Reiser4', [mark('ReIsEr4', 65_536)]),
  closedWhereUnknown('btrfs', 'Btrfs', [mark('_BHRfS_M', 65_600)]),
  closedWhereUnknown('ufs', 'UFS', [hexMark('19540119', 65_536 + 1372), hexMark('54190100', 8192 + 1372)]),
  closedWhereUnknown('zfs', 'ZFS', [hexMark('0cb1ba0000000000', 131_072), hexMark('0000000000bab10c', 131_072)]),
  closedFormat({ id: 'jffs2', title: 'JFFS2', recogniseBeside: whereUnknown(28, ({ head }) => isJffs2(head)) }),
  closedFormat({
    id: 'minix',
    title: 'MINIX',
    recogniseBeside: whereUnknown(MINIX_BITS, ({ head }) => isMinix(head)),
  }),
  closedFormat({
    id: 'apple-encrypted-footer',
    title: 'encrypted disk of Apple',
    detail: 'encrypted',
    recogniseBeside: whereUnknown(64, endsWithFooter),
  }),
];
