import type { ScamReasonCode, Span } from '@palisade/contract/scam-check';
import type { Message } from './message.ts';
import type { Surroundings } from './surroundings.ts';

/** Something that a detector saw. `weight`: 1 adds to others, 2 is suspicious alone, 3 proves danger alone. */
export interface Sign {
  code: ScamReasonCode;
  weight: 1 | 2 | 3;
  span: Span | undefined;
  params: Record<string, string>;
}

/** Looks for one kind of sign. All detectors have this shape and stand in one list (`detectors.ts`). */
export interface Detector {
  id: string;
  find(message: Message, surroundings: Surroundings): Sign[];
}
