import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Medical images (DICOM PS3.10, 7.1; PS3.5, 7): an arbitrary 128-byte preamble, a magic, and elements with values. A value may be a whole document.

const MARK = Buffer.from('DICM');
const MARK_AT = 128;
const TAG = { item: 0xfffee000, item_end: 0xfffee00d, sequence_end: 0xfffee0dd, transfer_syntax: 0x00020010 } as const;
const SYNTAX = { implicit: '1.2.840.10008.1.2', big: '1.2.840.10008.1.2.2', deflated: '1.2.840.10008.1.2.1.99' } as const;
/** Value representations with a four-byte length after two reserved bytes (PS3.5, table 7.1-1). */
const LONG_KINDS: ReadonlySet<string> = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'SV', 'UC', 'UN', 'UR', 'UT', 'UV']);
const UNKNOWN_LENGTH = 0xffffffff;
const UID_BYTES_MAXIMUM = 64;

export function isDicom(head: Buffer): boolean {
  return head.subarray(MARK_AT, MARK_AT + MARK.length).equals(MARK);
}

interface Element {
  tag: number;
  kind: string;
  start: number;
  length: number;
}

function elementAt(reader: Reader, at: number, { is_big, is_implicit }: { is_big: boolean; is_implicit: boolean }): Element {
  const head = reader.at(at, 12);
  if (head.length < 8) throw new Unreadable('damaged');
  const word = (from: number) => (is_big ? head.readUInt16BE(from) : head.readUInt16LE(from));
  const long = (from: number) => (is_big ? head.readUInt32BE(from) : head.readUInt32LE(from));
  const tag = word(0) * 0x10000 + word(2);
  const kind = head.toString('latin1', 4, 6);
  // Items and their delimiters have no value representation.
  if (is_implicit || Math.floor(tag / 0x10000) === 0xfffe) return { tag, kind: '', start: at + 8, length: long(4) };
  if (!LONG_KINDS.has(kind)) return { tag, kind, start: at + 8, length: word(6) };
  if (head.length < 12) throw new Unreadable('damaged');
  return { tag, kind, start: at + 12, length: long(8) };
}

/** The values of all elements, including nested ones. @throws Unreadable if a value extends past the file or the data set is deflated. */
export function* dicomMembers(
  reader: Reader,
  known: (start: number, end: number) => void,
): Generator<{ name: string; start: number; end: number }> {
  let at = MARK_AT + MARK.length;
  let form = { is_big: false, is_implicit: false };
  let syntax = '';
  let is_packed_picture = false;
  // The preamble may contain anything; viewers ignore it.
  yield { name: 'preamble', start: 0, end: MARK_AT };
  while (at + 8 <= reader.size) {
    // The first group always has explicit little-endian form, and declares the form of the others.
    const group = reader.at(at, 2).readUInt16LE(0);
    const is_own = group === 2;
    if (!is_own && syntax === SYNTAX.deflated) throw new Unreadable('unsupported');
    if (!is_own) form = { is_big: syntax === SYNTAX.big, is_implicit: syntax === SYNTAX.implicit };
    const { tag, kind, start, length } = elementAt(reader, at, is_own ? { is_big: false, is_implicit: false } : form);
    const name = tag.toString(16).padStart(8, '0');
    if (tag === TAG.sequence_end) is_packed_picture = false;
    const is_around = kind === 'SQ' || length === UNKNOWN_LENGTH || (tag === TAG.item && !is_packed_picture);
    if (is_around) {
      // Fragments of a compressed image are items that contain no elements.
      if (length === UNKNOWN_LENGTH && (kind === 'OB' || kind === 'OW')) is_packed_picture = true;
      known(at, start);
      at = start;
      continue;
    }
    if (start + length > reader.size) throw new Unreadable('damaged');
    known(at, start + length);
    if (tag === TAG.transfer_syntax)
      syntax = reader
        .at(start, Math.min(length, UID_BYTES_MAXIMUM))
        .toString('latin1')
        .replace(/[\0 ]+$/, '');
    yield { name: `value ${name}`, start, end: start + length };
    at = start + length;
  }
}
