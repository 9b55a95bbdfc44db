import { dayAfter, dayOf } from '@palisade/contract/day';
import { expect, test } from 'vitest';
import { mondayOf, reportTime } from './reports.ts';

const VIENNA = { time_zone: 'Europe/Vienna', hours: null, unanswered_minutes: 10, offline_minutes: 5 };

test.each(['2026-11-23T00:00:00.000Z', '2026-11-29T21:00:00.000Z', '2026-11-29T23:30:00.000Z'])(
  'a report without days has exactly 12 weeks, from a Monday, at %s',
  (moment) => {
    const { first, last } = reportTime({}, VIENNA, Date.parse(moment));
    expect(last).toBe(dayOf(VIENNA.time_zone, Date.parse(moment)));
    expect(first).toBe(mondayOf(first));
    expect(mondayOf(last)).toBe(dayAfter(first, 11 * 7));
  },
);
