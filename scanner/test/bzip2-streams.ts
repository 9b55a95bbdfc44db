import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { bzip2Streams } from '#scanner/formats/compression/bzip2.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { examinedTexts } from './examined.ts';
import { noise } from './files.ts';

// Streams of bzip2 for tests: some that its program made, and some that no program makes.

const lines = (count: number) =>
  Buffer.from(Array.from({ length: count }, (_, index) => `line ${index * index} of the file\n`).join(''));

/** Contents of the streams in bzip2-streams.json, which bzip2 1.0.8 made. */
export const CONTENTS: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  'one byte': Buffer.from('a'),
  'a text': lines(200),
  'all letters': Buffer.concat([1, 3, 5, 7].map((step) => Buffer.from(Array.from({ length: 256 }, (_, index) => index * step)))),
  runs: Buffer.concat(
    [1, 2, 3, 4, 5, 6, 254, 255, 256, 257, 258, 259, 260, 300, 511, 518, 519, 1000].map((length, index) =>
      Buffer.alloc(length, index % 3),
    ),
  ),
  'bytes by chance': noise(600),
  /** With blocks of 100,000 bytes. */
  'several blocks': Buffer.alloc(250_000, lines(40)),
};

const STREAMS = z
  .record(z.string(), z.base64())
  .parse(JSON.parse(readFileSync(new URL('./bzip2-streams.json', import.meta.url), 'utf8')));
export const streamOf = (name: string) => Buffer.from(STREAMS[name] ?? '', 'base64');

/** Unpacks streams. Answers their bytes, the end of the last one, and the error. */
export function unpacked(bytes: Buffer, budget = new Budget(SCAN_LIMITS, bytes.length)) {
  const pieces: Buffer[] = [];
  let end = 0;
  let failure: unknown;
  try {
    const read = (at: number, length: number) => bytes.subarray(at, at + length);
    for (const piece of bzip2Streams(read, budget, (at) => (end = at))) {
      budget.addUnpacked(piece.length, 0, 0);
      pieces.push(piece);
    }
  } catch (error) {
    failure = error;
  }
  return { content: Buffer.concat(pieces), end, failure };
}

/** Reads a file, and answers what was unread, and the contents of its members. */
export async function read(bytes: Buffer) {
  const { unread, coverage, texts } = await examinedTexts(bytes, { name: 'file.bz2', match: () => [] });
  const contents = texts.slice(1).map((text) => Buffer.from(text, 'latin1'));
  return { unread, contents, members: coverage.members_total };
}

class BitWriter {
  private readonly bits: number[] = [];

  add(value: number, count: number): void {
    for (let place = count - 1; place >= 0; place -= 1) this.bits.push(Math.floor(value / 2 ** place) % 2);
  }

  bytes(): Buffer {
    const bytes = Buffer.alloc(Math.ceil(this.bits.length / 8));
    for (const [index, bit] of this.bits.entries()) bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (bit << (7 - (index & 7)));
    return bytes;
  }
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

function crcOf(bytes: Buffer): number {
  let crc = -1;
  for (const byte of bytes) crc = (crc << 8) ^ (CRC_TABLE[(crc >>> 24) ^ byte] ?? 0);
  return ~crc >>> 0;
}

/** The code of no symbol, where a tree leaves some. */
const NO_SYMBOL = -1;

/** A block as it is written. Missing fields follow from the text. */
export interface MadeBlock {
  /** Its runs are packed already. */
  text: Buffer;
  /** The bytes that a reader gives for it. */
  plain: Buffer;
  is_random?: boolean;
  first?: number;
  /** Each letter sorted by what follows it. */
  column?: Buffer;
  /** Instead of those of the text. */
  symbols?: readonly number[];
  /** Bits of the codes, for each tree. */
  lengths?: readonly (readonly number[])[];
  trees_count?: number;
  /** Places of trees in the list of the last used ones. */
  selectors?: readonly number[];
  has_letters?: boolean;
  crc?: number;
}

/** The letters of a text, each sorted by what follows it, and the place of the whole text. */
function sorted(text: Buffer): { column: Buffer; first: number } {
  const twice = Buffer.concat([text, text]);
  const row = (start: number) => twice.subarray(start, start + text.length);
  const starts = [...text.keys()].sort((one, other) => Buffer.compare(row(one), row(other)));
  return { column: Buffer.from(starts.map((start) => twice[start + text.length - 1] ?? 0)), first: starts.indexOf(0) };
}

/** The digits of a run, which are symbols 0 and 1. */
function runOf(length: number): number[] {
  const digits: number[] = [];
  for (let left = length; left > 0; left = (left - 1) >> 1) digits.push((left - 1) & 1);
  return digits;
}

/** Places of letters in the list of the last used ones, of which the first has runs as numbers of digits 1 and 2, and the end. */
function symbolsOf(column: Buffer, letters: readonly number[]): number[] {
  const list = [...letters];
  const symbols: number[] = [];
  let run = 0;
  const endRun = () => {
    symbols.push(...runOf(run));
    run = 0;
  };
  for (const letter of column) {
    const place = list.indexOf(letter);
    if (place === 0) {
      run += 1;
      continue;
    }
    endRun();
    symbols.push(place + 1);
    list.splice(place, 1);
    list.unshift(letter);
  }
  endRun();
  return [...symbols, letters.length + 1];
}

/** Codes of these lengths, the shortest first, and of one length in the order of the symbols. */
function codesOf(lengths: readonly number[]): number[] {
  const codes = lengths.map(() => 0);
  let code = 0;
  for (let length = 1; length <= 20; length += 1, code *= 2)
    for (const [symbol, bits] of lengths.entries()) if (bits === length) codes[symbol] = code++;
  return codes;
}

function addTree(to: BitWriter, lengths: readonly number[]): void {
  let length = lengths[0] ?? 0;
  to.add(length, 5);
  for (const wanted of lengths) {
    for (; length < wanted; length += 1) to.add(0b10, 2);
    for (; length > wanted; length -= 1) to.add(0b11, 2);
    to.add(0, 1);
  }
}

function addBlock(to: BitWriter, block: MadeBlock): void {
  const { first, column } = block.column === undefined ? sorted(block.text) : { first: 0, column: block.column };
  const letters = block.has_letters === false ? [] : [...new Set(column)].sort((one, other) => one - other);
  const symbols = block.symbols ?? symbolsOf(column, letters);
  const even = new Array<number>(letters.length + 2).fill(Math.ceil(Math.log2(letters.length + 2)));
  const trees = block.lengths ?? [even, even];
  const groups = Math.ceil(symbols.length / 50);
  const selectors = block.selectors ?? new Array<number>(groups).fill(0);
  to.add(0x314159265359, 48);
  to.add(block.crc ?? crcOf(block.plain), 32);
  to.add(block.is_random === true ? 1 : 0, 1);
  to.add(block.first ?? first, 24);
  const rows = [...Array(16).keys()].map((row) => letters.filter((letter) => letter >> 4 === row));
  for (const row of rows) to.add(row.length > 0 ? 1 : 0, 1);
  for (const row of rows)
    if (row.length > 0)
      for (let column_at = 0; column_at < 16; column_at += 1) to.add(row.some((one) => (one & 15) === column_at) ? 1 : 0, 1);
  to.add(block.trees_count ?? trees.length, 3);
  to.add(selectors.length, 15);
  const list = [...trees.keys()];
  const chosen = selectors.map((place) => {
    to.add(2 ** (place + 1) - 2, place + 1);
    const [tree = 0] = list.splice(place, 1);
    list.unshift(tree);
    return tree;
  });
  for (const tree of trees) addTree(to, tree);
  const codes = trees.map(codesOf);
  for (const [index, symbol] of symbols.entries()) {
    if (symbol === NO_SYMBOL) {
      to.add(2 ** 20 - 1, 20);
      continue;
    }
    const tree = chosen[Math.floor(index / 50)] ?? 0;
    to.add(codes[tree]?.[symbol] ?? 0, trees[tree]?.[symbol] ?? 0);
  }
}

/** A stream of these blocks. `level`: its blocks have so many times 100,000 bytes. */
export function madeStream(blocks: readonly MadeBlock[], { level = 1, crc }: { level?: number; crc?: number } = {}): Buffer {
  const to = new BitWriter();
  for (const byte of Buffer.from(`BZh${level}`)) to.add(byte, 8);
  let all = 0;
  for (const block of blocks) {
    addBlock(to, block);
    all = ((all << 1) | (all >>> 31)) ^ (block.crc ?? crcOf(block.plain));
  }
  to.add(0x177245385090, 48);
  to.add(crc ?? all >>> 0, 32);
  return to.bytes();
}

const WORDS = Buffer.from('some words, and some other words, which are harmless');
/** Its letters, two digits of runs without the first letter, and the end. */
const SYMBOLS = new Set(WORDS).size + 2;
const END = SYMBOLS - 1;
/** A number of bits for each symbol. */
const bits = (length: number, others: Readonly<Record<number, number>> = {}) =>
  Array.from({ length: SYMBOLS }, (_, symbol) => others[symbol] ?? length);
const words = (parts: Partial<MadeBlock> = {}): MadeBlock => ({ text: WORDS, plain: WORDS, ...parts });
/** A block of symbols. Its letters are those of `WORDS`, or `a` alone. */
const symbolsOnly = (symbols: readonly number[], plain: Buffer, letters = WORDS): MadeBlock => ({
  text: plain,
  plain,
  column: letters,
  symbols: [...symbols, new Set(letters).size + 1],
});
const ONE_LETTER = Buffer.from('a');

/** A text with the changes of a block that was hard to sort: of the bytes that bzip2's first numbers name (619, then 720). */
const LONG = Buffer.alloc(1400, 'a text that is long enough for both of them. ');
const CHANGED = Buffer.from(LONG);
for (const at of [619 - 2, 619 - 2 + 720]) CHANGED[at] = (CHANGED[at] ?? 0) ^ 1;
const MANY = noise(5000);
const LONG_SYMBOLS = new Set(LONG).size + 2;
const SIX_TREES = [5, 6, 7, 8, 9, 12].map((length) => new Array<number>(LONG_SYMBOLS).fill(length));
/** 20,000 times four equal bytes and the number of more. */
const LONGEST_RUN = { packed: 100_000, unpacked: Buffer.alloc(20_000 * (4 + 0x61), 'a') };

/** Streams that no program makes, and that bzip2 unpacks. */
export const UNUSUAL: Readonly<Record<string, readonly MadeBlock[]>> = {
  'an even tree': [words()],
  'two blocks': [words(), words()],
  'a text that was changed before it was sorted': [{ text: CHANGED, plain: LONG, is_random: true }],
  'codes of 20 bits': [words({ lengths: [bits(20), bits(20)] })],
  'codes of every length': [
    words({ lengths: [Array.from({ length: SYMBOLS }, (_, symbol) => Math.min(20, 1 + symbol)), bits(5)] }),
  ],
  'codes whose lengths fall': [
    words({ lengths: [Array.from({ length: SYMBOLS }, (_, symbol) => Math.max(4, 18 - symbol)), bits(5)] }),
  ],
  'a tree of too many codes without use': [words({ lengths: [bits(5), bits(1)] })],
  'a tree of too many codes, of which those that fit are used': [
    { ...symbolsOnly([0], Buffer.from(' ')), lengths: [bits(2, { [END]: 1 }), bits(5)] },
  ],
  'more selectors than a block needs': [words({ selectors: new Array<number>(18_500).fill(0) })],
  'six trees in turn': [
    { text: CHANGED, plain: CHANGED, lengths: SIX_TREES, selectors: new Array<number>(40).fill(SIX_TREES.length - 1) },
  ],
  'thousands of letters from far back': [{ text: MANY, plain: MANY }],
  'letters that lead in circles': [{ text: Buffer.from('aa'), plain: Buffer.from('aa'), column: Buffer.from('ab') }],
  'the longest run': [symbolsOnly(runOf(LONGEST_RUN.packed), LONGEST_RUN.unpacked, ONE_LETTER)],
};

const RUN_OF_FOUR = Buffer.from('aaaa');

/** Damaged blocks, and the bytes that are given of them. */
export const DAMAGED: Readonly<Record<string, { block: MadeBlock; given?: Buffer }>> = {
  'a wrong checksum': { block: words({ crc: 1 }), given: WORDS },
  'a place outside of its text': { block: words({ first: WORDS.length }) },
  'the highest place': { block: words({ first: 2 ** 24 - 1 }) },
  'no letters': { block: { ...symbolsOnly([], WORDS), has_letters: false } },
  'no text': { block: symbolsOnly([], WORDS) },
  'no tree': { block: words({ trees_count: 0 }) },
  'one tree': { block: words({ trees_count: 1 }) },
  'seven trees': { block: words({ trees_count: 7 }) },
  'no selectors': { block: words({ selectors: [] }) },
  'a selector of no tree': { block: words({ selectors: [2, 0] }) },
  'too few selectors': { block: words({ selectors: [0] }) },
  'a code without bits': { block: words({ lengths: [bits(5), bits(5, { 3: 0 })] }) },
  'a code of 21 bits': { block: words({ lengths: [bits(5), bits(5, { 3: 21 })] }) },
  'a code of 31 bits': { block: words({ lengths: [bits(5), bits(31)] }) },
  'a code without a symbol': { block: symbolsOnly([2, 3, NO_SYMBOL], WORDS) },
  'a run past its end': { block: symbolsOnly(runOf(LONGEST_RUN.packed + 1), WORDS, ONE_LETTER) },
  'a run of endless digits': { block: symbolsOnly(new Array<number>(40).fill(1), WORDS, ONE_LETTER) },
  'a letter past its end': { block: symbolsOnly([...runOf(LONGEST_RUN.packed), 2], WORDS) },
  'four equal letters without the number of more': { block: { text: RUN_OF_FOUR, plain: RUN_OF_FOUR }, given: RUN_OF_FOUR },
};

/** 900,000 times the letter ff: with 255 more behind each four of them 46 MB. Its checksum is a wrong one. */
export const LONGEST_BLOCK: MadeBlock = {
  text: Buffer.alloc(0),
  plain: Buffer.alloc(0),
  column: Buffer.from([0xff]),
  symbols: [...runOf(900_000), 2],
};

/** The bytes that these blocks unpack to. */
export const plainOf = (blocks: readonly MadeBlock[]) => Buffer.concat(blocks.map(({ plain }) => plain));
