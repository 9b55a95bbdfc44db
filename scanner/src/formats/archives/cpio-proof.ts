import type { Reader } from '#scanner/reading/reader.ts';

// Proof of a binary cpio archive (cpio(5), "Old Binary Format") inside other data. The magic has only two bytes, so a header must also be followed by another
// header.

const HEAD_BYTES = 26;
const MAGIC = 0o070707;
const NAME_MAXIMUM = 512;
const TRAILER = 'TRAILER!!!';
/** File types of POSIX: FIFO, character device, directory, block device, regular file, symbolic link, socket. */
const KINDS: readonly number[] = [0o1, 0o2, 0o4, 0o6, 0o10, 0o12, 0o14];
const even = (bytes: number) => bytes + (bytes % 2);

/** Reads the header at `at`: its file name and the position of the next header. Undefined if the header is invalid. */
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
  // The trailer entry has no file type.
  if (name !== TRAILER && !KINDS.includes(word(3) >> 12)) return undefined;
  return { name, next: at + even(HEAD_BYTES + name_bytes) + even(word(11) * 0x10000 + word(12)) };
}

/** Whether a header is at `at` and another header follows its file. The trailer needs no following header. */
export function provesBinaryCpio(reader: Reader, at: number): boolean {
  const is_little = reader.at(at, 2).equals(Buffer.from([0xc7, 0x71]));
  const first = headAt(reader, at, is_little);
  return first !== undefined && (first.name === TRAILER || headAt(reader, first.next, is_little) !== undefined);
}
