import { findPhrases, type Hits, indexPhrases } from '#scam/phrases.ts';
import type { Readable } from '#scam/readable.ts';
import { CONCEPTS, type Concept, type WordList } from './concepts.ts';
import { DUTCH } from './dutch.ts';
import { ENGLISH } from './english.ts';
import { FRENCH } from './french.ts';
import { GERMAN } from './german.ts';
import { ITALIAN } from './italian.ts';
import { POLISH } from './polish.ts';
import { PORTUGUESE } from './portuguese.ts';
import { SPANISH } from './spanish.ts';

const LISTS: Readonly<Record<string, WordList>> = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
  it: ITALIAN,
  pt: PORTUGUESE,
  nl: DUTCH,
  pl: POLISH,
};

const phrasesOf = (list: WordList) =>
  Object.fromEntries(
    CONCEPTS.map((concept) => [concept, (list[concept] ?? '').split(';').flatMap((phrase) => phrase.trim() || [])]),
  );

const INDEX = indexPhrases<Concept>(
  Object.fromEntries(Object.entries(LISTS).map(([language, list]) => [language, phrasesOf(list)])),
  CONCEPTS,
);
/** A language is certain with at least this many frequent words, and twice as many as for any other language. */
const DOUBTLESS_LEAST = 4;

/** Finds the concepts in a text. If its language is certain, only phrases of that language are used, because they can mean something else in another. */
export function findConcepts(text: Readable): Hits<Concept> {
  const [first, second] = frequentWords(text);
  const isDoubtless = first !== undefined && first.count >= Math.max(DOUBTLESS_LEAST, 2 * (second?.count ?? 0));
  return findPhrases(INDEX, text, isDoubtless ? new Set([first.language, 'en']) : undefined);
}

/** The most frequent words of the eight languages. A text with few of them is in another language. */
const FREQUENT_OF: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries({
    en: `the to you your and of is a in for this on we it that with are be have will not can from me my at if or as by please
      has was i he she they do but so what when how just get`,
    de: `der die das und ist sie ihr ihre ihren ich du zu den von mit fur auf nicht ein eine im in es bitte wir uns dein
      deine mein meine hat haben sind wird werden an am bei um wenn dem`,
    es: `el la los las de y que en un una su sus tu es no por para con se le lo al del mi me si ha su esta este como pero mas
      muy yo hola`,
    fr: `le les des et est vous votre vos je tu il elle nous pour dans sur ne pas que qui avec au aux du un une mon ma mes ce
      cette sont etes par si a`,
    it: `il lo gli di e che non un una per con del della al alla su suo sua il mio mia ti mi si ha sono da nel nella questo
      questa le i ciao`,
    pt: `o os as um uma de e que nao para com em no na do da seu sua meu minha voce se por foi tem esta este eu`,
    nl: `de het een en van is u uw je jouw ik wij we op in te dat niet voor met aan om uit bij als zijn er deze dit mijn hoi`,
    pl: `i w z na do nie to sie jest ze o za po dla od jak twoje twoja twoj moj moja czy prosze pan pani ma ten tego aby
      przez juz u mi ci`,
  }).map(([language, words]) => [language, new Set(words.split(/\s+/u))]),
);
const FREQUENT = new Set(Object.values(FREQUENT_OF).flatMap((words) => [...words]));

/** Counts the frequent words of each language in a text, in descending order. */
function frequentWords({ words }: Readable): { language: string; count: number }[] {
  return Object.entries(FREQUENT_OF)
    .map(([language, frequent]) => ({ language, count: words.filter(({ text }) => frequent.has(text)).length }))
    .sort((one, other) => other.count - one.count);
}

/** The language with the most frequent words in a text; undefined without a single best language. */
export function languageOf(text: Readable): string | undefined {
  const [first, second] = frequentWords(text);
  return first === undefined || first.count === 0 || first.count === second?.count ? undefined : first.language;
}

/** Minimum number of words for detecting the language. */
const WORDS_LEAST = 8;
const FREQUENT_SHARE_LEAST = 0.08;
const OTHER_SCRIPT_SHARE = 0.5;

/** Whether the language of a text has a word list. A very short text counts as known. */
export function isKnownLanguage({ words }: Readable): boolean {
  const lettered = words.filter(({ text }) => /\p{L}/u.test(text));
  const foreign = lettered.filter(({ text }) => !/\p{Script=Latin}/u.test(text)).length;
  if (lettered.length > 0 && foreign / lettered.length > OTHER_SCRIPT_SHARE) return false;
  if (lettered.length < WORDS_LEAST) return true;
  return lettered.filter(({ text }) => FREQUENT.has(text)).length / lettered.length >= FREQUENT_SHARE_LEAST;
}
