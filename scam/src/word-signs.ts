import type { ScamReasonCode, Span } from '@palisade/contract/scam-check';
import { type Evidence, findIntents } from './intents.ts';
import { type Message, spanOf } from './message.ts';
import type { Detector, Sign } from './signs.ts';
import { CONCEPTS, type Concept } from './words/concepts.ts';

/** Span of the first occurrence of one of the concepts. */
export function conceptSpan(message: Message, concepts: readonly Concept[]): Span | undefined {
  for (const concept of concepts)
    for (const text of message.texts) {
      const [hit] = text.concepts[concept] ?? [];
      if (hit !== undefined) return spanOf(text, hit);
    }
  return undefined;
}

const isConcept = (evidence: Evidence): evidence is Concept => CONCEPTS.some((concept) => concept === evidence);

/** The span that best shows an intent. */
function intentSpan(message: Message, shownBy: readonly Evidence[]): Span | undefined {
  const concepts = shownBy.filter(isConcept);
  // The concept with the fewest occurrences is the most specific.
  const counted = concepts
    .flatMap((concept) =>
      message.texts.flatMap((text) => {
        const hits = text.concepts[concept] ?? [];
        const [hit] = hits;
        return hit === undefined ? [] : [{ text, hit, count: hits.length, length: hit.end - hit.start }];
      }),
    )
    .sort((a, b) => a.count - b.count || b.length - a.length);
  const [first] = counted;
  if (first !== undefined) return spanOf(first.text, first.hit);
  const isOfNumber = shownBy.some((one) => one.endsWith('number') || one === 'perhaps_premium');
  const [place] = isOfNumber ? [...message.numbers, ...message.links] : [...message.links, ...message.numbers];
  return place === undefined ? undefined : spanOf(place.text, place);
}

const intentDetector: Detector = {
  id: 'intents',
  find: (message) => {
    const found = findIntents(message.evidence);
    const organisation = message.named[0]?.brand.name ?? '';
    return found.map(({ intent, shownBy }) => ({
      code: `intent_${intent}` as const,
      weight: 2,
      params: { organisation, shown_by: shownBy.join(' ') },
      span: intentSpan(message, shownBy),
    }));
  },
};

const PAYMENT_WORDS: readonly Concept[] = [
  'pay',
  'transfer',
  'card_codes',
  'lend',
  'advance_fee',
  'cash_pickup',
  'publish',
  'give_back',
];

/** Signs that support an intent. Alone they also occur in honest reminders. */
const SUPPORTS: readonly { code: ScamReasonCode; concepts: readonly Concept[]; isThere?: (message: Message) => boolean }[] = [
  { code: 'pressure', concepts: ['urgent', 'deadline', 'threat'] },
  // Honest messages with a one-time code also ask for secrecy.
  {
    code: 'secrecy',
    concepts: ['secrecy'],
    isThere: ({ evidence }) => !evidence.has('one_time_code') && !(evidence.has('code') && evidence.has('keep_code')),
  },
  {
    code: 'channel_change',
    concepts: ['chat_app', 'new_number'],
    isThere: ({ evidence }) => evidence.has('reply') || evidence.has('new_number'),
  },
  {
    code: 'unusual_payment',
    concepts: ['gift_card', 'crypto', 'money_service', 'cash_pickup'],
    isThere: ({ evidence }) => PAYMENT_WORDS.some((concept) => evidence.has(concept)),
  },
  {
    code: 'asks_for_secret',
    concepts: ['secret_data'],
    // A message that asks people to keep a code secret does not ask for the code.
    isThere: ({ evidence }) =>
      !evidence.has('keep_code') &&
      (['confirm', 'pass_on', 'tell_number', 'click', 'reply'] as const).some((concept) => evidence.has(concept)),
  },
  {
    code: 'asks_for_money',
    concepts: ['pay', 'transfer', 'lend', 'advance_fee'],
    isThere: ({ evidence }) => evidence.has('amount') || evidence.has('link') || evidence.has('iban') || evidence.has('wallet'),
  },
];

const supportDetectors: readonly Detector[] = SUPPORTS.map(({ code, concepts, isThere }) => ({
  id: code,
  find: (message) => {
    const span = conceptSpan(message, concepts);
    return span === undefined || isThere?.(message) === false ? [] : [{ code, weight: 1, params: {}, span } satisfies Sign];
  },
}));

/** Hidden characters. Two of them, or one that reverses the text direction, are suspicious alone. */
const hiddenLetters: Detector = {
  id: 'hidden_letters',
  find: (message) =>
    message.texts.flatMap((text) => {
      const [first, second] = text.readable.hidden;
      if (first === undefined) return [];
      const weight = second !== undefined || first.kind === 'reversed' ? 2 : 1;
      return [{ code: 'hidden_letters', weight, params: { kind: first.kind }, span: spanOf(text, first) } satisfies Sign];
    }),
};

export const WORD_DETECTORS: readonly Detector[] = [intentDetector, ...supportDetectors, hiddenLetters];
