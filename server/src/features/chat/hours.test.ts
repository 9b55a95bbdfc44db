import { expect, test } from 'vitest';
import { opening } from './hours.ts';

const weekdays = (['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const).flatMap((day) => [
  { day, from: '09:00', to: '12:00' },
  { day, from: '13:00', to: '17:00' },
]);
const settings = { unanswered_minutes: 10, offline_minutes: 5 };
const vienna = { ...settings, time_zone: 'Europe/Vienna', hours: weekdays };

// proves: support-staff-22
test.each([
  ['on a morning of the week', '2026-11-20T08:00:00Z', true, null],
  ['before it', '2026-11-20T07:59:00Z', false, '2026-11-20T08:00:00.000Z'],
  ['in the pause', '2026-11-20T11:30:00Z', false, '2026-11-20T12:00:00.000Z'],
  ['after the last hour of the week', '2026-11-20T16:00:00Z', false, '2026-11-23T08:00:00.000Z'],
  ['on a Sunday on which clocks go forward', '2026-03-29T10:00:00Z', false, '2026-03-30T07:00:00.000Z'],
  ['on a Sunday on which clocks go back', '2026-10-25T10:00:00Z', false, '2026-10-26T08:00:00.000Z'],
])('%s it is known whether support is there, and when it is back', (_, at, is_open, opens_at) => {
  expect(opening(vienna, Date.parse(at))).toEqual({ is_open, opens_at });
});

test('without hours support is always there, and without any hour it never is', () => {
  expect(opening({ ...settings, time_zone: 'UTC', hours: null }, Date.now())).toEqual({ is_open: true, opens_at: null });
  expect(opening({ ...settings, time_zone: 'UTC', hours: [] }, Date.now())).toEqual({ is_open: false, opens_at: null });
});

test('an hour until midnight is open to its last minute', () => {
  const late = { ...settings, time_zone: 'America/New_York', hours: [{ day: 'friday', from: '22:00', to: '24:00' } as const] };
  expect(opening(late, Date.parse('2026-11-21T04:59:00Z')).is_open).toBe(true);
  expect(opening(late, Date.parse('2026-11-21T05:00:00Z'))).toEqual({ is_open: false, opens_at: '2026-11-28T03:00:00.000Z' });
});

const night = (time_zone: string) => ({
  ...settings,
  time_zone,
  hours: [{ day: 'friday', from: '22:00', to: '02:00' } as const, { day: 'saturday', from: '22:00', to: '04:00' } as const],
});

test.each([
  ['before midnight', 'UTC', '2026-11-20T23:59:00Z', true, null],
  ['after midnight, which belongs to the day before', 'UTC', '2026-11-21T01:59:00Z', true, null],
  ['at their end', 'UTC', '2026-11-21T02:00:00Z', false, '2026-11-21T22:00:00.000Z'],
  ['on a day that has none of its own', 'UTC', '2026-11-22T03:59:00Z', true, null],
  ['before they begin', 'UTC', '2026-11-20T21:59:00Z', false, '2026-11-20T22:00:00.000Z'],
  ['in the night of summer time, to their end', 'Europe/Vienna', '2026-03-29T01:59:00Z', true, null],
  ['in the night of summer time, at their end', 'Europe/Vienna', '2026-03-29T02:00:00Z', false, '2026-04-03T20:00:00.000Z'],
  ['in the night of winter time, to their end', 'Europe/Vienna', '2026-10-25T02:59:00Z', true, null],
  ['in the night of winter time, at their end', 'Europe/Vienna', '2026-10-25T03:00:00Z', false, '2026-10-30T21:00:00.000Z'],
  // Cairo skips the midnight after Thursday 23 April 2026.
  ['where midnight does not exist', 'Africa/Cairo', '2026-04-24T22:30:00Z', true, null],
])('hours over midnight hold %s', (_, zone, at, is_open, opens_at) => {
  expect(opening(night(zone), Date.parse(at))).toEqual({ is_open, opens_at });
});

test('an hour that a clock skips begins right after the gap', () => {
  const skipped = { ...settings, time_zone: 'Europe/Vienna', hours: [{ day: 'sunday', from: '02:30', to: '05:00' } as const] };
  expect(opening(skipped, Date.parse('2026-03-29T00:59:00Z'))).toEqual({ is_open: false, opens_at: '2026-03-29T01:00:00.000Z' });
  expect(opening(skipped, Date.parse('2026-03-29T01:00:00Z')).is_open).toBe(true);
});
