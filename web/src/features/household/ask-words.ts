import type { AgeGroup, Ask, AskPage, ProfileRefusal } from '@palisade/contract/household';
import { formatList, formatNumber } from '@palisade/contract/intl';
import { isBedtime, timeAt } from '#domain/household/times.ts';
import { reasonOf } from '#domain/web-device/web-words.ts';
import { describeUntil } from '#ui/moment.tsx';
import { timeNowWords } from './rule-words.ts';

interface AskWords {
  none: string;
  refused: string;
  noPlan: string;
}

const FEW: AskWords = {
  none: 'All good!',
  refused: 'Not now',
  noPlan: 'Only dangerous pages stay closed.',
};
const PLAIN: AskWords = {
  none: 'Everything opened.',
  refused: 'These didn’t open',
  noPlan: 'Only dangerous websites stay closed now: there is no plan.',
};

export const askWords = (age: AgeGroup): AskWords => (age === 'small_child' ? FEW : PLAIN);

/** The devices of a page, unless there is only one. Devices that were removed from the profile are not listed. */
export function deviceWords(names: readonly string[]): string | undefined {
  if (names.length === 0) return 'No device has this page now.';
  return names.length === 1 ? undefined : `Devices: ${formatList(names, 'plain')}`;
}

/** Everything that guardians see of a person, with today's counts: "Anna can see which websites didn’t open, and how many you asked for. Today: 3, and 2 didn’t open." */
export function seenWords({ guardians, guardians_see, today }: Pick<AskPage, 'guardians' | 'guardians_see' | 'today'>): string {
  const closed = today.refused.reduce((sum, { count }) => sum + count, 0);
  const asked = today.answered + closed;
  const what =
    guardians_see === 'names'
      ? 'which websites didn’t open, and how many you asked for'
      : 'how many websites you asked for, not which';
  return `${formatList(guardians)} can see ${what}. Today: ${formatNumber(asked)}, and ${formatNumber(closed)} didn’t open.`;
}

/** The state of all of the person's devices: paused, in a time for all names, or without a plan; otherwise undefined. */
export function holdWords(page: AskPage, now: number): string | undefined {
  const { state, paused_until, time_now, age_group } = page;
  if (state === 'no_plan') return askWords(age_group).noPlan;
  if (state === 'paused')
    return paused_until === null ? 'Websites are paused.' : `Websites are paused until ${describeUntil(paused_until, now)}.`;
  return time_now === null ? undefined : timeNowWords(time_now);
}

/** The answer to a “May I?” request: "Yes, until 16:05." */
export function replyWords({ answer, until }: Pick<Ask, 'answer' | 'until'>, now: number): string {
  if (answer === 'wait') return 'Sent. The answer will show here.';
  if (answer === 'no') return 'No.';
  if (answer === 'always') return 'Yes, always.';
  if (until === null) return 'Yes, for an hour.';
  return Date.parse(until) > now ? `Yes, until ${describeUntil(until, now)}.` : 'Yes. The hour is over.';
}

/** The service if it was refused as a whole, otherwise the name: "YouTube". One request covers the whole service. */
export const askedOf = ({ service, name }: Pick<ProfileRefusal, 'service' | 'name'>): string => (service === '' ? name : service);

/** Reasons for the person's page, where those for lists are too short. */
const REASONS: Readonly<Record<string, string>> = {
  time: 'Closed at this time',
  time_services: 'Closed at this time',
  paused: 'Websites were paused',
  dangerous: 'This website is dangerous',
};

/** The reason for a refusal, for the person's page. Only guardians choose services. */
export function refusedWords(
  { service, category, last_at }: Pick<ProfileRefusal, 'service' | 'category' | 'last_at'>,
  { rules, time_zone }: Pick<AskPage, 'rules' | 'time_zone'>,
): string {
  const time = category === 'time' ? timeAt(rules, time_zone, Date.parse(last_at)) : undefined;
  if (time !== undefined && isBedtime(time)) return 'It was bedtime';
  return REASONS[category] ?? reasonOf(service === '' ? category : 'guardian', []);
}

/** An answered request in one line, for guardians: "roblox.com: yes, until 16:05." */
export function answerWords({ name, line, ...ask }: Pick<Ask, 'name' | 'answer' | 'until' | 'line'>, now: number): string {
  const words = replyWords(ask, now);
  return `${name}: ${words.charAt(0).toLowerCase()}${words.slice(1)}${line === '' ? '' : ` “${line}”`}`;
}
