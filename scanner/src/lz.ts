import { Unreadable } from './member.ts';

// The two decoders of the LZ77 family that neither Node nor 7-Zip has. Both write into a buffer of a known size, and no claim leads out of it.

/** How far back a match of LZ4 may reach (lz4_Block_format.md). */
export const LZ4_HISTORY_BYTES = 65_535;

/** Copies `length` bytes that lie `distance` back, which may overlap with what is being written. Answers where the copy ends. */
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
 * Unpacks one block of LZ4 (lz4_Block_format.md) into `target` from `start` on, behind what matches may refer to. Answers where it ends.
 * @throws Unreadable for what is no such block, or does not fit.
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
 * Unpacks one block of LZO1X (the Linux kernel's documentation, "LZO stream format") into `target`. Answers how many bytes it gave.
 * @throws Unreadable for what is no such block, or does not fit.
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
  /** How many literals came before: none, one to three behind a match, or four and more. */
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
