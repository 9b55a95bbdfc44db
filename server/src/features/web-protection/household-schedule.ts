import { clockAt, dayAfter, dayOf, holdsAt, startOfDate } from '@palisade/contract/day';
import type { ProfileTime } from '@palisade/contract/household';

/** Shown by the clock of a home: `day` 1 is Monday, 7 is Sunday; `clock` is a time of day, like 21:00. */
export interface ClockReading {
  day: number;
  clock: string;
}

/** The clock of a time zone (IANA name) at a moment (ms). */
export function readingAt(time_zone: string, at_ms: number): ClockReading {
  const shown = new Date(clockAt(time_zone, at_ms));
  return { day: shown.getUTCDay() || 7, clock: shown.toISOString().slice(11, 16) };
}

/** The times that hold at a reading. Only the reading decides: an hour that a clock change repeats counts twice, and one that it skips not at all. */
export const timesAt = (times: readonly ProfileTime[], { day, clock }: ClockReading): ProfileTime[] =>
  times.filter((time) => holdsAt(time, day, clock));

/** When the next day begins by the clock of a time zone, as an ISO time in UTC. Always after `now` (ms). */
export function startOfTomorrow(now: number, time_zone: string): string {
  const tomorrow = dayAfter(dayOf(time_zone, now), 1);
  const start = startOfDate(time_zone, tomorrow);
  // A clock that was put back across midnight has shown tomorrow before.
  const left = Date.parse(`${tomorrow}T00:00:00Z`) - clockAt(time_zone, now);
  return new Date(start > now ? start : now + left).toISOString();
}
