import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about help pages. A landed code never changes its meaning or its parameters. */
export const HELP_REFUSALS = {
  'help_page.none': { problem: 'not_found', english: 'This help page doesn’t exist.' },
  'help_page.address_taken': {
    problem: 'conflict',
    english: 'Another page uses the address “{slug}”. Choose a different one.',
    params: { slug: 'text' },
  },
} as const satisfies Record<string, Refusal>;

export const { refuse } = refusalsFrom(HELP_REFUSALS);
