import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Files of System V `pack` (`.z`), which gzip also unpacks: the length, a Huffman tree as the number of leaves per level, the symbols, and the codes. Within a
// level, leaves have the highest codes, so a code is complete once it reaches the first leaf code of its length.

const MAGIC = 0x1f1e;
const HEAD_BYTES = 7;
/** Maximum code length, as in gzip. Bits. */
const LEVELS_MAXIMUM = 25;
const LETTERS_MAXIMUM = 256;
const PIECE_BYTES = 64 * 1024;

interface Tree {
  /** For each code length: the first leaf code and the index of its symbol. */
  levels: { first_code: number; first_letter: number }[];
  letters: Buffer;
  /** The code that ends the file. It has the maximum length. */
  end_code: number;
  bytes: number;
}

/** Reads the tree after the length of the file; undefined if it is invalid. */
function treeOf(head: Buffer): Tree | undefined {
  if (head.length < HEAD_BYTES || head.readUInt16BE(0) !== MAGIC) return undefined;
  const count = head[6] ?? 0;
  if (count === 0 || count > LEVELS_MAXIMUM || head.length < HEAD_BYTES + count) return undefined;
  // The count of the last level is stored reduced by one and does not include the end code.
  const leaves = Array.from({ length: count }, (_, level) => (head[HEAD_BYTES + level] ?? 0) + (level === count - 1 ? 2 : 0));
  const letters_count = leaves.reduce((sum, number) => sum + number, 0) - 1;
  if (letters_count > LETTERS_MAXIMUM) return undefined;
  const levels: Tree['levels'] = [];
  let nodes = 0;
  let letters_before = letters_count + 1;
  for (let level = count - 1; level >= 0; level -= 1) {
    nodes = Math.floor(nodes / 2);
    letters_before -= leaves[level] ?? 0;
    levels[level] = { first_code: nodes, first_letter: letters_before };
    nodes += leaves[level] ?? 0;
    // Nodes come in pairs with one parent.
    if (nodes % 2 !== 0) return undefined;
  }
  if (nodes !== 2) return undefined;
  const from = HEAD_BYTES + count;
  const letters = Buffer.from(head.subarray(from, from + letters_count));
  if (letters.length < letters_count || new Set(letters).size !== letters.length) return undefined;
  const deepest = levels[count - 1]?.first_code ?? 0;
  return { levels, letters, end_code: deepest + (leaves[count - 1] ?? 0) - 1, bytes: from + letters_count };
}

export function isHuffmanPack(head: Buffer): boolean {
  return treeOf(head) !== undefined;
}

const TREE_BYTES_MAXIMUM = HEAD_BYTES + LEVELS_MAXIMUM + LETTERS_MAXIMUM;

/** Unpacks the file. `ended` receives its end. @throws Unreadable if the end code is missing or the length differs from the header. */
export function* unpackedHuffman(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  const head = Buffer.from(reader.at(0, TREE_BYTES_MAXIMUM));
  const tree = treeOf(head);
  if (tree === undefined) throw new Unreadable('damaged');
  const claimed = head.readUInt32BE(2);
  const { levels, letters, end_code } = tree;
  let target = Buffer.allocUnsafe(PIECE_BYTES);
  let length = 0;
  let total = 0;
  let code = 0;
  let level = 0;
  let at = tree.bytes;
  for (const piece of reader.chunks(tree.bytes, reader.size)) {
    for (const byte of piece) {
      at += 1;
      for (let bit = 7; bit >= 0; bit -= 1) {
        code = code * 2 + ((byte >> bit) & 1);
        const { first_code, first_letter } = levels[level] ?? { first_code: Number.POSITIVE_INFINITY, first_letter: 0 };
        if (code < first_code) {
          level += 1;
          continue;
        }
        if (level === levels.length - 1 && code === end_code) {
          ended(at);
          yield target.subarray(0, length);
          if (total !== claimed) throw new Unreadable('damaged');
          return;
        }
        target[length++] = letters[first_letter + code - first_code] ?? 0;
        total += 1;
        code = 0;
        level = 0;
        if (length < PIECE_BYTES) continue;
        yield target;
        target = Buffer.allocUnsafe(PIECE_BYTES);
        length = 0;
      }
    }
  }
  yield target.subarray(0, length);
  throw new Unreadable('damaged');
}
