import { Unreadable } from '#scanner/reading/member.ts';
import { randomBitsOfBzip2 } from './bzip2-random.ts';
import type { HighBits } from './high-bits.ts';

// Decodes a block of bzip2 (bzip2 1.0.8, decompress.c and huffman.c): Huffman coding, move-to-front and the Burrows-Wheeler transform. decompress.ts calls it and charges
// the budget; no other module may. It accepts every block that bzip2 accepts, also with trees of too many or too few codes. Arrays have a fixed size, and every index is
// checked.

export const BLOCK_UNIT_BYTES = 100_000;
const BLOCK_BYTES_MAXIMUM = 9 * BLOCK_UNIT_BYTES;
const LETTERS = 256;
/** Both run digits, each move-to-front position but the first, and the end symbol. */
const SYMBOLS_MAXIMUM = LETTERS + 2;
const RUN_SYMBOLS = 2;
const TREES = { least: 2, most: 6 } as const;
const CODE_BITS_MAXIMUM = 20;
/** Number of symbols that each selector covers. */
const GROUP_SYMBOLS = 50;
/** A block needs no more. Further selectors are read and ignored, because some writers round their number up (CVE-2019-12900). */
const SELECTORS_MAXIMUM = 2 + BLOCK_BYTES_MAXIMUM / GROUP_SYMBOLS;
/** Maximum bytes of one group's codes, and of read-ahead into the bit buffer. */
const GROUP_BYTES = Math.ceil((GROUP_SYMBOLS * CODE_BITS_MAXIMUM) / 8) + 4;
/** Maximum weight of a run digit. */
const RUN_WEIGHT_MAXIMUM = 2 ** 21;
/** Shorter runs are written in a loop, because a call of `fill` takes longer. */
const LONG_RUN = 64;
/** After this many equal bytes a count of further ones follows. */
const EQUAL_BYTES = 4;
/** Maximum expansion of a byte of a block: every fifth byte can be a run count. */
const BLOCK_RATIO_MAXIMUM = 52;

/** Codes up to this length, in bits, are found by one table lookup. */
const QUICK_BITS = 10;
const QUICK_SIZE = 2 ** QUICK_BITS;
const LENGTHS_SIZE = CODE_BITS_MAXIMUM + 1;

const CRC_POLYNOMIAL = 0x04c11db7;
const CRC = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ CRC_POLYNOMIAL : crc << 1;
  return crc;
});

const damaged = () => new Unreadable('damaged');

/** The move-to-front list of bytes. It consists of 16 parts of 16 bytes, which move through an array of 4096, so that accessing a late position moves few others. */
class RecentLetters {
  private readonly room = new Uint8Array(4096);
  private readonly starts = new Uint16Array(16);

  begin(letters: Uint8Array): void {
    for (let part = 0; part < 16; part += 1) {
      const start = this.room.length - LETTERS + part * 16;
      this.starts[part] = start;
      this.room.set(letters.subarray(part * 16, part * 16 + 16), start);
    }
  }

  /** Returns the byte at a position (0 to 255) and moves it to the front. */
  take(place: number): number {
    const { room, starts } = this;
    const first = starts[0] ?? 0;
    if (place < 16) {
      const letter = room[first + place] ?? 0;
      for (let at = first + place; at > first; at -= 1) room[at] = room[at - 1] ?? 0;
      room[first] = letter;
      return letter;
    }
    let part = place >> 4;
    const start = starts[part] ?? 0;
    const letter = room[start + (place & 15)] ?? 0;
    for (let at = start + (place & 15); at > start; at -= 1) room[at] = room[at - 1] ?? 0;
    // The part drops its first position and takes the last byte of the previous part.
    starts[part] = start + 1;
    for (; part > 0; part -= 1) {
      const to = (starts[part] ?? 0) - 1;
      starts[part] = to;
      room[to] = room[(starts[part - 1] ?? 0) + 15] ?? 0;
    }
    starts[0] = first - 1;
    room[first - 1] = letter;
    if (first === 1) this.moveBack();
    return letter;
  }

  /** Moves all parts back to the end of the array. */
  private moveBack(): void {
    const { room, starts } = this;
    for (let part = 15; part >= 0; part -= 1) {
      const start = room.length - LETTERS + part * 16;
      const from = starts[part] ?? 0;
      room.copyWithin(start, from, from + 16);
      starts[part] = start;
    }
  }
}

/** Reads one block at a time. */
export class Bzip2Block {
  /** Lowest 8 bits: the transformed text; above them, once linked, the index of the next byte. */
  private readonly table = new Int32Array(BLOCK_BYTES_MAXIMUM);
  private readonly counts = new Int32Array(LETTERS);
  private readonly letters = new Uint8Array(LETTERS);
  private readonly recent = new RecentLetters();
  private readonly selectors = new Uint8Array(SELECTORS_MAXIMUM);
  private selectors_count = 0;
  private readonly lengths = new Uint8Array(SYMBOLS_MAXIMUM);
  /** For each tree, indexed by the next bits: 32 times the symbol plus the code length; 0 for longer codes. */
  private readonly quick = new Uint16Array(TREES.most * QUICK_SIZE);
  /** For each tree and code length: the last code, and the offset from a code to the index of its symbol. */
  private readonly lasts = new Int32Array(TREES.most * LENGTHS_SIZE);
  private readonly offsets = new Int32Array(TREES.most * LENGTHS_SIZE);
  private readonly symbols = new Uint16Array(TREES.most * SYMBOLS_MAXIMUM);
  /** Bytes of the text not returned yet, and the index of the next one. */
  private left = 0;
  private place = 0;
  /** Run decoding: number of equal bytes so far, their value, and the remaining repetitions. */
  private equal = 0;
  private last = 0;
  private repeats = 0;
  private random: (() => number) | undefined;
  private register = 0;

  /** Reads a block after its magic and checksum. `most`: bytes. @throws Unreadable */
  read(bits: HighBits, most: number): void {
    const is_random = bits.take(1) === 1;
    const first = bits.take(24);
    const letters_count = this.readLetters(bits);
    const trees = bits.take(3);
    if (trees < TREES.least || trees > TREES.most) throw damaged();
    this.readSelectors(bits, trees);
    for (let tree = 0; tree < trees; tree += 1) this.readTree(bits, tree, letters_count + RUN_SYMBOLS);
    const size = this.readText(bits, letters_count + 1, Math.min(most, BLOCK_BYTES_MAXIMUM));
    if (first >= size) throw damaged();
    this.left = size;
    this.place = (this.table[first] ?? 0) >>> 8;
    this.random = is_random ? randomBitsOfBzip2() : undefined;
    this.equal = 0;
    this.repeats = 0;
    this.register = -1;
  }

  /** The size of the text before run-length decoding. */
  get text_bytes(): number {
    return this.left;
  }

  /** Maximum number of bytes still to be returned; 0 at the end. */
  get most_left(): number {
    return this.left * BLOCK_RATIO_MAXIMUM + this.repeats;
  }

  /** Whether the text does not end inside a run. */
  get is_complete(): boolean {
    return this.equal < EQUAL_BYTES;
  }

  /** The checksum of the returned bytes. */
  get crc(): number {
    return ~this.register >>> 0;
  }

  private readLetters(bits: HighBits): number {
    const rows = bits.take(16);
    let count = 0;
    for (let row = 0; row < 16; row += 1) {
      if ((rows & (0x8000 >> row)) === 0) continue;
      const used = bits.take(16);
      for (let column = 0; column < 16; column += 1) {
        if ((used & (0x8000 >> column)) === 0) continue;
        this.letters[count] = row * 16 + column;
        count += 1;
      }
    }
    if (count === 0) throw damaged();
    return count;
  }

  /** Reads the selectors: the tree of each group, by move-to-front positions. */
  private readSelectors(bits: HighBits, trees: number): void {
    const count = bits.take(15);
    if (count === 0) throw damaged();
    const recent = Uint8Array.from({ length: trees }, (_, tree) => tree);
    for (let index = 0; index < count; index += 1) {
      let place = 0;
      while (bits.take(1) === 1) {
        place += 1;
        if (place === trees) throw damaged();
      }
      const tree = recent[place] ?? 0;
      recent.copyWithin(1, 0, place);
      recent[0] = tree;
      if (index < SELECTORS_MAXIMUM) this.selectors[index] = tree;
    }
    this.selectors_count = Math.min(count, SELECTORS_MAXIMUM);
  }

  private readTree(bits: HighBits, tree: number, symbols_count: number): void {
    let length = bits.take(5);
    for (let symbol = 0; symbol < symbols_count; symbol += 1) {
      for (;;) {
        if (length < 1 || length > CODE_BITS_MAXIMUM) throw damaged();
        if (bits.take(1) === 0) break;
        length += bits.take(1) === 0 ? 1 : -1;
      }
      this.lengths[symbol] = length;
    }
    this.makeTree(tree, symbols_count);
  }

  /** Assigns codes by length, then by symbol. Codes that do not fit into their length are left out; with too few codes, some values have no symbol. */
  private makeTree(tree: number, symbols_count: number): void {
    const { lengths, quick, symbols, lasts, offsets } = this;
    const symbols_at = tree * SYMBOLS_MAXIMUM;
    const quick_at = tree * QUICK_SIZE;
    quick.fill(0, quick_at, quick_at + QUICK_SIZE);
    let code = 0;
    let place = 0;
    for (let length = 1; length <= CODE_BITS_MAXIMUM; length += 1) {
      const row = tree * LENGTHS_SIZE + length;
      offsets[row] = place - code;
      const from = place;
      for (let symbol = 0; symbol < symbols_count; symbol += 1) {
        if (lengths[symbol] !== length) continue;
        symbols[symbols_at + place] = symbol;
        if (length <= QUICK_BITS && code < 2 ** length) {
          const start = quick_at + (code << (QUICK_BITS - length));
          quick.fill((symbol << 5) | length, start, start + (1 << (QUICK_BITS - length)));
        }
        place += 1;
        code += 1;
      }
      lasts[row] = place > from ? code - 1 : -1;
      code *= 2;
    }
  }

  /** Decodes a code that is longer than those in the quick table: 32 times its symbol, plus its length. `next`: the next 20 bits. @throws Unreadable */
  private longCode(tree: number, next: number): number {
    for (let length = QUICK_BITS + 1; length <= CODE_BITS_MAXIMUM; length += 1) {
      const row = tree * LENGTHS_SIZE + length;
      const code = next >> (CODE_BITS_MAXIMUM - length);
      if (code > (this.lasts[row] ?? -1)) continue;
      return ((this.symbols[tree * SYMBOLS_MAXIMUM + code + (this.offsets[row] ?? 0)] ?? 0) << 5) | length;
    }
    throw damaged();
  }

  /** Reads the transformed text, and links each byte to the next. Returns its size. @throws Unreadable */
  private readText(bits: HighBits, end_symbol: number, most: number): number {
    const { table, counts, recent, selectors, quick } = this;
    counts.fill(0);
    recent.begin(this.letters);
    let size = 0;
    let run = 0;
    let weight = 1;
    let newest = this.letters[0] ?? 0;
    for (let group = 0; group < this.selectors_count; group += 1) {
      const tree = selectors[group] ?? 0;
      const quick_at = tree * QUICK_SIZE;
      bits.ensure(GROUP_BYTES);
      const { piece } = bits;
      let { at, buffer, count } = bits;
      let is_end = false;
      for (let left = GROUP_SYMBOLS; left > 0; left -= 1) {
        while (count < CODE_BITS_MAXIMUM) {
          buffer = (buffer << 8) | (piece[at] ?? 0);
          at += 1;
          count += 8;
        }
        let entry = quick[quick_at + ((buffer >>> (count - QUICK_BITS)) & (QUICK_SIZE - 1))] ?? 0;
        if (entry === 0) entry = this.longCode(tree, (buffer >>> (count - CODE_BITS_MAXIMUM)) & (2 ** CODE_BITS_MAXIMUM - 1));
        count -= entry & 31;
        const symbol = entry >> 5;
        if (symbol < RUN_SYMBOLS) {
          if (weight >= RUN_WEIGHT_MAXIMUM) throw damaged();
          run += weight << symbol;
          weight <<= 1;
          continue;
        }
        if (run > 0) {
          if (size + run > most) throw damaged();
          const end = size + run;
          if (run < LONG_RUN) for (let to = size; to < end; to += 1) table[to] = newest;
          else table.fill(newest, size, end);
          counts[newest] = (counts[newest] ?? 0) + run;
          size = end;
          run = 0;
          weight = 1;
        }
        if (symbol === end_symbol) {
          is_end = true;
          break;
        }
        if (size >= most) throw damaged();
        newest = recent.take(symbol - 1);
        table[size] = newest;
        counts[newest] = (counts[newest] ?? 0) + 1;
        size += 1;
      }
      bits.at = at;
      bits.buffer = buffer;
      bits.count = count;
      bits.check();
      if (is_end) {
        this.link(size);
        return size;
      }
    }
    throw damaged();
  }

  /** Inverts the transform: the nth occurrence of a byte in sorted order is linked to its nth occurrence in the text. */
  private link(size: number): void {
    const { table, counts } = this;
    let before = 0;
    for (let letter = 0; letter < LETTERS; letter += 1) {
      const count = counts[letter] ?? 0;
      counts[letter] = before;
      before += count;
    }
    for (let index = 0; index < size; index += 1) {
      const letter = (table[index] ?? 0) & 0xff;
      const to = counts[letter] ?? 0;
      counts[letter] = to + 1;
      table[to] = (table[to] ?? 0) | (index << 8);
    }
  }

  /** Fills `target` with the next bytes. Returns their number. */
  fill(target: Uint8Array): number {
    const { table, random } = this;
    let { left, place, equal, last, repeats, register } = this;
    let to = 0;
    while (to < target.length) {
      if (repeats > 0) {
        const end = Math.min(target.length, to + repeats);
        repeats -= end - to;
        for (; to < end; to += 1) {
          target[to] = last;
          register = (register << 8) ^ (CRC[(register >>> 24) ^ last] ?? 0);
        }
        continue;
      }
      if (left === 0) break;
      left -= 1;
      const entry = table[place] ?? 0;
      place = entry >>> 8;
      let letter = entry & 0xff;
      if (random !== undefined) letter ^= random();
      if (equal === EQUAL_BYTES) {
        repeats = letter;
        equal = 0;
        continue;
      }
      equal = letter === last ? equal + 1 : 1;
      last = letter;
      target[to] = letter;
      register = (register << 8) ^ (CRC[(register >>> 24) ^ letter] ?? 0);
      to += 1;
    }
    this.left = left;
    this.place = place;
    this.equal = equal;
    this.last = last;
    this.repeats = repeats;
    this.register = register;
    return to;
  }
}
