import { randomBytes } from 'node:crypto';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { zip } from './files.ts';

// Files under 1 MB that are made to take a scanner's time or memory. None is kept: each is made when it is asked for.

const KIB = 1024;
const MIB = 1024 ** 2;
/** The largest of them. Bytes. */
export const HOSTILE_BYTES_MAXIMUM = MIB;

const repeat = (text: string, bytes: number) => Buffer.alloc(bytes, text, 'latin1');
const packed = (text: string, bytes: number, name = 'a.txt') => zip([{ name, content: repeat(text, bytes) }]);

/** A compound file (MS-CFB) with a header whose fields are claims, and a FAT as `fatOf` has it. */
function compoundFile(
  claims: { sector_shift?: number; fat_sectors?: number; size?: number; stream_bytes?: number; mini_sectors?: number },
  fatOf: (sector: number) => number,
): Buffer {
  const { sector_shift = 9, fat_sectors = 1, size = 128 * KIB, stream_bytes = 0x7fffffff, mini_sectors = 0 } = claims;
  const sector = 512;
  const file = Buffer.alloc(size, 0xff);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  file.fill(0, 8, 24);
  file.writeUInt16LE(0x3e, 24);
  file.writeUInt16LE(sector_shift === 12 ? 4 : 3, 26);
  file.writeUInt16LE(0xfffe, 28);
  file.writeUInt16LE(sector_shift, 30);
  file.writeUInt16LE(6, 32);
  file.fill(0, 34, 44);
  file.writeUInt32LE(fat_sectors, 44);
  file.writeUInt32LE(1, 48);
  file.writeUInt32LE(0, 52);
  file.writeUInt32LE(4096, 56);
  file.writeUInt32LE(mini_sectors === 0 ? 0xfffffffe : 2, 60);
  file.writeUInt32LE(mini_sectors, 64);
  file.writeUInt32LE(0xfffffffe, 68);
  file.writeUInt32LE(0, 72);
  // The same FAT sector in every place of the header.
  for (let at = 0; at < 109; at++) file.writeUInt32LE(0, 76 + at * 4);
  for (let at = 0; at < sector / 4; at++) file.writeUInt32LE(fatOf(at) >>> 0, sector + at * 4);
  for (let entry = 0; entry < 4; entry++) {
    const at = 2 * sector + entry * 128;
    file.fill(0, at, at + 128);
    file.write(entry === 0 ? 'Root Entry' : `_VBA_PROJECT${entry}`, at, 'utf16le');
    file.writeUInt16LE(22, at + 64);
    file[at + 66] = entry === 0 ? 5 : 2;
    for (const link of [68, 72, 76]) file.writeUInt32LE(1, at + link);
    file.writeUInt32LE(1, at + 116);
    file.writeUInt32LE(stream_bytes, at + 120);
  }
  return file;
}

function pdf(filters: readonly string[], body: Buffer, objects = 1): Buffer {
  const object = (number: number) =>
    Buffer.concat([
      Buffer.from(
        `${number} 0 obj\n<< /Length ${body.length} /Filter [${filters.map((name) => `/${name}`).join(' ')}] >>\nstream\n`,
      ),
      body,
      Buffer.from('\nendstream\nendobj\n'),
    ]);
  return Buffer.concat([
    Buffer.from('%PDF-1.7\n'),
    ...Array.from({ length: objects }, (_, index) => object(index + 1)),
    Buffer.from('%%EOF\n'),
  ]);
}

function nested(content: Buffer, times: number, pack: (inner: Buffer, depth: number) => Buffer): Buffer {
  let file = content;
  for (let depth = 0; depth < times; depth++) file = pack(file, depth);
  return file;
}

/** A tar header; `size` as twelve bytes of the field. */
function tarHeader(name: string, size: string | Buffer, type = '0'): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  if (typeof size === 'string') header.write(size, 124);
  else size.copy(header, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

const mailHead = 'From: a@example.com\r\nTo: b@example.com\r\nSubject: x\r\nMIME-Version: 1.0\r\n';

/** Multipart mails within each other. */
function nestedMail(levels: number): Buffer {
  const heads = Array.from(
    { length: levels },
    (_, level) => `Content-Type: multipart/mixed; boundary="b${level}"\r\n\r\n--b${level}\r\n`,
  );
  return Buffer.from(`${mailHead}${heads.join('')}Content-Type: text/plain\r\n\r\nx\r\n`);
}

/** Local headers that lead nowhere. */
function localHeaders(count: number): Buffer {
  const header = Buffer.alloc(34);
  header.write('PK\x03\x04', 0, 'latin1');
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(8, 8);
  header.writeUInt32LE(0x7fffffff, 18);
  header.writeUInt32LE(0x7fffffff, 22);
  header.writeUInt16LE(4, 26);
  header.write('aaaa', 30);
  return Buffer.concat(Array.from({ length: count }, () => header));
}

/** A zip whose members are all one and the same range. */
function overlapping(members: number): Buffer {
  const one = zip([{ name: 'a', content: Buffer.alloc(8 * MIB) }]);
  const end = one.length - 22;
  const central_at = one.readUInt32LE(end + 16);
  const entry = one.subarray(central_at, end);
  const tail = Buffer.from(one.subarray(end));
  tail.writeUInt16LE(members, 8);
  tail.writeUInt16LE(members, 10);
  tail.writeUInt32LE(entry.length * members, 12);
  return Buffer.concat([one.subarray(0, central_at), ...Array.from({ length: members }, () => entry), tail]);
}

/** Names the files, and makes each. */
export const HOSTILE_FILES: readonly (readonly [name: string, make: () => Buffer])[] = [
  ['ole: a FAT that points at itself', () => compoundFile({ fat_sectors: 109 }, () => 0)],
  [
    'ole: a FAT that points at itself, sectors of 64 KiB',
    () => compoundFile({ sector_shift: 16, fat_sectors: 109, size: 900 * KIB }, () => 0),
  ],
  ['ole: two sectors that name each other', () => compoundFile({}, (sector) => sector ^ 1)],
  ['ole: each sector the next, the last the first', () => compoundFile({}, (sector) => (sector + 1) % 128)],
  ['ole: a million FAT sectors', () => compoundFile({ fat_sectors: 1_000_000 }, () => 1)],
  ['ole: streams of 4 GB', () => compoundFile({ stream_bytes: 0xffffffff, size: 900 * KIB }, (sector) => sector + 1)],
  ['ole: a mini FAT of a million sectors', () => compoundFile({ mini_sectors: 1_000_000, stream_bytes: 4000 }, () => 2)],
  ['ole: sectors of 4 KiB that end nowhere', () => compoundFile({ sector_shift: 12, size: 512 * KIB }, (sector) => sector + 1)],
  ['pdf: ASCII85 of z', () => zip([{ name: 'a.pdf', content: pdf(['ASCII85Decode'], repeat('z', 16 * MIB)) }])],
  ['pdf: ASCII85 of z, not packed', () => pdf(['ASCII85Decode'], repeat('z', 900 * KIB))],
  [
    'pdf: ASCIIHex twenty times',
    () =>
      pdf(
        Array.from({ length: 20 }, () => 'ASCIIHexDecode'),
        repeat('30', 900 * KIB),
      ),
  ],
  [
    'pdf: a chain of a thousand filters',
    () =>
      pdf(
        Array.from({ length: 1000 }, () => 'ASCII85Decode'),
        repeat('zzzz', 500 * KIB),
      ),
  ],
  ['pdf: chains in a thousand streams', () => pdf(['ASCIIHexDecode', 'ASCII85Decode', 'FlateDecode'], repeat('7a', 500), 1000)],
  ['pdf: Flate in Flate', () => pdf(['FlateDecode', 'FlateDecode'], deflateSync(deflateSync(Buffer.alloc(200 * MIB))))],
  ['pdf: LZW of noise', () => pdf(['LZWDecode'], randomBytes(900 * KIB))],
  ['pdf: run lengths', () => pdf(['RunLengthDecode', 'RunLengthDecode'], repeat('\x81A', 900 * KIB))],
  ['pdf: streams that never end', () => repeat('%PDF-1.4 1 0 obj << /Length 9 /Filter /FlateDecode >> stream\n', 900 * KIB)],
  ['mail: lines of uuencode that begin', () => Buffer.concat([Buffer.from(mailHead), repeat('begin 644 a\n', 500 * KIB)])],
  ['mail: a mailbox of empty messages', () => repeat('From a@example.com Sat Jan  1 00:00:00 2000\n\n', 900 * KIB)],
  [
    'mail: equals signs',
    () =>
      zip([
        {
          name: 'a.eml',
          content: Buffer.concat([
            Buffer.from(`${mailHead}Content-Transfer-Encoding: quoted-printable\r\n\r\n`),
            repeat('=', 60 * MIB),
          ]),
        },
      ]),
  ],
  [
    'mail: base64 of padding',
    () =>
      zip([
        {
          name: 'a.eml',
          content: Buffer.concat([Buffer.from(`${mailHead}Content-Transfer-Encoding: base64\r\n\r\n`), repeat('A=', 30 * MIB)]),
        },
      ]),
  ],
  ['mail: a thousand levels', () => nestedMail(1000)],
  [
    'mail: one boundary, everywhere',
    () =>
      Buffer.concat([
        Buffer.from(`${mailHead}Content-Type: multipart/mixed; boundary="a"\r\n\r\n`),
        repeat('--a\r\n', 900 * KIB),
      ]),
  ],
  ['mail: a header without an end', () => Buffer.concat([Buffer.from('From: a\r\nSubject: '), repeat('=?utf-8?q?=', 900 * KIB)])],
  ['zip: 16 MB of .exe https://', () => packed('.exe https://', 16 * MIB)],
  ['zip: 4 MB of @eval(', () => packed('<?php @eval(', 4 * MIB, 'a.php')],
  ['zip: 4 MB of powershell -w h', () => packed('powershell -w h ', 4 * MIB, 'a.ps1')],
  ['zip: 4 MB of .run powershell', () => packed('.run powershell ', 4 * MIB, 'a.hta')],
  [
    'zip: 4 MB of wide powershell',
    () => zip([{ name: 'a.ps1', content: Buffer.alloc(4 * MIB, 'powershell -w hidden iex ', 'utf16le') }]),
  ],
  ['zip: 4 MB of http://!x-usc:', () => packed('Target="http://!x-usc:', 4 * MIB, 'a.rels')],
  [
    'zip: a site map of 10 MB',
    () =>
      packed(
        '<url><loc>https://www.example.com/products/a-page.html</loc><lastmod>2024-01-01</lastmod></url>\n',
        10 * MIB,
        'sitemap.xml',
      ),
  ],
  [
    'zip: a bomb of zeros',
    () => zip(Array.from({ length: 2 }, (_, index) => ({ name: `${index}`, content: Buffer.alloc(100 * MIB) }))),
  ],
  ['zip: 3,000 members that are one', () => overlapping(3000)],
  [
    'zip: 8,000 empty members',
    () => zip(Array.from({ length: 8000 }, (_, index) => ({ name: `${index}`, content: Buffer.alloc(0) }))),
  ],
  ['zip: 40 levels', () => nested(Buffer.from('x'), 40, (inner, depth) => zip([{ name: `${depth}.zip`, content: inner }]))],
  ['zip: local headers and no directory', () => localHeaders(30_000)],
  [
    'zip: names of 60 KB',
    () => zip(Array.from({ length: 7 }, (_, index) => ({ name: `${index}`.repeat(30_000), content: Buffer.from('x') }))),
  ],
  ['gzip: a bomb', () => gzipSync(Buffer.alloc(700 * MIB))],
  ['gzip: 40,000 empty members', () => Buffer.concat(Array.from({ length: 40_000 }, () => gzipSync(Buffer.alloc(0))))],
  ['gzip: 100 levels', () => nested(Buffer.from('x'), 100, (inner) => gzipSync(inner))],
  ['zstd: a bomb', () => zstdCompressSync(Buffer.alloc(700 * MIB))],
  [
    'zstd: frames of nothing',
    () => Buffer.concat([zstdCompressSync(Buffer.from('x')), repeat('\x50\x2a\x4d\x18\0\0\0\0', 900 * KIB)]),
  ],
  [
    'tar: a size of 2^70',
    () => Buffer.concat([tarHeader('a', Buffer.from('80000040000000000000000000'.slice(0, 24), 'hex')), Buffer.alloc(64 * KIB)]),
  ],
  ['tar: a negative size', () => Buffer.concat([tarHeader('a', Buffer.alloc(12, 0xff)), Buffer.alloc(64 * KIB)])],
  [
    'tar: 1,900 long names',
    () =>
      Buffer.concat([
        ...Array.from({ length: 1900 }, () => tarHeader('././@LongLink', '77777777777\0', 'L')),
        Buffer.alloc(1024),
      ]),
  ],
  [
    'tar: extended headers that name themselves',
    () => repeat(tarHeader('a', '00000001000\0', 'x').toString('latin1'), 900 * KIB),
  ],
  [
    '7z: a header of claims',
    () =>
      Buffer.concat([
        Buffer.from('377abcaf271c0004000000000000000000000000ffffff7f0000000000000000', 'hex'),
        Buffer.alloc(256 * KIB, 0xff),
      ]),
  ],
  [
    'xz: a dictionary of 4 GB',
    () => Buffer.concat([Buffer.from('fd377a585a000001692fe536020021012800', 'hex'), randomBytes(64 * KIB)]),
  ],
  [
    'bzip2: blocks of noise',
    () => Buffer.concat([Buffer.from('BZh9\x31\x41\x59\x26\x53\x59', 'latin1'), randomBytes(900 * KIB)]),
  ],
  ['cpio: names of 2 GB', () => repeat(`070701${'00000001'.repeat(11)}7fffffff00000000`, 512 * KIB)],
  [
    'ar: sizes past the end',
    () =>
      Buffer.concat([
        Buffer.from('!<arch>\n'),
        repeat('a/              0           0     0     644     9999999999`\n', 900 * KIB),
      ]),
  ],
  ['cab: folders of claims', () => Buffer.concat([Buffer.from('MSCF\0\0\0\0'), Buffer.alloc(512 * KIB, 0xff)])],
  ['rar: blocks without length', () => Buffer.concat([Buffer.from('526172211a0700', 'hex'), Buffer.alloc(512 * KIB)])],
  ['rtf: groups within groups', () => Buffer.concat([Buffer.from('{\\rtf1'), repeat('{\\object\\objdata ', 900 * KIB)])],
  [
    'many beginnings of everything',
    () => repeat('PK\x03\x04Rar!\x1a\x077z\xbc\xaf\x27\x1cMSCF\x1f\x8b\x08MZ\xd0\xcf\x11\xe0%PDF-', 900 * KIB),
  ],
  ['programs within a program', () => repeat(`MZ${'\0'.repeat(58)}\x40\0\0\0PE\0\0${'\0'.repeat(60)}`, 900 * KIB)],
];
