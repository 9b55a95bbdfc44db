import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { labelStarts } from './wire.ts';

// A list stores an 8-byte keyed hash of each name. The probability that a name with five suffixes collides with one of a million others is 5 * 10^6 / 2^64 = 2.7 * 10^-13; a collision
// cannot be constructed, because the key is random and changes at each start.

const KEY_BYTES = randomBytes(8);
const KEY_0 = KEY_BYTES.readInt32LE(0);
const KEY_1 = KEY_BYTES.readInt32LE(4);

/** Maximum labels of a name, including the root: a name has at most 255 bytes. */
const DEPTH_MAXIMUM = 128;
const BUCKETS = 256;
const BUCKETS_PER_TURN = 8;

let v0 = 0;
let v1 = 0;
let v2 = 0;
let v3 = 0;

/** One round of HalfSipHash (Aumasson and Bernstein, reference code `halfsiphash.c`). */
function round(): void {
  v0 = (v0 + v1) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v0 = (v0 << 16) | (v0 >>> 16);
  v2 = (v2 + v3) | 0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (v0 + v3) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v2 = (v2 + v1) | 0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
}

function absorb(word: number): void {
  v3 ^= word;
  round();
  round();
  v0 ^= word;
}

/** 64-bit hashes of a name and its suffixes: `words[2 * depth]` is the low half, the next word the high half. Depth 0 is the last label. */
export interface NameHashes {
  words: Uint32Array;
  depth: number;
  name: Uint8Array;
}

/** A set of names, looked up by hash. */
export interface NameSet {
  /** Whether the suffix of this depth is in the set. */
  has(hashes: NameHashes, depth: number): boolean;
}

/**
 * Hashes the suffixes of a name, from its last label to the whole name. The result is written to `into`, which callers reuse. A label is hashed as its length and its bytes, padded
 * to words, so that different suffixes give different words.
 */
export function hashName(name: Uint8Array, into: NameHashes): NameHashes {
  const starts = labelStarts(name);
  v0 = KEY_0;
  v1 = KEY_1;
  v2 = 0x6c796765 ^ KEY_0;
  v3 = 0x74656462 ^ KEY_1;
  v1 ^= 0xee;
  into.depth = 0;
  into.name = name;
  for (let index = starts.length - 1; index >= 0; index--) {
    const start = starts[index] ?? 0;
    const end = start + 1 + (name[start] ?? 0);
    for (let at = start; at < end; at += 4) {
      let word = name[at] ?? 0;
      if (at + 1 < end) word |= (name[at + 1] ?? 0) << 8;
      if (at + 2 < end) word |= (name[at + 2] ?? 0) << 16;
      if (at + 3 < end) word |= (name[at + 3] ?? 0) << 24;
      absorb(word);
    }
    const [s0, s1, s2, s3] = [v0, v1, v2, v3];
    v2 ^= 0xee;
    for (let count = 0; count < 4; count++) round();
    into.words[2 * into.depth] = v1 ^ v3;
    v1 ^= 0xdd;
    for (let count = 0; count < 4; count++) round();
    into.words[2 * into.depth + 1] = v1 ^ v3;
    into.depth++;
    v0 = s0;
    v1 = s1;
    v2 = s2;
    v3 = s3;
  }
  return into;
}

export function newHashes(): NameHashes {
  return { words: new Uint32Array(2 * DEPTH_MAXIMUM), depth: 0, name: Buffer.alloc(1) };
}

/** A set of names as a sorted array of hashes. */
export class NameList implements NameSet {
  /** Low and high halves of the hashes, sorted by hash. */
  private readonly words: Uint32Array;
  readonly size: number;

  constructor(sorted: BigUint64Array) {
    this.words = new Uint32Array(sorted.buffer, sorted.byteOffset, sorted.length * 2);
    this.size = sorted.length;
  }

  /** Builds a small list synchronously. */
  static of(names: Iterable<Uint8Array>): NameList {
    const hashes = newHashes();
    const values: bigint[] = [];
    for (const name of names) {
      const { words, depth } = hashName(name, hashes);
      values.push((BigInt(words[2 * depth - 1] ?? 0) << 32n) | BigInt(words[2 * depth - 2] ?? 0));
    }
    return new NameList(BigUint64Array.from(new Set(values)).sort());
  }

  get byteLength(): number {
    return this.words.byteLength;
  }

  has(hashes: NameHashes, depth: number): boolean {
    const { words, size } = this;
    const low = hashes.words[2 * depth] ?? 0;
    const high = hashes.words[2 * depth + 1] ?? 0;
    // Interpolation search: the hashes are uniformly distributed, so the position can be estimated.
    const guess = Math.floor((high / 0x1_0000_0000) * size);
    const reach = Math.ceil(Math.sqrt(size)) * 3 + 8;
    let from = Math.max(guess - reach, 0);
    let to = Math.min(guess + reach, size);
    if (from > 0 && (words[2 * from + 1] ?? 0) >= high) from = 0;
    if (to < size && (words[2 * to + 1] ?? 0) <= high) to = size;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const at = words[2 * middle + 1] ?? 0;
      if (at < high || (at === high && (words[2 * middle] ?? 0) < low)) from = middle + 1;
      else to = middle;
    }
    return from < size && words[2 * from] === low && words[2 * from + 1] === high;
  }
}

/** Builds a large list in steps, and yields to other work between them. */
export class NameListBuilder {
  private readonly hashes = newHashes();
  private readonly buckets = Array.from({ length: BUCKETS }, () => ({ words: new Uint32Array(64), count: 0 }));

  add(name: Uint8Array): void {
    const { words, depth } = hashName(name, this.hashes);
    const low = words[2 * depth - 2] ?? 0;
    const high = words[2 * depth - 1] ?? 0;
    const bucket = this.buckets[high >>> 24];
    if (bucket === undefined || depth === 0) return;
    if (2 * bucket.count === bucket.words.length) {
      const larger = new Uint32Array(bucket.words.length * 2);
      larger.set(bucket.words);
      bucket.words = larger;
    }
    bucket.words[2 * bucket.count] = low;
    bucket.words[2 * bucket.count + 1] = high;
    bucket.count++;
  }

  async finish(): Promise<NameList> {
    const sorted = new BigUint64Array(this.buckets.reduce((sum, { count }) => sum + count, 0));
    let size = 0;
    for (const [index, { words, count }] of this.buckets.entries()) {
      for (const value of new BigUint64Array(words.buffer, 0, count).sort())
        if (size === 0 || sorted[size - 1] !== value) sorted[size++] = value;
      if (index % BUCKETS_PER_TURN === 0) await turn();
    }
    // Not copied to the exact size, because that would block too long; the space of duplicates stays allocated.
    return new NameList(sorted.subarray(0, size));
  }
}
