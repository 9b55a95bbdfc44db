import { expect, test } from 'vitest';
import { dayOf, startOfDate } from './day.ts';

const DAY_MS = 86_400_000;

// What a day is needs no rule of time zones: the moments at which a clock shows its date. No day of these years is without one.
test('every day of every zone from 2025 to 2030 begins with the first moment that its clock shows it', {
  timeout: 600_000,
}, () => {
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const wrong: string[] = [];
    for (let noon = Date.parse('2025-01-01T12:00:00Z'); noon < Date.parse('2031-01-01T00:00:00Z'); noon += DAY_MS) {
      const day = new Date(noon).toISOString().slice(0, 10);
      const start = startOfDate(zone, day);
      if (dayOf(zone, start) !== day || dayOf(zone, start - 1) >= day) wrong.push(day);
    }
    expect([zone, wrong]).toEqual([zone, []]);
  }
});
