import { CHECKED_PARTS, type Checked, type CheckedPart } from '@palisade/contract/scam-check';
import { CHECKED_SENTENCES, type NotCheckedCode, UNREAD_SENTENCES } from './sentences.ts';

type PartState = 'checked' | NotCheckedCode;

/** Coverage of an input: for each part `checked`, or the reason why it was not checked. Parts that are not listed do not occur in the input. */
export type Coverage = Readonly<Partial<Record<CheckedPart, PartState>>>;

const isUnread = (state: PartState | undefined) => state !== undefined && state in UNREAD_SENTENCES;
const rankOf = (state: PartState | undefined) => (state === undefined ? 0 : state === 'checked' ? 1 : isUnread(state) ? 3 : 2);

/** Merges the coverage of several readers: for each part the worst state counts, and of equally bad states the first. */
export function mergeCoverage(coverages: readonly Coverage[]): Coverage {
  const merged: Partial<Record<CheckedPart, PartState>> = {};
  for (const coverage of coverages)
    for (const part of CHECKED_PARTS) {
      const state = coverage[part];
      if (state !== undefined && rankOf(state) > rankOf(merged[part])) merged[part] = state;
    }
  return merged;
}

/** Whether a part of the input was truncated, encrypted or failed. Then the verdict must not be "nothing found". */
export const hasUnread = (coverage: Coverage): boolean => Object.values(coverage).some(isUnread);

export const hasChecked = (coverage: Coverage): boolean => Object.values(coverage).includes('checked');

/** Coverage as a list for the result, in the order of the contract. */
export function checkedList(coverage: Coverage): Checked[] {
  return CHECKED_PARTS.map((part) => {
    const state = coverage[part];
    if (state === undefined) return { part, state: 'absent', code: null, sentence: CHECKED_SENTENCES.absent[part] };
    if (state === 'checked') return { part, state, code: null, sentence: CHECKED_SENTENCES.checked[part] };
    return { part, state: 'not_checked', code: state, sentence: CHECKED_SENTENCES.not_checked[state] };
  });
}
