import { domainToUnicode } from 'node:url';
import { suffixesOf } from './address.ts';
import { addressWord, type Brand, type BrandWord } from './brands.ts';
import { NOT_LOOK_ALIKES } from './not-look-alikes.ts';
import { skeleton } from './skeleton.ts';

/** Minimum length of a brand word for matches with edits. In shorter words, an edit often gives another legitimate name. */
export const EDITED_LEAST = 5;
/** Words of this length match only with typing errors, because other edits often give legitimate names. */
const SLIPPED_LENGTH = 5;
/** Words from this length also match with two changed letters. */
const TWICE_EDITED_LEAST = 11;
/** Minimum length of a brand's word inside a longer word without a separator. */
const FUSED_LEAST = 5;

/** Letter groups and digits that look like others, and their normal form, which is used on both sides of a comparison. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/rn/gu, 'm'],
  [/vv/gu, 'w'],
  [/cl/gu, 'd'],
  [/nn/gu, 'm'],
  [/[1il|!j]/gu, 'l'],
  [/0/gu, 'o'],
  [/[5$]/gu, 's'],
  [/3/gu, 'e'],
  [/[4@]/gu, 'a'],
  [/7/gu, 't'],
  [/[69]/gu, 'g'],
  [/q/gu, 'g'],
  [/8/gu, 'b'],
  [/2/gu, 'z'],
  [/[uv]/gu, 'v'],
];

function shapeOf(word: string): string {
  let shape = word;
  for (const [drawn, as] of SHAPES) shape = shape.replaceAll(drawn, as);
  return shape;
}

/** Replaces letters of other scripts in a label by the Latin letters that they look like. */
export function latin(label: string): string {
  return addressWord(
    skeleton(domainToUnicode(label) || label)
      .toLowerCase()
      .replaceAll('rn', 'm'),
  );
}

/** Edit distance (Damerau-Levenshtein with adjacent transpositions). Stops above the limit. */
export function editsBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let a = 1; a <= one.length; a += 1) {
    const next = [a];
    for (let b = 1; b <= other.length; b += 1) {
      const same = one[a - 1] === other[b - 1] ? 0 : 1;
      let edits = Math.min((row[b] ?? 0) + 1, (next[b - 1] ?? 0) + 1, (row[b - 1] ?? 0) + same);
      if (a > 1 && b > 1 && one[a - 1] === other[b - 2] && one[a - 2] === other[b - 1])
        edits = Math.min(edits, (before[b - 2] ?? 0) + 1);
      next.push(edits);
    }
    if (Math.min(...next) > limit) return limit + 1;
    [before, row] = [row, next];
  }
  return row[other.length] ?? limit + 1;
}

const KEYBOARD: readonly string[] = [
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
];

/** Whether two keys are neighbours on a keyboard of the eight languages. */
function areNeighbours(one: string, other: string): boolean {
  const isBeside = KEYBOARD.some(
    (row) => row.includes(one) && row.includes(other) && Math.abs(row.indexOf(one) - row.indexOf(other)) === 1,
  );
  const places = [one, other].map(
    (key) => KEYBOARD.slice(0, 3).flatMap((row, line) => (row.includes(key) ? [{ line, column: row.indexOf(key) }] : []))[0],
  );
  const [a, b] = places;
  return (
    isBeside || (a !== undefined && b !== undefined && Math.abs(a.line - b.line) === 1 && Math.abs(a.column - b.column) <= 1)
  );
}

/** Whether a word is a typing error of the other: two swapped letters, a doubled or missing letter, or a neighbouring key. */
export function isSlip(word: string, meant: string): boolean {
  if (word.length === meant.length) {
    const differing = [...word].flatMap((letter, at) => (letter === meant[at] ? [] : [at]));
    const [first = -1, second] = differing;
    if (differing.length === 2 && second === first + 1) return word[first] === meant[second] && word[second] === meant[first];
    return differing.length === 1 && areNeighbours(word[first] ?? '', meant[first] ?? '');
  }
  const [short, long] = word.length < meant.length ? [word, meant] : [meant, word];
  if (long.length - short.length !== 1) return false;
  const at = [...long].findIndex((letter, place) => letter !== short[place]);
  const added = long[at] ?? '';
  const isRest = long.slice(at + 1) === short.slice(at);
  const beside = [long[at - 1], long[at + 1]].filter((letter) => letter !== undefined);
  return (
    isRest && (beside.includes(added) || (word.length > meant.length && beside.some((letter) => areNeighbours(added, letter))))
  );
}

/** Index of the brands that addresses are compared with: the table, and the provider. */
export interface BrandIndex {
  brands: readonly Brand[];
  /** Brands by domain. */
  owners: ReadonlyMap<string, Brand>;
  exact: ReadonlyMap<string, BrandWord>;
  shapes: ReadonlyMap<string, BrandWord>;
  /** Brand words by their forms with one letter removed: two words with edit distance 1 share such a form. */
  shortened: ReadonlyMap<string, BrandWord[]>;
  long: readonly BrandWord[];
  fused: readonly BrandWord[];
}

const withoutOne = (word: string) => [word, ...Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))];

export function indexBrands(brands: readonly Brand[]): BrandIndex {
  const words = brands.flatMap((brand) => brand.words);
  const shortened = new Map<string, BrandWord[]>();
  for (const word of words)
    if (word.text.length >= EDITED_LEAST && !word.isOrdinary)
      for (const form of withoutOne(word.text)) shortened.set(form, [...(shortened.get(form) ?? []), word]);
  return {
    brands,
    // If several brands list a domain, the first one owns it.
    owners: new Map(brands.flatMap((brand) => brand.domains.map((domain) => [domain, brand] as const)).reverse()),
    exact: new Map(words.map((word) => [word.text, word])),
    shapes: new Map(words.map((word) => [shapeOf(word.text), word])),
    shortened,
    long: words.filter(({ text, isOrdinary }) => text.length >= TWICE_EDITED_LEAST && !isOrdinary),
    fused: words.filter(({ text }) => text.length >= FUSED_LEAST).sort((a, b) => b.text.length - a.text.length),
  };
}

/** The brand that owns the host or a parent domain of it. */
export function ownerOf(index: BrandIndex, host: string): Brand | undefined {
  for (const name of suffixesOf(host)) {
    const brand = index.owners.get(name);
    if (brand !== undefined) return brand;
  }
  return undefined;
}

export interface Likeness {
  word: BrandWord;
  way: 'equal' | 'same_shape' | 'one_letter';
}

/** The brand that a word equals, looks like, or is a typing error of. */
export function likeness(index: BrandIndex, word: string, isForeign: boolean): Likeness | undefined {
  const exact = index.exact.get(word);
  if (exact !== undefined) return { word: exact, way: isForeign ? 'same_shape' : 'equal' };
  if (word.length < 3 || NOT_LOOK_ALIKES.has(word)) return undefined;
  const drawn = index.shapes.get(shapeOf(word));
  if (drawn !== undefined && (drawn.text.length >= EDITED_LEAST || (drawn.text.length > 3 && /\d/u.test(word)) || isForeign))
    return { word: drawn, way: 'same_shape' };
  if (word.length < EDITED_LEAST - 1) return undefined;
  for (const form of withoutOne(word))
    for (const near of index.shortened.get(form) ?? [])
      if (near.text.length > SLIPPED_LENGTH ? editsBetween(word, near.text, 1) <= 1 : isSlip(word, near.text))
        return { word: near, way: 'one_letter' };
  if (word.length >= TWICE_EDITED_LEAST - 1)
    for (const near of index.long)
      if (near.text[0] === word[0] && editsBetween(word, near.text, 2) <= 2) return { word: near, way: 'one_letter' };
  return undefined;
}
