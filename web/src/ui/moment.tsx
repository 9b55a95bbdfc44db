import { daysBetween, describeEnd, startOfDate, dayOf as zonedDayOf } from '@palisade/contract/day';
import { type DateForm, formatDate, formatRelative, formatSpan } from '@palisade/contract/intl';
import { useSyncExternalStore } from 'react';
import { LOCALE, ZONE } from './place.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const written = (form: DateForm, at: Date | number) => formatDate(form, at, { time_zone: ZONE.name, locale: LOCALE });

const daysFrom = (from_ms: number, to_ms: number) => daysBetween(ZONE.name, from_ms, to_ms);

const isSameYear = (one: number, other: number) =>
  zonedDayOf(ZONE.name, one).slice(0, -6) === zonedDayOf(ZONE.name, other).slice(0, -6);

/** A past time for a list: the time today, otherwise the date. */
export function describeMoment(iso: string, now: number): string {
  const at = new Date(iso);
  const days = daysFrom(at.getTime(), now);
  if (days <= 0) return `today, ${written('time', at)}`;
  if (days === 1) return `yesterday, ${written('time', at)}`;
  return isSameYear(at.getTime(), now) ? `${written('day', at)}, ${written('time', at)}` : written('day_and_year', at);
}

/** A future time: "today at 14:00", "on Monday 23 November at 09:00". */
export function describeNext(iso: string, now: number): string {
  const at = new Date(iso);
  const days = daysFrom(now, at.getTime());
  const time = written('time', at);
  if (days <= 0) return `today at ${time}`;
  if (days === 1) return `tomorrow at ${time}`;
  return `on ${written('long_weekday', at)} at ${time}`;
}

/** The end of a state as a time: "20:15", "tomorrow, 00:00", "2 Dec, 09:00". */
export function describeUntil(iso: string, now: number): string {
  const at = new Date(iso);
  const days = daysFrom(now, at.getTime());
  if (days <= 0) return written('time', at);
  if (days === 1) return `tomorrow, ${written('time', at)}`;
  return describeComing(iso);
}

/** A time of day without a date or a zone, such as `21:00`, in the reader's format. */
export function describeClockTime(clock: string): string {
  return formatDate('time', Date.parse(`1970-01-01T${clock}:00Z`), { time_zone: 'UTC', locale: LOCALE });
}

/** A future time with its date. */
export function describeComing(iso: string): string {
  const at = new Date(iso);
  return `${written('day', at)}, ${written('time', at)}`;
}

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
] as const;

/** The time since a moment in whole units of one kind; undefined for less than a minute, and for a clock ahead of this one. */
function elapsed(iso: string, now: number) {
  const age = now - Date.parse(iso);
  const [unit, length] = UNITS.find(([, ms]) => age >= ms) ?? [];
  return unit && { count: Math.floor(age / length), unit };
}

/** An age in one unit: "12 minutes ago". */
export function describeAge(iso: string, now: number): string {
  const age = elapsed(iso, now);
  return age ? formatRelative(-age.count, age.unit) : 'just now';
}

/** The time since a moment, in the unit of `describeAge`: "12 minutes". */
export function describeSince(iso: string, now: number): string {
  const age = elapsed(iso, now);
  return age ? formatSpan(age.count, age.unit) : 'less than a minute';
}

export function describeClock(now: number): string {
  return written('clock', now);
}

export function describeDay(now: number): string {
  return written('long_weekday', now);
}

/** A date such as `2026-11-16`, independent of time zones: "Nov 16, 2026", or without the year. */
export function describeCalendarDay(day: string, form: 'day_and_year' | 'day' | 'weekday' = 'day_and_year'): string {
  return formatDate(form, Date.parse(day), { time_zone: 'UTC', locale: LOCALE });
}

/** A date in full: "2 March 2026". */
export function describeDate(iso: string): string {
  return written('long', new Date(iso));
}

/** The end of a plan in this browser's time zone, in the format of emails. */
export function describePlanEnd(iso: string): string {
  return describeEnd(iso, { time_zone: ZONE.name, locale: LOCALE });
}

/** A date between messages of a conversation: "Today", "Friday 20 November". */
export function describeConversationDay(iso: string, now: number): string {
  const at = new Date(iso);
  const days = daysFrom(at.getTime(), now);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return isSameYear(at.getTime(), now) ? written('long_weekday', at) : written('long', at);
}

/** Start of the local day of a time, which is equal for all times of the same day. */
export function dayOf(iso: string): number {
  return startOfDate(ZONE.name, zonedDayOf(ZONE.name, Date.parse(iso)));
}

/** The time of day, for a context that shows the date. */
export function TimeOfDay({ iso }: { iso: string }) {
  const at = new Date(iso);
  return (
    <time dateTime={iso} title={written('full', at)}>
      {written('time', at)}
    </time>
  );
}

/** A time as a `time` element, with the full time as its tooltip. */
export function Moment({ iso, now }: { iso: string; now: number }) {
  return (
    <time dateTime={iso} title={written('full', new Date(iso))}>
      {describeMoment(iso, now)}
    </time>
  );
}

function everySecond(listener: () => void): () => void {
  const timer = setInterval(listener, SECOND);
  return () => clearInterval(timer);
}

/** The present time in whole seconds (as ms), updated each second. */
export function useSecond(): number {
  return useSyncExternalStore(everySecond, () => Math.floor(Date.now() / SECOND) * SECOND);
}

/** The present time in whole minutes (as ms), for texts like "12 minutes ago" and dates. Checked each second, so that midnight is not missed. */
export function useMinute(): number {
  return useSyncExternalStore(everySecond, () => Math.floor(Date.now() / MINUTE) * MINUTE);
}
