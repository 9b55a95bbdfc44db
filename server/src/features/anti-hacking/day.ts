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
