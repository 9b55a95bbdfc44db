import type { HistoryDay } from '@palisade/contract/anti-hacking';
import { formatNumber, plural } from '@palisade/contract/intl';
import { describeCalendarDay } from '#ui/moment.tsx';

/** Label and colour of each figure, for chart, legend and table. */
export const FIGURES = {
  score: { label: 'Security score', color: 'var(--accent)' },
  blocked: { label: 'Threats blocked', color: 'var(--blue)' },
  open: { label: 'Threats not blocked', color: 'var(--red)' },
} as const;

/** "20 Nov" */
export function shortDay(day: string): string {
  return describeCalendarDay(day, 'day');
}

/** "Fri, 20 Nov" */
export function longDay(day: string): string {
  return describeCalendarDay(day, 'weekday');
}

/** Minimum number of known days for a chart. */
const DRAWN_FROM = 3;

/** Whether there are enough days for a chart. */
export function isDrawable(days: readonly HistoryDay[]): boolean {
  return days.filter(({ score, threats }) => score !== null || threats > 0).length >= DRAWN_FROM;
}

/** The days in one sentence. */
export function summaryOf(days: readonly HistoryDay[]): string {
  const threats = days.reduce((sum, day) => sum + day.threats, 0);
  const blocked = days.reduce((sum, day) => sum + day.blocked, 0);
  if (threats === 0) return `No threats in the last ${days.length} days.`;
  const figures = { threats: formatNumber(threats), blocked: formatNumber(blocked), days: formatNumber(days.length) };
  if (blocked === threats)
    return plural(threats, {
      one: `One threat in the last ${figures.days} days, and it was blocked.`,
      other: `${figures.threats} threats in the last ${figures.days} days, all blocked here.`,
    });
  if (blocked === 0)
    return plural(threats, {
      one: `One threat in the last ${figures.days} days, not blocked.`,
      other: `${figures.threats} threats in the last ${figures.days} days, none of them blocked.`,
    });
  return `${figures.threats} threats in the last ${figures.days} days, ${figures.blocked} of them blocked.`;
}
