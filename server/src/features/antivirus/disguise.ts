import { MEDIA_TYPE_WORDS } from '@palisade/contract/media-type';
import { type ScanPhrase, scanPhrase } from '@palisade/contract/scan-phrases';

const OOXML = 'application/vnd.openxmlformats-officedocument';

/** Prefixes of the media types of files with this extension. Extensions that say little are left out. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  pdf: ['application/pdf'],
  jpg: ['image/'],
  jpeg: ['image/'],
  png: ['image/'],
  gif: ['image/'],
  webp: ['image/'],
  bmp: ['image/'],
  heic: ['image/'],
  svg: ['image/', 'application/xml'],
  doc: ['application/x-ole-storage', 'application/rtf', 'text/', OOXML, 'message/', 'application/xml'],
  xls: ['application/x-ole-storage', 'text/', OOXML, 'application/xml'],
  ppt: ['application/x-ole-storage', OOXML],
  docx: [OOXML, 'application/zip', 'application/x-ole-storage'],
  xlsx: [OOXML, 'application/zip', 'application/x-ole-storage'],
  pptx: [OOXML, 'application/zip', 'application/x-ole-storage'],
  rtf: ['application/rtf'],
  txt: ['text/', 'application/xml', 'message/', 'application/mbox'],
  csv: ['text/'],
  mp3: ['audio/'],
  wav: ['audio/'],
  mp4: ['video/'],
  avi: ['video/'],
  mkv: ['video/'],
  zip: ['application/zip', 'application/java-archive', 'application/vnd.'],
};

/** A note if the extension promises another type than the bytes have; undefined if they match, or the type is unknown. A mail or text named as a picture is as suspicious as a program. */
export function disguiseOf(filename: string, media_type: string | null): ScanPhrase | undefined {
  if (media_type === null || MEDIA_TYPE_WORDS[media_type] === undefined) return undefined;
  const ending = /\.([a-z0-9]{1,5})$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const allowed = Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
  if (allowed === undefined || allowed.some((start) => media_type.startsWith(start))) return undefined;
  return scanPhrase('disguise', { ending, media_type });
}
