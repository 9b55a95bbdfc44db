import type { Reader } from '#scanner/reading/reader.ts';

// Binary cpio (cpio(5), "Old Binary Format") between other bytes. Its mark is two bytes, so that a head counts only where it leads to another one.

const HEAD_BYTES = 26;
const MAGIC = 0o070707;
const NAME_MAXIMUM = 512;
const TRAILER = 'TRAILER!!!';
/** The kinds of files that POSIX has: a pipe, a device, a folder, a file, a link, a socket. */
const KINDS: readonly number[] = [0o1, 0o2, 0o4, 0o6, 0o10, 0o12, 0o14];
const even = (bytes: number) => bytes + (bytes % 2);

/** The head at `at`: its name, and where the next one stands; undefined where it is none. */
function headAt(reader: Reader, at: number, is_little: boolean): { name: string; next: number } | undefined {
  const head = reader.at(at, HEAD_BYTES);
  if (head.length < HEAD_BYTES) return undefined;
  const word = (index: number) => (is_little ? head.readUInt16LE(index * 2) : head.readUInt16BE(index * 2));
  const name_bytes = word(10);
  if (word(0) !== MAGIC || name_bytes < 2 || name_bytes > NAME_MAXIMUM) return undefined;
  const bytes = reader.at(at + HEAD_BYTES, name_bytes);
  const name = bytes.toString('latin1', 0, name_bytes - 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what no name has
  if (bytes.length < name_bytes || bytes[name_bytes - 1] !== 0 || /[\0-\x1f\x7f]/.test(name)) return undefined;
  // The last head describes no file.
  if (name !== TRAILER && !KINDS.includes(word(3) >> 12)) return undefined;
  return { name, next: at + even(HEAD_BYTES + name_bytes) + even(word(11) * 0x10000 + word(12)) };
}

/** A head, and another one where its file ends. */
export function provesBinaryCpio(reader: Reader, at: number): boolean {
  const is_little = reader.at(at, 2).equals(Buffer.from([0xc7, 0x71]));
  const first = headAt(reader, at, is_little);
  return first !== undefined && (first.name === TRAILER || headAt(reader, first.next, is_little) !== undefined);
}
