import type { Reader } from '#scanner/reading/reader.ts';

// The common parts of the walks along formats.

/** Where a format ends that begins at 0. Undefined when it does not begin there after all. Bytes. */
type Walk = (reader: Reader, head: Buffer) => number | undefined;

export const text = (characters: string) => Buffer.from(characters, 'latin1');

/** A structure that is read field by field: beyond the end of the file there are zeros, and the walk ends by `has`. */
export const u16 = (bytes: Buffer, at: number, little: boolean) =>
  at + 2 > bytes.length ? 0 : little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);

export const u32 = (bytes: Buffer, at: number, little: boolean) =>
  at + 4 > bytes.length ? 0 : little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);

export const u64 = (bytes: Buffer, at: number, little: boolean) =>
  at + 8 > bytes.length ? 0 : Number(little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));

/** Repeats a step that answers where the next one begins, until one answers nothing or stands still. Answers the last place. */
export function along(reader: Reader, from: number, step: (at: number) => number | undefined): number {
  let at = from;
  while (at < reader.size) {
    const next = step(at);
    if (next === undefined || !(next > at)) return at;
    at = Math.min(next, reader.size);
  }
  return at;
}

/** RIFF and its big-endian relatives: one chunk whose size says where it ends. Writers that do not know it claim all ones. */
export const walkChunk =
  (little: boolean): Walk =>
  (reader, head) => {
    const size = u32(head, 4, little);
    if (size === 0 || size === 0xffffffff) return reader.size;
    return Math.min(reader.size, 8 + size + (size % 2));
  };

/** Size at 4, and the place that it counts from. */
export const sizedAt =
  (at: number, little: boolean, more = 0): Walk =>
  (_reader, head) =>
    u32(head, at, little) + more;
