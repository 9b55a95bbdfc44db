import { CHECKED_PARTS, type Checked, type CheckedPart } from '@palisade/contract/scam-check';
import { CHECKED_SENTENCES, type NotCheckedCode } from './sentences.ts';

/** Coverage of one input: per part `checked`, or the reason why it was not. Parts that are not named are absent. */
export type Coverage = Partial<Record<CheckedPart, 'checked' | NotCheckedCode>>;

/** The list of an answer, in the order of the contract. */
export function checkedList(coverage: Coverage): Checked[] {
  return CHECKED_PARTS.map((part) => {
    const state = coverage[part];
    if (state === undefined) return { part, state: 'absent', code: null, sentence: CHECKED_SENTENCES.absent[part] };
    if (state === 'checked') return { part, state, code: null, sentence: CHECKED_SENTENCES.checked[part] };
    return { part, state: 'not_checked', code: state, sentence: CHECKED_SENTENCES.not_checked[state] };
  });
}
