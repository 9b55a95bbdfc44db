import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';

const SEQUENCES = 2 ** 32;
let offset_ms = 0;
let last_ms = 0;
let sequence = 0;

/** Has the times of ids go by another clock than this machine's: ms to add to that. */
export function setIdOffset(ms: number): void {
  offset_ms = ms;
}

/**
 * A new UUIDv7 (RFC 9562 section 5.7), by the clock that servers share (shared-clock.ts): ids of one process sort by creation, also within a millisecond, and when the clock is put back (section
 * 6.2, method 1).
 */
export function newId(): string {
  const at = Math.max(0, Date.now() + offset_ms);
  if (at > last_ms) {
    last_ms = at;
    // The upper half is left for ids of the same millisecond.
    sequence = randomInt(SEQUENCES / 2);
  } else {
    sequence += 1;
    if (sequence === SEQUENCES) {
      last_ms += 1;
      sequence = 0;
    }
  }
  return v7({ msecs: last_ms, seq: sequence });
}

/** When an id was made, in ms: the first 48 bits of a UUIDv7 say so. NaN for other ids. */
export function timeOfId(id: string): number {
  const [high = '', low = '', version = ''] = id.split('-');
  return version.startsWith('7') ? Number.parseInt(high + low, 16) : Number.NaN;
}
