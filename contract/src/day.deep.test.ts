import { expect, test } from 'vitest';
import { dayOf, describeEnd, startOfDate } from './day.ts';
import { expiryOf } from './subscription.ts';

const DAY_MS = 86_400_000;
const [FROM, TO] = [Date.parse('2025-01-01T00:00:00Z'), Date.parse('2031-01-01T00:00:00Z')];

/** The offset of a zone's clock at the beginning, and each moment at which it changes, to the minute. */
function clockOf(zone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' });
  // "2025, GMT+01:00" without its year.
  const offsetAt = (at: number) => format.format(at).slice('2025, '.length);
  const changes = [offsetAt(FROM)];
  for (let day = FROM; day < TO; day += DAY_MS) {
    const before = offsetAt(day);
    if (offsetAt(day + DAY_MS) === before) continue;
    let [from, to] = [day, day + DAY_MS];
    while (to - from > 60_000) {
      const between = (from + to) / 2;
      if (offsetAt(between) === before) from = between;
      else to = between;
    }
    changes.push(`${Math.round(to / 60_000)} ${offsetAt(day + DAY_MS)}`);
  }
  return changes.join();
}

/** One zone of each clock: those that show the same at every moment share one. */
const ZONES = [...new Map(Intl.supportedValuesOf('timeZone').map((zone) => [clockOf(zone), zone])).values()];

// A day is the moments at which a clock shows its date: no rule of time zones is needed to say so. No day of these years is without one.
test('every day of every clock from 2025 to 2030 begins with the first moment that its clock shows it', {
  timeout: 600_000,
}, () => {
  for (const zone of ZONES) {
    const wrong: string[] = [];
    for (let noon = FROM + DAY_MS / 2; noon < TO; noon += DAY_MS) {
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
  for (const zone of ZONES) {
    const wrong: string[] = [];
    const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: zone });
    const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: zone });
    for (let noon = FROM + DAY_MS / 2; noon < TO; noon += 7 * DAY_MS) {
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
