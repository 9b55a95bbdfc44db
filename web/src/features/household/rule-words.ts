import { holdsAt } from '@palisade/contract/day';
import type { AgeGroup, Profile, ProfileRules, ProfileTime } from '@palisade/contract/household';
import { capitalize, formatList, listFirst } from '@palisade/contract/intl';
import type { WebCategory, WebProtection } from '@palisade/contract/web-protection';
import { isAllDay, isBedtime } from '#domain/household/times.ts';
import { describeClockTime } from '#ui/moment.tsx';

type Services = WebProtection['services'];
/** Lists and services that this server has. */
export type Lists = Pick<WebProtection, 'categories' | 'services'>;

export const AGES: Record<AgeGroup, { title: string; sentence: string }> = {
  small_child: { title: 'Up to 7', sentence: 'Their page has few words and large buttons. You see what was refused.' },
  child: { title: '8 to 12', sentence: 'Their page has plain words. You see what was refused.' },
  teenager: { title: '13 to 15', sentence: 'You see what was refused, and they see that you do.' },
  sixteen: { title: '16 and older', sentence: 'You see counts only, never websites.' },
};

export const DAY_NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
const SCHOOL_DAYS = '1,2,3,4,5';

/** Days in words: "school days", "every day", "Saturday and Sunday". 1 is Monday. */
export function daysWords(days: readonly number[]): string {
  const sorted = [...new Set(days)].toSorted((one, other) => one - other);
  if (sorted.length === DAY_NAMES.length) return 'every day';
  return sorted.join() === SCHOOL_DAYS ? 'school days' : formatList(sorted.map((day) => DAY_NAMES[day - 1] ?? ''));
}

export const TIMED_WORDS = { all: 'Websites', video: 'Videos', games: 'Games', chats: 'Chats' } as const;
const MIDNIGHT = '00:00';

/** One sentence about a time: "Bedtime: 21:00 to 06:30, every day.", "Videos: not on school days before 17:00." */
export function timeWords(time: ProfileTime): string {
  const days = daysWords(time.days);
  const [from, to] = [describeClockTime(time.from), describeClockTime(time.to)];
  if (isBedtime(time)) return `Bedtime: ${from} to ${to}, ${days}.`;
  const what = TIMED_WORDS[time.refuses];
  const isDaily = days === 'every day';
  if (isAllDay(time)) return isDaily ? `${what}: not at any time.` : `${what}: not on ${days}.`;
  if (time.from === MIDNIGHT) return isDaily ? `${what}: not before ${to}.` : `${what}: not on ${days} before ${to}.`;
  if (time.to === MIDNIGHT) return isDaily ? `${what}: not after ${from}.` : `${what}: not on ${days} after ${from}.`;
  return isDaily ? `${what}: not from ${from} to ${to}.` : `${what}: not on ${days} from ${from} to ${to}.`;
}

const BLOCKED: Record<WebCategory, string> = {
  ads: 'ads and trackers',
  adult: 'adult sites',
  gambling: 'gambling',
  ways_around: 'VPNs and other ways around these rules',
};

const SEARCH = {
  off: 'Search: unchanged.',
  moderate: 'Search: no explicit results.',
  strict: 'Search: no explicit results, and YouTube in its strict mode.',
} as const;

const hasList = (category: WebCategory, { categories }: Lists) =>
  categories.some((one) => one.category === category && one.names > 0);

function blockedWords({ categories, services }: ProfileRules, web: Lists): string {
  const names = web.services.filter(({ id }) => services.includes(id)).map(({ name }) => name);
  const blocked = [...categories.filter((one) => hasList(one, web)).map((one) => BLOCKED[one]), ...names];
  return blocked.length === 0 ? 'Blocked: dangerous websites only.' : `Blocked: ${listFirst(blocked, 6)}.`;
}

/** Chosen categories without effect, because the server has no list for them: "Gambling is not blocked: this server has no list for it." */
export function listlessWords({ categories }: Pick<ProfileRules, 'categories'>, web: Lists): string | undefined {
  const listless = categories.filter((one) => !hasList(one, web));
  const [first] = listless;
  if (first === undefined) return undefined;
  const names = capitalize(formatList(listless.map((one) => BLOCKED[one])));
  return listless.length === 1 && first === 'gambling'
    ? `${names} is not blocked: this server has no list for it.`
    : `${names} are not blocked: this server has no list for them.`;
}

/** The rules of a profile, one sentence for each part. `listlessWords` names those without effect. */
export function rulesWords(rules: ProfileRules, web: Lists): string[] {
  return [...rules.times.map(timeWords), SEARCH[rules.safe_search], blockedWords(rules, web)];
}

/** The rules of a shared computer: "Strictest of Mia and Ben: names can’t be told apart by person there." */
export function sharedWords(profile: Profile, profiles: readonly Profile[]): string | undefined {
  const members = profiles.filter(({ id }) => profile.shared_by.includes(id)).map(({ name }) => name);
  return members.length === 0 ? undefined : `Strictest of ${formatList(members)}: names can’t be told apart by person there.`;
}

interface Tried {
  is_allowed: boolean;
  category: string | null;
  rule: string;
  is_safe_search: boolean;
}

/** The time that causes a refusal on a day at a time of day, without a full stop: "bedtime, 21:00 to 06:30". */
function refusingTime({ times }: ProfileRules, day: number, clock: string, isForAll: boolean): string {
  const time = times.find((one) => (one.refuses === 'all') === isForAll && holdsAt(one, day, clock));
  if (time === undefined) return 'not at this time';
  if (isBedtime(time)) return `bedtime, ${describeClockTime(time.from)} to ${describeClockTime(time.to)}`;
  const words = timeWords(time);
  return (words.charAt(0).toLowerCase() + words.slice(1, -1)).replace(': ', ', ');
}

/** The result of the test field: "Refused: bedtime, 21:00 to 06:30." */
export function triedWords(tried: Tried, rules: ProfileRules, at: { day: number; clock: string }, services: Services): string {
  const { is_allowed, category, rule, is_safe_search } = tried;
  if (is_allowed && is_safe_search) return 'Allowed, without explicit results.';
  if (is_allowed) return category === 'guardian' ? `Allowed: you allowed ${rule}.` : 'Allowed.';
  if (category === 'dangerous') return 'Refused: dangerous.';
  if (category === 'paused') return 'Refused: paused.';
  if (category === 'guardian') return `Refused: you blocked ${rule}.`;
  if (category === 'time' || category === 'time_services')
    return `Refused: ${refusingTime(rules, at.day, at.clock, category === 'time')}.`;
  const [, listed] = Object.entries(BLOCKED).find(([id]) => id === category) ?? [];
  const service = services.find(({ id }) => id === category)?.name;
  return `Refused: ${listed ?? service ?? 'blocked'}.`;
}

/** The time that applies now, for the person's page: "It’s bedtime. Websites open again at 06:30." */
export function timeNowWords(time: ProfileTime): string {
  if (isAllDay(time)) return 'No websites today.';
  const again = `Websites open again at ${describeClockTime(time.to)}.`;
  return isBedtime(time) ? `It’s bedtime. ${again}` : again;
}
