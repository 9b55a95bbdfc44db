// Makes files under 1 MB that are built to take a scanner's time or memory. None is stored.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { zip } from './files.ts';

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
  // proves: attack-A.2-1
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
  // proves: attack-A.2-2
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
  // proves: attack-A.4-2
  ['zip: 16 MB of .exe https://', () => packed('.exe https://', 16 * MIB)],
  ['zip: 4 MB of @eval(', () => packed('<?php @eval(', 4 * MIB, 'a.php')],
  // proves: attack-A.4-2
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
  ['sqlite: cells that name the same bytes', sharedCells],
  ['sqlite: values that go on in their own page', pagesInCircles],
  ['sqlite: values that are bombs', () => database(Array.from({ length: 40 }, () => gzipSync(Buffer.alloc(16 * MIB))))],
  ['sqlite: 12,000 archives', () => database(Array.from({ length: 12_000 }, () => Buffer.alloc(40, zip([]))))],
  ['disc: whole sectors of the first bytes of zips', () => wholeSectors(localHeaders(20_000))],
  ['disc: whole sectors with a bomb', () => wholeSectors(overlapping(3000))],
  ['calendar: values folded after each letter', () => repeat('ATTACH;ENCODING=BASE64:QUJD\r\n Q\r\n Q\r\n', 900 * KIB)],
  [
    'calendar: one value of 900 KB',
    () => Buffer.concat([Buffer.from('BEGIN:VCALENDAR\r\nA:'), repeat('QUJDREVGR0hJSktM\r\n ', 900 * KIB)]),
  ],
  [
    'nsis: 20,000 beginnings',
    () =>
      Buffer.concat([
        Buffer.from('MZ'),
        repeat('\0\0\0\0\xef\xbe\xad\xdeNullsoftInst\xff\xff\xff\x7f\xff\xff\xff\x7f', 900 * KIB),
      ]),
  ],
  [
    'nsis: a header of claims',
    () =>
      Buffer.concat([
        Buffer.from('MZ'),
        Buffer.alloc(510),
        Buffer.from('00000000efbeadde4e756c6c736f6674496e7374ffffff7fffffff7f5d00008000', 'hex'),
        randomBytes(900 * KIB),
      ]),
  ],
  [
    'inno: 10,000 beginnings',
    () => Buffer.concat([Buffer.from('MZ'), repeat('Inno Setup Setup Data (6.2.0) (u)'.padEnd(80, '\0'), 900 * KIB)]),
  ],
  ['id3: frames that are bombs', () => packedFrames(60)],
  [
    'matroska: attached files within each other',
    () =>
      repeat(
        '\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff\x19\x41\xa4\x69\x01\xff\xff\xff\xff\xff\xff\xff\x61\xa7\x01\xff\xff\xff\xff\xff\xff\xff',
        900 * KIB,
      ),
  ],
  ['cms: data within data', () => nested(randomBytes(500 * KIB), 40, cmsData)],
  ['ext: a superblock of claims', superblock],
  ...[
    ['keepass', '03d9a29a67fb4bb500000400'],
    ['age', '6167652d656e6372797074696f6e2e6f72672f76310a2d3e2078'],
    ['openssl enc', '53616c7465645f5f3132333435363738'],
    ['aes crypt', '4145530200'],
    ['outlook folders', '2142444e01020304534d'],
    ['pg_dump', '5047444d50010e00'],
    ['git pack', '5041434b00000002ffffffff'],
    ['git pack with few objects', '5041434b0000000200000003'],
    ['git bundle', '23207632206769742062756e646c650a'],
  ].map(([name = '', magic = '']): readonly [string, () => Buffer] => [
    `${name}: its first bytes, over and over`,
    () => Buffer.concat([Buffer.from(magic, 'hex'), Buffer.alloc(900 * KIB, magic, 'hex')]),
  ]),
  ['text: blanks that are written as entities', () => repeat('&#9;     ', 900 * KIB)],
  ['text: replacements that double', () => Buffer.from(`x = "${'a'.repeat(100_000)}"${'.replace("a", "aa")'.repeat(16)}`)],
  ['text: literals with blanks between them', () => repeat(`'a'${' '.repeat(64)}'b'${' '.repeat(200)}`, 250 * KIB)],
  [
    'xls: 50,000 macro sheets',
    () => workbook(Buffer.concat(Array.from({ length: 40_000 }, () => biff(0x0809, '0006400000000000')))),
  ],
  [
    'xls: 100,000 macro cells in one record after the other',
    () =>
      workbook(
        Buffer.concat([
          biff(0x0809, '0006400000000000'),
          Buffer.alloc(800 * KIB, biff(0x00bd, `00000000${'000001000000'.repeat(1000)}0000`)),
        ]),
      ),
  ],
  ['word 6: 30,000 macros that are one', sharedMacros],
];

/** A page of cells that all name one record of 1,000 bytes, the head of which is nearly all of it; 15 of these behind a first page. */
function sharedCells(): Buffer {
  const page_bytes = 65_536;
  const page = Buffer.alloc(page_bytes, 1);
  const [cells, at] = [32_000, 64_100];
  page[0] = 0x0d;
  page.writeUInt16BE(cells, 3);
  for (let cell = 0; cell < cells; cell += 1) page.writeUInt16BE(at, 8 + cell * 2);
  Buffer.from([0x87, 0x68, 0x01, 0x87, 0x60]).copy(page, at);
  return Buffer.concat([databaseHead(page_bytes), ...Array.from({ length: 15 }, () => page)], MIB);
}

function databaseHead(page_bytes: number): Buffer {
  const head = Buffer.alloc(page_bytes);
  head.write('SQLite format 3\0', 'latin1');
  head.writeUInt16BE(page_bytes === 65_536 ? 1 : page_bytes, 16);
  head.writeUInt32BE(1, 56);
  return head;
}

/** Each cell is one value of 32 KB, which continues in its own page. */
function pagesInCircles(): Buffer {
  const page_bytes = 512;
  const pages = Array.from({ length: 1700 }, (_, index) => {
    const page = Buffer.alloc(page_bytes, 1);
    page[0] = 0x0d;
    page.writeUInt16BE(200, 3);
    for (let cell = 0; cell < 200; cell += 1) page.writeUInt16BE(420, 8 + cell * 2);
    // 32,000 bytes, of which some stand here, behind them the number of this page.
    Buffer.from([0x81, 0xfa, 0x00, 0x01]).copy(page, 420);
    for (let at = 424; at + 4 <= page_bytes; at += 4) page.writeUInt32BE(index + 2, at);
    return page;
  });
  return Buffer.concat([databaseHead(page_bytes), ...pages]);
}

/** A database with one table of these values. */
function database(values: readonly Buffer[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-hostile-'));
  try {
    const made = new DatabaseSync(join(folder, 'made'));
    made.exec('CREATE TABLE t (a); BEGIN');
    const insert = made.prepare('INSERT INTO t VALUES (?)');
    for (const value of values) insert.run(value);
    made.exec('COMMIT');
    made.close();
    return readFileSync(join(folder, 'made'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Bytes as a drive reads them: 2,352 to the sector, of which 2,048 are theirs. */
function wholeSectors(disc: Buffer): Buffer {
  return Buffer.concat(
    Array.from({ length: Math.min(440, Math.ceil(disc.length / 2048)) }, (_, index) => {
      const sector = Buffer.alloc(2352);
      sector.fill(0xff, 1, 11);
      sector[15] = 1;
      disc.copy(sector, 16, index * 2048, (index + 1) * 2048);
      return sector;
    }),
  );
}

/** A tag of ID3 of packed frames, each of which is 14 MB of zeros. */
function packedFrames(count: number): Buffer {
  const packed = deflateSync(Buffer.alloc(14 * MIB));
  const frame = Buffer.alloc(14);
  frame.write('GEOB');
  frame.writeUInt32BE(packed.length + 4, 4);
  frame[9] = 0x80;
  const frames = Buffer.concat(Array.from({ length: count }, () => Buffer.concat([frame, packed])));
  const size = frames.length;
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, (size >> 21) & 127, (size >> 14) & 127, (size >> 7) & 127, size & 127]);
  return Buffer.concat([head, frames]);
}

/** One message of CMS around another. */
function cmsData(inner: Buffer): Buffer {
  const value = (tag: number, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    return Buffer.concat([Buffer.from([tag, 0x84]), length, body]);
  };
  return value(0x30, Buffer.from('06092a864886f70d010701', 'hex'), value(0xa0, value(0x04, inner)));
}

/** A file system of Linux by its superblock, which says that it has as many blocks as a number can say. */
function superblock(): Buffer {
  const image = randomBytes(900 * KIB);
  image.fill(0, 0, 2048);
  for (const [at, number] of [
    [0, 0x7fffffff],
    [4, 0x7fffffff],
    [32, 8192],
    [40, 16],
    [76, 1],
  ] as const)
    image.writeUInt32LE(number, 1024 + at);
  image.writeUInt16LE(0xef53, 1080);
  image.writeUInt16LE(1, 1082);
  return image;
}

function biff(type: number, body: string): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type);
  head.writeUInt16LE(body.length / 2, 2);
  return Buffer.concat([head, Buffer.from(body, 'hex')]);
}

/** A workbook of Excel 97: its stream is these records behind the first one. */
function workbook(records: Buffer): Buffer {
  return oneStream('Workbook', Buffer.concat([biff(0x0809, `00060500${'00'.repeat(12)}`), records]));
}

/** A document of Word 6 of which every macro is the whole document. */
function sharedMacros(): Buffer {
  const entries = 30_000;
  const head = Buffer.alloc(0x300 + 4);
  head.writeUInt16LE(0xa5dc, 0);
  head.writeUInt32LE(0x300, 0x118);
  head.writeUInt32LE(4 + entries * 24, 0x11c);
  head.writeUInt16LE(0x01ff, 0x300);
  head.writeUInt16LE(entries, 0x302);
  const entry = Buffer.alloc(24, 1);
  entry.writeUInt32LE(700 * KIB, 12);
  entry.writeUInt32LE(0, 20);
  return oneStream('WordDocument', Buffer.concat([head, Buffer.alloc(entries * 24, entry)]));
}

/** A compound file (MS-CFB) of one stream, of sectors of 4 KiB, each behind the one before. */
function oneStream(name: string, content: Buffer): Buffer {
  const sector = 4096;
  const count = Math.ceil(content.length / sector);
  const head = Buffer.alloc(sector);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(head);
  head.writeUInt16LE(4, 26);
  head.writeUInt16LE(0xfffe, 28);
  head.writeUInt16LE(12, 30);
  head.writeUInt16LE(6, 32);
  head.writeUInt32LE(1, 44);
  head.writeUInt32LE(1, 48);
  head.writeUInt32LE(4096, 56);
  head.writeUInt32LE(0xfffffffe, 60);
  head.writeUInt32LE(0xfffffffe, 68);
  head.fill(0xff, 76, 512);
  head.writeUInt32LE(0, 76);
  const table = Buffer.alloc(sector, 0xff);
  table.writeUInt32LE(0xfffffffd, 0);
  table.writeUInt32LE(0xfffffffe, 4);
  for (let index = 0; index < count; index += 1)
    table.writeUInt32LE(index + 1 === count ? 0xfffffffe : index + 3, (index + 2) * 4);
  const directory = Buffer.alloc(sector);
  for (const [index, entry] of [
    { name: 'Root Entry', type: 5, start: 0xfffffffe, size: 0 },
    { name, type: 2, start: 2, size: content.length },
  ].entries()) {
    const at = index * 128;
    directory.write(entry.name, at, 'utf16le');
    directory.writeUInt16LE(entry.name.length * 2 + 2, at + 64);
    directory[at + 66] = entry.type;
    for (const link of [68, 72, 76]) directory.writeUInt32LE(0xffffffff, at + link);
    directory.writeUInt32LE(entry.start, at + 116);
    directory.writeUInt32LE(entry.size, at + 120);
  }
  return Buffer.concat([head, table, directory, content], sector * (3 + count));
}
