import { type Format, format, hexMark, mark } from '#scanner/formats/format.ts';
import { walkChunk } from '#scanner/formats/leaf-walk.ts';
import {
  walkAsf,
  walkAu,
  walkAudio,
  walkBoxes,
  walkFlac,
  walkFlv,
  walkMatroska,
  walkMidi,
  walkOgg,
  walkPackets,
} from './leaf-media.ts';
import { boxMembers, chunkMembers, flacMembers, id3Members, matroskaMembers } from './leaf-members.ts';

// Sound and video formats: where files end, and the additional data that they contain.

const TYPES_OF_RIFF: Readonly<Record<string, string>> = { WEBP: 'image/webp', WAVE: 'audio/wav', 'AVI ': 'video/x-msvideo' };

/** The media type of an MPEG-4 file by its brand. HEIC images use the same container. */
function mediaTypeOfBoxes(head: Buffer): string | undefined {
  const brand = head.toString('latin1', 4, 12);
  if (!brand.startsWith('ftyp')) return undefined;
  return brand.startsWith('ftyphei') || brand === 'ftypmif1' ? 'image/heic' : 'video/mp4';
}

export const sounds: readonly Format[] = [
  format({
    id: 'riff',
    media_type: (head) => TYPES_OF_RIFF[head.toString('latin1', 8, 12)],
    leaf: { marks: [mark('RIFF'), mark('RF64')], walk: walkChunk(true), members: (reader) => chunkMembers(reader, true) },
    limits: null,
  }),
  format({
    id: 'iff',
    leaf: { marks: [mark('FORM')], walk: walkChunk(false), members: (reader) => chunkMembers(reader, false) },
    limits: null,
  }),
  format({
    id: 'id3',
    media_type: 'audio/mpeg',
    leaf: { marks: [mark('ID3')], walk: walkAudio, members: id3Members },
    limits: null,
  }),
  format({ id: 'mpeg-audio', leaf: { marks: [hexMark('ff')], walk: walkAudio }, limits: null }),
  format({ id: 'ogg', media_type: 'audio/ogg', leaf: { marks: [mark('OggS')], walk: walkOgg }, limits: null }),
  format({
    id: 'flac',
    media_type: 'audio/flac',
    leaf: { marks: [mark('fLaC')], walk: walkFlac, members: flacMembers },
    limits: null,
  }),
  format({
    id: 'mp4',
    media_type: mediaTypeOfBoxes,
    leaf: { marks: [mark('ftyp', 4)], walk: walkBoxes, members: boxMembers },
    limits: null,
  }),
  format({ id: 'jpeg-2000', leaf: { marks: [mark('jP  \r\n\x87\n', 4)], walk: walkBoxes }, limits: null }),
  format({
    id: 'matroska',
    media_type: 'video/x-matroska',
    leaf: { marks: [hexMark('1a45dfa3')], walk: walkMatroska, members: matroskaMembers },
    limits: null,
  }),
  format({ id: 'midi', leaf: { marks: [mark('MThd')], walk: walkMidi }, limits: null }),
  format({ id: 'asf', leaf: { marks: [hexMark('3026b2758e66cf11')], walk: walkAsf }, limits: null }),
  format({ id: 'au', leaf: { marks: [mark('.snd')], walk: walkAu }, limits: null }),
  format({ id: 'flv', leaf: { marks: [mark('FLV\x01')], walk: walkFlv }, limits: null }),
  format({ id: 'mpeg-ts', leaf: { marks: [mark('G')], walk: walkPackets }, limits: null }),
];
