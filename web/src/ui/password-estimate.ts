import { isOnlyNames, namesAround } from '@palisade/contract/password-names';
import { normalPassword } from '@palisade/contract/text';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** Words that an attacker would try: names of the provider and the person. */
export type Known = Parameters<typeof namesAround>[0];

/** Strength of a password from 0 (guessed at once) to 4 (not within years), and faults that the server reports too. */
export interface Estimate {
  score: 0 | 1 | 2 | 3 | 4;
  fault: 'common' | 'only_names' | undefined;
}

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
const common = new Set<unknown>(dictionary['passwords-common']);

/** In a separate file, because its word lists have 200 kB. Loaded when the person types the first letter. */
export function estimate(password: string, known: Known): Estimate {
  const names = namesAround(known);
  const { score } = estimator.check(password, names);
  if (isOnlyNames(password, names)) return { score, fault: 'only_names' };
  return { score, fault: common.has(normalPassword(password).toLowerCase()) ? 'common' : undefined };
}
