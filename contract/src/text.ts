/**
 * Forms of a text for comparison. Pages, server and agent compare only in these forms; texts are stored as they were written.
 * https://www.unicode.org/reports/tr15/ (normal forms), https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/ (section 3.13, case folding).
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\u0000-\u007f]*$/;
/** Characters, including those of most names, for which folding equals `toLowerCase`. A test verifies each of them. */
export const PLAIN_LETTERS = [
  ...[
    '\u0001-\u009f',
    '\u00a1-\u00a7',
    '\u00a9\u00ab\u00ac\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb',
    '\u00bf-\u00de',
    '\u00e0-\u012f',
  ],
  ...['\u0134-\u013e', '\u0141-\u0148', '\u014a-\u017e', '\u0400-\u0482', '\u048a-\u052f'],
  ...['\u3041-\u3096', '\u30a1-\u30fe', '\u4e00-\u9fff', '\uac00-\ud7a3'],
].join('');
const PLAIN = new RegExp(`^[${PLAIN_LETTERS}]*$`, 'u');
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** i with a combining dot above, which lower-casing the Turkish capital İ produces. */
const DOTTED_I = /i\u0307/g;

/** Lower-cases NFKD text by way of upper case, so that ß becomes ss and the dotless ı becomes i; a final sigma becomes a normal one. */
function smallLetters(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Whether folding a text is the same as lower-casing it. */
export const isPlainText = (text: string): boolean => ASCII.test(text) || PLAIN.test(text);

/**
 * The form for searching: NFKC, full case folding, without invisible characters. The four Turkish letters i are equal,
 * because a keyboard has only some of them. The database has the same function as `fold_text`.
 */
export function foldText(text: string): string {
  if (isPlainText(text)) return text.toLowerCase();
  const letters = smallLetters(text.replaceAll(IGNORABLE, '').normalize('NFKD'));
  return letters.normalize('NFKD').replaceAll(DOTTED_I, 'i').normalize('NFKC');
}

const ACCENTS = /[\u0300-\u036f]/g;

/**
 * The sort key of names: the letters without accents, then the folded name, so that Ö sorts next to O. Compare keys by code points or by UTF-8 bytes.
 * The database has the same function as `name_order`.
 */
export function nameOrder(name: string): string {
  const folded = foldText(name);
  const letters = folded.normalize('NFKD').replaceAll(ACCENTS, '');
  return ASCII.test(name) ? `${letters}\u0001` : `${letters}\u0001${folded}`;
}

/** Compares by code points, like databases; `<` compares UTF-16 units. */
function compareCodePoints(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  for (const [place, character] of a.entries()) {
    const beside = b[place];
    if (beside === undefined) return 1;
    if (character !== beside) return (character.codePointAt(0) ?? 0) - (beside.codePointAt(0) ?? 0);
  }
  return a.length - b.length;
}

/** Comparison function for sorting names. */
export function compareNames(one: string, other: string): number {
  return compareCodePoints(nameOrder(one), nameOrder(other));
}

/** A character with its combining marks. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gu;

/** The folded text, with the position in the original for each UTF-16 unit. */
export interface FoldedText {
  folded: string;
  /** For each unit of `folded`: start and end of its character in the original, in UTF-16 units. */
  starts: number[];
  ends: number[];
}

/** Folds a text character by character, so that positions in the folded text can be shown in the original. `fold` replaces `foldText` for each character. */
export function foldWithOrigins(text: string, fold: (letter: string) => string = foldText): FoldedText {
  let folded = '';
  const [starts, ends]: [number[], number[]] = [[], []];
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    const part = fold(cluster);
    folded += part;
    for (let unit = 0; unit < part.length; unit += 1) {
      starts.push(index);
      ends.push(index + cluster.length);
    }
  }
  return { folded, starts, ends };
}

/** The first occurrence of the words in the text, in UTF-16 units; undefined if there is none. Both are compared in the form of `foldText`. */
export function findFolded(text: string, words: string): { start: number; end: number } | undefined {
  const wanted = foldText(words);
  if (wanted === '') return undefined;
  const { folded, starts, ends } = foldWithOrigins(text);
  const place = folded.indexOf(wanted);
  const [start, end] = [starts[place], ends[place + wanted.length - 1]];
  return place < 0 || start === undefined || end === undefined ? undefined : { start, end };
}

/** The form in which a password is hashed and compared: NFKC (NIST SP 800-63B-4, section 3.1.1.2), so that it is the same on every keyboard and system. */
export function normalPassword(password: string): string {
  return password.toWellFormed().normalize('NFKC');
}

/** The forms in which a password may have been hashed: normalised, and for older hashes as typed or decomposed (NFD, as macOS had it). */
export function passwordForms(password: string): string[] {
  return [...new Set([normalPassword(password), password, password.normalize('NFD')])];
}

const DASHES = /[\p{Pd}\u2212]/gu;

/**
 * Normalises a typed or pasted code: full-width forms become normal characters, any dash a hyphen, and digits of any script ASCII digits; spaces and invisible
 * characters are removed.
 */
export function typedCode(code: string): string {
  return code
    .replaceAll(DASHES, '-')
    .normalize('NFKC')
    .replaceAll(DASHES, '-')
    .replaceAll(IGNORABLE, '')
    .replaceAll(/\s/gu, '')
    .replaceAll(DECIMAL_DIGITS, digitValue);
}

const DECIMAL_DIGIT = /^\p{Nd}$/u;
const DECIMAL_DIGITS = /\p{Nd}/gu;

/** The value of a decimal digit of any script: Unicode encodes such digits in contiguous ranges from 0 to 9 (section 4.6). */
function digitValue(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let start = point;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(start - 1))) start -= 1;
  return String((point - start) % 10);
}

/** Replaces digits of any script by the digits 0 to 9. */
export const plainDigits = (text: string): string => text.replaceAll(DECIMAL_DIGITS, digitValue);
