import { formatSpan } from '@palisade/contract/intl';
import { type FieldError, PROBLEMS, type ProblemCode, type ProblemDocument, type SecondFactor } from '@palisade/contract/problem';

interface ProblemOptions {
  /** One sentence in place of the code's own: the fault and the remedy. */
  detail?: string;
  errors?: FieldError[];
  /** Seconds for `Retry-After`. */
  retry_after?: number;
  /** The second step that a half-finished sign-in continues with. */
  second_step?: { challenge: string; methods: SecondFactor[] };
  cause?: unknown;
}

/** The most faults and bytes of sentences in an answer: a short request must not cause a long one. */
const FAULTS_MAXIMUM = 10;
const WORDS_MAXIMUM = 4 * 1024;
const DETAIL_MAXIMUM = 1_000;
const MESSAGE_MAXIMUM = 240;
const FIELD_MAXIMUM = 100;

const shortened = (text: string, maximum: number) =>
  text.length > maximum ? `${text.slice(0, maximum - 1).toWellFormed()}…` : text;

/** As much of a refusal as an answer holds: some callers' own words stand in it. */
function boundedWords({ message, errors }: Pick<Problem, 'message' | 'errors'>): { detail: string; errors?: FieldError[] } {
  const detail = shortened(message, DETAIL_MAXIMUM);
  if (errors === undefined) return { detail };
  const kept: FieldError[] = [];
  for (const error of errors.slice(0, FAULTS_MAXIMUM)) {
    const short = { field: shortened(error.field, FIELD_MAXIMUM), message: shortened(error.message, MESSAGE_MAXIMUM) };
    if (Buffer.byteLength(JSON.stringify({ detail, errors: [...kept, short] })) > WORDS_MAXIMUM) break;
    kept.push(short);
  }
  return { detail, errors: kept };
}

/** An expected refusal. Throw it anywhere below `serve()`; it becomes the problem document of its code. */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: FieldError[] | undefined;
  readonly retry_after: number | undefined;
  readonly second_step: ProblemOptions['second_step'];

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(options.detail ?? PROBLEMS[code].detail, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.retry_after = options.retry_after;
    this.second_step = options.second_step;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** The RFC 9457 document. */
  document(request_id: string): ProblemDocument {
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

/** A 422 for one field. `message` is a sentence that stands alone. */
export function invalidField(field: string, message: string): Problem {
  return new Problem('invalid_field', { detail: message, errors: [{ field, message }] });
}

const SECOND_MS = 1_000;
/** From how much on a wait is told in which unit, so that no more than two digits are to be read. */
const UNITS = [
  { name: 'day', seconds: 86_400, from: 172_800 },
  { name: 'hour', seconds: 3_600, from: 7_200 },
  { name: 'minute', seconds: 60, from: 60 },
] as const;

const SECOND = { name: 'second', seconds: 1 } as const;

/** "45 seconds", "10 minutes", "3 hours": never less than it is. */
function inWords(seconds: number): string {
  const { name, seconds: unit } = UNITS.find(({ from }) => seconds >= from) ?? SECOND;
  const count = Math.ceil(seconds / unit);
  return formatSpan(count, name);
}

/** A 429 with a time to retry, in words and as `Retry-After`. `reason` is a sentence, `wait_ms` the rest of the wait. */
export function tooManyRequests(reason: string, wait_ms: number): Problem {
  const retry_after = Math.max(1, Math.ceil(wait_ms / SECOND_MS));
  return new Problem('too_many_requests', { detail: `${reason} Try again in ${inWords(retry_after)}.`, retry_after });
}
