import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about alerts. A landed code never changes its meaning or its parameters. */
export const ALERT_REFUSALS = {
  'alert.not_open': { problem: 'conflict', english: 'This alert is no longer open.' },
  'alert.already_resolved': { problem: 'conflict', english: 'This alert is already resolved.' },
  'alert.already_open': { problem: 'conflict', english: 'This alert is already open.' },
  'alert.gone': { problem: 'conflict', english: 'This alert no longer exists.' },
  'alert.not_about_sign_in': { problem: 'conflict', english: 'This alert isn’t about a sign-in.' },
  'alert.reason_about_sign_in': { problem: 'invalid_field', english: 'This alert isn’t about a sign-in. Choose another reason.' },
  'alert.date_passed': { problem: 'invalid_field', english: 'This date has passed. Choose a later one.' },
  'alert.risk_too_long': { problem: 'invalid_field', english: 'You can accept a risk for at most a year.' },
  'alert.critical_not_hidden': { problem: 'invalid_field', english: 'You can’t hide critical alerts.' },
  'alert.no_single_source': {
    problem: 'invalid_field',
    english: 'This alert has no single source, so you can’t hide similar ones.',
  },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField } = refusalsFrom(ALERT_REFUSALS);
