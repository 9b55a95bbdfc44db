import { SCAM_REASONS_MAXIMUM, type ScamReasonCode, type ScamVerdict } from '@palisade/contract/scam-check';
import { hasRequest as asksInAddress } from './look-alike.ts';
import { chainOf, type Message } from './message.ts';
import type { Sign } from './signs.ts';

/** Signs of an imitated organisation; together with a request they make a message dangerous. */
const IMITATIONS: ReadonlySet<ScamReasonCode> = new Set([
  'lookalike_domain',
  'brand_in_address',
  'sender_lookalike',
  'sender_name_differs',
  'link_text_differs',
]);
/** Signs that support an intent. */
const SUPPORTS: ReadonlySet<ScamReasonCode> = new Set([
  'pressure',
  'secrecy',
  'channel_change',
  'unusual_payment',
  'asks_for_secret',
  'asks_for_money',
  'hidden_letters',
  'premium_number',
  'foreign_number',
  'account_country',
  'account_wrong',
  'reply_elsewhere',
  'sender_name_differs',
  'sender_lookalike',
  'signature_failed',
  'risky_attachment',
  'lookalike_domain',
  'brand_in_address',
  'mixed_letters',
  'user_before_at',
  'number_address',
  'shortened_link',
  'open_redirect',
  'code_in_link',
  'disguised_link',
  'link_text_differs',
  'throwaway_ending',
  'free_hosting',
  'program_link',
]);
const SUPPORTS_LEAST = 2;
/** This many weak signs together are suspicious, if one of them concerns a link, number or sender. */
const WEAK_TOGETHER = 3;
const OF_WORDS: ReadonlySet<ScamReasonCode> = new Set([
  'pressure',
  'secrecy',
  'channel_change',
  'unusual_payment',
  'asks_for_secret',
  'asks_for_money',
]);
const PROOF = 3;
const STRONG = 2;

/** Whether a message contains a request: in its words, or in the address of a link that imitates a brand. */
function hasRequest(message: Message): boolean {
  const asked = [
    'click',
    'call',
    'pay',
    'transfer',
    'confirm',
    'secret_data',
    'gift_card',
    'crypto',
    'remote_tool',
    'lend',
  ] as const;
  return (
    asked.some((concept) => message.evidence.has(concept)) ||
    message.links.flatMap(chainOf).some((link) => link.imitation !== undefined && asksInAddress(link.address))
  );
}

/** The verdict: `dangerous` for a listed domain, an imitated organisation with a request, or an intent with two supporting signs. */
export function judge(message: Message, signs: readonly Sign[]): Exclude<ScamVerdict, 'not_checked'> {
  if (signs.some(({ weight }) => weight === PROOF)) return 'dangerous';
  const codes = new Set(signs.map(({ code }) => code));
  // An advertisement for a premium number is only a nuisance, so its words alone are not dangerous.
  const hasIntent = [...codes].some((code) => code.startsWith('intent_') && code !== 'intent_paid_number');
  const isImitated = signs.some(({ code, weight }) => IMITATIONS.has(code) && weight >= STRONG);
  if (isImitated && (hasIntent || hasRequest(message))) return 'dangerous';
  if (hasIntent && [...codes].filter((code) => SUPPORTS.has(code)).length >= SUPPORTS_LEAST) return 'dangerous';
  if (signs.some(({ weight }) => weight >= STRONG)) return 'suspicious';
  const weak = [...codes].filter((code) => code !== 'hidden_target');
  return weak.length >= WEAK_TOGETHER && weak.some((code) => !OF_WORDS.has(code)) ? 'suspicious' : 'nothing_found';
}

/** Intents that can occur together with others. Of all other intents only one is shown, because each explains who writes and why. */
const BESIDE_OTHERS: ReadonlySet<ScamReasonCode> = new Set(['intent_prize', 'intent_paid_number']);

/** Chooses the signs to show: those with the highest weight, each code once, and of contradicting intents the one with the most evidence. */
export function chooseReasons(signs: readonly Sign[]): Sign[] {
  const shownBy = ({ params }: Sign) => params['shown_by']?.split(' ').length ?? 0;
  const kept = new Map<string, Sign>();
  for (const sign of signs.toSorted((one, other) => other.weight - one.weight)) {
    const isStory = sign.code.startsWith('intent_') && !BESIDE_OTHERS.has(sign.code);
    const key = isStory ? 'story' : sign.code;
    const before = kept.get(key);
    if (before === undefined || (isStory && shownBy(sign) > shownBy(before))) kept.set(key, sign);
  }
  return [...kept.values()].slice(0, SCAM_REASONS_MAXIMUM);
}
