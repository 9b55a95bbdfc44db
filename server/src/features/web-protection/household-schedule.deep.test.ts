import type { ProfileTime } from '@palisade/contract/household';
import { expect, test } from 'vitest';
import { readingAt, startOfTomorrow, timesAt } from './household-schedule.ts';

// The count knows only the offset of a zone from UTC, as `longOffset` says it, and intervals of minutes on an endless local clock that no change interrupts.
const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MINUTES = 1_440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const FROM = Date.UTC(2025, 0, 1);
const TO = Date.UTC(2031, 0, 1);
/** Around a change, in quarters of an hour: a day and more on both sides. */
const AROUND = 4 * 26;
/** Between other samples: no divisor of a day or a week, so that all hours and days are met. */
const STEP_MS = 31 * 60 * MINUTE_MS + QUARTER_MS;

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];
const TIMES: readonly ProfileTime[] = [
  { days: EVERY_DAY, from: '21:00', to: '06:30', refuses: 'all' },
  { days: [1, 2, 3, 4, 5], from: '00:00', to: '17:00', refuses: 'games' },
  { days: [7], from: '00:00', to: '00:00', refuses: 'video' },
  { days: [5, 6], from: '23:45', to: '00:15', refuses: 'chats' },
  { days: [6], from: '02:00', to: '02:00', refuses: 'all' },
  { days: [7, 1], from: '00:30', to: '03:15', refuses: 'video' },
];
const minutes = (clock: string) => clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
const INTERVALS = TIMES.map(({ days, from, to }) => {
  const length = minutes(to) - minutes(from);
  return { days, from: minutes(from), length: length > 0 ? length : length + DAY_MINUTES };
});

/** Minutes by which the clocks of a zone are ahead of UTC. */
function offsetReader(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  return (at) => {
    const [, sign = '+', hours = '0', rest = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?$/u.exec(format.format(at)) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(rest));
  };
}

interface Stretch {
  from: number;
  to: number;
  offset: number;
}

/** Stretches of one offset: no zone changes it twice within a day. */
function stretchesOf(zone: string): Stretch[] {
  const offsetAt = offsetReader(zone);
  const stretches: Stretch[] = [];
  let current: Stretch = { from: FROM - 3 * DAY_MS, to: TO + 3 * DAY_MS, offset: offsetAt(FROM - 3 * DAY_MS) };
  for (let at = current.from; at < TO + 3 * DAY_MS; at += DAY_MS) {
    const offset = offsetAt(at);
    if (offset === current.offset) continue;
    let [before, after] = [at - DAY_MS, at];
    while (after - before > MINUTE_MS) {
      const middle = before + Math.floor((after - before) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offsetAt(middle) === offset) after = middle;
      else before = middle;
    }
    stretches.push({ ...current, to: after });
    current = { from: after, to: TO + 3 * DAY_MS, offset };
  }
  return [...stretches, current];
}

/** Days since 1970 and minutes of the local clock. The first day of 1970 was a Thursday. */
const localMinute = (at: number, offset: number) => Math.floor(at / MINUTE_MS) + offset;
const weekdayOf = (day: number) => ((((day + 3) % 7) + 7) % 7) + 1;

function held(local: number): string {
  const today = Math.floor(local / DAY_MINUTES);
  const holds = INTERVALS.map(({ days, from, length }) =>
    [today - 1, today].some((day) => {
      const begin = day * DAY_MINUTES + from;
      return days.includes(weekdayOf(day)) && local >= begin && local < begin + length;
    }),
  );
  return holds.map(Number).join('');
}

/** The first quarter of an hour after `at` whose local day is later, found by walking. */
function nextDay(at: number, stretches: readonly Stretch[]): number {
  const dayAt = (moment: number) => {
    const stretch = stretches.find(({ to }) => moment < to);
    return Math.floor(localMinute(moment, stretch?.offset ?? Number.NaN) / DAY_MINUTES);
  };
  const today = dayAt(at);
  let moment = at - (at % QUARTER_MS) + QUARTER_MS;
  while (dayAt(moment) <= today) moment += QUARTER_MS;
  return moment;
}

test('the times of a week hold as an independent count says, in all zones from 2025 to 2030', { timeout: 300_000 }, () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const compared = { zones: zones.length, changes: 0, moments: 0, mornings: 0, held: 0 };
  for (const zone of zones) {
    const stretches = stretchesOf(zone);
    const wrong: string[] = [];
    const compare = (at: number, { offset }: Stretch) => {
      const expected = held(localMinute(at, offset));
      const now = timesAt(TIMES, readingAt(zone, at));
      const found = TIMES.map((time) => Number(now.includes(time))).join('');
      compared.moments += 1;
      if (expected.includes('1')) compared.held += 1;
      if (found !== expected) wrong.push(`${new Date(at).toISOString()}: ${found} and not ${expected}`);
    };
    const compareTomorrow = (at: number) => {
      compared.mornings += 1;
      const expected = new Date(nextDay(at, stretches)).toISOString();
      const found = startOfTomorrow(at, zone);
      if (found !== expected) wrong.push(`after ${new Date(at).toISOString()}: ${found} and not ${expected}`);
    };
    for (const [place, stretch] of stretches.entries()) {
      for (let at = Math.ceil(Math.max(stretch.from, FROM) / STEP_MS) * STEP_MS; at < Math.min(stretch.to, TO); at += STEP_MS)
        compare(at, stretch);
      const next = stretches[place + 1];
      if (next === undefined || next.from < FROM || next.from >= TO) continue;
      compared.changes += 1;
      for (let quarter = -AROUND; quarter < AROUND; quarter += 1) {
        const at = next.from + quarter * QUARTER_MS;
        compare(at, at < next.from ? stretch : next);
        if (quarter < 0) compare(at + QUARTER_MS - 1, stretch);
        if (quarter % 6 === 0) compareTomorrow(at);
      }
    }
    compareTomorrow(Date.UTC(2028, 1, 28, 12));
    compareTomorrow(Date.UTC(2028, 1, 29, 12));
    expect([zone, wrong]).toEqual([zone, []]);
  }
  process.stdout.write(`schedules: ${JSON.stringify(compared)}\n`);
  expect(compared.zones).toBeGreaterThan(400);
  expect(compared.changes).toBeGreaterThan(1_500);
  expect(compared.moments).toBeGreaterThan(900_000);
  expect(compared.held).toBeGreaterThan(compared.moments / 4);
});
