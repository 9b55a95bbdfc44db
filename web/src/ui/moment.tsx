import { daysBetween, describeEnd, startOfDate, dayOf as zonedDayOf } from '@palisade/contract/day';
import { useSyncExternalStore } from 'react';
import { LOCALE, ZONE } from './place.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clockFormat = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium', timeZone: ZONE.name });
const timeFormat = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short', timeZone: ZONE.name });
const dayFormat = new Intl.DateTimeFormat(LOCALE, { weekday: 'long', day: 'numeric', month: 'long', timeZone: ZONE.name });
const dateFormat = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: ZONE.name });
const yearFormat = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric', timeZone: ZONE.name });
const longDateFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'long', timeZone: ZONE.name });
const dayOfCalendar = {
  whole: new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }),
  short: new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
};
const fullFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'full', timeStyle: 'medium', timeZone: ZONE.name });
const agoFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const daysFrom = (from_ms: number, to_ms: number) => daysBetween(ZONE.name, from_ms, to_ms);

const isSameYear = (one: number, other: number) =>
  zonedDayOf(ZONE.name, one).slice(0, -6) === zonedDayOf(ZONE.name, other).slice(0, -6);

/** A past moment for a list: the time today, the date before. */
export function describeMoment(iso: string, now: number): string {
  const at = new Date(iso);
  const days = daysFrom(at.getTime(), now);
  if (days <= 0) return `today, ${timeFormat.format(at)}`;
  if (days === 1) return `yesterday, ${timeFormat.format(at)}`;
  return isSameYear(at.getTime(), now) ? `${dateFormat.format(at)}, ${timeFormat.format(at)}` : yearFormat.format(at);
}

/** A moment that is to come: "today at 14:00", "on Monday 23 November at 09:00". */
export function describeNext(iso: string, now: number): string {
  const at = new Date(iso);
  const days = daysFrom(now, at.getTime());
  const day = days <= 0 ? 'today' : days === 1 ? 'tomorrow' : `on ${dayFormat.format(at)}`;
  return `${day} at ${timeFormat.format(at)}`;
}

/** A duration in words: "40 seconds", "6 minutes". */
export function describeSpan(seconds: number): string {
  if (seconds < 1.5) return '1 second';
  if (seconds < 90) return `${Math.round(seconds)} seconds`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

/** A moment that is to come, with its day. */
export function describeComing(iso: string): string {
  const at = new Date(iso);
  return `${dateFormat.format(at)}, ${timeFormat.format(at)}`;
}

/** An age in one unit: "12 minutes ago". A clock that is ahead of the server's says "just now". */
export function describeAge(iso: string, now: number): string {
  const age = now - Date.parse(iso);
  if (age < MINUTE) return 'just now';
  if (age < HOUR) return agoFormat.format(-Math.floor(age / MINUTE), 'minute');
  if (age < DAY) return agoFormat.format(-Math.floor(age / HOUR), 'hour');
  return agoFormat.format(-Math.floor(age / DAY), 'day');
}

export function describeClock(now: number): string {
  return clockFormat.format(now);
}

export function describeDay(now: number): string {
  return dayFormat.format(now);
}

/** A day such as `2026-11-16`, which is the same wherever its reader is: "Nov 16, 2026", or without its year. */
export function describeCalendarDay(day: string, form: 'whole' | 'short' = 'whole'): string {
  return dayOfCalendar[form].format(new Date(day));
}

/** A day in full: "2 March 2026". */
export function describeDate(iso: string): string {
  return longDateFormat.format(new Date(iso));
}

/** The end of a plan by the clocks of this browser, as mails have it too. */
export function describePlanEnd(iso: string): string {
  return describeEnd(iso, { time_zone: ZONE.name, locale: LOCALE });
}

/** A day between the messages of a conversation: "Today", "Friday 20 November". */
export function describeConversationDay(iso: string, now: number): string {
  const at = new Date(iso);
  const days = daysFrom(at.getTime(), now);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return isSameYear(at.getTime(), now) ? dayFormat.format(at) : longDateFormat.format(at);
}

/** The same for all moments of a day where the person is. */
export function dayOf(iso: string): number {
  return startOfDate(ZONE.name, zonedDayOf(ZONE.name, Date.parse(iso)));
}

/** The time of a moment whose day is known from around it. */
export function TimeOfDay({ iso }: { iso: string }) {
  const at = new Date(iso);
  return (
    <time dateTime={iso} title={fullFormat.format(at)}>
      {timeFormat.format(at)}
    </time>
  );
}

/** A moment that machines read too; hovering tells it in full. */
export function Moment({ iso, now }: { iso: string; now: number }) {
  return (
    <time dateTime={iso} title={fullFormat.format(new Date(iso))}>
      {describeMoment(iso, now)}
    </time>
  );
}

function everySecond(listener: () => void): () => void {
  const timer = setInterval(listener, SECOND);
  return () => clearInterval(timer);
}

/** The time in whole seconds (ms), renewed each second. */
export function useSecond(): number {
  return useSyncExternalStore(everySecond, () => Math.floor(Date.now() / SECOND) * SECOND);
}

/** The time in whole minutes (ms), for words like "12 minutes ago" and for the date; looked at each second, so that midnight is not missed. */
export function useMinute(): number {
  return useSyncExternalStore(everySecond, () => Math.floor(Date.now() / MINUTE) * MINUTE);
}
