import type { ProfileTime } from '@palisade/contract/household';
import { expect, test } from 'vitest';
import { readingAt, startOfTomorrow, timesAt } from './household-schedule.ts';

const DAYS = { mon: 1, tue: 2, wed: 3, thu: 4, fri: 5, sat: 6, sun: 7 };
type DayName = keyof typeof DAYS;
const MINUTE_MS = 60_000;

const time = (from: string, to: string, ...days: DayName[]): ProfileTime => ({
  days: days.length === 0 ? Object.values(DAYS) : days.map((day) => DAYS[day]),
  from,
  to,
  refuses: 'all',
});
const holds = (of: ProfileTime, day: DayName, clock: string) => timesAt([of], { day: DAYS[day], clock }).length === 1;

test.each<[string, ProfileTime, DayName, string, boolean]>([
  ['before it begins', time('17:00', '19:00', 'mon'), 'mon', '16:59', false],
  ['as it begins', time('17:00', '19:00', 'mon'), 'mon', '17:00', true],
  ['in its last minute', time('17:00', '19:00', 'mon'), 'mon', '18:59', true],
  ['at its end', time('17:00', '19:00', 'mon'), 'mon', '19:00', false],
  ['on another day', time('17:00', '19:00', 'mon'), 'tue', '18:00', false],
  ['bedtime, a minute before', time('21:00', '06:30'), 'wed', '20:59', false],
  ['bedtime, as it begins', time('21:00', '06:30'), 'wed', '21:00', true],
  ['bedtime, at midnight', time('21:00', '06:30'), 'thu', '00:00', true],
  ['bedtime, in its last minute', time('21:00', '06:30'), 'thu', '06:29', true],
  ['bedtime, at its end', time('21:00', '06:30'), 'thu', '06:30', false],
  ['on the morning after its only day', time('21:00', '06:30', 'sun'), 'mon', '06:00', true],
  ['on the morning of its only day', time('21:00', '06:30', 'sun'), 'sun', '06:00', false],
  ['from Saturday to Sunday', time('21:00', '06:30', 'sat'), 'sun', '06:00', true],
  ['a whole day, at its first minute', time('00:00', '00:00', 'sat'), 'sat', '00:00', true],
  ['a whole day, at its last minute', time('00:00', '00:00', 'sat'), 'sat', '23:59', true],
  ['a whole day, on the day after', time('00:00', '00:00', 'sat'), 'sun', '00:00', false],
  ['until midnight, in the last minute', time('20:00', '00:00', 'fri'), 'fri', '23:59', true],
  ['until midnight, at midnight', time('20:00', '00:00', 'fri'), 'sat', '00:00', false],
  ['a day from noon on', time('12:00', '12:00', 'fri'), 'sat', '11:59', true],
  ['a day from noon on, at its end', time('12:00', '12:00', 'fri'), 'sat', '12:00', false],
])('a time of the week %s', (_at, of, day, clock, expected) => {
  expect(holds(of, day, clock)).toBe(expected);
});

/** Minutes after a moment, of one day, at which a time holds in a zone. */
function minutesHeld(of: ProfileTime, zone: string, from: string, minutes = 24 * 60): number {
  let held = 0;
  for (let minute = 0; minute < minutes; minute += 1)
    held += timesAt([of], readingAt(zone, Date.parse(from) + minute * MINUTE_MS)).length;
  return held;
}

test.each([
  ['an hour that is skipped does not count', 'Europe/Vienna', '2026-03-28T12:00Z', '21:00', '06:30', 510],
  ['an hour that is repeated counts twice', 'Europe/Vienna', '2026-10-24T12:00Z', '21:00', '06:30', 630],
  ['a time within the skipped hour never holds', 'Europe/Vienna', '2026-03-28T12:00Z', '02:00', '03:00', 0],
  ['a time within the repeated hour holds twice', 'Europe/Vienna', '2026-10-24T12:00Z', '02:00', '03:00', 120],
  ['half an hour is repeated on Lord Howe Island', 'Australia/Lord_Howe', '2026-04-04T02:00Z', '01:30', '02:00', 60],
  // The clock skips midnight: 01:00 follows 23:59.
  ['no midnight in São Paulo', 'America/Sao_Paulo', '2018-11-03T15:00Z', '21:00', '06:30', 510],
  ['no midnight in Cairo', 'Africa/Cairo', '2026-04-23T12:00Z', '21:00', '06:30', 510],
  ['an hour before midnight is repeated in Cairo', 'Africa/Cairo', '2026-10-29T12:00Z', '21:00', '06:30', 630],
  ['no midnight in Beirut', 'Asia/Beirut', '2026-03-28T12:00Z', '00:00', '06:30', 330],
  ['the night to February 29', 'Europe/Vienna', '2028-02-28T12:00Z', '21:00', '06:30', 570],
  ['the night after February 29', 'Europe/Vienna', '2028-02-29T12:00Z', '21:00', '06:30', 570],
])('%s', (_what, zone, from, begin, end, minutes) => {
  expect(minutesHeld(time(begin, end), zone, from)).toBe(minutes);
});

test('a day without midnight is refused from its first minute to its last', () => {
  // Friday, April 24, 2026 has 23 hours in Cairo.
  expect(minutesHeld(time('00:00', '00:00', 'fri'), 'Africa/Cairo', '2026-04-23T12:00Z', 48 * 60)).toBe(23 * 60);
  expect(minutesHeld(time('21:00', '06:30', 'thu'), 'Africa/Cairo', '2026-04-23T12:00Z', 48 * 60)).toBe(510);
});

test.each([
  ['an ordinary day', 'Europe/Vienna', '2026-11-20T10:00:00.000Z', '2026-11-20T23:00:00.000Z'],
  ['the last minute of a day', 'Europe/Vienna', '2026-11-20T22:59:59.999Z', '2026-11-20T23:00:00.000Z'],
  ['midnight itself', 'Europe/Vienna', '2026-11-20T23:00:00.000Z', '2026-11-21T23:00:00.000Z'],
  ['a day of 23 hours', 'Europe/Vienna', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['a day of 25 hours', 'Europe/Vienna', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  ['the day before one without midnight', 'America/Sao_Paulo', '2018-11-03T15:00:00.000Z', '2018-11-04T03:00:00.000Z'],
  ['an hour before midnight that is repeated', 'Africa/Cairo', '2026-10-29T20:30:00.000Z', '2026-10-29T22:00:00.000Z'],
  ['a clock that is put back over midnight', 'America/St_Johns', '2010-11-07T02:45:00.000Z', '2010-11-07T03:30:00.000Z'],
  ['the day before February 29', 'Asia/Tokyo', '2028-02-28T10:00:00.000Z', '2028-02-28T15:00:00.000Z'],
  ['February 29', 'Asia/Tokyo', '2028-02-29T10:00:00.000Z', '2028-02-29T15:00:00.000Z'],
  ['December 31', 'Asia/Kathmandu', '2026-12-31T10:00:00.000Z', '2026-12-31T18:15:00.000Z'],
])('until tomorrow on %s', (_day, zone, now, end) => {
  expect(startOfTomorrow(Date.parse(now), zone)).toBe(end);
});
