// Checks the sentences of the product: standard terms, at most 20 words per sentence, no clause in place of a noun. `node scripts/words.mjs` lists the
// faults, and fails if there are any.
import { pathToFileURL } from 'node:url';
import { allSentences } from './sentences.mjs';

const WORDS_MAXIMUM = 20;

/** Exact sentences from the specification or the design, and values of settings. They are not checked. */
const QUOTED = new Set(['Invalid action', 'must be "nobody", "staff", or "everyone"']);
/** Word lists for programs: HTML tags, stop words of a search, and search words of the palette. */
const FOR_PROGRAMS = /^(?:address article aside|a about am an|plan price licence|canned answers|email mail letters)\b/u;

/** Words to avoid, and the standard terms. */
const TERMS = [
  [/\bposture\b/iu, 'security check'],
  [/\b(?:scanning )?engines?\b/iu, 'scanner'],
  [/\blists? of known threats\b/iu, 'threat definitions'],
  [/\b(?:sealed|locked away|out of reach)\b/iu, 'quarantined'],
  [/\bdrills?\b/iu, 'simulated'],
  [/\bsecond (?:steps?|proofs?)\b|\btwo steps\b/iu, 'two-factor'],
  [/\bset-up\b/iu, 'setup'],
  [/\bcanned\b/iu, 'saved reply'],
  [/\bsecond looks?\b/iu, 'server rescan'],
  [/\bmails?\b(?! server)|\bmailed\b/iu, 'email'],
  [/\bsomebody\b/iu, 'someone'],
  [/\bmend(?:s|ed|ing)?\b/iu, 'fix'],
  [/\bt(?:ake|aken|akes|ook) away\b/iu, 'remove'],
  [/\bbeside\b/iu, 'next to'],
  [/\binvalid\b/iu, 'what is wrong, and how to correct it'],
  [/\bcolour\w*/iu, 'color'],
  [/\brecognis\w+/iu, 'recognize'],
  [/\blicences?\b/iu, 'license'],
  [/\benrol(?:s|ment)?\b/iu, 'enroll'],
];

/** Clauses in place of a noun. */
const CLAUSES = [
  /\b(?:whoever|whomever|whatever|nobody|anybody|everybody)\b/iu,
  /\b(?:of ours|of theirs|of yours|none of ours)\b/iu,
  /\bwhat (?:is|was|are) (?:yours|mine|ours|theirs)\b/iu,
  /\b(?:is|are|was|were) taken for\b/iu,
  /\bcomes to\b|\bgo(?:es)? on\b|\bwent on\b|\bby itself\b|\bby themselves\b|\bas ever\b|\banew\b/iu,
  // Allowed in questions and headings, but not in statements.
  /^(?:Who|That which|What (?:is|was|you|it|they|no|one))\b(?=.*\.$)/u,
];

/** @typedef {{ rule: 'term' | 'clause' | 'length', found: string }} Fault */

/** The faults of a text. `…` counts as one word, and link addresses are ignored. @param {string} text @returns {Fault[]} */
export function faultsOf(text) {
  if (QUOTED.has(text) || FOR_PROGRAMS.test(text)) return [];
  const read = text.replaceAll(/\]\([^)]*\)/gu, ']');
  /** @type {Fault[]} */
  const faults = [];
  for (const [word, use] of TERMS) {
    const found = /** @type {RegExp} */ (word).exec(read)?.[0];
    if (found !== undefined) faults.push({ rule: 'term', found: `${found}: use “${use}”` });
  }
  for (const sentence of read.split(/(?<=[.!?:])["”*)]*\s+/u)) {
    for (const clause of CLAUSES) {
      const found = clause.exec(sentence)?.[0];
      if (found !== undefined) faults.push({ rule: 'clause', found });
    }
    const words = sentence.split(/\s+/u).filter((word) => /[\p{L}\p{N}…]/u.test(word)).length;
    if (words > WORDS_MAXIMUM) faults.push({ rule: 'length', found: `${words} words` });
  }
  return faults;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { path, sentences } of allSentences())
    for (const sentence of sentences)
      for (const { found } of faultsOf(sentence)) {
        process.stdout.write(`${path}: [${found}] ${sentence}\n`);
        process.exitCode = 1;
      }
}
