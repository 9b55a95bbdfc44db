import type { DeviceRow } from './device-record.ts';

/** Clock errors below this many ms are ignored. */
const TOLERATED_MS = 60_000;

/**
 * The time of an event on a device, by the server's clock (ISO): the device's time minus its clock error at connection. A computer without a battery starts in 1970 and sets
 * its clock later; a time after `now`, or before its enrolment, becomes `now`.
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
