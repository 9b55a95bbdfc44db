import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about notices in a browser. A landed code never changes its meaning or its parameters. */
export const PUSH_REFUSALS = {
  'notices.unknown_service': { problem: 'invalid_field', english: 'We don’t know the push service of this browser.' },
  'notices.other_key': { problem: 'invalid_field', english: 'The browser sent a key of another kind.' },
  'notices.other_person': {
    problem: 'conflict',
    english: 'Another person gets notices in this browser. Reload the page and try again.',
  },
  'notices.none_before': { problem: 'not_found', english: 'This browser got no notices for you before.' },
  'notices.too_many': {
    problem: 'conflict',
    english: '{maximum} browsers get notices, the most. Turn one off first.',
    params: { maximum: 'number' },
  },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField } = refusalsFrom(PUSH_REFUSALS);
