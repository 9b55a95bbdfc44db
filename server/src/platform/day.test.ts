import { describe, expect, test } from 'vitest';
import { clockAt, dayOf, lastDays, startOfDate, startOfDay } from './day.ts';

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
