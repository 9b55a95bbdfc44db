import { crc32, deflateSync } from 'node:zlib';
import { noise } from '#test/files.ts';
import type { Packed, Wrapper } from './wrapper.ts';

// Files that an archive stands behind: pictures, sound, programs and scripts that are whole without it.

function png(): Buffer {
  const chunk = (type: string, body: Buffer) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from('00000001000000010802000000', 'hex')),
    chunk('IDAT', deflateSync(Buffer.from([0, 1, 2, 3]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function bmp(): Buffer {
  const bytes = Buffer.alloc(58);
  bytes.write('BM', 0, 'latin1');
  for (const [at, value] of [
    [2, 58],
    [10, 54],
    [14, 40],
    [18, 1],
    [22, 1],
    [34, 4],
  ] as const)
    bytes.writeUInt32LE(value, at);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

/** A program for Linux (ELF64) of one segment that ends at once. */
function elf(): Buffer {
  const bytes = Buffer.alloc(132);
  Buffer.from('7f454c4602010100', 'hex').copy(bytes);
  bytes.writeUInt16LE(2, 16);
  bytes.writeUInt16LE(62, 18);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(0x400078n, 24);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(64, 52);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt32LE(1, 64);
  bytes.writeUInt32LE(5, 68);
  bytes.writeBigUInt64LE(0x400000n, 80);
  bytes.writeBigUInt64LE(0x400000n, 88);
  bytes.writeBigUInt64LE(132n, 96);
  bytes.writeBigUInt64LE(132n, 104);
  bytes.writeBigUInt64LE(0x1000n, 112);
  Buffer.from('b83c00000031ff0f05', 'hex').copy(bytes, 120);
  return bytes;
}

/** A program for Windows (PE32) of one section. */
function pe(): Buffer {
  const bytes = Buffer.alloc(1024);
  bytes.write('MZ', 0, 'latin1');
  bytes.writeUInt32LE(64, 60);
  bytes.write('PE\0\0', 64, 'latin1');
  bytes.writeUInt16LE(0x14c, 68);
  bytes.writeUInt16LE(1, 70);
  bytes.writeUInt16LE(224, 84);
  bytes.writeUInt16LE(0x102, 86);
  bytes.writeUInt16LE(0x10b, 88);
  for (const [at, value] of [
    [104, 0x1000],
    [116, 0x400000],
    [120, 0x1000],
    [124, 0x200],
    [144, 0x2000],
    [148, 0x200],
    [180, 16],
  ] as const)
    bytes.writeUInt32LE(value, at);
  bytes.writeUInt16LE(3, 156);
  const section = 64 + 24 + 224;
  bytes.write('.text', section, 'latin1');
  for (const [at, value] of [
    [8, 16],
    [12, 0x1000],
    [16, 0x200],
    [20, 0x200],
    [36, 0x60000020],
  ] as const)
    bytes.writeUInt32LE(value, section + at);
  bytes[512] = 0xc3;
  return bytes;
}

/** A tag and three frames of silence. */
function mp3(): Buffer {
  const frame = Buffer.concat([Buffer.from('fffb9000', 'hex')], 417);
  return Buffer.concat([Buffer.from('49443303000000000000', 'hex'), frame, frame, frame]);
}

function wav(): Buffer {
  const bytes = Buffer.alloc(44 + 200);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE(8000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(200, 40);
  return bytes;
}

const JPEG = Buffer.from(
  'ffd8ffdb004300030202020202030202020303030304060404040404080606050609080a0a090809090a0c0f0c0a0b0e0b09090d110d0e0f101011100a0c12131210130f101010ffc9000b080001000101011100ffcc000600101005ffda0008010100003f00d2cf20ffd9',
  'hex',
);
const GIF = Buffer.from('47494638396101000100800000000000ffffff2c00000000010001000002024401003b', 'hex');
const WEBP = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex');

const LEAVES: readonly [string, string, () => Buffer][] = [
  ['a PNG', 'png', png],
  ['a JPEG', 'jpg', () => JPEG],
  ['a GIF', 'gif', () => GIF],
  ['a BMP', 'bmp', bmp],
  ['a WebP', 'webp', () => WEBP],
  ['a WAV', 'wav', wav],
  ['an MP3', 'mp3', mp3],
  ['an ELF program', 'bin', elf],
  ['a PE program', 'exe', pe],
];

const ARCHIVE = ['archive'] as const;

function behind(name: string, ending: string, head: (inner: Packed) => Buffer): Wrapper {
  return {
    name: `behind ${name}`,
    takes: ARCHIVE,
    makes: 'file',
    ending,
    wrap: (inner) => Buffer.concat([head(inner), inner.bytes]),
  };
}

/** A script that unpacks the bytes behind its own lines, as makeself writes them. */
const script = (unpack: string) => () => {
  const lines = ['#!/bin/sh', '# unpacks itself', `tail -n +5 "$0" | ${unpack}`, 'exit 0', ''];
  return Buffer.from(lines.join('\n'));
};

const carriers: readonly Wrapper[] = [
  ...LEAVES.map(([name, ending, make]) => behind(name, ending, make)),
  ...LEAVES.slice(0, 4).map(
    ([name, ending, make]): Wrapper => ({
      name: `between ${name} and noise`,
      takes: ARCHIVE,
      makes: 'file',
      ending,
      wrap: (inner, { chance }) => Buffer.concat([make(), inner.bytes, noise(900, chance.next() | 1)]),
    }),
  ),
  {
    name: 'in a JPEG comment',
    takes: ARCHIVE,
    makes: 'file',
    ending: 'jpg',
    wrap: ({ bytes }) => {
      const head = Buffer.from([0xff, 0xfe, 0, 0]);
      const piece = bytes.subarray(0, 65_000);
      head.writeUInt16BE(piece.length + 2, 2);
      return Buffer.concat([JPEG.subarray(0, 2), head, piece, JPEG.subarray(2)]);
    },
  },
  behind('a shell script (gzip)', 'sh', script('gunzip > file')),
  behind('a shell script (tar)', 'run', script('tar xzf -')),
  behind('zeros', 'bin', () => Buffer.alloc(5000)),
  behind('text', 'bin', () => Buffer.from('A few lines\nof text, and then\n')),
  {
    name: 'behind noise',
    takes: ARCHIVE,
    makes: 'file',
    ending: 'bin',
    wrap: (inner, { chance }) => Buffer.concat([noise(1500, chance.next() | 1), inner.bytes]),
  },
  {
    name: 'before noise',
    takes: ARCHIVE,
    makes: 'file',
    ending: 'bin',
    wrap: (inner, { chance }) => Buffer.concat([inner.bytes, noise(1500, chance.next() | 1)]),
  },
];

/** Noise beside an opened container is a rest that no reader can claim: it is pending by its rule. */
export const CARRIERS: readonly Wrapper[] = carriers.map((wrapper) =>
  wrapper.name.includes('noise') ? { ...wrapper, flawed: true } : wrapper,
);
