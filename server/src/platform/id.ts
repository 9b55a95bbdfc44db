import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';

const SEQUENCES = 2 ** 32;
let offset_ms = 0;
let last_ms = 0;
let sequence = 0;

/** Sets the difference between the servers' shared clock and this machine's, in ms, for the times of ids. */
export function setIdOffset(ms: number): void {
  offset_ms = ms;
}

/**
 * A new UUIDv7 (RFC 9562 section 5.7), by the clock that servers share (shared-clock.ts): ids of one process sort by creation, also within a millisecond and when the clock
 * is set back (section 6.2, method 1).
 */
export function newId(): string {
  const at = Math.max(0, Date.now() + offset_ms);
  if (at > last_ms) {
    last_ms = at;
    // Start in the lower half, so that ids of the same millisecond can count up.
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

/** The creation time of an id, in ms: the first 48 bits of a UUIDv7. NaN for other ids. */
export function timeOfId(id: string): number {
  const [high = '', low = '', version = ''] = id.split('-');
  return version.startsWith('7') ? Number.parseInt(high + low, 16) : Number.NaN;
}
