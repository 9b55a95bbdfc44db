import type { Phrase } from '@palisade/contract/phrase';
import { PROBLEMS, type ProblemCode, type SecondFactor } from '@palisade/contract/problem';
import type { PhrasedError, PhrasedProblem } from '@palisade/contract/problem-phrase';
import type { Sentence } from './sentence.ts';

export interface ProblemOptions {
  /** A sentence that replaces the code's own, from a catalog of refusals: the fault and the remedy. */
  says?: Sentence;
  errors?: PhrasedError[];
  /** Seconds for `Retry-After`. */
  retry_after?: number;
  /** The second step that completes a half-finished sign-in. */
  second_step?: { challenge: string; methods: SecondFactor[] };
  cause?: unknown;
}

/** Maximum number of faults in an answer, and of bytes in its sentences: a short request must not cause a long answer. */
const FAULTS_MAXIMUM = 10;
const WORDS_MAXIMUM = 4 * 1024;
const DETAIL_MAXIMUM = 1_000;
const MESSAGE_MAXIMUM = 240;
const FIELD_MAXIMUM = 100;

const shortened = (text: string, maximum: number) =>
  text.length > maximum ? `${text.slice(0, maximum - 1).toWellFormed()}…` : text;

function shortPhrase({ code, params }: Phrase, maximum: number): Phrase {
  const short = (value: string | number) => (typeof value === 'string' ? shortened(value, maximum) : value);
  return { code, params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, short(value)])) };
}

const isWithinWords = (words: Pick<PhrasedProblem, 'detail' | 'phrase' | 'errors'>) =>
  Buffer.byteLength(JSON.stringify(words)) <= WORDS_MAXIMUM;

/** The words of a refusal, shortened to the limits of an answer: some contain the caller's own text. A phrase that does not fit is omitted, since the English text says the same. */
function boundedWords({ message, phrase, errors }: Pick<Problem, 'message' | 'phrase' | 'errors'>) {
  const detail = shortened(message, DETAIL_MAXIMUM);
  const phrased = { detail, phrase: shortPhrase(phrase, DETAIL_MAXIMUM) };
  const words = isWithinWords(phrased) ? phrased : { detail };
  if (errors === undefined) return words;
  const kept: PhrasedError[] = [];
  for (const error of errors.slice(0, FAULTS_MAXIMUM)) {
    const short = { field: shortened(error.field, FIELD_MAXIMUM), message: shortened(error.message, MESSAGE_MAXIMUM) };
    const forms =
      error.phrase === undefined ? [short] : [{ ...short, phrase: shortPhrase(error.phrase, MESSAGE_MAXIMUM) }, short];
    const fitting = forms.find((form) => isWithinWords({ ...words, errors: [...kept, form] }));
    if (fitting === undefined) break;
    kept.push(fitting);
  }
  return { ...words, errors: kept };
}

/** An expected refusal. Throw it anywhere below `serve()`; it becomes the problem document of its code. */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  /** The phrase of its sentence: from a catalog, or the problem's own code. */
  readonly phrase: Phrase;
  readonly errors: PhrasedError[] | undefined;
  readonly retry_after: number | undefined;
  readonly second_step: ProblemOptions['second_step'];

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(options.says?.english ?? PROBLEMS[code].detail, { cause: options.cause });
    this.code = code;
    this.phrase = options.says?.phrase ?? { code, params: {} };
    this.errors = options.errors;
    this.retry_after = options.retry_after;
    this.second_step = options.second_step;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** The RFC 9457 document of the problem. */
  document(request_id: string): PhrasedProblem {
    return {
      type: `urn:palisade:problem:${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      code: this.code,
      ...boundedWords(this),
      ...this.second_step,
      request_id,
    };
  }
}
