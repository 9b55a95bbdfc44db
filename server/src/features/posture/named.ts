import type { Sentence } from '#platform/sentence.ts';
import { sentence } from './posture.phrases.ts';

/** A rule or a device that a check names. */
export interface Named {
  id: string;
  name: string;
}

/** Maximum number of names in a sentence; beyond it the sentence gives the number. */
const NAMED_MAXIMUM = 3;

export const isFew = (some: readonly Named[]) => some.length <= NAMED_MAXIMUM;

/** Names as a parameter has them. */
export const linesOf = (some: readonly Pick<Named, 'name'>[]) => some.map(({ name }) => name).join('\n');

export function namedDevices(some: readonly Named[]): Sentence {
  return isFew(some) ? sentence('devices.named', { devices: linesOf(some) }) : sentence('devices.many', { count: some.length });
}
