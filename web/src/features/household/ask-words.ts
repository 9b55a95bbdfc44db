import type { AgeGroup, Ask, AskPage, ProfileRefusal } from '@palisade/contract/household';
import { formatList } from '@palisade/contract/intl';
import { reasonOf } from '#domain/web-device/web-words.ts';
import { describeUntil } from '#ui/moment.tsx';
import { isAtBedtime, timeNowWords } from './rule-words.ts';

interface AskWords {
  none: string;
  refused: string;
  names: string;
  counts: string;
  noPlan: string;
}

const FEW: AskWords = {
  none: 'All good!',
  refused: 'Not now',
  names: 'Your grown-ups see this too.',
  counts: 'Your grown-ups see numbers only.',
  noPlan: 'Only dangerous pages stay closed.',
};
const PLAIN: AskWords = {
  none: 'Nothing was refused here.',
  refused: 'Refused here',
  names: 'Your guardians see what was refused here.',
  counts: 'Your guardians see numbers only.',
  noPlan: 'Only dangerous websites are refused now: there is no plan.',
};

export const askWords = (age: AgeGroup): AskWords => (age === 'small_child' ? FEW : PLAIN);

/** The devices that a page is about. One that was taken out of the profile is missing. */
export const deviceWords = (names: readonly string[]): string =>
  names.length === 0 ? 'No device has this page now.' : `Devices: ${formatList(names, 'plain')}`;

/** The state of the whole device: paused, a time for all names, no plan; undefined otherwise. */
export function holdWords(page: AskPage, now: number): string | undefined {
  const { state, paused_until, time_now, age_group } = page;
  if (state === 'no_plan') return askWords(age_group).noPlan;
  if (state === 'paused') return paused_until === null ? 'Pause.' : `Pause until ${describeUntil(paused_until, now)}.`;
  return time_now === null ? undefined : timeNowWords(time_now);
}

/** The answer to a “May I?”: "Yes, until 16:05." */
export function replyWords({ answer, until }: Pick<Ask, 'answer' | 'until'>, now: number): string {
  if (answer === 'wait') return 'Asked. The answer will show here.';
  if (answer === 'no') return 'No.';
  if (answer === 'always') return 'Yes, always.';
  if (until === null) return 'Yes, for an hour.';
  return Date.parse(until) > now ? `Yes, until ${describeUntil(until, now)}.` : 'Yes. The hour is over.';
}

/** The service that was refused as a whole, else the name: "YouTube". One ask is for all of it. */
export const askedOf = ({ service, name }: Pick<ProfileRefusal, 'service' | 'name'>): string => (service === '' ? name : service);

/** The reason of a refusal, for its person. Services are chosen by guardians alone. */
export function refusedWords(
  { service, category, last_at }: Pick<ProfileRefusal, 'service' | 'category' | 'last_at'>,
  { rules, time_zone }: Pick<AskPage, 'rules' | 'time_zone'>,
): string {
  if (category === 'time' && isAtBedtime(rules, time_zone, Date.parse(last_at))) return 'Bedtime';
  return reasonOf(service === '' || category === 'time_services' ? category : 'guardian', []);
}

/** An answered ask in one line, for guardians: "roblox.com: yes, until 16:05." */
export function answerWords({ name, line, ...ask }: Pick<Ask, 'name' | 'answer' | 'until' | 'line'>, now: number): string {
  const words = replyWords(ask, now);
  return `${name}: ${words.charAt(0).toLowerCase()}${words.slice(1)}${line === '' ? '' : ` “${line}”`}`;
}
