import { CHECKED_PARTS, type Checked, type CheckedPart } from '@palisade/contract/scam-check';
import { CHECKED_SENTENCES, type NotCheckedCode, UNREAD_SENTENCES } from './sentences.ts';

type PartState = 'checked' | NotCheckedCode;

/** Coverage of an input as its reader returns it: per part `checked`, or the reason why it was not. Parts that are not named are absent. */
export type Coverage = Readonly<Partial<Record<CheckedPart, PartState>>>;

const isUnread = (state: PartState | undefined) => state !== undefined && state in UNREAD_SENTENCES;
const rankOf = (state: PartState | undefined) => (state === undefined ? 0 : state === 'checked' ? 1 : isUnread(state) ? 3 : 2);

/** The coverage of all readers together. The worst state of each part wins, the first of two that are as bad. */
export function mergeCoverage(coverages: readonly Coverage[]): Coverage {
  const merged: Partial<Record<CheckedPart, PartState>> = {};
  for (const coverage of coverages)
    for (const part of CHECKED_PARTS) {
      const state = coverage[part];
      if (state !== undefined && rankOf(state) > rankOf(merged[part])) merged[part] = state;
    }
  return merged;
}

/** Whether a part of the input was cut, locked or failed. Then no answer may say that nothing was found. */
export const hasUnread = (coverage: Coverage): boolean => Object.values(coverage).some(isUnread);

export const hasChecked = (coverage: Coverage): boolean => Object.values(coverage).includes('checked');

/** The list of an answer, in the order of the contract. */
export function checkedList(coverage: Coverage): Checked[] {
  return CHECKED_PARTS.map((part) => {
    const state = coverage[part];
    if (state === undefined) return { part, state: 'absent', code: null, sentence: CHECKED_SENTENCES.absent[part] };
    if (state === 'checked') return { part, state, code: null, sentence: CHECKED_SENTENCES.checked[part] };
    return { part, state: 'not_checked', code: state, sentence: CHECKED_SENTENCES.not_checked[state] };
  });
}
