/**
 * The forms of a text in which two are compared. Pages, server and agent compare in these and in no form of their own; what people wrote is kept as they wrote it.
 * https://www.unicode.org/reports/tr15/ (normal forms), https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/ (section 3.13, case folding).
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\u0000-\u007f]*$/;
/** Ranges of characters for which folding is `toLowerCase`: those of most names. A test holds each of them to that. */
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
/** i with a dot of its own, which the capital of Turkish leaves behind. */
const DOTTED_I = /i\u0307/g;

/** Small letters of a text in NFKD: there and back, so that sharp s is ss; a final sigma is a sigma, and the i without a dot an i. */
function smallLetters(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Whether folding a text is no more than writing it in small letters. */
export const isPlainText = (text: string): boolean => ASCII.test(text) || PLAIN.test(text);

/**
 * The form in which texts are searched: compatibility form (NFKC), full case folding, without characters that take no ink. The four letters i of Turkish are one,
 * since a person who searches has one of them on the keyboard. The database has it as the function `fold_text`.
 */
export function foldText(text: string): string {
  if (isPlainText(text)) return text.toLowerCase();
  const letters = smallLetters(text.replaceAll(IGNORABLE, '').normalize('NFKD'));
  return letters.normalize('NFKD').replaceAll(DOTTED_I, 'i').normalize('NFKC');
}

const ACCENTS = /[\u0300-\u036f]/g;

/**
 * The sort key of names: their letters without accents, then as they are, so that Ö stands beside O. Compare it by code points, or by the bytes of UTF-8.
 * The database has it as the function `name_order`.
 */
export function nameOrder(name: string): string {
  const folded = foldText(name);
  const letters = folded.normalize('NFKD').replaceAll(ACCENTS, '');
  return ASCII.test(name) ? `${letters}\u0001` : `${letters}\u0001${folded}`;
}

/** Compares by code points, as databases do; `<` compares UTF-16 units. */
function compareCodePoints(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  for (const [place, character] of a.entries()) {
    const beside = b[place];
    if (beside === undefined) return 1;
    if (character !== beside) return (character.codePointAt(0) ?? 0) - (beside.codePointAt(0) ?? 0);
  }
  return a.length - b.length;
}

/** For `sort`: the order of names. */
export function compareNames(one: string, other: string): number {
  return compareCodePoints(nameOrder(one), nameOrder(other));
}

/** A letter with the marks on it. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gu;

/** A text as `foldText` has it, and for each UTF-16 unit of it the letter of the original that it came from. */
export interface FoldedText {
  folded: string;
  /** For each unit of `folded`: where its letter begins and ends in the original, in UTF-16 units. */
  starts: number[];
  ends: number[];
}

/** Folds a text letter by letter, so that a place of the folded text can be shown in the original. `fold` writes one letter in another way than `foldText` does. */
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

/** The first position of the words in the text, in UTF-16 units; undefined where it does not. Both are compared as `foldText` has them. */
export function findFolded(text: string, words: string): { start: number; end: number } | undefined {
  const wanted = foldText(words);
  if (wanted === '') return undefined;
  const { folded, starts, ends } = foldWithOrigins(text);
  const place = folded.indexOf(wanted);
  const [start, end] = [starts[place], ends[place + wanted.length - 1]];
  return place < 0 || start === undefined || end === undefined ? undefined : { start, end };
}

/** A password as it is hashed and compared: NFKC (NIST SP 800-63B-4, section 3.1.1.2), so that it is the same on every keyboard and system. */
export function normalPassword(password: string): string {
  return password.toWellFormed().normalize('NFKC');
}

/** The forms in which a password may have been hashed before it was normalised: as it was typed, and with letters taken apart, as macOS had them. */
export function passwordForms(password: string): string[] {
  return [...new Set([normalPassword(password), password, password.normalize('NFD')])];
}

const DASHES = /[\p{Pd}\u2212]/gu;

/**
 * A code that was typed or pasted, without what writing programs put around and between its characters: forms of full width, any dash as a hyphen, no spaces and nothing
 * that takes no ink. Digits of other scripts are digits.
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

/** The value of a decimal digit of any script: they stand in rows of ten, from 0 to 9 (Unicode, section 4.6). */
function digitValue(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let start = point;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(start - 1))) start -= 1;
  return String((point - start) % 10);
}

/** A text with the digits 0 to 9 for those of any other script. */
export const plainDigits = (text: string): string => text.replaceAll(DECIMAL_DIGITS, digitValue);
