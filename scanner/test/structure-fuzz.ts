import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32, gzipSync } from 'node:zlib';
import { containersOf, docx, mail, mailbox, ole, pdf, tarEntry, uuencoded, vbaCompressed } from './containers.ts';
import { EICAR, noise, tar, zip } from './files.ts';
import { PACKED_ARCHIVES } from './packed-archives.ts';
import { PACKED_EICAR } from './packed-eicar.ts';
import { packWith7Zip } from './seven-zip-pack.ts';

// Real containers of every kind that is read, with EICAR in them, and ways to bend them that know where their numbers stand.

/** The password of the encrypted ones. */
export const PASSWORD = 'palisade';

/** Reproducible numbers (xorshift32). */
export class Chance {
  private state: number;

  constructor(seed: number) {
    // Neighbouring seeds begin far from each other.
    this.state = Math.imul(seed + 1, 0x9e3779b1) | 1;
    for (let turn = 0; turn < 8; turn += 1) this.next();
  }

  next(): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return this.state >>> 0;
  }

  below(limit: number): number {
    return limit <= 0 ? 0 : this.next() % limit;
  }

  of<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('Nothing to choose from.');
    return choice;
  }
}

function ascii85(bytes: Buffer): Buffer {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const group = Buffer.concat([bytes.subarray(at, at + 4)], 4);
    let value = group.readUInt32BE();
    let digits = '';
    for (let index = 0; index < 5; index += 1, value = Math.floor(value / 85))
      digits = String.fromCharCode(33 + (value % 85)) + digits;
    text += digits.slice(0, Math.min(4, bytes.length - at) + 1);
  }
  return Buffer.from(`${text}~>`, 'latin1');
}

/** Lists of pieces, messages of OpenPGP and pictures with a comment. */
function pieces(): [string, Buffer][] {
  const little = (value: number) => Buffer.from([value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24]);
  const big = (value: number) => Buffer.from(little(value).reverse());
  const list = Buffer.from(JSON.stringify({ files: { 'a.com': { size: EICAR.length, offset: '0' } } }).padEnd(48));
  const entry = Buffer.concat([
    little(5),
    Buffer.from('a.com'),
    little(68),
    little(0),
    little(68),
    little(0),
    little(0),
    little(0),
  ]);
  const manifest = Buffer.concat([little(1), Buffer.from([0x11, 0]), little(0), little(0), little(0), entry]);
  const packet = Buffer.concat([Buffer.from([0xcb, 74, 0x62, 0]), Buffer.alloc(4), EICAR]);
  const armour = `-----BEGIN PGP MESSAGE-----\n\n${packet.toString('base64')}\n-----END PGP MESSAGE-----\n`;
  const signed = `-----BEGIN PGP SIGNED MESSAGE-----\n\n${EICAR.toString('latin1')}\n-----BEGIN PGP SIGNATURE-----\n`;
  const comment = Buffer.concat([Buffer.from('47494638396101000100000021fe44', 'hex'), EICAR, Buffer.from('003b', 'hex')]);
  return [
    ['asar', Buffer.concat([little(4), little(list.length + 8), little(list.length + 4), little(list.length), list, EICAR])],
    ['phar', Buffer.concat([Buffer.from('<?php __HALT_COMPILER(); ?>\n'), little(manifest.length), manifest, EICAR])],
    [
      'AppleDouble',
      Buffer.concat([big(0x51607), big(0x20000), Buffer.alloc(16), Buffer.from([0, 1]), big(2), big(38), big(68), EICAR]),
    ],
    ['OpenPGP', packet],
    ['OpenPGP in armour', Buffer.from(armour)],
    ['OpenPGP, signed', Buffer.from(signed)],
    ['pickle', Buffer.concat([Buffer.from([0x80, 3, 0x42, 68, 0, 0, 0]), EICAR, Buffer.from('q\0.')])],
    ['WARC', Buffer.concat([Buffer.from('WARC/1.0\r\nContent-Length: 68\r\n\r\n'), EICAR, Buffer.from('\r\n\r\n')])],
    ['gif with a comment', comment],
    ['SQLite', database()],
    ['disc with whole sectors', disc()],
    [
      'calendar',
      Buffer.from(
        `BEGIN:VCALENDAR\r\n${(`ATTACH;ENCODING=BASE64:${EICAR.toString('base64')}`.match(/.{1,60}/g) ?? []).join('\r\n ')}\r\n`,
      ),
    ],
  ];
}

/** A database with a file, and with values that lie in several pages. */
function database(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-fuzz-'));
  const made = new DatabaseSync(join(folder, 'made'));
  made.exec('PRAGMA page_size = 512; CREATE TABLE t (a); CREATE INDEX i ON t (a)');
  for (const value of [EICAR, noise(900), 'a text over many pages '.repeat(40)])
    made.prepare('INSERT INTO t VALUES (?)').run(value);
  made.close();
  const bytes = readFileSync(join(folder, 'made'));
  rmSync(folder, { recursive: true });
  return bytes;
}

/** A disc as a drive reads it, with a zip at its begin. */
function disc(): Buffer {
  const bytes = Buffer.concat([zip([{ name: 'a.com', content: EICAR }]), Buffer.alloc(4096)]);
  return Buffer.concat(
    [0, 1, 2].map((index) => {
      const sector = Buffer.alloc(2352);
      sector.fill(0xff, 1, 11);
      sector[15] = 1;
      bytes.copy(sector, 16, index * 2048, (index + 1) * 2048);
      return sector;
    }),
  );
}

/** Documents and mails of kinds that have readers of their own, each with EICAR in it. */
function documents(): [string, Buffer][] {
  const long = (number: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(number);
    return bytes;
  };
  const packaged = Buffer.concat([
    Buffer.from('\x02\0a.com\0C:\\a.com\0\0\0\x03\0\x09\0\0\0C:\\a.com\0\0', 'latin1'),
    long(EICAR.length),
    EICAR,
  ]);
  const object = Buffer.concat([
    long(0x0501),
    long(2),
    long(8),
    Buffer.from('Package\0'),
    long(0),
    long(0),
    long(packaged.length),
    packaged,
  ]).toString('hex');
  const attribute = (id: number, content: Buffer) =>
    Buffer.concat([Buffer.from([2]), long(id), long(content.length), content, Buffer.alloc(2)]);
  const store = Buffer.alloc(36);
  store.write('e716e3bd65261145a4c48d4d0b7a9eac', 'hex');
  store.writeUInt32LE(EICAR.length, 16);
  const der = (tag: number, ...values: Buffer[]) => {
    const content = Buffer.concat(values);
    return Buffer.concat([Buffer.from([tag, 0x81, content.length]), content]);
  };
  const identifier = (kind: string) => Buffer.from(`06092a864886f70d01070${kind}`, 'hex');
  const script = `x = "${EICAR.toString('base64').replaceAll(/(.{20})/g, '$1" & _\r\n "')}" + Chr(65)`;
  return [
    ['rtf', Buffer.from(`{\\rtf1 {\\object{\\*\\objdata ${object}}}{\\pict\\bin9 123456789}}`)],
    ['onenote', Buffer.concat([Buffer.from('e4525c7b8cd8a74daeb15378d02996d3', 'hex'), store, EICAR])],
    ['ole, native', ole([{ name: '\x01Ole10Native', content: Buffer.concat([long(packaged.length), packaged]) }])],
    [
      'tnef',
      Buffer.concat([
        Buffer.from('789f3e220100', 'hex'),
        attribute(0x00018010, Buffer.from('a.com\0')),
        attribute(0x0006800f, EICAR),
        attribute(0x00069005, Buffer.concat([long(1), long(0x37010102), long(1), long(EICAR.length), EICAR])),
      ]),
    ],
    [
      'cms',
      der(
        0x30,
        identifier('2'),
        der(0xa0, der(0x30, der(2, Buffer.from([1])), der(0x31), der(0x30, identifier('1'), der(0xa0, der(4, EICAR))))),
      ),
    ],
    ...pieces(),
    ['text in UTF-16', Buffer.from(`\ufeff${script}`, 'utf16le')],
    ['script', Buffer.from(script)],
  ];
}

/** Everything that can be bent, by name. */
const LARGE_BYTES = 200_000;
const CARVED = /behind|makeself|initramfs|shar/;

export async function seeds(): Promise<Map<string, Buffer>> {
  const eicar = { name: 'eicar.com', content: EICAR };
  const filling = { name: 'filling.bin', content: noise(3000) };
  // The others are found by the carving of the rules, or are large.
  const archives = [...PACKED_ARCHIVES].filter(([name, { length }]) => length < LARGE_BYTES && !CARVED.test(name));
  const all = new Map([...(await containersOf(EICAR)), ...PACKED_EICAR, ...archives]);
  const files = { 'filling.bin': filling.content, 'words.txt': Buffer.from('many words, '.repeat(300)), 'eicar.com': EICAR };
  for (const [name, switches] of [
    ['7z, copied', ['-t7z', '-mx=0']],
    ['7z, LZMA', ['-t7z', '-m0=LZMA']],
    ['7z, LZMA2 and BCJ', ['-t7z', '-m0=BCJ', '-m1=LZMA2']],
    ['7z, PPMd', ['-t7z', '-m0=PPMd']],
    ['7z, bzip2', ['-t7z', '-m0=BZip2']],
    ['7z, header not packed', ['-t7z', '-mhc=off']],
    ['zip, deflate64', ['-tzip', '-mm=Deflate64', '-mx=9']],
    ['zip, AES', ['-tzip', '-mem=AES256', `-p${PASSWORD}`]],
    ['tar by 7-Zip', ['-ttar']],
  ] as const)
    all.set(name, await packWith7Zip(files, switches));
  const inner = await tar([filling, eicar]);
  for (const [name, switches] of [
    ['tar.xz', ['-txz']],
    ['tar.bz2', ['-tbzip2']],
    ['tar.gz by 7-Zip', ['-tgzip']],
  ] as const)
    all.set(name, await packWith7Zip({ 'files.tar': inner }, switches));
  const macro = `Attribute VB_Name = "ThisDocument"\r\n' ${EICAR.toString('latin1')}\r\n`;
  const module = Buffer.concat([noise(200), vbaCompressed(macro)]);
  const pax = (record: string) => tarEntry({ name: 'pax', content: Buffer.from(`${record.length + 4} ${record}\n`), type: 'x' });
  const long = tarEntry({ name: '././@LongLink', content: Buffer.from(`${'long/'.repeat(40)}eicar.com\0`), type: 'L' });
  const file = tarEntry({ ...eicar });
  const parts = [
    'From: anna@example.com\nSubject: parts\nContent-Type: multipart/mixed; boundary=outer\n\n',
    '--outer\nContent-Type: multipart/alternative; boundary="inner"\n\n--inner\n\nHello.\n--inner--\n',
    `--outer\nContent-Type: application/zip; name=a.zip\nContent-Transfer-Encoding: base64\n\n${zip([eicar]).toString('base64')}\n--outer--\n`,
  ].join('');
  const more: [string, Buffer][] = [
    ['zip of several', zip([filling, eicar, { name: 'folder/', content: Buffer.alloc(0), method: 0 }])],
    [
      'zip, stored, of several',
      zip([
        { ...filling, method: 0 },
        { ...eicar, method: 0 },
      ]),
    ],
    [
      'ole, small sectors',
      ole([filling, { name: 'Package', content: EICAR }, { name: 'Big', content: noise(6000) }], { mini: true }),
    ],
    ['ole with a macro', ole([filling, { name: 'ThisDocument', content: module }], { mini: true })],
    ['docm', docx('vbaProject.bin', ole([{ name: 'ThisDocument', content: module }]))],
    ['tar, long names', Buffer.concat([pax('comment=nothing'), long, file, tarEntry(filling), Buffer.alloc(1024)])],
    ['tar, size in pax', Buffer.concat([pax(`size=${EICAR.length}`), file, Buffer.alloc(1024)])],
    ['pdf, ASCII85', pdf(EICAR, { filter: '[/ASCII85Decode]', bytes: ascii85(EICAR) })],
    ['pdf, hexadecimal', pdf(EICAR, { filter: '/ASCIIHexDecode', bytes: Buffer.from(`${EICAR.toString('hex')}>`) })],
    [
      'pdf, run length',
      pdf(EICAR, {
        filter: '/RunLengthDecode',
        bytes: Buffer.concat([Buffer.from([EICAR.length - 1]), EICAR, Buffer.from([128])]),
      }),
    ],
    ['mail, parts within parts', Buffer.from(parts)],
    ['mail of a 7z', mail('a.7z', (PACKED_EICAR.get('7z') ?? EICAR).toString('base64'), 'base64')],
    ['mailbox with uuencode', mailbox([mail('a.txt', 'hello', '7bit'), uuencoded('eicar.com', EICAR)])],
    ['gzip of several streams', Buffer.concat([gzipSync(filling.content), gzipSync(EICAR), Buffer.alloc(512)])],
    ['gzip behind zeros', Buffer.concat([gzipSync(filling.content), Buffer.alloc(300), gzipSync(EICAR)])],
    ['7z behind a program', Buffer.concat([Buffer.from('MZ'), noise(700), PACKED_EICAR.get('7z') ?? EICAR])],
    [
      'zip of a tar.gz of an ole',
      zip([
        { name: 'a.tgz', content: gzipSync(await tar([{ name: 'a.doc', content: ole([{ name: 'Package', content: EICAR }]) }])) },
      ]),
    ],
  ];
  for (const [name, bytes] of [...more, ...documents()]) all.set(name, bytes);
  return all;
}

type Writing = 'le' | 'be' | 'octal' | 'decimal' | 'hex';
/** A number of a format, and where it stands. */
interface Field {
  at: number;
  width: number;
  writing: Writing;
}

function everywhere(bytes: Buffer, mark: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) places.push(at);
  return places;
}

/** Offsets and widths behind a mark. */
const BINARY: readonly { mark: Buffer; fields: readonly (readonly [number, number])[]; writing?: Writing }[] = [
  {
    mark: Buffer.from('PK\x03\x04', 'latin1'),
    fields: [
      [4, 2],
      [6, 2],
      [8, 2],
      [14, 4],
      [18, 4],
      [22, 4],
      [26, 2],
      [28, 2],
    ],
  },
  {
    mark: Buffer.from('PK\x01\x02', 'latin1'),
    fields: [
      [4, 2],
      [8, 2],
      [10, 2],
      [16, 4],
      [20, 4],
      [24, 4],
      [28, 2],
      [30, 2],
      [32, 2],
      [42, 4],
    ],
  },
  {
    mark: Buffer.from('PK\x05\x06', 'latin1'),
    fields: [
      [4, 2],
      [8, 2],
      [10, 2],
      [12, 4],
      [16, 4],
      [20, 2],
    ],
  },
  {
    mark: Buffer.from('PK\x06\x06', 'latin1'),
    fields: [
      [4, 8],
      [24, 8],
      [32, 8],
      [40, 8],
      [48, 8],
    ],
  },
  { mark: Buffer.from('PK\x06\x07', 'latin1'), fields: [[8, 8]] },
  {
    mark: Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    fields: [
      [24, 2],
      [26, 2],
      [30, 2],
      [32, 2],
      [44, 4],
      [48, 4],
      [56, 4],
      [60, 4],
      [64, 4],
      [68, 4],
      [72, 4],
      [76, 4],
      [80, 4],
    ],
  },
  {
    mark: Buffer.from('1f8b08', 'hex'),
    fields: [
      [3, 1],
      [4, 4],
      [10, 2],
    ],
  },
  {
    mark: Buffer.from('fd377a585a00', 'hex'),
    fields: [
      [6, 2],
      [12, 1],
      [13, 1],
      [14, 2],
      [16, 2],
    ],
  },
  {
    mark: Buffer.from('377abcaf271c', 'hex'),
    fields: [
      [6, 2],
      [12, 8],
      [20, 8],
      [28, 4],
    ],
  },
  {
    mark: Buffer.from('28b52ffd', 'hex'),
    fields: [
      [4, 1],
      [5, 1],
      [5, 2],
      [6, 4],
      [7, 2],
    ],
  },
  {
    mark: Buffer.from('BZh', 'latin1'),
    fields: [
      [3, 1],
      [10, 4],
      [14, 1],
      [15, 2],
    ],
    writing: 'be',
  },
  {
    mark: Buffer.from('MSCF', 'latin1'),
    fields: [
      [8, 4],
      [16, 4],
      [24, 2],
      [26, 2],
      [28, 2],
      [30, 2],
      [36, 4],
      [40, 2],
      [42, 2],
      [44, 4],
      [48, 4],
    ],
  },
  {
    mark: Buffer.from('MSWIM', 'latin1'),
    fields: [
      [8, 4],
      [12, 4],
      [16, 4],
      [20, 4],
      [40, 2],
      [42, 2],
      [44, 4],
      [48, 8],
      [56, 8],
      [64, 8],
      [72, 8],
      [80, 8],
      [88, 8],
      [96, 8],
      [104, 8],
      [120, 4],
    ],
  },
  {
    mark: Buffer.from('5d0000', 'hex'),
    fields: [
      [0, 1],
      [1, 4],
      [5, 8],
    ],
  },
];
const TAR_MARK = Buffer.from('ustar');
const TAR_FIELDS = [
  [124, 12],
  [100, 8],
  [156, 1],
  [148, 8],
] as const;
const DIRECTORY_ENTRY = [
  [64, 2],
  [66, 1],
  [68, 4],
  [116, 4],
  [120, 4],
] as const;

/** Where the numbers of a container stand, as far as marks tell. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  for (const { mark, fields: relative, writing = 'le' } of BINARY) {
    for (const place of everywhere(bytes, mark).slice(0, 40))
      for (const [at, width] of relative) if (place + at + width <= bytes.length) fields.push({ at: place + at, width, writing });
  }
  for (const place of everywhere(bytes, TAR_MARK)) {
    const head = place - 257;
    if (head >= 0) for (const [at, width] of TAR_FIELDS) fields.push({ at: head + at, width, writing: 'octal' });
  }
  for (const root of everywhere(bytes, Buffer.from('Root Entry', 'utf16le'))) {
    for (let entry = root; entry + 128 <= bytes.length && entry < root + 512; entry += 128)
      for (const [at, width] of DIRECTORY_ENTRY) fields.push({ at: entry + at, width, writing: 'le' });
  }
  // The tables of an OLE file: its last sector.
  if (bytes.readUInt16BE(0) === 0xd0cf)
    for (let at = Math.max(0, bytes.length - 512); at + 4 <= bytes.length && at < bytes.length - 400; at += 4)
      fields.push({ at, width: 4, writing: 'le' });
  const text = bytes.toString('latin1');
  if (text.startsWith('!<arch>'))
    fields.push({ at: 56, width: 10, writing: 'decimal' }, { at: 24, width: 12, writing: 'decimal' });
  // A number inside a stream is no number of the format.
  if (text.startsWith('%PDF'))
    for (const found of text.replaceAll(/stream\r?\n.*?endstream/gs, (part) => ' '.repeat(part.length)).matchAll(/\d{1,12}/g))
      fields.push({ at: found.index, width: found[0].length, writing: 'decimal' });
  if (text.startsWith('070701')) for (let at = 6; at < 110; at += 8) fields.push({ at, width: 8, writing: 'hex' });
  return fields.filter(({ at, width }) => at + width <= bytes.length);
}

/** A value that a number of a format may be bent to. */
function valueFor(field: Field, size: number, chance: Chance): bigint {
  const all = (1n << BigInt(field.width * 8)) - 1n;
  return chance.of([
    0n,
    1n,
    all,
    all >> 1n,
    (all >> 1n) + 1n,
    all - 1n,
    BigInt(field.at),
    BigInt(size),
    BigInt(size - 1),
    BigInt(size + 1),
    BigInt(chance.below(size + 1)),
    BigInt(chance.next()),
    BigInt(chance.below(256)),
  ]);
}

function writeField(bytes: Buffer, { at, width, writing }: Field, value: bigint): void {
  if (writing === 'le' || writing === 'be') {
    const bits = BigInt.asUintN(width * 8, value);
    for (let index = 0; index < width; index += 1)
      bytes[writing === 'le' ? at + index : at + width - 1 - index] = Number((bits >> BigInt(8 * index)) & 0xffn);
    return;
  }
  const written = value.toString({ octal: 8, decimal: 10, hex: 16 }[writing]).slice(-width);
  bytes.write(writing === 'decimal' ? written.padEnd(width) : written.padStart(width, '0'), at, 'latin1');
}

/** Makes checksums of headers right again: behind a wrong one nothing would be read. */
function repaired(bytes: Buffer): Buffer {
  for (const place of everywhere(bytes, TAR_MARK)) {
    const head = place - 257;
    if (head < 0 || head + 512 > bytes.length) continue;
    bytes.fill(0x20, head + 148, head + 156);
    let sum = 0;
    for (let at = head; at < head + 512; at += 1) sum += bytes[at] ?? 0;
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, head + 148, 'latin1');
  }
  for (const place of everywhere(bytes, Buffer.from('377abcaf271c', 'hex'))) {
    if (place + 32 > bytes.length) continue;
    const start = place + 32 + Number(bytes.readBigUInt64LE(place + 12) % 0x1000000n);
    const end = start + Number(bytes.readBigUInt64LE(place + 20) % 0x1000000n);
    if (end <= bytes.length) bytes.writeUInt32LE(crc32(bytes.subarray(start, end)), place + 28);
    bytes.writeUInt32LE(crc32(bytes.subarray(place + 12, place + 32)), place + 8);
  }
  for (const place of everywhere(bytes, Buffer.from('fd377a585a00', 'hex'))) {
    if (place + 13 > bytes.length) continue;
    bytes.writeUInt32LE(crc32(bytes.subarray(place + 6, place + 8)), place + 8);
    const block = ((bytes[place + 12] ?? 0) + 1) * 4;
    const end = place + 12 + block;
    if (end <= bytes.length) bytes.writeUInt32LE(crc32(bytes.subarray(place + 12, end - 4)), end - 4);
  }
  return bytes;
}

const HEADERS = [
  'Content-Type: multipart/mixed; boundary=outer',
  'Content-Type: multipart/mixed',
  'Content-Type: text/plain; name="a(b).txt"',
  'Content-Type: message/rfc822',
  'Content-Transfer-Encoding: quoted-printable',
  'Content-Transfer-Encoding: x-uuencode',
  '',
  '--outer',
  '--inner',
  '--a-boundary',
  '--a-boundary--',
  'begin 644 a.com',
  'end',
  'From a@b Fri Nov 20 11:00:00 2026',
  '====',
] as const;

/** A mail is made of lines: one goes, comes twice, changes places, or another one comes. */
function withOtherLines(bytes: Buffer, chance: Chance): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const at = chance.below(lines.length);
  const line = lines[at] ?? '';
  switch (chance.below(6)) {
    case 0:
      lines.splice(at, 1);
      break;
    case 1:
      lines.splice(at, 0, line);
      break;
    case 2:
      lines.splice(chance.below(lines.length), 0, ...lines.splice(at, 1));
      break;
    case 3:
      lines[at] = `${line.slice(0, chance.below(line.length + 1))}\n${line.slice(chance.below(line.length + 1))}`;
      break;
    case 4:
      lines[at] = line.endsWith('\r') ? line.slice(0, -1) : `${line}\r`;
      break;
    default:
      lines.splice(at, 0, chance.of(HEADERS));
  }
  return Buffer.from(lines.join('\n'), 'latin1');
}

/** One change to a file. */
function bent(bytes: Buffer, others: readonly Buffer[], chance: Chance): Buffer {
  const place = () => chance.below(bytes.length + 1);
  const range = () => {
    const [from, to] = [place(), place()].sort((a, b) => a - b);
    return { from: from ?? 0, to: Math.min(to ?? 0, (from ?? 0) + 4096) };
  };
  const kind = chance.below(100);
  if (kind < 60 && bytes.subarray(0, 5).toString('latin1').startsWith('From')) return withOtherLines(bytes, chance);
  if (kind < 60) {
    const fields = fieldsOf(bytes);
    if (fields.length > 0) {
      const changed = Buffer.from(bytes);
      const field = chance.of(fields);
      writeField(changed, field, valueFor(field, bytes.length, chance));
      return chance.below(5) === 0 ? changed : repaired(changed);
    }
  }
  if (kind < 75) {
    const changed = Buffer.from(bytes);
    for (let count = 1 + chance.below(6); count > 0; count -= 1) {
      const at = chance.below(bytes.length);
      changed[at] = chance.below(2) === 0 ? chance.below(256) : (changed[at] ?? 0) ^ (1 << chance.below(8));
    }
    return chance.below(2) === 0 ? changed : repaired(changed);
  }
  const { from, to } = range();
  switch (chance.below(9)) {
    case 0:
      return bytes.subarray(0, place());
    case 1:
      return Buffer.concat([bytes.subarray(0, place()), chance.of(others).subarray(chance.below(200))]);
    case 2:
      return Buffer.concat([bytes, chance.of(others)]);
    case 3:
      return Buffer.concat([
        bytes.subarray(0, to),
        ...Array.from({ length: 1 + chance.below(40) }, () => bytes.subarray(from, to)),
        bytes.subarray(to),
      ]);
    case 4:
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    case 5:
      return Buffer.concat([
        bytes.subarray(0, from),
        Buffer.alloc(chance.below(5000), chance.of([0, 0xff, 0x20, 0x0a])),
        bytes.subarray(from),
      ]);
    case 6:
      return Buffer.concat([
        chance.of([Buffer.from('MZ'), Buffer.from('GIF89a'), Buffer.from('\n'), noise(700), Buffer.alloc(100)]),
        bytes,
      ]);
    case 7:
      return Buffer.concat([bytes, noise(chance.below(3000), chance.next() | 1)]);
    default:
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to), bytes.subarray(from, to)]);
  }
}

/** Formats that take a hundred times as long to open as the others: chosen less often. */
const DEAR = /^(wim|7z, .*encrypted)/;

/** The file of that number: which seed it was made from, and what became of it. The same number is the same file. */
export function mutant(all: ReadonlyMap<string, Buffer>, seed: number, index: number): { name: string; bytes: Buffer } {
  const chance = new Chance(seed * 1_000_003 + index);
  const choices = [...all];
  let [name, original] = chance.of(choices);
  if (DEAR.test(name) && chance.below(8) > 0) [name, original] = chance.of(choices);
  const others = [...all.values()];
  let bytes = original;
  for (let count = chance.of([1, 1, 1, 2, 3]); count > 0 && bytes.length > 8; count -= 1) bytes = bent(bytes, others, chance);
  return { name, bytes };
}
