import { Unreadable } from '#scanner/reading/member.ts';
import { varint } from '#scanner/reading/varint.ts';

// Decoders of the LZ77 family that neither Node nor 7-Zip has. Each writes into a buffer of a known size, and checks every offset. decompress.ts calls them and charges the
// budget; no other module may.

/** The maximum match distance of LZ4 (lz4_Block_format.md). */
export const LZ4_HISTORY_BYTES = 65_535;

/** Copies `length` bytes from `distance` back, which may overlap the target. Returns the end of the copy. */
function repeat(target: Buffer, at: number, distance: number, length: number): number {
  if (distance === 0 || distance > at || at + length > target.length) throw new Unreadable('damaged');
  if (distance >= length) target.copy(target, at, at - distance, at - distance + length);
  else for (let index = at; index < at + length; index += 1) target[index] = target[index - distance] ?? 0;
  return at + length;
}

function literals(source: Buffer, from: number, target: Buffer, at: number, length: number): void {
  if (from + length > source.length || at + length > target.length) throw new Unreadable('damaged');
  source.copy(target, at, from, from + length);
}

/**
 * Unpacks one block of LZ4 (lz4_Block_format.md) into `target` at `start`, after the bytes that matches may refer to. Returns its end. @throws Unreadable for invalid bytes,
 * or a block that does not fit.
 */
export function unpackLz4(source: Buffer, target: Buffer, start: number): number {
  let from = 0;
  let at = start;
  const longer = (length: number): number => {
    let total = length;
    for (let byte = 255; byte === 255; total += byte) {
      byte = source[from] ?? 0;
      from += 1;
    }
    return total;
  };
  while (from < source.length) {
    const token = source[from] ?? 0;
    from += 1;
    const length = token >> 4 === 15 ? longer(15) : token >> 4;
    literals(source, from, target, at, length);
    from += length;
    at += length;
    if (from >= source.length) break;
    if (from + 2 > source.length) throw new Unreadable('damaged');
    const distance = source.readUInt16LE(from);
    from += 2;
    at = repeat(target, at, distance, 4 + ((token & 15) === 15 ? longer(15) : token & 15));
  }
  return at;
}

/**
 * Unpacks one block of LZO1X (the Linux kernel's documentation, "LZO stream format") into `target`. Returns the number of bytes. @throws Unreadable for invalid bytes, or a
 * block that does not fit.
 */
export function unpackLzo(source: Buffer, target: Buffer): number {
  let from = 0;
  let at = 0;
  const next = (): number => {
    const byte = source[from];
    if (byte === undefined) throw new Unreadable('damaged');
    from += 1;
    return byte;
  };
  const longer = (base: number): number => {
    let total = base;
    let byte = next();
    for (; byte === 0; byte = next()) total += 255;
    return total + byte;
  };
  const copy = (length: number): void => {
    literals(source, from, target, at, length);
    from += length;
    at += length;
  };
  /** Number of preceding literals: none, one to three after a match, or four and more. */
  let state = 0;
  if ((source[0] ?? 0) > 17) {
    const length = next() - 17;
    copy(length);
    state = Math.min(length, 4);
  }
  for (;;) {
    const code = next();
    let length: number;
    let distance: number;
    let trailing = code & 3;
    if (code < 16 && state === 0) {
      copy(3 + (code === 0 ? longer(15) : code));
      state = 4;
      continue;
    }
    if (code < 16) {
      distance = (code >> 2) + (next() << 2) + (state === 4 ? 0x801 : 1);
      length = state === 4 ? 3 : 2;
    } else if (code >= 64) {
      distance = 1 + ((code >> 2) & 7) + (next() << 3);
      length = (code >> 5) + 1;
    } else {
      const is_near = code >= 32;
      const bits = code & (is_near ? 31 : 7);
      length = 2 + (bits === 0 ? longer(is_near ? 31 : 7) : bits);
      const low = next();
      const word = low | (next() << 8);
      trailing = word & 3;
      const high = (code & 8) << 11;
      if (!is_near && high + (word >> 2) === 0) return at;
      distance = (word >> 2) + (is_near ? 1 : high + 0x4000);
    }
    at = repeat(target, at, distance, length);
    copy(trailing);
    state = trailing;
  }
}

/** Maximum expansion of Snappy: a copy of at most 64 bytes takes two or three. */
export const SNAPPY_RATIO_MAXIMUM = 32;
/** Maximum expansion of LZ4. */
export const LZ4_RATIO_MAXIMUM = 255;
const LITERAL = 0;
/** Snappy literal lengths from this value are stored in separate bytes. */
const LONG_LITERAL = 60;

/** The length of a copy of Snappy, its distance back, and the place of the next tag. */
function copyAt(packed: Buffer, at: number, tag: number): { length: number; offset: number; next: number } {
  const kind = tag & 3;
  if (kind === 1) return { length: ((tag >> 2) & 7) + 4, offset: ((tag >> 5) << 8) | (packed[at] ?? 0), next: at + 1 };
  const bytes = kind === 2 ? 2 : 4;
  if (at + bytes > packed.length) throw new Unreadable('damaged');
  return { length: (tag >> 2) + 1, offset: packed.readUIntLE(at, bytes), next: at + bytes };
}

/** The announced unpacked size of a block of Snappy. */
export function plainSize(packed: Buffer): number | undefined {
  return varint(packed, 0)?.value;
}

/** Unpacks a block of Snappy (github.com/google/snappy, format_description.txt) whose `plainSize` is acceptable. @throws Unreadable `damaged` */
export function unpackSnappy(packed: Buffer): Buffer {
  const head = varint(packed, 0);
  if (head === undefined) throw new Unreadable('damaged');
  const plain = Buffer.alloc(head.value);
  let end = 0;
  for (let at = head.next; at < packed.length; ) {
    const tag = packed[at] ?? 0;
    at += 1;
    if ((tag & 3) === LITERAL) {
      let length = (tag >> 2) + 1;
      if (length > LONG_LITERAL) {
        const bytes = length - LONG_LITERAL;
        if (at + bytes > packed.length) throw new Unreadable('damaged');
        length = packed.readUIntLE(at, bytes) + 1;
        at += bytes;
      }
      literals(packed, at, plain, end, length);
      at += length;
      end += length;
      continue;
    }
    const { length, offset, next } = copyAt(packed, at, tag);
    end = repeat(plain, end, offset, length);
    at = next;
  }
  if (end !== plain.length) throw new Unreadable('damaged');
  return plain;
}
