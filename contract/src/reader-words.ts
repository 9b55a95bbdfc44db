/**
 * Replacement for a word of a newer server: the first of these words that the page knows in that place. They promise least. A file is then not called clean, an alert not over, a check not passed.
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
  // A rule is shown as one that lets in whatever it may be about.
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

/** The word among these that promises least; undefined when none is known. */
export const wordPromisingLeast = (words: readonly unknown[]): unknown => PROMISING_LEAST.find((word) => words.includes(word));

/** The same, or the first of them. */
export const leastOf = (words: readonly unknown[]): unknown => wordPromisingLeast(words) ?? words[0];
