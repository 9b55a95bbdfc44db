import { clockAt, dayAfter, dayOf, holdsAt, startOfDate } from '@palisade/contract/day';
import type { ProfileTime } from '@palisade/contract/household';

/** Local time of a home: `day` 1 is Monday, 7 is Sunday; `clock` is a time of day such as 21:00. */
export interface ClockReading {
  day: number;
  clock: string;
}

/** The local time in a time zone (IANA name) at a moment (ms since 1970). */
export function readingAt(time_zone: string, at_ms: number): ClockReading {
  const shown = new Date(clockAt(time_zone, at_ms));
  return { day: shown.getUTCDay() || 7, clock: shown.toISOString().slice(11, 16) };
}

/** The scheduled times that are active at a local time. An hour that a clock change repeats counts twice, and an hour that it skips does not occur. */
export const timesAt = (times: readonly ProfileTime[], { day, clock }: ClockReading): ProfileTime[] =>
  times.filter((time) => holdsAt(time, day, clock));

/** Start of the next day in a time zone, as an ISO time in UTC. Always after `now` (ms since 1970). */
export function startOfTomorrow(now: number, time_zone: string): string {
  const tomorrow = dayAfter(dayOf(time_zone, now), 1);
  const start = startOfDate(time_zone, tomorrow);
  // If the clock is set back across midnight, the next date has already begun once.
  const left = Date.parse(`${tomorrow}T00:00:00Z`) - clockAt(time_zone, now);
  return new Date(start > now ? start : now + left).toISOString();
}
