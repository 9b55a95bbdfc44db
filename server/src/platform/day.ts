const HOUR_MS = 3_600_000;
const QUARTER_MS = 900_000;

/** Midnight by the clocks of a time zone (IANA name), before or at `now` (ms), as an ISO time in UTC. */
export function startOfDay(now: number, time_zone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
  const day = format.format(now);
  // Back to the quarter of an hour in which the day began: offsets of zones in use, and changes of clocks, are whole quarters.
  let start = Math.floor(now / QUARTER_MS) * QUARTER_MS;
  while (format.format(start - HOUR_MS) === day) start -= HOUR_MS;
  while (format.format(start - QUARTER_MS) === day) start -= QUARTER_MS;
  return new Date(start).toISOString();
}

/** A day by the clocks of a time zone: its date, and when it began, as an ISO time in UTC. */
export interface Day {
  day: string;
  start: string;
}

/** No day is longer: clocks are put back by an hour, or two. */
const LONGEST_DAY_MS = 26 * HOUR_MS;

/** The last `count` days by the clocks of a time zone (IANA name), the one of `now` (ms) among them, oldest first. */
export function lastDays(now: number, time_zone: string, count: number): Day[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
  let start = Date.parse(startOfDay(now, time_zone));
  const days = [{ day: format.format(now), start: new Date(start).toISOString() }];
  while (days.length < count) {
    const day = format.format(start - 1);
    start -= LONGEST_DAY_MS;
    while (format.format(start) !== day) start += QUARTER_MS;
    days.push({ day, start: new Date(start).toISOString() });
  }
  return days.reverse();
}
