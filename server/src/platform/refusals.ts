import type { ParamsOf, Phrase, Template } from '@palisade/contract/phrase';
import type { ProblemCode } from '@palisade/contract/problem';
import { Problem, type ProblemOptions } from './problem.ts';
import { Sentence, sentencesFrom, type With } from './sentence.ts';

/** An entry of a catalog: the sentence of a refusal, and its problem code. */
export interface Refusal extends Template {
  problem: ProblemCode;
}

type Params = Phrase['params'];
/** The parts of a problem other than its sentence. */
type Options = Omit<ProblemOptions, 'says' | 'errors'>;

/** The codes of a catalog whose entries fit `Fit`. */
type CodeOf<Catalog, Fit> = { [C in keyof Catalog & string]: Catalog[C] extends Fit ? C : never }[keyof Catalog & string];
/** An entry whose `{wait}` is the time to wait. */
interface Wait extends Refusal {
  problem: 'too_many_requests';
  params: { readonly wait: 'wait' };
}

const SECOND_MS = 1_000;

/**
 * Functions that create a catalog's refusals: `throw refuse('saved_reply.shortcut_taken', { shortcut })`. An unknown code or a missing value does not compile. A released
 * code never changes its meaning or its parameters: pages translate it.
 */
export function refusalsFrom<const Catalog extends { readonly [Code in keyof Catalog]: Refusal }>(catalog: Catalog) {
  type Code = keyof Catalog & string;
  type FieldCode = CodeOf<Catalog, { problem: 'invalid_field' }>;
  type WaitCode = CodeOf<Catalog, Wait>;

  function refuse<C extends Exclude<Code, FieldCode>>(code: C, ...rest: With<ParamsOf<Catalog[C]>, [options?: Options]>): Problem;
  function refuse(code: Code, params: Params = {}, options: Options = {}): Problem {
    const says = new Sentence(catalog[code], { code, params });
    return new Problem(catalog[code].problem, { ...options, says });
  }

  /** A 422 for one field, whose sentence is complete on its own. */
  function refuseField<C extends FieldCode>(field: string, code: C, ...rest: With<ParamsOf<Catalog[C]>, []>): Problem;
  function refuseField(field: string, code: FieldCode, params: Params = {}): Problem {
    const says = new Sentence(catalog[code], { code, params });
    return new Problem('invalid_field', { says, errors: [{ field, message: says.english, phrase: says.phrase }] });
  }

  /** A 429 with the time until a retry, in words and as `Retry-After`. `wait_ms` is the remaining wait. */
  function refuseFor<C extends WaitCode>(
    wait_ms: number,
    code: C,
    ...rest: With<Omit<ParamsOf<Catalog[C]>, 'wait'>, []>
  ): Problem;
  function refuseFor(wait_ms: number, code: WaitCode, params: Params = {}): Problem {
    const retry_after = Math.max(1, Math.ceil(wait_ms / SECOND_MS));
    const says = new Sentence(catalog[code], { code, params: { ...params, wait: retry_after } });
    return new Problem('too_many_requests', { says, retry_after });
  }

  return { sentence: sentencesFrom(catalog), refuse, refuseField, refuseFor };
}
