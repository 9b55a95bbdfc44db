import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** How hard a password is to guess: 0 (at once) to 4 (not in years), and whether it is on the lists that attackers try first. */
export interface Estimate {
  score: 0 | 1 | 2 | 3 | 4;
  isCommon: boolean;
}

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
const common = new Set<unknown>(dictionary['passwords-common']);

/** `known` is what an attacker knows of the person: email and username. In a file of its own, because the lists weigh 200 kB: it comes with the first letter. */
export function estimate(password: string, known: readonly string[]): Estimate {
  const { score } = estimator.check(password, [...known]);
  return { score, isCommon: common.has(password.toLowerCase()) };
}
