import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Error codes of a server that is not ready. A released code never changes its meaning or its parameters. */
export const STATE_REFUSALS = {
  'readiness.stopping': { problem: 'unavailable', english: 'This server is stopping.' },
  'readiness.scanner_starting': { problem: 'unavailable', english: 'The scanner is starting.' },
} as const satisfies Record<string, Refusal>;

export const { refuse } = refusalsFrom(STATE_REFUSALS);
