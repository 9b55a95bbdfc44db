import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { Chance } from './chance.ts';
import { docx, ole, vbaCompressed } from './containers.ts';
import { EICAR, noise, tar } from './files.ts';
import { PACKED_ARCHIVES } from './packed-archives.ts';
import { PACKED_EICAR } from './packed-eicar.ts';
import { SAMPLES, wrapped } from './samples/index.ts';
import { hex, latin } from './samples/sample.ts';
import { packWith7Zip } from './seven-zip-pack.ts';

// Real containers of every kind that is read, with EICAR in them, and ways to bend them that know where their numbers stand.

/** The password of the encrypted ones. */
export const PASSWORD = 'palisade';

/** Is opened where the upload is named so; the fuzz gives no names. */
const BY_ENDING = 'phar, packed';
/** Larger files take too long to be read again and again. */
const LARGE_BYTES = 200_000;
const CARVED = /behind|makeself|initramfs|shar/;

/** Switches of 7-Zip, by the name of the archive. */
const BY_7_ZIP = {
  '7z, copied': ['-t7z', '-mx=0'],
  '7z, LZMA': ['-t7z', '-m0=LZMA'],
  '7z, LZMA2 and BCJ': ['-t7z', '-m0=BCJ', '-m1=LZMA2'],
  '7z, PPMd': ['-t7z', '-m0=PPMd'],
  '7z, bzip2': ['-t7z', '-m0=BZip2'],
  '7z, header not packed': ['-t7z', '-mhc=off'],
  'zip, deflate64': ['-tzip', '-mm=Deflate64', '-mx=9'],
  'zip, AES': ['-tzip', '-mem=AES256', `-p${PASSWORD}`],
  'tar by 7-Zip': ['-ttar'],
};

/** Everything that can be bent, by name. */
export async function seeds(): Promise<Map<string, Buffer>> {
  const filling = { name: 'filling.bin', content: noise(3000) };
  const eicar = { name: 'eicar.com', content: EICAR };
  const all = new Map<string, Buffer>();
  for (const sample of SAMPLES) {
    const bytes = wrapped(sample, { bytes: EICAR, name: eicar.name, kind: 'line' });
    if (bytes !== undefined && sample.name !== BY_ENDING) all.set(sample.name, bytes);
  }
  // The others are found by the carving of the rules, or are large.
  const archives = [...PACKED_ARCHIVES].filter(([name, { length }]) => length < LARGE_BYTES && !CARVED.test(name));
  for (const [name, bytes] of [...PACKED_EICAR, ...archives]) all.set(name, bytes);
  const files = { 'filling.bin': filling.content, 'words.txt': Buffer.from('many words, '.repeat(300)), 'eicar.com': EICAR };
  for (const [name, switches] of Object.entries(BY_7_ZIP)) all.set(name, await packWith7Zip(files, switches));
  const inner = await tar([filling, eicar]);
  for (const type of ['xz', 'bzip2', 'gzip'])
    all.set(`tar.${type} by 7-Zip`, await packWith7Zip({ 'files.tar': inner }, [`-t${type}`]));
  const macro = `Attribute VB_Name = "ThisDocument"\r\n' ${EICAR.toString('latin1')}\r\n`;
  const module = { name: 'ThisDocument', content: Buffer.concat([noise(200), vbaCompressed(macro)]) };
  all.set('ole with a macro', ole([filling, module], { mini: true }));
  all.set('docm', docx('vbaProject.bin', ole([module])));
  all.set('SQLite', database());
  return all;
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

/** Numbers behind a mark: in turn the place and the width of each. */
const BINARY: readonly { mark: Buffer; fields: readonly number[]; writing?: Writing }[] = [
  { mark: latin('PK\x03\x04'), fields: [4, 2, 6, 2, 8, 2, 14, 4, 18, 4, 22, 4, 26, 2, 28, 2] },
  { mark: latin('PK\x01\x02'), fields: [4, 2, 8, 2, 10, 2, 16, 4, 20, 4, 24, 4, 28, 2, 30, 2, 32, 2, 42, 4] },
  { mark: latin('PK\x05\x06'), fields: [4, 2, 8, 2, 10, 2, 12, 4, 16, 4, 20, 2] },
  { mark: latin('PK\x06\x06'), fields: [4, 8, 24, 8, 32, 8, 40, 8, 48, 8] },
  { mark: latin('PK\x06\x07'), fields: [8, 8] },
  {
    mark: hex('d0cf11e0a1b11ae1'),
    fields: [24, 2, 26, 2, 30, 2, 32, 2, 44, 4, 48, 4, 56, 4, 60, 4, 64, 4, 68, 4, 72, 4, 76, 4, 80, 4],
  },
  { mark: hex('1f8b08'), fields: [3, 1, 4, 4, 10, 2] },
  { mark: hex('fd377a585a00'), fields: [6, 2, 12, 1, 13, 1, 14, 2, 16, 2] },
  { mark: hex('377abcaf271c'), fields: [6, 2, 12, 8, 20, 8, 28, 4] },
  { mark: hex('28b52ffd'), fields: [4, 1, 5, 1, 5, 2, 6, 4, 7, 2] },
  { mark: latin('BZh'), fields: [3, 1, 10, 4, 14, 1, 15, 2], writing: 'be' },
  { mark: latin('MSCF'), fields: [8, 4, 16, 4, 24, 2, 26, 2, 28, 2, 30, 2, 36, 4, 40, 2, 42, 2, 44, 4, 48, 4] },
  {
    mark: latin('MSWIM'),
    fields: [8, 4, 12, 4, 16, 4, 20, 4, 40, 2, 42, 2, 44, 4, 48, 8, 56, 8, 64, 8, 72, 8, 80, 8, 88, 8, 96, 8, 104, 8, 120, 4],
  },
  { mark: hex('5d0000'), fields: [0, 1, 1, 4, 5, 8] },
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
      for (let index = 0; index < relative.length; index += 2) {
        const [at = 0, width = 0] = relative.slice(index);
        if (place + at + width <= bytes.length) fields.push({ at: place + at, width, writing });
      }
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
