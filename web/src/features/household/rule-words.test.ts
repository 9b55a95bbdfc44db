import type { ProfileRules, ProfileTime } from '@palisade/contract/household';
import { describe, expect, it, vi } from 'vitest';
import { profileOf } from '#api/fake-devices.ts';
import { daysWords, listlessWords, rulesWords, sharedWords, timeNowWords, timeWords, triedWords } from './rule-words.ts';

vi.mock('#ui/place.ts', async (original) => ({ ...(await original<object>()), LOCALE: 'en-GB' }));

const DAILY = [1, 2, 3, 4, 5, 6, 7];
const SCHOOL = [1, 2, 3, 4, 5];
const BEDTIME: ProfileTime = { days: DAILY, from: '21:00', to: '06:30', refuses: 'all' };
const NO_VIDEOS: ProfileTime = { days: SCHOOL, from: '00:00', to: '17:00', refuses: 'video' };
const SERVICES = [{ id: 'tiktok', name: 'TikTok', kind: 'video' as const }];
const CATEGORIES = (['adult', 'gambling', 'ways_around'] as const).map((category) => ({ category, names: 9 }));
const WEB = { services: SERVICES, categories: CATEGORIES };
const RULES: ProfileRules = {
  categories: ['adult', 'gambling', 'ways_around'],
  services: ['tiktok'],
  safe_search: 'moderate',
  times: [NO_VIDEOS, BEDTIME],
};

it.each([
  [DAILY, 'every day'],
  [[5, 4, 3, 2, 1, 1], 'school days'],
  [[7, 6], 'Saturday and Sunday'],
  [[1, 3, 5], 'Monday, Wednesday, and Friday'],
])('names the days %j', (days, words) => {
  expect(daysWords(days)).toBe(words);
});

it.each<[Partial<ProfileTime>, string]>([
  [BEDTIME, 'Bedtime: 21:00 to 06:30, every day.'],
  [NO_VIDEOS, 'Videos: not on school days before 17:00.'],
  [{ ...NO_VIDEOS, days: DAILY }, 'Videos: not before 17:00.'],
  [{ ...NO_VIDEOS, refuses: 'games', from: '20:00', to: '00:00' }, 'Games: not on school days after 20:00.'],
  [{ days: DAILY, refuses: 'chats', from: '20:00', to: '00:00' }, 'Chats: not after 20:00.'],
  [{ days: SCHOOL, refuses: 'all', from: '08:00', to: '13:00' }, 'Websites: not on school days from 08:00 to 13:00.'],
  [{ days: DAILY, refuses: 'games', from: '08:00', to: '13:00' }, 'Games: not from 08:00 to 13:00.'],
  [{ days: [7], refuses: 'all', from: '00:00', to: '00:00' }, 'Websites: not on Sunday.'],
  [{ days: DAILY, refuses: 'video', from: '00:00', to: '00:00' }, 'Videos: not at any time.'],
])('says the time %j', (time, words) => {
  expect(timeWords({ ...BEDTIME, ...time })).toBe(words);
});

it('says each part of the rules in one sentence', () => {
  expect(rulesWords(RULES, WEB)).toEqual([
    'Videos: not on school days before 17:00.',
    'Bedtime: 21:00 to 06:30, every day.',
    'Search: no explicit results.',
    'Blocked: adult sites, gambling, VPNs and other ways around these rules, and TikTok.',
  ]);
  expect(rulesWords({ categories: [], services: [], safe_search: 'off', times: [] }, WEB)).toEqual([
    'Search: unchanged.',
    'Blocked: dangerous websites only.',
  ]);
});

it('promises nothing for a category without a list', () => {
  const lists = { services: SERVICES, categories: CATEGORIES.slice(2) };
  expect(rulesWords({ ...RULES, times: [] }, lists).slice(1)).toEqual([
    'Blocked: VPNs and other ways around these rules and TikTok.',
  ]);
  expect(listlessWords(RULES, lists)).toBe('Adult sites and gambling are not blocked: this server has no list for them.');
  expect(listlessWords({ categories: ['gambling'] }, lists)).toBe('Gambling is not blocked: this server has no list for it.');
  expect(listlessWords(RULES, WEB)).toBeUndefined();
});

it('names the people of a shared computer', () => {
  const [mia, ben] = [profileOf({ name: 'Mia' }), profileOf({ name: 'Ben' })];
  const shared = profileOf({ shared_by: [mia.id, ben.id] });
  expect(sharedWords(shared, [mia, ben, shared])).toBe('Strictest of Mia and Ben: names can’t be told apart by person there.');
  expect(sharedWords(mia, [mia, ben, shared])).toBeUndefined();
});

describe('the test field', () => {
  const tried = { is_allowed: false, category: 'time', rule: '', is_safe_search: false };
  it.each([
    [tried, { day: 1, clock: '22:00' }, 'Refused: bedtime, 21:00 to 06:30.'],
    [tried, { day: 1, clock: '06:29' }, 'Refused: bedtime, 21:00 to 06:30.'],
    [{ ...tried, category: 'time_services' }, { day: 2, clock: '16:59' }, 'Refused: videos, not on school days before 17:00.'],
    [{ ...tried, category: 'guardian', rule: 'a.example' }, { day: 6, clock: '12:00' }, 'Refused: you blocked a.example.'],
    [{ ...tried, category: 'adult' }, { day: 6, clock: '12:00' }, 'Refused: adult sites.'],
    [{ ...tried, category: 'tiktok' }, { day: 6, clock: '12:00' }, 'Refused: TikTok.'],
    [{ ...tried, is_allowed: true, category: null }, { day: 6, clock: '12:00' }, 'Allowed.'],
    [{ ...tried, is_allowed: true, is_safe_search: true }, { day: 6, clock: '12:00' }, 'Allowed, without explicit results.'],
  ])('answers %j at %j', (answer, at, words) => {
    expect(triedWords(answer, RULES, at, SERVICES)).toBe(words);
  });
});

it('says until when a time holds', () => {
  expect(timeNowWords(BEDTIME)).toBe('It’s bedtime. Websites open again at 06:30.');
  expect(timeNowWords({ ...BEDTIME, from: '08:00', to: '13:00' })).toBe('Websites open again at 13:00.');
  expect(timeNowWords({ ...BEDTIME, from: '00:00', to: '00:00' })).toBe('No websites today.');
});
