import { type Content, standsAt } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { textFormOf } from '#scanner/text/text-encoding.ts';
import { anyArchive } from './archives/seven-zip-archives.ts';
import { areSizedBlocks } from './compression/block-streams.ts';
import { type Format, type Found, HEAD_BYTES, type WholeFile } from './format.ts';
import { type Carved, FORMATS, LEAF_FORMATS } from './index.ts';
import { isProgramHead } from './programs/program-formats.ts';

// Recognises the formats of a file, in the order of the list.

/** Number of bits from which a format is certain, so that later formats are not tried. */
const CERTAIN_BITS = 24;
/** Below this number of bits, a format is a guess: a failure to open it is not reported. */
const GUESS_BITS = 16;

/** For each first byte, the items that are possible, in their order. */
function byFirstByte<Item>(
  items: readonly Item[],
  firstBytesOf: (item: Item) => readonly number[] | undefined,
): readonly Item[][] {
  return Array.from({ length: 256 }, (_, byte) => items.filter((item) => firstBytesOf(item)?.includes(byte) ?? true));
}

const BY_HEAD = byFirstByte(
  FORMATS.flatMap((format) => (format.recognise === undefined ? [] : [{ format, recognise: format.recognise }])),
  ({ recognise }) => recognise.first_bytes,
);
const DISKS = byFirstByte(
  FORMATS.flatMap((format) => format.recogniseDisk ?? []),
  ({ first_bytes }) => first_bytes,
);
const BESIDE = byFirstByte(
  FORMATS.filter((format) => format.recogniseDisk !== undefined || format.recogniseBeside !== undefined),
  ({ recogniseDisk, recogniseBeside }) => (recogniseBeside === undefined ? recogniseDisk?.first_bytes : undefined),
);

const foundAs = (format: Format, bits: number): Found => ({
  format,
  is_guess: format.traits.is_guess === true || bits < GUESS_BITS,
});

/** The container that begins with these bytes; undefined for none. `head` has at least HEAD_BYTES bytes, if the file does. */
export function containerOf(head: Buffer, budget: Budget): Found | undefined {
  let best: Format | undefined;
  let best_bits = 0;
  for (const { format, recognise } of BY_HEAD[head[0] ?? 0] ?? []) {
    const bits = recognise(head, budget);
    if (bits <= best_bits) continue;
    best = format;
    best_bits = bits;
    if (bits >= CERTAIN_BITS) break;
  }
  return best === undefined ? undefined : foundAs(best, best_bits);
}

/** Whether a disk or a file system of `size` bytes begins with these bytes. */
function isDiskHead(head: Buffer, size: number): boolean {
  return (DISKS[head[0] ?? 0] ?? []).some((recogniseDisk) => recogniseDisk(head, size) > 0);
}

/** Whether the bytes begin a file that may be hidden in other data: a container, a disk image or a program. */
function isFileHead(head: Buffer, budget: Budget): boolean {
  const container = containerOf(head, budget);
  return isProgramHead(head) || isDiskHead(head, head.length) || (container !== undefined && !container.is_guess);
}

/** Whether the bytes are a file. Formats without a magic are included; a file that then cannot be opened has another format. */
export function isFileWhole(bytes: Buffer, budget: Budget): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  return (
    isProgramHead(head) || isDiskHead(head, bytes.length) || containerOf(head, budget) !== undefined || areSizedBlocks(bytes)
  );
}

/** Whether the header of a container may follow other data, so that the file may have another format. */
export function isLate(container: Found | undefined, head: Buffer): boolean {
  return container?.format.late?.isLate(head) === true;
}

function bitsBeside({ recogniseBeside, recogniseDisk, traits }: Format, file: WholeFile): number {
  // A disk that the first bytes identify is read by its own reader.
  if (traits.is_disk === true && file.first?.format.traits.is_disk === true) return 0;
  return recogniseBeside?.(file) ?? recogniseDisk?.(file.head, file.reader.size) ?? 0;
}

/**
 * Containers that are recognised in the whole file, whatever its first bytes are, such as disk images, encoded files in text, a zip archive at the end, and
 * packed programs.
 */
export function containersBeside(reader: Reader, head: Buffer, first: Found | undefined, name: string): Found[] {
  const beside: Found[] = [];
  const file: WholeFile = { reader, head, name, first, beside, isFile: (bytes) => isFileWhole(bytes, reader.budget) };
  for (const format of BESIDE[head[0] ?? 0] ?? []) {
    const bits = bitsBeside(format, file);
    if (bits > 0) beside.push(foundAs(format, bits));
  }
  return beside;
}

/** The format to open at the position of a match, where `head` begins. Formats of 7-Zip are detected by 7-Zip. */
export function containerFor({ format, is_own }: Carved, head: Buffer, budget: Budget): Found {
  const container = is_own ? undefined : containerOf(head, budget);
  if (container !== undefined) return container;
  return { format: is_own || format.closed !== undefined ? format : anyArchive, is_guess: false };
}

/** The members of a container in order. If it is damaged, it throws after the members that could be read. */
export async function* membersOf(
  { format, is_guess }: Found,
  content: Content,
  name: string,
  context: ReadContext,
): AsyncGenerator<Member> {
  const { budget } = context;
  const members = format.open?.(content, {
    ...context,
    name,
    is_guess,
    isFile: (bytes) => isFileWhole(bytes, budget),
    isFileHead: (head) => isFileHead(head, budget),
    isContainerHead: (head) => containerOf(head, budget) !== undefined || isProgramHead(head),
  });
  if (members !== undefined) yield* members;
}

const TEXT_BYTES = 4096;

function mediaTypeOfText(head: Buffer): string | undefined {
  const form = textFormOf(head);
  if (form !== undefined && form.encoding !== 'utf-8') return 'text/plain';
  const sample = head.subarray(0, TEXT_BYTES);
  if (sample.includes(0)) return undefined;
  let text: string;
  try {
    // A character that the end of the sample splits is not an error.
    text = new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
  } catch {
    return undefined;
  }
  const start = text.trimStart().slice(0, 512).toLowerCase();
  if (/^(<!doctype html|<html|<head|<body|<script)/.test(start)) return 'text/html';
  if (/^(<\?xml[^>]*>\s*)?(<!doctype svg[^>]*>\s*)?<svg[\s>]/.test(start)) return 'image/svg+xml';
  if (start.startsWith('<?xml')) return 'application/xml';
  return 'text/plain';
}

function mediaTypeAs({ media_type }: Format, head: Buffer): string | undefined {
  return typeof media_type === 'function' ? media_type(head) : media_type;
}

/**
 * The media type of a file from its first bytes: an IANA media type, if there is one, or `application/octet-stream` for unknown formats. `container` is the
 * format in which the file is opened, which takes precedence.
 */
export function mediaTypeOf(head: Buffer, container: Found | undefined): string {
  const opened = container === undefined || container.is_guess ? undefined : mediaTypeAs(container.format, head);
  if (opened !== undefined) return opened;
  for (const format of LEAF_FORMATS) {
    const type = format.leaf.marks.some(({ at, bytes }) => standsAt(head, bytes, at)) ? mediaTypeAs(format, head) : undefined;
    if (type !== undefined) return type;
  }
  return mediaTypeOfText(head) ?? 'application/octet-stream';
}
