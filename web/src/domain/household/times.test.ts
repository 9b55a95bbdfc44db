import { expect, it } from 'vitest';
import { profileOf } from '#api/fake-devices.ts';
import { answerEffect, isBedtime, timeAt } from './times.ts';

const ZONE = 'Europe/Vienna';
const MIA = profileOf();
const BEDTIME = { days: [1, 2, 3, 4, 5, 6, 7], refuses: 'all', from: '21:00', to: '06:30' } as const;
const SCHOOL = { ...BEDTIME, from: '08:00', to: '13:00' };
const at = (iso: string) => Date.parse(iso);
const withTimes = (...times: (typeof MIA.rules.times)[number][]) => ({ ...MIA.rules, times });

it('finds the time that holds on the clock of the home', () => {
  // 21:30, 20:59 and 09:30 in Vienna.
  expect(timeAt(withTimes({ ...BEDTIME, days: [...BEDTIME.days] }), ZONE, at('2026-11-26T20:30:00Z'))).toMatchObject({
    to: '06:30',
  });
  expect(timeAt(withTimes({ ...BEDTIME, days: [...BEDTIME.days] }), ZONE, at('2026-11-26T19:59:00Z'))).toBeUndefined();
  const school = timeAt(withTimes({ ...SCHOOL, days: [...SCHOOL.days] }), ZONE, at('2026-11-26T08:30:00Z'));
  expect(school !== undefined && isBedtime(school)).toBe(false);
});

it.each([
  [
    'on',
    '2026-11-26T23:53:00Z',
    /^It’s Mia’s bedtime until 0?6:30( AM)?\. “For one hour” opens it now\. “Always” opens it after that\.$/,
  ],
  ['on', '2026-11-26T12:00:00Z', /^At times without websites, such as bedtime, “Always” waits/],
  ['paused', '2026-11-26T12:00:00Z', /^Websites are paused for Mia\./],
] as const)('says what an answer does: %s at %s', (state, now, words) => {
  const profile = { ...MIA, state, rules: withTimes({ ...BEDTIME, days: [...BEDTIME.days] }) };
  expect(answerEffect(profile, ZONE, at(now))).toMatch(words);
});

it('says nothing about answers that no time stands against', () => {
  expect(answerEffect({ ...MIA, rules: withTimes() }, ZONE, at('2026-11-26T12:00:00Z'))).toBeUndefined();
});
