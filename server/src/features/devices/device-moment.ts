import type { DeviceRow } from './device-record.ts';

/** A clock that is wrong by less is taken at its word, in ms. */
const TOLERATED_MS = 60_000;

/**
 * When something happened that a device tells of, by the server's clock (ISO): what it says, less what its clock was wrong by when it connected. A computer without a
 * battery begins in 1970, and sets its clock some time later; of what would have happened later than `now`, or before the device was one, it is now.
 */
export function momentOn(
  { skew_ms, enrolled_at }: Pick<DeviceRow, 'skew_ms' | 'enrolled_at'>,
  said: string,
  now: number,
): string {
  const skew = skew_ms !== null && Math.abs(skew_ms) > TOLERATED_MS ? skew_ms : 0;
  const moment = Date.parse(said) - skew;
  return new Date(moment > now || moment < Date.parse(enrolled_at) ? now : moment).toISOString();
}
