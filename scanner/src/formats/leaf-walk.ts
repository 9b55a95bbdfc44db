import type { Reader } from '#scanner/reading/reader.ts';

// Common functions of the walks that find the ends of formats.

/** Finds the end of a format that begins at 0; undefined if it does not begin there. Bytes. */
type Walk = (reader: Reader, head: Buffer) => number | undefined;

export const text = (characters: string) => Buffer.from(characters, 'latin1');

/** Reads a number; 0 if it lies outside the bytes. The same applies to `u32` and `u64`. */
export const u16 = (bytes: Buffer, at: number, little: boolean) =>
  at + 2 > bytes.length ? 0 : little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);

export const u32 = (bytes: Buffer, at: number, little: boolean) =>
  at + 4 > bytes.length ? 0 : little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);

export const u64 = (bytes: Buffer, at: number, little: boolean) =>
  at + 8 > bytes.length ? 0 : Number(little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));

/** Repeats a step, which returns the start of the next one, until it returns undefined or does not advance. Returns the last position. */
export function along(reader: Reader, from: number, step: (at: number) => number | undefined): number {
  let at = from;
  while (at < reader.size) {
    const next = step(at);
    if (next === undefined || !(next > at)) return at;
    at = Math.min(next, reader.size);
  }
  return at;
}

/** RIFF and its big-endian variants: a single chunk with its size. Writers that do not know the size store zero or all ones. */
export const walkChunk =
  (little: boolean): Walk =>
  (reader, head) => {
    const size = u32(head, 4, little);
    if (size === 0 || size === 0xffffffff) return reader.size;
    return Math.min(reader.size, 8 + size + (size % 2));
  };

/** A format with its total size at `at`. `more` is added to it. Bytes. */
export const sizedAt =
  (at: number, little: boolean, more = 0): Walk =>
  (_reader, head) =>
    u32(head, at, little) + more;
