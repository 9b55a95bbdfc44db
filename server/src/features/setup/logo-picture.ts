import { inflateSync } from 'node:zlib';
import { contrastOf, luminanceOf } from '@palisade/contract/accent';
import { LOGO_BYTES_MAXIMUM, LOGO_SIDE_MAXIMUM, LOGO_STORED } from '@palisade/contract/setup';
import { PNG } from 'pngjs';
import type { ReadLogo } from './logo-reader.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** A chunk's length, type and checksum (PNG, third edition, 5.3). */
const FRAME_BYTES = 12;
/** Maximum bytes of one pixel, more than filters and interlaced rows add. */
const PIXEL_BYTES_MAXIMUM = 8;
const ROW_BYTES_EXTRA = 64;

export interface Pixels {
  width: number;
  height: number;
  /** Red, green, blue and alpha of each pixel. */
  rgba: Uint8Array;
}

/** The type and data of each chunk up to `IEND`, and the end position; undefined for a truncated file. */
function chunksOf(bytes: Buffer): { chunks: { type: string; data: Buffer }[]; end: number } | undefined {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = SIGNATURE.length; at + FRAME_BYTES <= bytes.length; ) {
    const end = at + FRAME_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    const type = bytes.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: bytes.subarray(at + 8, end - 4) });
    if (type === 'IEND') return { chunks, end };
    at = end;
  }
  return undefined;
}

/** Scales by box means of at least a pixel, weighted by alpha, so that transparent pixels add no color. */
export function scale(from: Pixels, width: number, height: number): Pixels {
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    const top = Math.floor((y * from.height) / height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * from.height) / height));
    for (let x = 0; x < width; x += 1) {
      const left = Math.floor((x * from.width) / width);
      const right = Math.max(left + 1, Math.floor(((x + 1) * from.width) / width));
      const sums: [number, number, number, number] = [0, 0, 0, 0];
      for (let row = top; row < bottom; row += 1)
        for (let at = (row * from.width + left) * 4; at < (row * from.width + right) * 4; at += 4) {
          const alpha = from.rgba[at + 3] ?? 0;
          sums[0] += (from.rgba[at] ?? 0) * alpha;
          sums[1] += (from.rgba[at + 1] ?? 0) * alpha;
          sums[2] += (from.rgba[at + 2] ?? 0) * alpha;
          sums[3] += alpha;
        }
      const alphas = Math.max(1, sums[3]);
      const mean = sums[3] / ((bottom - top) * (right - left));
      rgba.set([sums[0] / alphas, sums[1] / alphas, sums[2] / alphas, mean].map(Math.round), (y * width + x) * 4);
    }
  }
  return { width, height, rgba };
}

/** Luminance of white and of dark cards, and the contrast below which a pixel is invisible on them. */
const BACKGROUNDS = { light: 1, dark: 0.01 } as const;
const LOST_BELOW = 1.7;
/** Share of invisible pixels from which a logo needs the other background. */
const LOST_SHARE = 0.25;

/** Undefined for a picture without a visible pixel. */
function backgroundsOf({ rgba }: Pixels): 'light' | 'dark' | 'any' | undefined {
  const lost = { light: 0, dark: 0 };
  let seen = 0;
  let clear = 0;
  for (let at = 0; at < rgba.length; at += 4) {
    const alpha = (rgba[at + 3] ?? 0) / 255;
    const luminance = luminanceOf([(rgba[at] ?? 0) / 255, (rgba[at + 1] ?? 0) / 255, (rgba[at + 2] ?? 0) / 255]);
    seen += alpha;
    clear += 1 - alpha;
    for (const name of ['light', 'dark'] as const) if (contrastOf(luminance, BACKGROUNDS[name]) < LOST_BELOW) lost[name] += alpha;
  }
  if (seen < 1) return undefined;
  // A filled rectangle has its own background.
  if (clear < seen / 50) return 'any';
  const [isLostOnLight, isLostOnDark] = [lost.light > seen * LOST_SHARE, lost.dark > seen * LOST_SHARE];
  if (isLostOnLight === isLostOnDark) return 'any';
  return isLostOnLight ? 'dark' : 'light';
}

/**
 * Reads an untrusted PNG and encodes its pixels anew, so that nothing else of the file remains; scaled down to the displayed size. The size is refused by the header, and
 * data that unpacks to more than its pixels before decoding.
 */
export function readLogo(file: Uint8Array): ReadLogo {
  if (file.length > LOGO_BYTES_MAXIMUM) return { fault: 'too_many_bytes' };
  const bytes = Buffer.from(file);
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return { fault: 'not_png' };
  const { chunks = [], end = 0 } = chunksOf(bytes) ?? {};
  const header = chunks[0];
  if (header?.type !== 'IHDR' || header.data.length !== 13) return { fault: 'damaged' };
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  if (width === 0 || height === 0) return { fault: 'damaged' };
  if (Math.max(width, height) > LOGO_SIDE_MAXIMUM) return { fault: 'too_wide', width, height };
  if (chunks.some(({ type }) => type === 'acTL')) return { fault: 'animated' };
  let pixels: Pixels;
  try {
    const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
    inflateSync(packed, { maxOutputLength: (width * PIXEL_BYTES_MAXIMUM + ROW_BYTES_EXTRA) * (height + ROW_BYTES_EXTRA) });
    pixels = { width, height, rgba: PNG.sync.read(bytes.subarray(0, end)).data };
  } catch {
    return { fault: 'damaged' };
  }
  const factor = Math.min(1, LOGO_STORED.width / width, LOGO_STORED.height / height);
  if (factor < 1) pixels = scale(pixels, Math.max(1, Math.round(width * factor)), Math.max(1, Math.round(height * factor)));
  const on = backgroundsOf(pixels);
  if (on === undefined) return { fault: 'blank' };
  const written = new PNG({ width: pixels.width, height: pixels.height });
  written.data = Buffer.from(pixels.rgba);
  return { png: new Uint8Array(PNG.sync.write(written)), width: pixels.width, height: pixels.height, on };
}
