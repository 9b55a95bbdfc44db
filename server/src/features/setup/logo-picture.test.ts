import { crc32, deflateSync } from 'node:zlib';
import { LOGO_STORED } from '@palisade/contract/setup';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { readLogo } from './logo-picture.ts';

type Rgba = [number, number, number, number];

function picture(width: number, height: number, color: (x: number, y: number) => Rgba): Buffer {
  const png = new PNG({ width, height });
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) png.data.set(color(x, y), (y * width + x) * 4);
  return PNG.sync.write(png);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function header(width: number, height: number, { type = 6, interlace = 0 } = {}): Buffer {
  const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, type, 0, 0, interlace]);
  data.writeUInt32BE(width);
  data.writeUInt32BE(height, 4);
  return Buffer.concat([SIGNATURE, chunk('IHDR', data)]);
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const END = chunk('IEND', Buffer.alloc(0));
const AFTER_HEADER = 33;
const TEAL: Rgba = [11, 122, 107, 255];
const small = picture(30, 20, () => TEAL);
const withChunk = (name: string, data: string) =>
  Buffer.concat([small.subarray(0, AFTER_HEADER), chunk(name, Buffer.from(data, 'latin1')), small.subarray(AFTER_HEADER)]);
const bomb = (interlace: number) =>
  Buffer.concat([header(8, 8, { interlace }), chunk('IDAT', deflateSync(Buffer.alloc(64 * 1024 * 1024))), END]);

test.each([
  ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), { fault: 'not_png' }],
  ['an empty file', Buffer.alloc(0), { fault: 'not_png' }],
  ['a page with the name of a PNG', Buffer.from('<svg onload="alert(1)">'), { fault: 'not_png' }],
  ['more bytes than a logo may have', Buffer.concat([small, Buffer.alloc(512 * 1024)]), { fault: 'too_many_bytes' }],
  ['65,535 pixels a side, by the header', Buffer.concat([header(65_535, 65_535, { type: 3 }), END]), { fault: 'too_wide' }],
  ['4 billion pixels a side', Buffer.concat([header(0xffffffff, 1), END]), { fault: 'too_wide' }],
  ['no pixels', Buffer.concat([header(0, 8), END]), { fault: 'damaged' }],
  ['an animation', withChunk('acTL', '\0\0\0\u0002\0\0\0\0'), { fault: 'animated' }],
  ['half of a file', small.subarray(0, small.length / 2), { fault: 'damaged' }],
  ['a file without its end', small.subarray(0, small.length - 12), { fault: 'damaged' }],
  ['a wrong checksum', Buffer.concat([small.subarray(0, 60), Buffer.from([0xff]), small.subarray(61)]), { fault: 'damaged' }],
  ['a chunk of 4 GB', Buffer.concat([header(8, 8), Buffer.from('ffffffff49444154', 'hex')]), { fault: 'damaged' }],
  [
    'a palette without colors',
    Buffer.concat([header(8, 8, { type: 3 }), chunk('IDAT', deflateSync(Buffer.alloc(72))), END]),
    { fault: 'damaged' },
  ],
  ['data that unpack to 64 MB', bomb(0), { fault: 'damaged' }],
  ['the same in interlaced passes', bomb(1), { fault: 'damaged' }],
  ['a picture without a visible pixel', picture(8, 8, () => [9, 9, 9, 0]), { fault: 'blank' }],
])('refuses %s', (_, file, fault) => {
  expect(readLogo(file)).toMatchObject(fault);
});

test('a logo keeps its pixels and nothing else', () => {
  const read = readLogo(Buffer.concat([withChunk('tEXt', 'Comment\0<script>'), Buffer.from('<script>')]));
  if ('fault' in read) throw new Error(read.fault);
  const png = Buffer.from(read.png);
  expect(png.includes('script')).toBe(false);
  expect(PNG.sync.read(png).data.equals(PNG.sync.read(small).data)).toBe(true);
});

test('a large logo is scaled down within the stored size, and transparent pixels lend no color', () => {
  const read = readLogo(picture(2_048, 512, (x) => (x % 2 === 0 ? [255, 0, 0, 0] : TEAL)));
  if ('fault' in read) throw new Error(read.fault);
  expect([read.width, read.height]).toEqual([384, LOGO_STORED.height]);
  const [red, green, blue] = PNG.sync.read(Buffer.from(read.png)).data;
  expect([red, green, blue]).toEqual(TEAL.slice(0, 3));
});

test('a noisy logo of the stored size fits where it is stored', () => {
  const { width, height, characters } = LOGO_STORED;
  const noise = (x: number, y: number) => (x * 7_919 + y * 104_729 + x * y * 31) % 256;
  const read = readLogo(picture(width, height, (x, y) => [noise(x, y), noise(y, x), noise(x + y, x), 255 - noise(x, x + y)]));
  if ('fault' in read) throw new Error(read.fault);
  expect(Buffer.from(read.png).toString('base64').length).toBeLessThan(characters);
});

test.each([
  ['white letters on nothing', [255, 255, 255, 255], 'dark'],
  ['dark letters on nothing', [10, 16, 28, 255], 'light'],
  ['teal letters on nothing', TEAL, 'any'],
] as const)('%s can be seen on: %s', (_, color, on) => {
  expect(readLogo(picture(40, 20, (x) => (x < 20 ? [...color] : [0, 0, 0, 0])))).toMatchObject({ on });
  expect(readLogo(picture(40, 20, () => [...color]))).toMatchObject({ on: 'any' });
});
