// Holds the sentences of the product to the rules of plain words: standard terms, at most 20 words a sentence, a noun in place of a clause.
// `node scripts/words.mjs` fails where a folder has more faults than scripts/words-counts.json allows; `--list [folder]` names each;
// `--lower` writes lower counts. A folder without a count has none, and the counts only fall.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './node-runtime.mjs';
import { allSentences } from './sentences.mjs';

const COUNTS = join(ROOT, 'scripts/words-counts.json');
const WORDS_MAXIMUM = 20;

/** Sentences that the specification or the design quotes, and values of settings. They stay to the letter. */
const QUOTED = new Set(['Invalid action', 'must be "nobody", "staff", or "everyone"']);
/** Lists of words that a program reads: tags of HTML, and words that a search leaves out. */
const FOR_PROGRAMS = /^(?:address article aside|a about am an)\b/u;

/** A word that is not used, and the standard word. */
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

/** Constructions that stand in place of a noun. */
const CLAUSES = [
  /\b(?:whoever|whomever|whatever|nobody|anybody|everybody)\b/iu,
  /\b(?:of ours|of theirs|of yours|none of ours)\b/iu,
  /\bwhat (?:is|was|are) (?:yours|mine|ours|theirs)\b/iu,
  /\b(?:is|are|was|were) taken for\b/iu,
  /\bcomes to\b|\bgo(?:es)? on\b|\bwent on\b|\bby itself\b|\bby themselves\b|\bas ever\b|\banew\b/iu,
  // A question and a heading may begin so; a statement names its subject.
  /^(?:Who|That which|What (?:is|was|you|it|they|no|one))\b(?=.*\.$)/u,
];

/**
 * @typedef {{ rule: 'term' | 'clause' | 'length', found: string }} Fault
 * @typedef {{ path: string, sentence: string, fault: Fault }} Finding
 */

/** The faults of a text of the list; `…` in it stands for one inserted word, and the address of a link is not read. @param {string} text @returns {Fault[]} */
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

/** The folder that a file is counted in: a feature, or a part of a workspace. @param {string} path */
export function folderOf(path) {
  const parts = path.split('/').slice(0, -1);
  return parts.slice(0, parts[2] === 'features' ? 4 : 3).join('/');
}

/** Findings of every folder that has some. @returns {Map<string, Finding[]>} */
export function readAll() {
  /** @type {Map<string, Finding[]>} */
  const all = new Map();
  for (const { path, sentences } of allSentences().flatMap(({ files }) => files))
    for (const sentence of sentences)
      for (const fault of faultsOf(sentence)) {
        const folder = folderOf(path);
        const findings = all.get(folder) ?? [];
        findings.push({ path, sentence, fault });
        all.set(folder, findings);
      }
  return all;
}

/** Folders that have more faults than they may. @param {Map<string, readonly unknown[]>} all @param {Record<string, number>} allowed */
export function tooMany(all, allowed) {
  return [...all]
    .filter(([folder, findings]) => findings.length > (allowed[folder] ?? 0))
    .map(
      ([folder, findings]) =>
        `${folder}: ${findings.length} faults in sentences, ${allowed[folder] ?? 0} are allowed. See them with: node scripts/words.mjs --list ${folder}`,
    );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const all = readAll();
  /** @type {Record<string, number>} */
  const allowed = JSON.parse(readFileSync(COUNTS, 'utf8'));
  if (process.argv[2] === '--list') {
    for (const [folder, findings] of all)
      if (process.argv[3] === undefined || process.argv[3] === folder)
        for (const { path, sentence, fault } of findings) process.stdout.write(`${path}: [${fault.found}] ${sentence}\n`);
  } else if (process.argv[2] === '--lower') {
    const lower = Object.entries(allowed)
      .map(([folder, count]) => /** @type {const} */ ([folder, Math.min(count, all.get(folder)?.length ?? 0)]))
      .filter(([, count]) => count > 0);
    writeFileSync(COUNTS, `${JSON.stringify(Object.fromEntries(lower), null, 2)}\n`);
  } else {
    const faults = tooMany(all, allowed);
    for (const fault of faults) process.stdout.write(`palisade: ${fault}\n`);
    const count = [...all.values()].reduce((sum, findings) => sum + findings.length, 0);
    process.stdout.write(`${count} faults in sentences of ${all.size} folders\n`);
    process.exitCode = faults.length > 0 ? 1 : 0;
  }
}
