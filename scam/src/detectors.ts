import { LINK_DETECTORS } from './link-signs.ts';
import { MAIL_DETECTORS } from './mail-signs.ts';
import type { Message } from './message.ts';
import { NUMBER_DETECTORS } from './number-signs.ts';
import type { Detector, Sign } from './signs.ts';
import type { Surroundings } from './surroundings.ts';
import { WORD_DETECTORS } from './word-signs.ts';

/** All detectors. Of signs with equal weight, those of earlier detectors are shown first. */
export const DETECTORS: readonly Detector[] = [...MAIL_DETECTORS, ...LINK_DETECTORS, ...NUMBER_DETECTORS, ...WORD_DETECTORS];

/** Runs all detectors on a message. */
export function findSigns(message: Message, surroundings: Surroundings): Sign[] {
  return DETECTORS.flatMap((detector) => detector.find(message, surroundings));
}
