import { describe, expect, test } from 'vitest';
import { clockAt, dayAfter, dayOf, daysBetween, describeEnd, lastDays, startOfDate, startOfDay, timeZoneOf } from './day.ts';

describe('a day', () => {
  test.each([
    ['2026-11-20T10:00:00.000Z', 'UTC', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T23:30:00.000Z', 'Europe/Berlin', '2026-11-20T23:00:00.000Z'],
    ['2026-11-20T04:00:00.000Z', 'America/New_York', '2026-11-19T05:00:00.000Z'],
    ['2026-11-20T10:00:00.000Z', 'Asia/Kathmandu', '2026-11-19T18:15:00.000Z'],
    ['2026-03-29T20:00:00.000Z', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-10-25T22:30:00.000Z', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
  ])('at %s in %s began at %s', (at, zone, start) => {
    expect(startOfDay(Date.parse(at), zone)).toBe(start);
  });

  test.each([
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z'],
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z'],
  ])('in %s on %s begins at %s, though its midnight is skipped or comes twice', (zone, day, start) => {
    expect(new Date(startOfDate(zone, day)).toISOString()).toBe(start);
  });

  // All zones, thinly; day.deep.test.ts looks at every day of each.
  test('of any zone begins with the first moment that its clock shows it', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      for (const at of ['2025-03-30T12:00:00Z', '2027-10-31T01:30:00Z', '2030-09-08T03:59:59Z']) {
        const start = Date.parse(startOfDay(Date.parse(at), zone));
        const day = dayOf(zone, Date.parse(at));
        expect([zone, at, dayOf(zone, start), dayOf(zone, start - 1) < day]).toEqual([zone, at, day, true]);
      }
    }
  });

  test('follows the one before it', () => {
    const days = lastDays(Date.parse('2026-11-10T12:00:00Z'), 'America/Havana', 30);
    expect(days).toHaveLength(30);
    for (const { day, start } of days)
      expect(new Date(clockAt('America/Havana', Date.parse(start))).toISOString()).toBe(`${day}T00:00:00.000Z`);
  });
});

describe('a claimed time zone', () => {
  test.each(['Etc/Unknown', 'etc/unknown', 'Mars/Olympus', '', undefined, null, 7, '\u0000'])(
    '%j is UTC and unknown',
    (claim) => {
      expect(timeZoneOf(claim)).toEqual({ name: 'UTC', is_known: false });
    },
  );

  test.each(['UTC', 'Europe/Berlin', 'Asia/Calcutta', '+05:30'])('%s is known', (claim) => {
    expect(timeZoneOf(claim)).toEqual({ name: claim, is_known: true });
  });

  test('has the days of UTC where it is unknown', () => {
    expect(startOfDay(Date.parse('2026-11-20T23:30:00Z'), 'Etc/Unknown')).toBe('2026-11-20T00:00:00.000Z');
  });
});

describe('days of the calendar', () => {
  test.each([
    ['2024-02-28', 1, '2024-02-29'],
    ['2026-12-31', 1, '2027-01-01'],
    ['2026-03-01', -1, '2026-02-28'],
  ])('%s and %i more are %s', (day, count, expected) => {
    expect(dayAfter(day, count)).toBe(expected);
  });

  // The day of 23 hours, the day of 25, the day of 24.5, and a midnight that does not exist.
  test.each([
    ['Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29T22:30:00Z', 1],
    ['Europe/Berlin', '2026-10-24T22:30:00Z', '2026-10-25T22:30:00Z', 0],
    ['Australia/Lord_Howe', '2026-04-04T13:10:00Z', '2026-04-05T13:20:00Z', 0],
    ['America/Sao_Paulo', '2018-11-04T02:59:00Z', '2018-11-04T03:00:00Z', 1],
    ['Pacific/Apia', '2011-12-30T09:59:00Z', '2011-12-30T10:00:00Z', 2],
  ])('in %s from %s to %s are %s', (zone, from, to, count) => {
    expect(daysBetween(zone, Date.parse(from), Date.parse(to))).toBe(count);
  });
});

describe('the end of a plan', () => {
  test.each([
    ['2026-11-20T10:00:00.000Z', 'Europe/Berlin', '20 November 2026'],
    ['2026-11-20T23:30:00.000Z', 'Europe/Berlin', '21 November 2026 (00:30 Europe/Berlin)'],
    ['2026-11-20T02:00:00.000Z', 'America/New_York', '19 November 2026 (21:00 America/New_York)'],
    ['2026-09-06T03:59:00.000Z', 'America/Santiago', '5 September 2026 (23:59 America/Santiago)'],
    ['2026-09-06T04:00:00.000Z', 'America/Santiago', '6 September 2026'],
    ['2026-11-20T23:30:00.000Z', 'Etc/Unknown', '20 November 2026'],
  ])('%s in %s is %s on a screen', (iso, zone, sentence) => {
    expect(describeEnd(iso, { time_zone: zone })).toBe(sentence);
  });

  test('has its time and UTC in a mail', () => {
    expect(describeEnd('2026-11-20T23:30:00.000Z', { time_zone: 'UTC', is_mail: true })).toBe('20 November 2026 (23:30 UTC)');
  });
});
