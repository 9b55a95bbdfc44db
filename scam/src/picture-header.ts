import { LIMITS } from './limits.ts';

/** The size of a picture according to its header. */
export interface PictureSize {
  format: 'png' | 'jpeg' | 'gif' | 'bmp' | 'webp' | 'heic' | 'avif' | 'tiff';
  /** In pixels; 0 if the header is damaged. */
  width: number;
  height: number;
  /** Bytes per pixel that the decoder needs in addition to its result. The default is four. */
  held_bytes?: number;
}

/** Bytes per pixel of the GIF decoder: two frames, and their differences. */
const GIF_HELD = 9;
/** Bytes per pixel for WebP: four each for the decoder, its result, and the code reader. */
const WEBP_HELD = 12;
/** Number of channels by PNG color type (ISO/IEC 15948, table 11.1). */
const PNG_CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

const ascii = (bytes: Uint8Array, from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));

/** Reads the size of a PNG. The decoder holds the decompressed and the unfiltered data at the same time; a palette becomes four channels. */
function pngSize(view: DataView): PictureSize {
  if (view.byteLength < 26) return { format: 'png', width: 0, height: 0 };
  const [depth, type] = [view.getUint8(24), view.getUint8(25)];
  const row = ((PNG_CHANNELS[type] ?? 4) * depth) / 8;
  const held_bytes = type === 3 ? row + 5 : 2 * row;
  return { format: 'png', width: view.getUint32(16), height: view.getUint32(20), held_bytes };
}

/**
 * Bytes per pixel for the planes of a JPEG, by the sampling factors of its components (ITU T.81, B.2.2). A progressive JPEG (SOF2) needs another two bytes per
 * sample.
 */
function jpegHeld(view: DataView, at: number, isProgressive: boolean): number {
  const components = Math.min(4, view.getUint8(at + 9));
  const samples: number[] = [];
  for (let next = at + 10; samples.length < components && next + 2 < view.byteLength; next += 3)
    samples.push((view.getUint8(next + 1) >> 4) * (view.getUint8(next + 1) & 15));
  const planes = samples.reduce((sum, one) => sum + one, 0) / Math.max(1, ...samples);
  return planes * (isProgressive ? 3 : 1) + 1;
}

/** Reads the frame header of a JPEG. It skips at most 1,000 markers by their lengths (ITU T.81, annex B). */
function jpegSize(view: DataView): PictureSize {
  for (let at = 2, markers = 0; at + 9 < view.byteLength && markers < 1_000; markers += 1) {
    if (view.getUint8(at) !== 0xff) {
      at += 1;
      continue;
    }
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return {
        format: 'jpeg',
        height: view.getUint16(at + 5),
        width: view.getUint16(at + 7),
        held_bytes: jpegHeld(view, at, marker === 0xc2),
      };
    if (marker === 0xff) at += 1;
    else at += marker >= 0xd0 && marker <= 0xd9 ? 2 : 2 + view.getUint16(at + 2);
  }
  return { format: 'jpeg', width: 0, height: 0 };
}

function webpSize(bytes: Uint8Array, view: DataView): PictureSize {
  const kind = ascii(bytes, 12, 16);
  if (bytes.length < 30) return { format: 'webp', width: 0, height: 0 };
  if (kind === 'VP8X') {
    const three = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
    return { format: 'webp', width: three(24), height: three(27) };
  }
  if (kind === 'VP8L') {
    const bits = view.getUint32(21, true);
    return { format: 'webp', width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  return { format: 'webp', width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

/** Reads the format and size of a picture from its header; undefined for other bytes. */
export function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  if (bytes.length < 12) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) === 0x89504e47) return pngSize(view);
  if (view.getUint16(0) === 0xffd8) return jpegSize(view);
  if (ascii(bytes, 0, 4) === 'GIF8')
    return { format: 'gif', width: view.getUint16(6, true), height: view.getUint16(8, true), held_bytes: GIF_HELD };
  if (ascii(bytes, 0, 2) === 'BM' && bytes.length >= 26)
    return { format: 'bmp', width: Math.abs(view.getInt32(18, true)), height: Math.abs(view.getInt32(22, true)) };
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return { ...webpSize(bytes, view), held_bytes: WEBP_HELD };
  if (ascii(bytes, 4, 8) === 'ftyp') {
    const brand = ascii(bytes, 8, 12);
    if (/^(?:heic|heix|hevc|mif1|msf1|heim|heis)$/u.test(brand)) return { format: 'heic', width: 1, height: 1 };
    if (/^avi[fs]$/u.test(brand)) return { format: 'avif', width: 1, height: 1 };
  }
  if (view.getUint32(0) === 0x49492a00 || view.getUint32(0) === 0x4d4d002a) return { format: 'tiff', width: 1, height: 1 };
  return undefined;
}

/** Returns the reason why a picture must not be decoded, by its header; undefined if it may be decoded. */
export function checkPictureSize(
  picture: Uint8Array,
  purpose: 'codes' | 'text' = 'codes',
): 'picture_format' | 'picture_broken' | 'too_large' | undefined {
  const size = pictureSize(picture);
  if (size === undefined) return 'picture_format';
  const { width, height, held_bytes = 4 } = size;
  if (width === 0 || height === 0) return 'picture_broken';
  const pixels = width * height;
  if (Math.max(width, height) > LIMITS.picture_side || pixels * held_bytes > LIMITS.picture_bytes) return 'too_large';
  return pixels > (purpose === 'text' ? LIMITS.picture_text_pixels : LIMITS.picture_pixels) ? 'too_large' : undefined;
}
