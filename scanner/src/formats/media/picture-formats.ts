import { type Format, format, hexMark, mark } from '#scanner/formats/format.ts';
import { sizedAt, u32 } from '#scanner/formats/leaf-walk.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import {
  enhancedMembers,
  gifMembers,
  iconMembers,
  jpegMembers,
  metafileMembers,
  pngMembers,
  tiffMembers,
} from './leaf-members.ts';
import { walkBitmap, walkGif, walkIcon, walkJpeg, walkPhotoshop, walkPng, walkTiff } from './leaf-pictures.ts';

// Image formats: where files end, and the additional data that they contain.

/** Maximum header size of a bitmap (BITMAPV5HEADER). Bytes. */
const BITMAP_HEADER_BYTES_MAXIMUM = 124;

function mediaTypeOfBitmap(head: Buffer): string | undefined {
  const is_one = head.length >= 26 && head.readUInt32LE(6) === 0 && head.readUInt32LE(14) <= BITMAP_HEADER_BYTES_MAXIMUM;
  return is_one ? 'image/bmp' : undefined;
}

/** The end of a GIF file of version 87a or 89a; undefined for others. */
const walkKnownGif = (reader: Reader, head: Buffer) =>
  /^GIF8[79]a/.test(head.toString('latin1', 0, 6)) ? walkGif(reader, head) : undefined;

export const pictures: readonly Format[] = [
  format({
    id: 'png',
    media_type: 'image/png',
    leaf: { marks: [hexMark('89504e470d0a1a0a')], walk: walkPng, members: pngMembers },
    limits: null,
  }),
  format({ id: 'mng', leaf: { marks: [hexMark('8a4d4e470d0a1a0a')], walk: walkPng }, limits: null }),
  format({ id: 'jng', leaf: { marks: [hexMark('8b4a4e470d0a1a0a')], walk: walkPng }, limits: null }),
  format({
    id: 'jpeg',
    media_type: 'image/jpeg',
    leaf: { marks: [hexMark('ffd8ff')], walk: walkJpeg, members: jpegMembers },
    limits: null,
  }),
  format({
    id: 'gif',
    media_type: 'image/gif',
    leaf: { marks: [mark('GIF8')], walk: walkKnownGif, members: gifMembers },
    limits: null,
  }),
  format({ id: 'djvu', leaf: { marks: [mark('AT&TFORM')], walk: sizedAt(8, false, 12) }, limits: null }),
  format({ id: 'icns', leaf: { marks: [mark('icns')], walk: sizedAt(4, false) }, limits: null }),
  format({ id: 'bmp', media_type: mediaTypeOfBitmap, leaf: { marks: [mark('BM')], walk: walkBitmap }, limits: null }),
  format({ id: 'emf', leaf: { marks: [mark(' EMF', 40)], walk: sizedAt(48, true), members: enhancedMembers }, limits: null }),
  format({
    id: 'wmf',
    // MS-WMF 2.3.2: a header of 22 bytes, and a size in 16-bit words.
    leaf: { marks: [hexMark('d7cdc69a')], walk: (_reader, head) => 22 + 2 * u32(head, 28, true), members: metafileMembers },
    limits: null,
  }),
  format({
    id: 'tiff',
    media_type: 'image/tiff',
    leaf: { marks: [hexMark('49492a00'), hexMark('4d4d002a')], walk: walkTiff, members: tiffMembers },
    limits: null,
  }),
  format({ id: 'psd', leaf: { marks: [mark('8BPS')], walk: walkPhotoshop }, limits: null }),
];

/** Their magics are short, so other formats take precedence. */
export const icons: readonly Format[] = [
  format({ id: 'icon', leaf: { marks: [hexMark('00000100')], walk: walkIcon, members: iconMembers }, limits: null }),
  format({ id: 'cursor', leaf: { marks: [hexMark('00000200')], walk: walkIcon }, limits: null }),
];
