import { englishOf } from '@palisade/contract/phrase';
import type { PhrasedError, PhrasedProblem } from '@palisade/contract/problem-phrase';
import { Problem } from '#platform/problem.ts';
import { PROBLEM_PHRASES } from '#server/app/phrases.ts';

/** Longer sentences are cut off in an answer, and so are longer values. */
const COMPARED = { detail: 900, message: 200 };
/** A sentence of more bytes leaves its phrase no room. */
const ROOMY_BYTES = 1_500;

/** The fault of a phrase whose English is not the sentence beside it; undefined for a right one. */
function faultOf(phrase: PhrasedError['phrase'], sentence: string, compared: number): string | undefined {
  if (phrase === undefined)
    return Buffer.byteLength(JSON.stringify(sentence)) > ROOMY_BYTES ? undefined : `no phrase says: ${sentence}`;
  const template = PROBLEM_PHRASES[phrase.code];
  if (template === undefined) return `no catalog has the code ${phrase.code}`;
  const english = englishOf(template, phrase.params);
  if (english.slice(0, compared) === sentence.slice(0, compared)) return undefined;
  return `${phrase.code} says: ${english}, but the answer: ${sentence}`;
}

function faultsOf({ code, detail, phrase, errors = [] }: PhrasedProblem): string[] {
  const own = faultOf(phrase, detail, COMPARED.detail);
  // Fields without a phrase are those that the schema of the contract refuses.
  const ofFields = errors.map((error) => error.phrase && faultOf(error.phrase, error.message, COMPARED.message));
  return [own, ...ofFields].flatMap((fault) => (fault === undefined ? [] : [`${code}: ${fault}`]));
}

let faults: string[] = [];
const { document } = Problem.prototype;

/** Each problem that a test's servers answer is looked at, wherever it is sent. */
Problem.prototype.document = function documentOf(request_id) {
  const made = document.call(this, request_id);
  faults.push(...faultsOf(made));
  return made;
};

/** The faults since the last look. */
export function takePhraseFaults(): string[] {
  const taken = faults;
  faults = [];
  return taken;
}
