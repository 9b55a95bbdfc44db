import { clockAt, dayAfter, dayOf, startOfDate } from '@palisade/contract/day';
import type { ProfileTime } from '@palisade/contract/household';

/** Shown by the clock of a home: `day` 1 is Monday, 7 is Sunday; `minutes` since midnight. */
export interface ClockReading {
  day: number;
  minutes: number;
}

/** The clock of a time zone (IANA name) at a moment (ms). */
export function readingAt(time_zone: string, at_ms: number): ClockReading {
  const clock = new Date(clockAt(time_zone, at_ms));
  return { day: clock.getUTCDay() || 7, minutes: clock.getUTCHours() * 60 + clock.getUTCMinutes() };
}

/** Minutes since midnight of a time such as `21:00`. */
export function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
}

/** The times that hold at a reading. Only the reading decides: an hour that a clock change repeats counts twice, and one that it skips not at all. */
export function timesAt(times: readonly ProfileTime[], { day, minutes }: ClockReading): ProfileTime[] {
  const dayBefore = day === 1 ? 7 : day - 1;
  return times.filter(({ days, from, to }) => {
    const begin = minutesOf(from);
    const end = minutesOf(to);
    if (begin < end) return days.includes(day) && minutes >= begin && minutes < end;
    return (days.includes(day) && minutes >= begin) || (days.includes(dayBefore) && minutes < end);
  });
}

/** When the next day begins by the clock of a time zone, as an ISO time in UTC. Always after `now` (ms). */
export function startOfTomorrow(now: number, time_zone: string): string {
  const tomorrow = dayAfter(dayOf(time_zone, now), 1);
  const start = startOfDate(time_zone, tomorrow);
  // A clock that was put back across midnight has shown tomorrow before.
  const left = Date.parse(`${tomorrow}T00:00:00Z`) - clockAt(time_zone, now);
  return new Date(start > now ? start : now + left).toISOString();
}
