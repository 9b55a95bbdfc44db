/** The size of a picture as its header claims it. */
export interface PictureSize {
  format: 'png' | 'jpeg' | 'gif' | 'bmp' | 'webp' | 'heic' | 'avif' | 'tiff';
  /** Pixels; 0 where the header is damaged. */
  width: number;
  height: number;
}

/** More pixels are not decoded: each takes four bytes and more. 40 million are a photograph of a good telephone. */
const PIXELS_MAXIMUM = 40_000_000;
const SIDE_MAXIMUM = 16_384;

const ascii = (bytes: Uint8Array, from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));

/** The frame header of a JPEG: markers are walked by their lengths (ITU T.81, annex B). At most 1,000 of them. */
function jpegSize(view: DataView): PictureSize {
  for (let at = 2, markers = 0; at + 9 < view.byteLength && markers < 1_000; markers += 1) {
    if (view.getUint8(at) !== 0xff) {
      at += 1;
      continue;
    }
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { format: 'jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
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

/** Reads the format and size of a picture; undefined for bytes that are no picture. It decodes no pixels. */
export function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  if (bytes.length < 12) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) === 0x89504e47)
    return bytes.length < 24
      ? { format: 'png', width: 0, height: 0 }
      : { format: 'png', width: view.getUint32(16), height: view.getUint32(20) };
  if (view.getUint16(0) === 0xffd8) return jpegSize(view);
  if (ascii(bytes, 0, 4) === 'GIF8') return { format: 'gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
  if (ascii(bytes, 0, 2) === 'BM' && bytes.length >= 26)
    return { format: 'bmp', width: Math.abs(view.getInt32(18, true)), height: Math.abs(view.getInt32(22, true)) };
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return webpSize(bytes, view);
  if (ascii(bytes, 4, 8) === 'ftyp') {
    const brand = ascii(bytes, 8, 12);
    if (/^(?:heic|heix|hevc|mif1|msf1|heim|heis)$/u.test(brand)) return { format: 'heic', width: 1, height: 1 };
    if (/^avi[fs]$/u.test(brand)) return { format: 'avif', width: 1, height: 1 };
  }
  if (view.getUint32(0) === 0x49492a00 || view.getUint32(0) === 0x4d4d002a) return { format: 'tiff', width: 1, height: 1 };
  return undefined;
}

/** Why a picture is not decoded, by its header; undefined where it may be. */
export function checkPictureSize(picture: Uint8Array): 'picture_format' | 'picture_broken' | 'too_large' | undefined {
  const size = pictureSize(picture);
  if (size === undefined) return 'picture_format';
  if (size.width === 0 || size.height === 0) return 'picture_broken';
  return size.width > SIDE_MAXIMUM || size.height > SIDE_MAXIMUM || size.width * size.height > PIXELS_MAXIMUM
    ? 'too_large'
    : undefined;
}
