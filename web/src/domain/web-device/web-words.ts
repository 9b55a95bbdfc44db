import { formatNumber } from '@palisade/contract/intl';
import type { WebCategory, WebProtection } from '@palisade/contract/web-protection';

export const CATEGORIES: Record<WebCategory, string> = {
  ads: 'Ads and trackers',
  adult: 'Adult content',
  gambling: 'Gambling',
  ways_around: 'Ways around web protection',
};

/** A one-line description of each category. */
export const CATEGORY_LINES: Record<WebCategory, string> = {
  ads: 'Ads, and companies that follow you across websites.',
  adult: 'Websites for adults only.',
  gambling: 'Betting and casino websites.',
  ways_around: 'Services that let a device get past these rules.',
};

/** Labels of the kinds of services. */
export const SERVICE_KINDS = { video: 'Video and music', games: 'Games', chats: 'Chats and social media' } as const;

/** Labels of a household's reasons for a refusal (`HOUSEHOLD_REASONS`), for a list. */
const HOUSEHOLD: Readonly<Record<string, string>> = {
  paused: 'Paused',
  time: 'Time without websites',
  time_services: 'Not at this time',
  guardian: 'Blocked by a guardian',
};

/** The reason for a refusal, for a list: "Ads and trackers". */
export function reasonOf(category: string, services: WebProtection['services']): string {
  if (category === 'dangerous') return 'Dangerous';
  if (category === 'own') return 'Blocked by you';
  if (category === 'private_address') return 'Private address';
  const ofHousehold = HOUSEHOLD[category];
  if (ofHousehold !== undefined) return ofHousehold;
  const [, known] = Object.entries(CATEGORIES).find(([id]) => id === category) ?? [];
  return known ?? services.find(({ id }) => id === category)?.name ?? 'Blocked';
}

/** The number of refusals with one reason: "2 refused: not at this time". */
export function refusedWords(category: string, count: number, services: WebProtection['services']): string {
  const reason = reasonOf(category, services);
  return `${formatNumber(count)} refused: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`;
}

/** The reason for a refusal as a sentence. */
export function whyOf({ category, rule }: { category: string; rule: string }, services: WebProtection['services']): string {
  if (category === 'dangerous') return `${rule} is on a list of dangerous websites.`;
  if (category === 'own') return `You blocked ${rule}.`;
  if (category === 'private_address')
    return `${rule} pointed to a device in a private network. Attackers use this to reach home devices.`;
  return `${rule} belongs to “${reasonOf(category, services)}”, which you block.`;
}
