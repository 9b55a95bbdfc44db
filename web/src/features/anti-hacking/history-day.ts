import type { HistoryDay } from '@palisade/contract/anti-hacking';
import { LOCALE } from '#ui/place.ts';

/** Name and colour of each kind of figure: the same in chart, legend and table. */
export const FIGURES = {
  score: { label: 'Security score', color: 'var(--accent)' },
  blocked: { label: 'Threats blocked', color: 'var(--blue)' },
  open: { label: 'Threats not blocked', color: 'var(--red)' },
} as const;

// A day is a date, wherever it is read.
const shortFormat = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const longFormat = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });

/** "20 Nov" */
export function shortDay(day: string): string {
  return shortFormat.format(Date.parse(day));
}

/** "Fri, 20 Nov" */
export function longDay(day: string): string {
  return longFormat.format(Date.parse(day));
}

/** So many days must be known before they make a picture. */
const DRAWN_FROM = 3;

/** Whether there is more to draw than a point or two. */
export function isDrawable(days: readonly HistoryDay[]): boolean {
  return days.filter(({ score, threats }) => score !== null || threats > 0).length >= DRAWN_FROM;
}

/** The days in one sentence. */
export function summaryOf(days: readonly HistoryDay[]): string {
  const threats = days.reduce((sum, day) => sum + day.threats, 0);
  const blocked = days.reduce((sum, day) => sum + day.blocked, 0);
  if (threats === 0) return `No threats in the last ${days.length} days.`;
  const count = threats === 1 ? 'One threat' : `${threats} threats`;
  if (blocked === threats) return `${count} in the last ${days.length} days, ${threats === 1 ? 'and it was' : 'all'} blocked.`;
  const notAll = blocked === 0 ? 'none of them' : `${blocked} of them`;
  return `${count} in the last ${days.length} days, ${threats === 1 ? 'not' : notAll} blocked.`;
}
