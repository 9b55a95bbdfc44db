import type { StatusDetail } from '@palisade/contract/antivirus';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { type Content, standsAt } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Definition of one file format. All properties of a format are defined in one place, and the format is listed in index.ts. Recognition, media types, carving
// rules, closed formats, read-ahead and the list of unread formats are derived from that list.

/** Number of bytes that recognition receives, if the file has as many. It includes the volume descriptor of ISO 9660 at 32 KiB. Bytes. */
export const HEAD_BYTES = 33_000;

/** A magic: bytes at a fixed position in every file of a format. */
export interface Mark {
  at: number;
  bytes: Buffer;
}

/** A magic given as Latin-1 text. */
export const mark = (characters: string, at = 0): Mark => ({ at, bytes: Buffer.from(characters, 'latin1') });
/** A magic given in hexadecimal. */
export const hexMark = (digits: string, at = 0): Mark => ({ at, bytes: Buffer.from(digits, 'hex') });

/** A result of recognition. For a guess, the evidence is weak, so a failure to open the format is not reported. */
export interface Found {
  format: Format;
  is_guess: boolean;
}

/** A whole file, for formats that the first bytes alone do not identify. */
export interface WholeFile {
  reader: Reader;
  head: Buffer;
  name: string;
  /** The format of the first bytes, if any. */
  first: Found | undefined;
  /** The formats found so far by `recogniseBeside` or `recogniseDisk`, in the order of the list. */
  beside: readonly Found[];
  isFile(bytes: Buffer): boolean;
}

/** A pattern that finds a format inside other data. */
export interface CarvePattern {
  /** Stable and unique, because processes exchange it. Default: the id of the format. */
  id?: string;
  /** Name in notes. Default: the id. */
  title?: string;
  /** Pattern for YARA-X: a hex string or a regular expression. */
  pattern: string;
  /** Number of bytes of the container before the pattern. */
  back?: number;
  /** Number of bits that random bytes must match; computed for hex patterns, stated for regular expressions. */
  bits?: number;
  /** Whether the first bytes prove that a container begins at `at`. If a proven container cannot be opened, it counts as unread; an unproven one is ignored. */
  proves?: (reader: Reader, at: number) => boolean;
  /** The pattern is weak, so a container that cannot be opened is ignored. */
  is_guess?: true;
  /** Matches are opened as this format, without recognition of the first bytes. */
  is_own?: true;
  /** The start of a container that begins before the position of the match. */
  startOf?: (reader: Reader, at: number) => number;
  /** Returns a function that gives the end of the container at a position. Called once for each content; the positions are ascending. */
  endsIn?: (reader: Reader) => (at: number) => number | undefined;
  /** The reader reads to the end of its input, so a container ends where the next match of the pattern begins. */
  is_endless?: true;
  /** A format that is also opened if this one was. */
  also?: () => Format;
}

/** Properties of a format. Absent fields are false. */
interface Traits {
  /** Opening the format claims no part of the file, so the whole file is examined as if it had not been opened. */
  is_beside?: true;
  /** Ids of carving patterns whose matches this reader has read already. */
  reads_beside?: readonly string[];
  /** Files of this format are also text. All other formats are treated as binary. */
  is_text?: true;
  /** It is recognised by lines that may occur in any text, and its reader decodes the encoded parts. */
  is_mail?: true;
  /** Its magic has only two or three bytes. Inside another file, it counts only if it opens. */
  is_weak?: true;
  /** Other data may match its recognition, so a failure to open it is not reported. */
  is_guess?: true;
  /** Members can be read before earlier ones were examined. */
  reads_ahead?: true;
  /**
   * It contains uncompressed files and knows its own end. A file in it may also be found separately (such as an archive at the end, or a PDF near the
   * beginning), and the range of that file does not limit this one.
   */
  holds_whole_files?: true;
  /** Its only member is named after the file that contains it. */
  is_named_after_file?: true;
  /** Whether the end of the file belongs to the format, so that no archive is searched for there. */
  owns_end?: (reader: Reader) => boolean;
  /** A disk or file system, which occupies the file from its first byte. No other disk is searched for in the file. */
  is_disk?: true;
  /** A disk that may have partitions, so that partition tables are not recognised separately. */
  holds_partitions?: true;
  /** An executable program. */
  is_program?: true;
}

/** Context for readers: the scan, the file name, and recognition of other bytes. */
export interface FormatContext extends ReadContext {
  /** Name of the file that is opened. */
  name: string;
  is_guess: boolean;
  /** Whether the bytes are a file of a known format. Formats without a magic are included. */
  isFile(bytes: Buffer): boolean;
  /** Whether a container, a disk or a program begins with these bytes. */
  isFileHead(head: Buffer): boolean;
  /** Whether a container or a program begins with these bytes. */
  isContainerHead(head: Buffer): boolean;
}

/** A part of an image, sound or video file that is a separate member. `end` is exclusive. */
export interface LeafMember {
  name: string;
  start: number;
  end: number;
  /** Whether it is compressed with zlib. */
  packed?: true;
  /** Further ranges, if the member is split. */
  more?: readonly { start: number; end: number }[];
}

/** Properties of a leaf format, which is examined for its end and its additional data and not opened as a container. */
export interface Leaf {
  marks: readonly Mark[];
  /** The end of a file that begins at 0; undefined if the format does not begin there. Bytes. */
  walk?: (reader: Reader, head: Buffer) => number | undefined;
  /** Data in the file other than its main content, as members. */
  members?: (reader: Reader, head: Buffer) => Generator<LeafMember>;
}

export interface Format {
  /** Stable, because processes exchange it and its sample folder has this name. */
  id: string;
  /** Name in texts for users. */
  title: string;
  /** IANA media type, if there is one. A function returns undefined if the first bytes are of another type. */
  media_type?: string | ((head: Buffer) => string | undefined);
  /**
   * Confidence that the format begins with these bytes, as the number of bits that random bytes would have to match; 0 if it does not. The format with the most
   * bits is opened, and the first one in the list if several are equal.
   */
  recognise?: ((head: Buffer, budget: Budget) => number) & Pick<ByMarks, 'first_bytes'>;
  /** Confidence in bits that the first bytes of a file of `size` bytes begin a disk or a file system. */
  recogniseDisk?: ((head: Buffer, size: number) => number) & Pick<ByMarks, 'first_bytes'>;
  /** Confidence in bits that the file has this format in addition to the format of its first bytes. */
  recogniseBeside?: (file: WholeFile) => number;
  /** Patterns that find the format inside other data. */
  carve?: readonly CarvePattern[];
  /** Searches for positions of the format that no pattern can express. */
  search?: (reader: Reader) => Generator<number>;
  traits: Traits;
  /** Reason why the format is recognised but not read. */
  closed?: StatusDetail;
  leaf?: Leaf;
  /**
   * Its header may follow other data, so the file may have another format and only contain the header. `carved_as` is the id of the pattern that finds the
   * header there.
   */
  late?: { isLate: (head: Buffer) => boolean; carved_as: string };
  /** Description for users of the parts that are not read. Null if there are none. */
  limits: string | null;
  /** The members in order. If the file is damaged, it throws after the members that could be read. Absent for formats that are not opened. */
  open?: Open | undefined;
}

type Open = (content: Content, context: FormatContext) => AsyncGenerator<Member>;

type Definition = Omit<Format, 'title' | 'traits'> & { title?: string; traits?: Traits };

/** Defines a format. */
export function format({ title, traits = {}, ...definition }: Definition): Format {
  return { ...definition, title: title ?? definition.id, traits };
}

/** Recognition by magics. The possible first bytes are known, so that most formats need not be tried. */
interface ByMarks {
  (head: Buffer): number;
  /** Absent if a magic is not at position 0. */
  first_bytes?: readonly number[];
}

/** Recognises a format by any of the given magics. */
export function byMarks(marks: readonly Mark[]): ByMarks {
  const recognise: ByMarks = (head) => {
    for (const { at, bytes } of marks) if (standsAt(head, bytes, at)) return 8 * bytes.length;
    return 0;
  };
  if (marks.every(({ at }) => at === 0)) recognise.first_bytes = marks.map(({ bytes }) => bytes[0] ?? 0);
  return recognise;
}

/** Converts a boolean test into a confidence in bits. */
export function withBits<Words extends unknown[]>(bits: number, test: (...words: Words) => boolean): (...words: Words) => number {
  return (...words) => (test(...words) ? bits : 0);
}

// Definition of a closed format: its recognition, and the reason why it is not read.
type Closed = Pick<Format, 'id'> &
  Partial<Pick<Format, 'title' | 'recognise' | 'recogniseBeside' | 'carve' | 'traits'>> & { detail?: StatusDetail };

// biome-ignore lint/correctness/useYield: it has no members
async function* closedMembers(title: string, detail: StatusDetail, { note }: ReadContext): AsyncGenerator<Member> {
  note(scanPhrase(detail === 'encrypted' ? 'format.encrypted' : 'format.unsupported', { format: title }));
  throw new Unreadable(detail);
}

/** Defines a format that is recognised but not opened, so that its files are not reported as clean. */
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

/** A closed format that is recognised by its first bytes. */
export function closedByMarks(id: string, title: string, marks: readonly Mark[], detail?: StatusDetail): Format {
  return closedFormat({ id, title, recognise: byMarks(marks), ...(detail === undefined ? {} : { detail }) });
}

/** Whether no container, no closed format and no disk was found in the file, except disks that are guesses. */
function isUnknown({ first, beside }: WholeFile): boolean {
  return (
    first === undefined &&
    beside.every((found) => found.format.closed === undefined && (found.is_guess || !found.format.traits.is_disk))
  );
}

/** A test that applies only if no other format was found in the file. */
export function whereUnknown(bits: number, test: (file: WholeFile) => boolean): (file: WholeFile) => number {
  return (file) => (isUnknown(file) && test(file) ? bits : 0);
}

/** A closed format that is recognised only if no other format was found in the file. Its magics may be at any position. */
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

/** Name of the only member of a compressed file. */
export function innerName(name: string): string {
  return name.replace(PACKED_NAME, '').replace(PACKED_TAR_NAME, '.tar') || 'content';
}

/** Carving pattern for the bytes of a magic. */
export const patternOf = ({ bytes }: Mark): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
/** Carving pattern for characters. */
export const spelled = (characters: string): string => patternOf(mark(characters));
/** Carving pattern for one byte in a range. */
export const oneOf = (from: number, to: number): string =>
  `(${Array.from({ length: to - from + 1 }, (_, index) => (from + index).toString(16).padStart(2, '0')).join('|')})`;
