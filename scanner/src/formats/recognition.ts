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

// Recognises a file: asks each format in the order of the list.

/** With so many bits a format is certain, and no later one is asked. */
const CERTAIN_BITS = 24;
/** With fewer bits it is a guess: it is no fault when the format does not open. */
const GUESS_BITS = 16;

/** For each first byte, the items that it leaves possible, in their order. */
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

/** The container that begins with these bytes (at least HEAD_BYTES of them, where there are as many); undefined for none. */
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

/** Whether a disk or a file system begins with these bytes, of `size` bytes in all. */
function isDiskHead(head: Buffer, size: number): boolean {
  return (DISKS[head[0] ?? 0] ?? []).some((recogniseDisk) => recogniseDisk(head, size) > 0);
}

/** Whether these bytes begin a file that an author may hide: a container, an image of a disk or a program. */
function isFileHead(head: Buffer, budget: Budget): boolean {
  const container = containerOf(head, budget);
  return isProgramHead(head) || isDiskHead(head, head.length) || (container !== undefined && !container.is_guess);
}

/** Whether a value is a file. A format without a mark is tried as well: it is not that format where it does not open. */
export function isFileWhole(bytes: Buffer, budget: Budget): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  return (
    isProgramHead(head) || isDiskHead(head, bytes.length) || containerOf(head, budget) !== undefined || areSizedBlocks(bytes)
  );
}

/** A container whose header may stand behind something else, so that the file may be something else that quotes it. */
export function isLate(container: Found | undefined, head: Buffer): boolean {
  return container?.format.late?.isLate(head) === true;
}

function bitsBeside({ recogniseBeside, recogniseDisk, traits }: Format, file: WholeFile): number {
  // A disk that its first bytes tell is read by its own reader.
  if (traits.is_disk === true && file.first?.format.traits.is_disk === true) return 0;
  return recogniseBeside?.(file) ?? recogniseDisk?.(file.head, file.reader.size) ?? 0;
}

/**
 * Containers that are recognised by the whole of a file, for any first bytes: images of disks, files encoded in its text, a zip at its end, a packed program.
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

/** The format to open at a place of a pattern, where `head` begins. 7-Zip finds out its own formats. */
export function containerFor({ format, is_own }: Carved, head: Buffer, budget: Budget): Found {
  const container = is_own ? undefined : containerOf(head, budget);
  if (container !== undefined) return container;
  return { format: is_own || format.closed !== undefined ? format : anyArchive, is_guess: false };
}

/** The members of a container in their order. Throws where it is damaged; earlier members are good. */
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
    // A character that the sample cuts in two is no error.
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
 * The media type of a file by its first bytes (IANA media types where there is one; `application/octet-stream` for an unknown format). `container`
 * is the format that the unpacker opens: a file that is opened as a zip is called one.
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
