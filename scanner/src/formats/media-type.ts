import type { Compressor } from '#scanner/formats/compression/compressed.ts';
import { textFormOf } from '#scanner/text/text-encoding.ts';
import { standsAt } from '#scanner/walk/content.ts';
import type { Container } from './containers.ts';

/** Magic bytes at `offset` and the media type that they mean. The first that fits counts. */
const MAGIC: readonly { magic: Buffer; offset: number; type: string }[] = [
  { magic: Buffer.from('89504e470d0a1a0a', 'hex'), offset: 0, type: 'image/png' },
  { magic: Buffer.from('ffd8ff', 'hex'), offset: 0, type: 'image/jpeg' },
  { magic: Buffer.from('GIF8'), offset: 0, type: 'image/gif' },
  { magic: Buffer.from('WEBP'), offset: 8, type: 'image/webp' },
  { magic: Buffer.from('WAVE'), offset: 8, type: 'audio/wav' },
  { magic: Buffer.from('AVI '), offset: 8, type: 'video/x-msvideo' },
  { magic: Buffer.from('49492a00', 'hex'), offset: 0, type: 'image/tiff' },
  { magic: Buffer.from('4d4d002a', 'hex'), offset: 0, type: 'image/tiff' },
  { magic: Buffer.from('ftyphei'), offset: 4, type: 'image/heic' },
  { magic: Buffer.from('ftypmif1'), offset: 4, type: 'image/heic' },
  { magic: Buffer.from('ftyp'), offset: 4, type: 'video/mp4' },
  { magic: Buffer.from('1a45dfa3', 'hex'), offset: 0, type: 'video/x-matroska' },
  { magic: Buffer.from('OggS'), offset: 0, type: 'audio/ogg' },
  { magic: Buffer.from('fLaC'), offset: 0, type: 'audio/flac' },
  { magic: Buffer.from('ID3'), offset: 0, type: 'audio/mpeg' },
  { magic: Buffer.from('SQLite format 3\0'), offset: 0, type: 'application/vnd.sqlite3' },
  { magic: Buffer.from('\x7fELF'), offset: 0, type: 'application/x-elf' },
  { magic: Buffer.from('cffaedfe', 'hex'), offset: 0, type: 'application/x-mach-binary' },
  { magic: Buffer.from('cefaedfe', 'hex'), offset: 0, type: 'application/x-mach-binary' },
  // MS-SHLLINK 2.1: the size of the header and the class id of a shortcut.
  { magic: Buffer.from('4c0000000114020000000000c000000000000046', 'hex'), offset: 0, type: 'application/x-ms-shortcut' },
  { magic: Buffer.from('CD001'), offset: 32_769, type: 'application/x-iso9660-image' },
  { magic: Buffer.from('\0asm'), offset: 0, type: 'application/wasm' },
  { magic: Buffer.from('#!'), offset: 0, type: 'text/x-script' },
];

/** By 7-Zip's name of a format; the ones that are missing are archives without a media type that people know. */
const OF_FORMAT: Readonly<Record<string, string>> = {
  '7z': 'application/x-7z-compressed',
  rar: 'application/vnd.rar',
  rar5: 'application/vnd.rar',
  xz: 'application/x-xz',
  zstd: 'application/zstd',
  bzip2: 'application/x-bzip2',
  cab: 'application/vnd.ms-cab-compressed',
  ar: 'application/x-archive',
  cpio: 'application/x-cpio',
  rpm: 'application/x-rpm',
  Z: 'application/x-compress',
};
const PACKED = 'application/x-packed';
const OF_COMPRESSOR: Readonly<Record<Compressor, string>> = {
  gzip: 'application/gzip',
  zlib: 'application/zlib',
  brotli: PACKED,
  lz4: 'application/x-lz4',
  lzip: 'application/x-lzip',
  lzop: 'application/x-lzop',
  pack: PACKED,
  zisofs: PACKED,
  mozlz4: PACKED,
};

/** What a zip is beside an archive, told by a name in its first headers. */
const IN_ZIP: readonly { name: string; type: string }[] = [
  { name: 'word/', type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  { name: 'xl/', type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  { name: 'ppt/', type: 'application/vnd.openxmlformats-officedocument.presentationml.presentation' },
];

function zipType(head: Buffer): string {
  const first = head.toString('latin1', 30, 30 + Math.min(head.length > 28 ? head.readUInt16LE(26) : 0, 64));
  if (first === 'mimetype' && head.includes('application/vnd.oasis.opendocument')) return 'application/vnd.oasis.opendocument';
  if (first === 'AndroidManifest.xml') return 'application/vnd.android.package-archive';
  if (first.startsWith('META-INF/')) return 'application/java-archive';
  if (!head.includes('[Content_Types].xml')) return 'application/zip';
  return IN_ZIP.find(({ name }) => head.includes(name))?.type ?? 'application/zip';
}

/** Windows programs begin with MZ, at 0x3c with the place of `PE\0\0` (PE format, "MS-DOS stub"). Older ones have no such place. */
function isProgram(head: Buffer): boolean {
  return head.length >= 64 && head.toString('latin1', 0, 2) === 'MZ';
}

/** Java and macOS share four bytes; what follows is a version of 45 or more for the one, a small count of parts for the other. */
function isJava(head: Buffer): boolean {
  return head.length >= 8 && head.readUInt32BE(0) === 0xcafebabe && head.readUInt16BE(6) >= 45;
}

function isBitmap(head: Buffer): boolean {
  return (
    head.length >= 26 && head.toString('latin1', 0, 2) === 'BM' && head.readUInt32LE(6) === 0 && head.readUInt32LE(14) <= 124
  );
}

const TEXT_BYTES = 4096;

function textType(head: Buffer): string | undefined {
  const form = textFormOf(head);
  if (form !== undefined && form.encoding !== 'utf-8') return 'text/plain';
  const piece = head.subarray(0, TEXT_BYTES);
  if (piece.includes(0)) return undefined;
  let text: string;
  try {
    // A character that the piece cuts in two is no error.
    text = new TextDecoder('utf-8', { fatal: true }).decode(piece, { stream: true });
  } catch {
    return undefined;
  }
  const start = text.trimStart().slice(0, 512).toLowerCase();
  if (/^(<!doctype html|<html|<head|<body|<script)/.test(start)) return 'text/html';
  if (/^(<\?xml[^>]*>\s*)?(<!doctype svg[^>]*>\s*)?<svg[\s>]/.test(start)) return 'image/svg+xml';
  if (start.startsWith('<?xml')) return 'application/xml';
  return 'text/plain';
}

/**
 * What a file is by its first bytes (IANA media types where there is one; `application/octet-stream` for what nothing gives away). `container` is what the
 * unpacker takes it for: what is taken apart as a zip is called one.
 */
export function mediaTypeOf(head: Buffer, container: Container | undefined): string {
  const sure = container?.kind === 'seven' && container.is_guess ? undefined : container;
  switch (sure?.kind) {
    case 'zip':
      return zipType(head);
    case 'gzip':
      return OF_COMPRESSOR.gzip;
    case 'packed':
      return OF_COMPRESSOR[sure.compressor];
    case 'tar':
      return 'application/x-tar';
    case 'mail':
      return 'message/rfc822';
    case 'uuencode':
      return 'text/x-uuencode';
    case 'mailbox':
    case 'other-mailbox':
      return 'application/mbox';
    case 'pdf':
      return 'application/pdf';
    case 'ole':
      return 'application/x-ole-storage';
    case 'rtf':
      return 'application/rtf';
    case 'pickle':
      return 'application/x-python-pickle';
    case 'numpy':
      return 'application/x-numpy-array';
    case 'snappy':
      return 'application/x-snappy-framed';
    case 'table':
    case 'redis':
    case 'strings':
      return 'application/octet-stream';
    case 'capture':
      return 'application/vnd.tcpdump.pcap';
    case 'pyc':
      return 'application/x-python-bytecode';
    case 'tnef':
      return 'application/vnd.ms-tnef';
    case 'cms':
      return 'application/pkcs7-mime';
    case 'onenote':
      return 'application/onenote';
    case 'seven':
      return OF_FORMAT[sure.format ?? ''] ?? PACKED;
    case 'macros':
    case 'opaque':
    case 'stream-disk':
    case 'git':
    case 'blocks':
    case 'unity':
    case 'setup':
    case 'iwa':
      return PACKED;
    case 'openpgp':
      return 'application/pgp-encrypted';
    case 'asar':
      return PACKED;
    case 'shell-archive':
      return 'text/x-script';
    // What they are of tells itself by its first bytes.
    case 'phar':
    case 'pieces':
    case 'armour':
    case 'iso-trees':
    case 'sqlite':
    case 'disc':
    case 'upx':
    case 'http':
    case undefined:
      break;
  }
  if (isProgram(head)) return 'application/vnd.microsoft.portable-executable';
  if (isJava(head)) return 'application/java-vm';
  if (isBitmap(head)) return 'image/bmp';
  const known = MAGIC.find(({ magic, offset }) => standsAt(head, magic, offset));
  return known?.type ?? textType(head) ?? 'application/octet-stream';
}
