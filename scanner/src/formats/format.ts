import type { StatusDetail } from '@palisade/contract/antivirus';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { type Content, standsAt } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// The scanner's knowledge of one file format. Each format is defined in one place with these fields, and stands in the list of index.ts: recognition, media types, carving rules, closed formats,
// read-ahead, and the list of unread formats are derived from there.

/** Bytes that recognition is given where the file has as many: one tar block, and the volume descriptor of ISO 9660 lies at 32 KiB. */
export const HEAD_BYTES = 33_000;

/** Bytes that stand at one place of every file of a format. */
export interface Mark {
  at: number;
  bytes: Buffer;
}

/** A mark in Latin-1. */
export const mark = (characters: string, at = 0): Mark => ({ at, bytes: Buffer.from(characters, 'latin1') });
/** A mark in hexadecimal digits. */
export const hexMark = (digits: string, at = 0): Mark => ({ at, bytes: Buffer.from(digits, 'hex') });

/** A result of recognition: the format, and whether the bytes say so little that it is no fault when the format does not open. */
export interface Found {
  format: Format;
  is_guess: boolean;
}

/** A file as a whole, for formats that its first bytes alone do not tell. */
export interface WholeFile {
  reader: Reader;
  head: Buffer;
  name: string;
  /** Its first bytes. */
  first: Found | undefined;
  /** The findings in it so far, in the order of the list. */
  beside: readonly Found[];
  isFile(bytes: Buffer): boolean;
}

/** Finds a format inside other data. */
export interface CarvePattern {
  /** Stable and unique: processes send it to each other. By default the id of the format. */
  id?: string;
  /** The name in notes. By default the id. */
  title?: string;
  /** What YARA-X searches for: a hex string or a regular expression. */
  pattern: string;
  /** Bytes of the container before the pattern. */
  back?: number;
  /** Bits that random bytes must match by chance. Bits; computed from hex patterns, given for regular expressions. */
  bits?: number;
  /**
   * Whether a container begins there as far as its first bytes tell. A proven container that does not open is one that could not be read; an unproven
   * one is ignored.
   */
  proves?: (reader: Reader, at: number) => boolean;
  /** The pattern proves little: a container that does not open there was none. */
  is_guess?: true;
  /** The place is opened as this format, for any first bytes. */
  is_own?: true;
  /** Where the container begins, where that is before the place of the pattern. */
  startOf?: (reader: Reader, at: number) => number;
  /** Where a container ends that begins at a place. Made once for each content, and asked in the order of the places. */
  endsIn?: (reader: Reader) => (at: number) => number | undefined;
  /** The reader reads to the end of its input: a container ends where the next one of the pattern begins. */
  is_endless?: true;
  /** A format that is opened as well, where this one opened. */
  also?: () => Format;
}

/** Other formats that a file of this format also is. Fields that are absent are false. */
interface Traits {
  /** The opened part tells nothing about the rest of the file: the file is examined as if it had not been opened. */
  is_beside?: true;
  /** Carving patterns whose places the reader of a format that is beside has read already. */
  reads_beside?: readonly string[];
  /** A text, too. The contents of all other formats are no texts that a program reads. */
  is_text?: true;
  /** It is recognised by lines that may stand in anything, and its reader decodes encoded parts of them. */
  is_mail?: true;
  /** Two or three bytes make it of anything: in the middle of a file it is one only where it opens. */
  is_weak?: true;
  /** Its bytes may begin something else: it is no fault when it does not open. */
  is_guess?: true;
  /** Members can be read before the earlier ones were examined. */
  reads_ahead?: true;
  /**
   * It holds files as they are and knows its own end: a file in it may also be read on its own (an archive at the end, a PDF near the beginning), so that the claims for that file do not end this one.
   */
  holds_whole_files?: true;
  /** Its one member is named after the file that it came in. */
  is_named_after_file?: true;
  /** The end of the file belongs to it where this is true. No archive is looked for there. */
  owns_end?: (reader: Reader) => boolean;
  /** A disk or a file system: it takes the file from its first byte on, and no other is looked for in a file that begins with it. */
  is_disk?: true;
  /** A disk that may have partitions: none are looked for beside it. */
  holds_partitions?: true;
  /** A program: an author may hide one. */
  is_program?: true;
}

/** The means of a reader: the context of the scan, the name of the file, and what recognition says of other bytes. */
export interface FormatContext extends ReadContext {
  /** Of the file that is opened. */
  name: string;
  is_guess: boolean;
  /** Whether a value is a file of a known format. A format without a mark is tried as well. */
  isFile(bytes: Buffer): boolean;
  /** Whether a container, a disk or a program begins with these bytes. */
  isFileHead(head: Buffer): boolean;
  /** Whether a container or a program begins with these bytes. */
  isContainerHead(head: Buffer): boolean;
}

/** A part of a picture, a sound or a film that is a member of its own. `end` is exclusive. */
export interface LeafMember {
  name: string;
  start: number;
  end: number;
  /** By zlib. */
  packed?: true;
  /** It comes in several ranges: the others. */
  more?: readonly { start: number; end: number }[];
}

/** A format that holds nothing but itself. */
export interface Leaf {
  marks: readonly Mark[];
  /** Where it ends that begins at 0. Undefined where it does not begin there after all. Bytes. */
  walk?: (reader: Reader, head: Buffer) => number | undefined;
  /** Bytes that it carries beside its picture or sound. */
  members?: (reader: Reader, head: Buffer) => Generator<LeafMember>;
}

export interface Format {
  /** Stable: processes send it to each other, and its folder of samples has this name. */
  id: string;
  /** The name in sentences for people. */
  title: string;
  /** IANA's type where there is one. A function answers undefined where the first bytes say it better. */
  media_type?: string | ((head: Buffer) => string | undefined);
  /**
   * Confidence that the format begins with these bytes, in bits: what random bytes would have to agree with. 0 for none. The format with most bits is opened; of equal ones the first of the list.
   */
  recognise?: ((head: Buffer, budget: Budget) => number) & Pick<ByMarks, 'first_bytes'>;
  /** Confidence in bits that the first bytes of a file of `size` bytes are those of a disk or a file system. */
  recogniseDisk?: ((head: Buffer, size: number) => number) & Pick<ByMarks, 'first_bytes'>;
  /** Confidence in bits that the format stands in a file beside the one of its first bytes. */
  recogniseBeside?: (file: WholeFile) => number;
  /** Patterns by which it is found inside other data. */
  carve?: readonly CarvePattern[];
  /** Places of it that no pattern can tell. */
  search?: (reader: Reader) => Generator<number>;
  traits: Traits;
  /** The reason why it is not read, if so. */
  closed?: StatusDetail;
  leaf?: Leaf;
  /** Its header may stand behind something else, so that the file may be something else that quotes it; the pattern of this id finds the header there. */
  late?: { isLate: (head: Buffer) => boolean; carved_as: string };
  /** The unread parts of it, in a sentence for people. Null where nothing is known to be missing. */
  limits: string | null;
  /** The members in their order; throws where it is damaged: earlier members are good. Absent for formats that hold nothing but themselves. */
  open?: Open | undefined;
}

type Open = (content: Content, context: FormatContext) => AsyncGenerator<Member>;

type Definition = Omit<Format, 'title' | 'traits'> & { title?: string; traits?: Traits };

/** Defines a format. */
export function format({ title, traits = {}, ...definition }: Definition): Format {
  return { ...definition, title: title ?? definition.id, traits };
}

/** Recognition by marks knows which first bytes a file can have, so that most formats need not be asked. */
interface ByMarks {
  (head: Buffer): number;
  /** Absent where a mark stands further on. */
  first_bytes?: readonly number[];
}

/** Recognises a format by its marks, any of them. */
export function byMarks(marks: readonly Mark[]): ByMarks {
  const recognise: ByMarks = (head) => {
    for (const { at, bytes } of marks) if (standsAt(head, bytes, at)) return 8 * bytes.length;
    return 0;
  };
  if (marks.every(({ at }) => at === 0)) recognise.first_bytes = marks.map(({ bytes }) => bytes[0] ?? 0);
  return recognise;
}

/** A test that answers yes or no as a confidence. */
export function withBits<Words extends unknown[]>(bits: number, test: (...words: Words) => boolean): (...words: Words) => number {
  return (...words) => (test(...words) ? bits : 0);
}

// The recognition of a closed format, and the reason why it is not read.
type Closed = Pick<Format, 'id'> &
  Partial<Pick<Format, 'title' | 'recognise' | 'recogniseBeside' | 'carve' | 'traits'>> & { detail?: StatusDetail };

// biome-ignore lint/correctness/useYield: it has no members
async function* closedMembers(title: string, detail: StatusDetail, { note }: ReadContext): AsyncGenerator<Member> {
  note(scanPhrase(detail === 'encrypted' ? 'format.encrypted' : 'format.unsupported', { format: title }));
  throw new Unreadable(detail);
}

/** Defines a format that is recognised, so that no file of it is called clean, but not opened. */
export function closedFormat({ detail = 'unsupported', ...definition }: Closed): Format {
  const title = definition.title ?? definition.id;
  return format({
    ...definition,
    title,
    media_type: 'application/x-packed',
    closed: detail,
    limits: null,
    open: (_content, context) => closedMembers(title, detail, context),
  });
}

/** A closed format that its first bytes tell. */
export function closedByMarks(id: string, title: string, marks: readonly Mark[], detail?: StatusDetail): Format {
  return closedFormat({ id, title, recognise: byMarks(marks), ...(detail === undefined ? {} : { detail }) });
}

/** Whether no container and no disk was found in a file but guesses. */
function isUnknown({ first, beside }: WholeFile): boolean {
  return (
    first === undefined &&
    beside.every((found) => found.format.closed === undefined && (found.is_guess || !found.format.traits.is_disk))
  );
}

/** A test that counts only if no other format is found in a file. */
export function whereUnknown(bits: number, test: (file: WholeFile) => boolean): (file: WholeFile) => number {
  return (file) => (isUnknown(file) && test(file) ? bits : 0);
}

/** A closed format that counts only if no other format is found in the file: the bytes at these places, wherever they stand in the file. */
export function closedWhereUnknown(id: string, title: string, marks: readonly Mark[], detail?: StatusDetail): Format {
  return closedFormat({
    id,
    title,
    recogniseBeside: (file) => (isUnknown(file) ? bitsOfMarks(file, marks) : 0),
    ...(detail === undefined ? {} : { detail }),
  });
}

function bitsOfMarks({ reader, head }: WholeFile, marks: readonly Mark[]): number {
  for (const { at, bytes } of marks) {
    const is_there =
      at + bytes.length <= head.length
        ? standsAt(head, bytes, at)
        : reader.size >= at + bytes.length && reader.at(at, bytes.length).equals(bytes);
    if (is_there) return 8 * bytes.length;
  }
  return 0;
}

const PACKED_NAME = /\.(gz|gzip|bz2|xz|zst|lzma|lz4|lz|lzo|zz|br|sz|snappy|Z)$/i;
const PACKED_TAR_NAME = /\.(tgz|tbz2?|txz|tzst|taz|tlz|tlz4|tzo)$/i;

/** The name of the one member of a packed file. */
export function innerName(name: string): string {
  return name.replace(PACKED_NAME, '').replace(PACKED_TAR_NAME, '.tar') || 'content';
}

/** The pattern of some bytes, for carving. */
export const patternOf = ({ bytes }: Mark): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
/** The pattern of some characters. */
export const spelled = (characters: string): string => patternOf(mark(characters));
/** The pattern of one byte from a range. */
export const oneOf = (from: number, to: number): string =>
  `(${Array.from({ length: to - from + 1 }, (_, index) => (from + index).toString(16).padStart(2, '0')).join('|')})`;
