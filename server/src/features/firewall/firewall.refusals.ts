import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about firewall rules. A landed code never changes its meaning or its parameters. */
export const FIREWALL_REFUSALS = {
  'rules.too_many': {
    problem: 'rule_limit',
    english: {
      count: 'added',
      one: 'You have {maximum} rules, the maximum. Delete one to add another.',
      other: 'You have {rules} of {maximum} rules, so {added} more don’t fit. Delete some first.',
    },
    params: { rules: 'number', maximum: 'number', added: 'number' },
  },
  'rules.nothing_to_undo': { problem: 'conflict', english: 'Nothing to undo. Your rules are already as they were.' },
} as const satisfies Record<string, Refusal>;

export const { refuse } = refusalsFrom(FIREWALL_REFUSALS);
