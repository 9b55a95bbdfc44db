import type { ScamReasonCode, Span } from '@palisade/contract/scam-check';
import type { Message } from './message.ts';
import type { Surroundings } from './surroundings.ts';

/** A finding of a detector. `weight`: 1 counts only together with others, 2 is suspicious alone, 3 is dangerous alone. */
export interface Sign {
  code: ScamReasonCode;
  weight: 1 | 2 | 3;
  span: Span | undefined;
  params: Record<string, string>;
}

/** Finds one kind of sign. All detectors are in one list (`detectors.ts`). */
export interface Detector {
  id: string;
  find(message: Message, surroundings: Surroundings): Sign[];
}
