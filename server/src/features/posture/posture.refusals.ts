import { PREMIUM_REQUIRED_FOR_SCAN } from '@palisade/contract/anti-hacking';
import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals of the security check. A landed code never changes its meaning or its parameters. */
export const POSTURE_REFUSALS = {
  'security_check.needs_premium': { problem: 'premium_required', english: PREMIUM_REQUIRED_FOR_SCAN },
} as const satisfies Record<string, Refusal>;

export const { sentence } = refusalsFrom(POSTURE_REFUSALS);
