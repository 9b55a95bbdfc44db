import { crc32, deflateSync } from 'node:zlib';
import type { Chance } from '#test/chance.ts';
import { noise } from '#test/files.ts';
import { big, flawedOf, hex, latin, little, made, record, type Sample } from './sample.ts';

// Files that an archive stands behind: pictures, sound, programs and scripts that are whole without it.

const chunk = (type: string, body: Buffer) => {
  const named = Buffer.concat([latin(type), body]);
  return Buffer.concat([big(body.length), named, big(crc32(named))]);
};

/** A PNG of one point, with another chunk before its end. */
export const pngWith = (type: string, body: Buffer) => pngOf(chunk(type, body));

const pngOf = (...more: readonly Buffer[]) =>
  Buffer.concat([
    hex('89504e470d0a1a0a'),
    chunk('IHDR', hex('00000001000000010802000000')),
    chunk('IDAT', deflateSync(Buffer.from([0, 1, 2, 3]))),
    ...more,
    chunk('IEND', Buffer.alloc(0)),
  ]);

const bmp = () =>
  Buffer.concat([
    latin('BM'),
    record(56, [
      [0, 58],
      [8, 54],
      [12, 40],
      [16, 1],
      [20, 1],
      [24, 1, 2],
      [26, 24, 2],
      [32, 4],
    ]),
  ]);

/** A program for Linux (ELF64) of one segment that ends at once. */
const elf = () =>
  Buffer.concat([
    hex('7f454c46020101000000000000000000'),
    record(104, [
      [0, 2, 2],
      [2, 62, 2],
      [4, 1],
      [8, 0x400078],
      [16, 64],
      [36, 64, 2],
      [38, 56, 2],
      [40, 1, 2],
      [48, 1],
      [52, 5],
      [64, 0x400000],
      [72, 0x400000],
      [80, 132],
      [88, 132],
      [96, 0x1000],
    ]),
    hex('b83c00000031ff0f05000000'),
  ]);

/** A program for Windows (PE32) of one section. */
function pe(): Buffer {
  const section = 64 + 24 + 224;
  const bytes = record(1024, [
    [60, 64],
    [68, 0x14c, 2],
    [70, 1, 2],
    [84, 224, 2],
    [86, 0x102, 2],
    [88, 0x10b, 2],
    [104, 0x1000],
    [116, 0x400000],
    [120, 0x1000],
    [124, 0x200],
    [144, 0x2000],
    [148, 0x200],
    [156, 3, 2],
    [180, 16],
    [section + 8, 16],
    [section + 12, 0x1000],
    [section + 16, 0x200],
    [section + 20, 0x200],
    [section + 36, 0x60000020],
    [512, 0xc3],
  ]);
  bytes.write('MZ', 0, 'latin1');
  bytes.write('PE', 64, 'latin1');
  bytes.write('.text', section, 'latin1');
  return bytes;
}

/** A tag and three frames of silence. */
function mp3(): Buffer {
  const frame = Buffer.concat([Buffer.from('fffb9000', 'hex')], 417);
  return Buffer.concat([Buffer.from('49443303000000000000', 'hex'), frame, frame, frame]);
}

const wav = () => {
  const format = record(24, [
    [0, 16],
    [4, 1, 2],
    [6, 1, 2],
    [8, 8000],
    [12, 8000],
    [16, 1, 2],
    [18, 8, 2],
  ]);
  format.write('data', 20, 'latin1');
  return Buffer.concat([latin('RIFF'), little(236), latin('WAVEfmt '), format, little(200), Buffer.alloc(200)]);
};

const JPEG = Buffer.from(
  'ffd8ffdb004300030202020202030202020303030304060404040404080606050609080a0a090809090a0c0f0c0a0b0e0b09090d110d0e0f101011100a0c12131210130f101010ffc9000b080001000101011100ffcc000600101005ffda0008010100003f00d2cf20ffd9',
  'hex',
);
const GIF = Buffer.from('47494638396101000100800000000000ffffff2c00000000010001000002024401003b', 'hex');
const WEBP = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex');

const LEAVES: readonly [string, string, () => Buffer][] = [
  ['a PNG', 'png', () => pngOf()],
  ['a JPEG', 'jpg', () => JPEG],
  ['a GIF', 'gif', () => GIF],
  ['a BMP', 'bmp', bmp],
  ['a WebP', 'webp', () => WEBP],
  ['a WAV', 'wav', wav],
  ['an MP3', 'mp3', mp3],
  ['an ELF program', 'bin', elf],
  ['a PE program', 'exe', pe],
];

const ARCHIVE = { takes: ['archive'] } as const;

const behind = (name: string, ending: string, head: (chance: Chance) => Buffer): Sample =>
  made(`behind ${name}`, ending, ({ bytes }, chance) => Buffer.concat([head(chance), bytes]), ARCHIVE);

/** A script that unpacks the bytes behind its own lines, as makeself writes them. */
const script = (unpack: string) => () =>
  Buffer.from(['#!/bin/sh', '# unpacks itself', `tail -n +5 "$0" | ${unpack}`, 'exit 0', ''].join('\n'));

const someNoise = (chance: Chance, bytes: number) => noise(bytes, chance.next() | 1);

/** Noise beside an opened container is a rest that no reader can claim: it is pending by its rule. */
export const CARRIERS: readonly Sample[] = flawedOf(
  [
    ...LEAVES.map(([name, ending, make]) => behind(name, ending, make)),
    ...LEAVES.slice(0, 4).map(([name, ending, make]) =>
      made(
        `between ${name} and noise`,
        ending,
        ({ bytes }, chance) => Buffer.concat([make(), bytes, someNoise(chance, 900)]),
        ARCHIVE,
      ),
    ),
    made(
      'in a JPEG comment',
      'jpg',
      ({ bytes }) => {
        const piece = bytes.subarray(0, 65_000);
        return Buffer.concat([JPEG.subarray(0, 2), hex('fffe'), big(piece.length + 2, 2), piece, JPEG.subarray(2)]);
      },
      ARCHIVE,
    ),
    behind('a shell script (gzip)', 'sh', script('gunzip > file')),
    behind('a shell script (tar)', 'run', script('tar xzf -')),
    behind('zeros', 'bin', () => Buffer.alloc(5000)),
    behind('text', 'bin', () => Buffer.from('A few lines\nof text, and then\n')),
    behind('noise', 'bin', (chance) => someNoise(chance, 1500)),
    made('before noise', 'bin', ({ bytes }, chance) => Buffer.concat([bytes, someNoise(chance, 1500)]), ARCHIVE),
  ],
  /noise/,
);
