import { expect, test } from 'vitest';
import { dayOf, describeEnd, startOfDate } from './day.ts';
import { expiryOf } from './subscription.ts';

const DAY_MS = 86_400_000;

// A day is the moments at which a clock shows its date: no rule of time zones is needed to say so. No day of these years is without one.
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

// Plans that are assigned in the last and first minutes of a day end near a midnight, where mail and screen have two days.
test('the end of a plan is the same day in a mail and on every screen, or the screen names its zone, from 2025 to 2030', {
  timeout: 600_000,
}, () => {
  const long = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const wrong: string[] = [];
    const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: zone });
    const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: zone });
    for (let noon = Date.parse('2025-01-01T12:00:00Z'); noon < Date.parse('2031-01-01T00:00:00Z'); noon += 7 * DAY_MS) {
      const start = startOfDate(zone, new Date(noon).toISOString().slice(0, 10));
      for (const assigned of [start - 1, start]) {
        const end = expiryOf(new Date(assigned).toISOString(), 1);
        const at = new Date(end);
        const [mail, screen] = [describeEnd(end, { time_zone: 'UTC', is_mail: true }), describeEnd(end, { time_zone: zone })];
        const [utc_day, own_day] = [long.format(at), local.format(at)];
        const expected = utc_day === own_day ? own_day : `${own_day} (${clock.format(at)} ${zone})`;
        if (screen !== expected || mail !== `${utc_day} (${end.slice(11, 16)} UTC)`) wrong.push(`${end}: ${screen} | ${mail}`);
      }
    }
    expect([zone, wrong]).toEqual([zone, []]);
  }
});
