import { isOnlyNames, namesAround } from '@palisade/contract/password-names';
import { normalPassword } from '@palisade/contract/text';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** What a guesser knows: who provides the service, and whose password it is. */
export type Known = Parameters<typeof namesAround>[0];

/** How hard a password is to guess: 0 (at once) to 4 (not in years), and what the server finds at fault with it, as far as it is known here. */
export interface Estimate {
  score: 0 | 1 | 2 | 3 | 4;
  fault: 'common' | 'only_names' | undefined;
}

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
const common = new Set<unknown>(dictionary['passwords-common']);

/** In a file of its own, because the lists weigh 200 kB: it comes with the first letter. */
export function estimate(password: string, known: Known): Estimate {
  const names = namesAround(known);
  const { score } = estimator.check(password, names);
  if (isOnlyNames(password, names)) return { score, fault: 'only_names' };
  return { score, fault: common.has(normalPassword(password).toLowerCase()) ? 'common' : undefined };
}
