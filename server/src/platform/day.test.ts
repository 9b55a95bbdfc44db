import { describe, expect, test } from 'vitest';
import { startOfDay } from './day.ts';

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
});
