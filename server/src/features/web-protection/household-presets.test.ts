import { AGE_GROUPS, type AgeGroup, profileRulesSchema } from '@palisade/contract/household';
import { expect, test } from 'vitest';
import { presetOf } from './household-presets.ts';
import { timesAt } from './household-schedule.ts';
import { SERVICES } from './services.ts';

/** Refused of a service on a day (1 is Monday) at a time: always, by a time, or never. */
function refusedOf(age: AgeGroup, service_id: string, day: number, clock: string) {
  const { services, times } = presetOf(age);
  const kind = SERVICES.find(({ id }) => id === service_id)?.kind;
  const now = timesAt(times, { day, clock }).map(({ refuses }) => refuses);
  if (now.includes('all')) return 'bedtime';
  if (services.includes(service_id)) return 'always';
  return now.some((one) => one === kind) ? 'time' : 'no';
}

test.each<[AgeGroup, string, number, string, string]>([
  ['small_child', 'youtube', 6, '12:00', 'always'],
  ['small_child', 'minecraft', 6, '12:00', 'always'],
  ['small_child', 'whatsapp', 6, '12:00', 'always'],
  ['small_child', 'youtube', 1, '19:30', 'bedtime'],
  ['child', 'youtube', 1, '16:59', 'time'],
  ['child', 'youtube', 1, '17:00', 'no'],
  ['child', 'minecraft', 5, '10:00', 'time'],
  ['child', 'minecraft', 6, '10:00', 'no'],
  ['child', 'minecraft', 6, '21:00', 'bedtime'],
  ['child', 'minecraft', 7, '06:29', 'bedtime'],
  ['child', 'minecraft', 7, '06:30', 'no'],
  ['child', 'instagram', 7, '12:00', 'always'],
  ['teenager', 'instagram', 1, '10:00', 'no'],
  ['teenager', 'twitch', 1, '10:00', 'time'],
  ['teenager', 'roblox', 1, '13:00', 'no'],
  ['teenager', 'roblox', 1, '07:59', 'no'],
  ['teenager', 'roblox', 1, '22:30', 'bedtime'],
  ['teenager', 'roblox', 1, '05:59', 'bedtime'],
  ['sixteen', 'roblox', 1, '03:00', 'no'],
  ['sixteen', 'tinder', 1, '10:00', 'no'],
])('the preset of a %s: %s on day %i at %s', (age, service_id, day, clock, refused) => {
  expect(refusedOf(age, service_id, day, clock)).toBe(refused);
});

test('a younger one is never refused less, and no two profiles share a preset', () => {
  const presets = AGE_GROUPS.map(presetOf);
  expect(presets.map(({ safe_search }) => safe_search)).toEqual(['strict', 'strict', 'moderate', 'off']);
  for (const [place, { categories, services }] of presets.slice(1).entries()) {
    expect(presets[place]?.categories).toEqual(expect.arrayContaining(categories));
    expect(presets[place]?.services).toEqual(expect.arrayContaining(services));
  }
  presets[1]?.times[0]?.days.pop();
  expect(presetOf('child').times[0]?.days).toHaveLength(7);
});

test.each(AGE_GROUPS)('the preset of a %s may be stored', (age) => {
  expect(profileRulesSchema.parse(presetOf(age))).toEqual(presetOf(age));
});
