import { foldWithOrigins } from '@palisade/contract/text';
import { skeleton } from './skeleton.ts';

/** A word in the form for comparison with phrases, and its position in the original (UTF-16 code units). */
export interface Word {
  text: string;
  /** The word with digits and symbols replaced by the letters that they imitate (`acc0unt`); absent if there are none. */
  alternative?: string;
  start: number;
  end: number;
  /** Number of the sentence. */
  sentence: number;
}

/** A position with hidden characters: letters of another alphabet inside a word, or invisible characters between letters. */
interface HiddenLetters {
  kind: 'mixed_alphabets' | 'no_ink' | 'reversed';
  start: number;
  end: number;
}

export interface Readable {
  original: string;
  words: Word[];
  hidden: HiddenLetters[];
}

/** Letters without a Unicode decomposition, and their usual replacements. */
const WITHOUT_MARK: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd', æ: 'ae', œ: 'oe', ı: 'i', þ: 'th', ð: 'd' };
const IMITATIONS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
/** The end of a sentence between two words. A dot inside a number or a domain does not count. */
const SENTENCE_END = /[.!?…]\s|[\n\r;]|[.!?]$/u;
const WORD = /[\p{L}\p{N}@$]+/gu;
const MARKS = /\p{M}+/gu;
/** Maximum combining marks of a letter. More are drawn over neighbouring lines and take time (stream-safe text of Unicode UAX 15 allows 30). */
const MARKS_MAXIMUM = 8;
const MANY_MARKS = new RegExp(`(\\p{M}{${MARKS_MAXIMUM}})\\p{M}+`, 'gu');
/** Arabic ligatures for whole phrases: they decompose to 18 and 8 letters, so a text of them would become up to 18 times as long. */
export const LONG_SIGNS = /[\ufdfa\ufdfb]/gu;
const BETWEEN_LETTERS = /(?<=\p{Script=Latin})[\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff]+(?=\p{Script=Latin})/gu;
const REVERSED = /[\u202d\u202e]/gu;
const LATIN = /\p{Script=Latin}/u;
const LOOKS_LATIN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u;
const NOT_WORDS = /^[@$]+$/u;
/** At least this many single letters, separated by one space or symbol, are one word with inserted separators. */
const PULLED_APART_LEAST = 4;

function withoutMarks(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(MARKS, '');
  return [...bare].map((letter) => WITHOUT_MARK[letter] ?? letter).join('');
}

/** The form for comparing phrases and words: case-folded, without combining marks. */
export function comparable(text: string): string {
  return withoutMarks(foldWithOrigins(text).folded);
}

function imitated(word: string): string | undefined {
  if (!/\p{L}/u.test(word) || !/[0134557@$]/u.test(word) || word.length < 3) return undefined;
  return [...word].map((sign) => IMITATIONS[sign] ?? sign).join('');
}

/** Joins separated letters such as `p a r c e l`, which hide a word from programs. */
function joinPulledApart(words: Word[], original: string): Word[] {
  const joined: Word[] = [];
  for (let at = 0; at < words.length; ) {
    let end = at;
    while (
      words[end] !== undefined &&
      words[end]?.text.length === 1 &&
      /\p{L}/u.test(words[end]?.text ?? '') &&
      (end === at || isOneSign(original, words[end - 1], words[end]))
    )
      end += 1;
    const [first, last] = [words[at], words[end - 1]];
    if (first !== undefined && last !== undefined && end - at >= PULLED_APART_LEAST) {
      const text = words
        .slice(at, end)
        .map((word) => word.text)
        .join('');
      joined.push({ text, start: first.start, end: last.end, sentence: first.sentence });
      at = end;
    } else {
      if (first !== undefined) joined.push(first);
      at += 1;
    }
  }
  return joined;
}

function isOneSign(original: string, before: Word | undefined, after: Word | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  return after.start - before.end === 1 && /[ ._*-]/u.test(original.charAt(before.end));
}

function hiddenLetters(text: string): HiddenLetters[] {
  const found: HiddenLetters[] = [];
  for (const { index, 0: signs } of text.matchAll(BETWEEN_LETTERS))
    found.push({ kind: 'no_ink', start: index, end: index + signs.length });
  for (const { index } of text.matchAll(REVERSED)) found.push({ kind: 'reversed', start: index, end: index + 1 });
  return found;
}

/** Splits a text into words, without tricks that hide words from programs. */
export function readText(original: string): Readable {
  // Excess marks are replaced by characters of the same length, so that positions stay the same.
  const plain = original
    .replaceAll(MANY_MARKS, (all, kept: string) => kept.padEnd(all.length, '\u0000'))
    .replaceAll('\u0000', '\u00ad')
    .replaceAll(LONG_SIGNS, ' ');
  const { folded, starts, ends } = foldWithOrigins(plain);
  const hidden = hiddenLetters(original);
  const words: Word[] = [];
  let [sentence, before] = [0, 0];
  for (const { 0: run, index } of folded.matchAll(WORD)) {
    if (SENTENCE_END.test(folded.slice(before, index))) sentence += 1;
    before = index + run.length;
    const [start, end] = [starts[index] ?? 0, ends[index + run.length - 1] ?? original.length];
    if (NOT_WORDS.test(run)) continue;
    let text = withoutMarks(run);
    if (LOOKS_LATIN.test(text) && LATIN.test(text)) {
      hidden.push({ kind: 'mixed_alphabets', start, end });
      text = skeleton(text).toLowerCase();
    }
    const alternative = imitated(text);
    words.push({ text, start, end, sentence, ...(alternative === undefined ? {} : { alternative }) });
  }
  return { original, words: joinPulledApart(words, original), hidden };
}
