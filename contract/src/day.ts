import { DATE_LOCALE, formatDate, kept } from './intl.ts';

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MS = 86_400_000;
/** Possible shifts of daylight saving time: an hour almost everywhere, half an hour on Lord Howe Island, two hours in Antarctica. */
const PUT_BACK_MS = [120, 60, 30].map((minutes) => minutes * MINUTE_MS);

/** Reads a time zone that a client claims: its name, or UTC if it is unknown here. */
export interface TimeZone {
  name: string;
  is_known: boolean;
}

/**
 * The time zone of a request or a stored setting. It may be invalid: browsers send `Etc/Unknown` or nothing, and machines differ in their time-zone data. For an
 * unknown zone days are in UTC, and the screen says so.
 */
export function timeZoneOf(claim: unknown): TimeZone {
  if (typeof claim === 'string' && claim.toLowerCase() !== 'etc/unknown') {
    try {
      new Intl.DateTimeFormat('en', { timeZone: claim });
      return { name: claim, is_known: true };
    } catch {
      // Falls through to UTC.
    }
  }
  return { name: 'UTC', is_known: false };
}

/** The time zone of this machine or browser. */
export function ownTimeZone(): TimeZone {
  return timeZoneOf(Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** Names of the known time zones. */
export function timeZones(): readonly string[] {
  return Intl.supportedValuesOf('timeZone');
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(time_zone: string): Intl.DateTimeFormat {
  const make = () =>
    new Intl.DateTimeFormat('en-GB', {
      // A stored zone may come from a machine with other time-zone data.
      timeZone: timeZoneOf(time_zone).name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    });
  return kept(formats, time_zone, make);
}

/** The time that the clock of a time zone (IANA name) shows at a moment (ms), read as if it were UTC, in ms. */
export function clockAt(time_zone: string, at_ms: number): number {
  const parts = formatOf(time_zone).formatToParts(at_ms);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

/** The earliest time (ms) at which the clock of a time zone shows `clock` (as in `clockAt`); the end of the gap if the clock skips it. */
export function momentOf(time_zone: string, clock: number): number {
  let moment = clock;
  // Applies the offset at the guess, then again in case the offset changed in between.
  for (let round = 0; round < 2; round += 1) moment += clock - clockAt(time_zone, moment);
  const earlier = PUT_BACK_MS.find((span) => clockAt(time_zone, moment - span) === clock);
  if (earlier !== undefined) return moment - earlier;
  if (clockAt(time_zone, moment) === clock) return moment;
  // The clock skips this time. Offsets change on whole quarters of an hour.
  let after = Math.ceil(moment / QUARTER_MS) * QUARTER_MS;
  while (clockAt(time_zone, after) < clock) after += QUARTER_MS;
  while (clockAt(time_zone, after - QUARTER_MS) >= clock) after -= QUARTER_MS;
  return after;
}

/** The day that the clock of a time zone shows, as `2026-11-20`. */
export function dayOf(time_zone: string, at_ms: number): string {
  return new Date(clockAt(time_zone, at_ms)).toISOString().slice(0, 10);
}

/** The beginning of a day such as `2026-11-20` in a time zone, in ms: midnight, or the end of the gap if the clock skips midnight. */
export function startOfDate(time_zone: string, day: string): number {
  return momentOf(time_zone, Date.parse(`${day}T00:00:00Z`));
}

/** The beginning of the day of `now` (ms) in a time zone, as an ISO time in UTC. */
export function startOfDay(now: number, time_zone: string): string {
  return new Date(startOfDate(time_zone, dayOf(time_zone, now))).toISOString();
}

/** A day in a time zone: its date, and its beginning as an ISO time in UTC. */
export interface Day {
  day: string;
  start: string;
}

/** The last `count` days in a time zone (IANA name) including that of `now` (ms), oldest first. */
export function lastDays(now: number, time_zone: string, count: number): Day[] {
  const today = dayOf(time_zone, now);
  return Array.from({ length: count }, (_, place) => {
    const day = dayAfter(today, place + 1 - count);
    return { day, start: new Date(startOfDate(time_zone, day)).toISOString() };
  });
}

/** The day that is `count` days after a day such as `2026-11-20`. */
export function dayAfter(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
}

/** Number of calendar days between two times (ms) in a time zone: 1 from today to tomorrow. */
export function daysBetween(time_zone: string, from_ms: number, to_ms: number): number {
  return (Date.parse(dayOf(time_zone, to_ms)) - Date.parse(dayOf(time_zone, from_ms))) / DAY_MS;
}

/**
 * The end of a plan for emails and screens: "20 November 2026", with time and zone if the date differs in other zones.
 * Emails use UTC and always include it; a screen includes its zone if UTC has another date at that time.
 */
export function describeEnd(iso: string, place: { time_zone: string; locale?: string; is_mail?: boolean }): string {
  const { time_zone, locale = DATE_LOCALE, is_mail = false } = place;
  const at = Date.parse(iso);
  const clock = new Date(clockAt(time_zone, at));
  const day = formatDate('long', clock, { time_zone: 'UTC', locale });
  if (!is_mail && dayOf(time_zone, at) === dayOf('UTC', at)) return day;
  return `${day} (${clock.toISOString().slice(11, 16)} ${time_zone})`;
}

/** A weekly interval. `days` are those on which it begins (1 is Monday). It extends into the next day if `to` is not later than `from`. */
interface WeekTime {
  days: readonly number[];
  from: string;
  to: string;
}

/** True if the interval contains a time of day such as 21:00 on a day of the week. */
export function holdsAt({ days, from, to }: WeekTime, day: number, clock: string): boolean {
  if (from < to) return days.includes(day) && from <= clock && clock < to;
  const dayBefore = day === 1 ? 7 : day - 1;
  return (days.includes(day) && from <= clock) || (days.includes(dayBefore) && clock < to);
}
