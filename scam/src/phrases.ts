import { comparable, type Readable, type Word } from './readable.ts';

/**
 * A phrase of a word list. Words are compared without case and diacritics. `word*` matches a prefix; `one/other` matches either; `_` stands
 * for up to `GAP_WORDS` words of the same sentence.
 * Phrases are not compiled to regular expressions, so that the time is linear in the number of words.
 */
export type Phrase = string;

const GAP_WORDS = 4;
/** Maximum positions that are kept for one concept. */
const HITS_MAXIMUM = 8;

interface Part {
  text: string;
  isBeginning: boolean;
  /** Up to `GAP_WORDS` words may come before this part. */
  hasGap: boolean;
}

interface Pattern<Concept extends string> {
  concept: Concept;
  /** The language of the word list. */
  language: string;
  parts: Part[];
}

interface Hit {
  start: number;
  end: number;
}

/** The matches of each concept in a text, in order. */
export type Hits<Concept extends string> = Partial<Record<Concept, Hit[]>>;

/** All phrases by their first word. */
export interface PhraseIndex<Concept extends string> {
  whole: Map<string, Pattern<Concept>[]>;
  beginnings: Map<string, Pattern<Concept>[]>;
  longestBeginning: number;
}

const WORDS = /[\p{L}\p{N}@$*/]+|_/gu;

/** Expands the alternatives of a phrase: one list of parts per combination. */
function partsOf(phrase: Phrase): Part[][] {
  let variants: Part[][] = [[]];
  let hasGap = false;
  for (const [token] of phrase.matchAll(WORDS)) {
    if (token === '_') {
      hasGap = true;
      continue;
    }
    const choices = token.split('/').map((choice) => ({
      text: comparable(choice.replace('*', '')),
      isBeginning: choice.endsWith('*'),
      hasGap,
    }));
    variants = variants.flatMap((parts) => choices.map((choice) => [...parts, choice]));
    hasGap = false;
  }
  return variants;
}

export function indexPhrases<Concept extends string>(
  lists: Readonly<Record<string, Readonly<Partial<Record<Concept, readonly Phrase[]>>>>>,
  concepts: readonly Concept[],
): PhraseIndex<Concept> {
  const index: PhraseIndex<Concept> = { whole: new Map(), beginnings: new Map(), longestBeginning: 0 };
  for (const [language, list] of Object.entries(lists))
    for (const concept of concepts)
      for (const phrase of list[concept] ?? [])
        for (const parts of partsOf(phrase)) {
          const [first] = parts;
          if (first === undefined || first.text === '') throw new Error(`the phrase "${phrase}" of ${concept} has no words`);
          const map = first.isBeginning ? index.beginnings : index.whole;
          if (first.isBeginning) index.longestBeginning = Math.max(index.longestBeginning, first.text.length);
          const patterns = map.get(first.text) ?? [];
          patterns.push({ concept, language, parts });
          map.set(first.text, patterns);
        }
  return index;
}

const isPart = (part: Part, text: string) => (part.isBeginning ? text.startsWith(part.text) : text === part.text);
const fits = (part: Part, word: Word) =>
  isPart(part, word.text) || (word.alternative !== undefined && isPart(part, word.alternative));

/** Matches the parts from `part` on at the word `at`. Returns the end; undefined if they do not match. */
function endOf(parts: readonly Part[], part: number, words: readonly Word[], at: number): number | undefined {
  const wanted = parts[part];
  if (wanted === undefined) return at - 1;
  const sentence = words[at - 1]?.sentence;
  for (let place = at; place <= at + (wanted.hasGap ? GAP_WORDS : 0); place += 1) {
    const word = words[place];
    if (word === undefined || word.sentence !== sentence) return undefined;
    if (!fits(wanted, word)) continue;
    const end = endOf(parts, part + 1, words, place + 1);
    if (end !== undefined) return end;
  }
  return undefined;
}

function* candidates<Concept extends string>(index: PhraseIndex<Concept>, text: string): Generator<Pattern<Concept>> {
  yield* index.whole.get(text) ?? [];
  for (let length = Math.min(text.length, index.longestBeginning); length > 0; length -= 1)
    yield* index.beginnings.get(text.slice(0, length)) ?? [];
}

/** Finds the phrases of the given languages in a text; without a set, of all languages. */
export function findPhrases<Concept extends string>(
  index: PhraseIndex<Concept>,
  { words }: Readable,
  languages?: ReadonlySet<string>,
): Hits<Concept> {
  const hits: Hits<Concept> = {};
  for (const [at, word] of words.entries()) {
    const forms = word.alternative === undefined ? [word.text] : [word.text, word.alternative];
    for (const form of forms)
      for (const { concept, language, parts } of candidates(index, form)) {
        if (languages?.has(language) === false) continue;
        const found: Hit[] = hits[concept] ?? [];
        if (found.length >= HITS_MAXIMUM) continue;
        const last = words[endOf(parts, 1, words, at + 1) ?? -1];
        if (last === undefined) continue;
        found.push({ start: word.start, end: last.end });
        hits[concept] = found;
      }
  }
  return hits;
}
