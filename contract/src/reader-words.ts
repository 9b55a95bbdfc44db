/**
 * Substitutes for an enum value that the page does not know: the first of these in the enum. They promise least: the value never shows a file as clean, an alert as resolved, or a check as passed.
 */
const PROMISING_LEAST: readonly unknown[] = [
  'other',
  'unknown',
  'pending',
  'open',
  'high',
  'issues_found',
  'waiting',
  'down',
  'customer',
  'public',
  'expired',
  'cancelled',
  'server',
  'monitor',
  'internal',
  // An unknown rule is shown as one that allows all inbound traffic.
  'all',
  'inbound',
  'allow',
  'support',
  'accepted_risk',
  'requests',
  'source',
  'wrong_passwords',
  'no_entry',
  'alarm',
  'yara',
  'there',
  'low',
  'wasm',
  'recovery_code',
];

/** The first of `PROMISING_LEAST` that is among the words; undefined if none is. */
export const wordPromisingLeast = (words: readonly unknown[]): unknown => PROMISING_LEAST.find((word) => words.includes(word));

/** The same; the first word if none is. */
export const leastOf = (words: readonly unknown[]): unknown => wordPromisingLeast(words) ?? words[0];
