import type { ScamIntent } from '@palisade/contract/scam-check';
import type { Concept } from './words/concepts.ts';

/** Facts about a message in addition to its concepts. */
const FACTS = [
  /** A web link to an unknown owner. */
  'link',
  /** A link with a suspicious address: an imitation, a disposable top-level domain, a shortener, an IP address, or an obfuscation. */
  'odd_link',
  'number',
  'premium_number',
  /** A number without a country that is a premium number in a country of the message's language. */
  'perhaps_premium',
  'short_number',
  /** A price per message, call or week: 150p/msg, £1.50 per week. */
  'unit_price',
  /** A keyword in capitals to send: reply YES, text WIN to. */
  'keyword',
  'iban',
  'wallet',
  'amount',
  'bank_name',
  'parcel_name',
  'shop_name',
  'service_name',
  'state_name',
  'mail_address',
] as const;
type Fact = (typeof FACTS)[number];

export type Evidence = Concept | Fact;
/** At least one of the alternatives must be present. With the prefix `!`, it must be absent. */
type Group = readonly (Evidence | `!${Evidence}`)[];

interface IntentRule {
  intent: ScamIntent | 'paid_number';
  /** Each combination is a list of groups; all groups of one combination must match. */
  combinations: readonly (readonly Group[])[];
}

/** Offers of services by text message. */
const OFFERS = [
  'content_offer',
  'phone_offer',
  'account_points',
  'contest',
  'loan',
  'message_waiting',
  'curiosity',
  'adult_offer',
] as const;
const OFFERS_AND_SIGNS = [...OFFERS, 'costs', 'unit_price', 'short_number', 'won', 'claim'] as const;

const bankName: Group = ['account', 'bank_name'];

/** The fourteen intents and the premium number, in order of precedence. */
// biome-ignore format: one combination a line
const INTENT_RULES: readonly IntentRule[] = [
  { intent: 'extortion', combinations: [
    [['recorded'], ['publish'], ['crypto', 'pay', 'transfer', 'wallet', 'gift_card']],
    [['know_password'], ['recorded'], ['crypto', 'pay', 'wallet', 'publish']],
    [['know_password'], ['crypto', 'wallet'], ['publish', 'deadline', 'threat']],
  ] },
  { intent: 'code', combinations: [
    [['one_time_code'], ['pass_on'], ['!keep_code'], ['!link']],
    [['code'], ['overpaid'], ['pass_on'], ['!keep_code']],
    [['code'], ['pass_on'], ['chat_app'], ['!keep_code'], ['!link']],
    [['one_time_code'], ['reply'], ['account', 'shop_name', 'service_name', 'bank_name'], ['!keep_code'], ['!link']],
    [['code'], ['pass_on'], ['technician', 'bank_name', 'account', 'unusual'], ['!keep_code']],
  ] },
  { intent: 'boss', combinations: [
    [['gift_card'], ['card_codes']],
    [['gift_card'], ['boss', 'unavailable'], ['transfer', 'pay', 'secrecy', 'urgent', 'card_codes']],
    [['boss', 'unavailable'], ['transfer', 'pay'], ['secrecy', 'urgent'], ['secrecy', 'unavailable', 'amount']],
    [['transfer', 'pay'], ['secrecy'], ['amount', 'urgent'], ['!relation', '!affection'], ['!keep_code'], ['!code']],
  ] },
  { intent: 'family', combinations: [
    [['relation'], ['new_phone'], ['lend', 'transfer']],
    [['relation'], ['new_number', 'phone_broken'], ['reply', 'lend', 'transfer', 'chat_app', 'pay']],
    [['new_number'], ['phone_broken'], ['reply', 'chat_app', 'lend', 'transfer']],
    [['relation', 'new_number'], ['lend'], ['transfer', 'pay', 'amount', 'trouble'], ['new_number', 'trouble', 'secrecy']],
    [['relation'], ['trouble'], ['cash_pickup', 'secrecy', 'lend', 'amount'],
      ['cash_pickup', 'transfer', 'lend', 'pay', 'amount', 'money_service']],
  ] },
  { intent: 'tech', combinations: [
    [['virus'], ['call', 'remote_tool'], ['number', 'technician', 'remote_tool', 'threat']],
    [['remote_tool'], ['technician', 'tell_number', 'virus', 'bank_name']],
    [['technician'], ['tell_number', 'remote_tool'], ['secret_data', 'remote_tool', 'virus']],
    [['renewed', 'service_name'], ['not_authorised'], ['call'], ['number'], ['amount', 'renewed']],
    [['virus'], ['click', 'confirm'], ['link'], ['urgent', 'threat', 'deadline', 'odd_link']],
  ] },
  { intent: 'rental', combinations: [
    [['dwelling'], ['cannot_show'], ['deposit', 'transfer', 'pay'], ['deposit', 'pay', 'transfer']],
  ] },
  { intent: 'job', combinations: [
    [['income'], ['chat_app']],
    [['income'], ['reply', 'click', 'call'], ['link', 'number'], ['easy_money', 'job']],
    [['job'], ['easy_money'], ['chat_app'], ['reply', 'amount', 'call', 'click']],
    [['easy_money'], ['chat_app'], ['amount'], ['reply', 'call', 'click']],
    [['job'], ['easy_money'], ['reply', 'link', 'call'], ['amount'], ['chat_app', 'odd_link']],
    [['job'], ['advance_fee'], ['pay', 'transfer', 'crypto'], ['amount', 'crypto']],
    [['advance_fee'], ['crypto'], ['easy_money', 'job', 'amount']],
  ] },
  { intent: 'romance', combinations: [
    [['investment'], ['sure_profit'], ['!opt_out']],
    [['affection'], ['stuck'], ['lend', 'transfer', 'money_service', 'gift_card', 'crypto']],
    [['stuck'], ['lend', 'money_service', 'gift_card'], ['amount'], ['affection', 'money_service', 'gift_card']],
    [['affection'], ['investment'], ['crypto']],
  ] },
  { intent: 'parcel', combinations: [
    [['parcel', 'parcel_name'], ['held_parcel'], ['link'], ['pay', 'fee', 'confirm', 'click', 'odd_link', 'threat']],
    [['parcel', 'parcel_name'], ['pay', 'confirm'], ['odd_link']],
    [['held_parcel'], ['fee', 'pay'], ['odd_link'], ['!fine'], ['!law']],
  ] },
  { intent: 'refund', combinations: [
    [['refund'], ['link'], ['secret_data', 'odd_link']],
    [['refund'], ['link'], ['state_name', 'bank_name', 'service_name'], ['amount', 'claim', 'confirm']],
    [['refund'], ['link'], ['confirm'], ['state_name', 'bank_name', 'service_name', 'amount', 'urgent']],
    [['refund'], ['secret_data'], ['confirm', 'reply'], ['amount', 'state_name', 'urgent']],
    [['overpaid'], ['give_back'], ['gift_card', 'transfer', 'urgent', 'crypto']],
  ] },
  { intent: 'fine', combinations: [
    [['fine', 'law'], ['pay', 'threat', 'confirm'], ['link']],
    [['fine', 'law'], ['threat', 'law'], ['pay'], ['urgent', 'gift_card', 'iban', 'crypto'],
      ['amount', 'gift_card', 'crypto', 'urgent'], ['threat', 'gift_card', 'crypto']],
    [['law'], ['pay'], ['gift_card', 'crypto', 'money_service']],
    [['state_name'], ['fine', 'pay', 'renewed'], ['link']],
  ] },
  { intent: 'qr', combinations: [
    [['scan'], ['paid_place'], ['link', 'secret_data'], ['pay', 'secret_data', 'paid_place']],
    [['scan'], ['pay', 'secret_data', 'confirm'], ['odd_link']],
    [['new_account'], ['invoice', 'pay', 'transfer'], ['iban', 'pay', 'transfer', 'invoice'], ['iban', 'pay', 'transfer']],
  ] },
  { intent: 'bank', combinations: [
    [bankName, ['blocked', 'unusual'], ['link'], ['odd_link', 'confirm', 'threat', 'deadline', 'bank_name', 'unusual', 'urgent']],
    [bankName, ['confirm', 'secret_data', 'pay'], ['odd_link']],
    [['unusual'], ['amount'], ['link'], ['not_authorised', 'blocked', 'confirm']],
    [['bank_name'], ['link'], ['confirm', 'not_authorised', 'unusual', 'blocked', 'threat', 'deadline']],
    [['secret_data', 'confirm'], ['odd_link'],
      ['amount', 'urgent', 'deadline', 'threat', 'service_name', 'shop_name', 'state_name']],
    [bankName, ['blocked', 'unusual'], ['secret_data', 'confirm'], ['call', 'reply'], ['number', 'premium_number', 'mail_address']],
    [['service_name', 'shop_name'], ['blocked', 'unusual', 'renewed'], ['confirm', 'click', 'secret_data', 'pay'], ['link']],
    [['blocked', 'unusual'], ['confirm'], ['link'], ['threat', 'deadline', 'urgent', 'odd_link']],
  ] },
  { intent: 'prize', combinations: [
    [['claim'], ['odd_link'], ['urgent', 'service_name', 'shop_name', 'amount', 'deadline']],
    [['won'], ['claim'], ['link', 'premium_number', 'short_number', 'number', 'mail_address']],
    [['won'], ['pay', 'fee'], ['amount', 'link'], ['claim', 'fee', 'link', 'mail_address', 'reply']],
    [['won'], ['link'], ['shop_name', 'amount', 'odd_link', 'service_name']],
  ] },
  { intent: 'paid_number', combinations: [
    [['premium_number'], [...OFFERS, 'advertised', 'won', 'claim', 'costs', 'opt_out', 'call', 'reply']],
    // A number without a known country may be a premium number.
    [['perhaps_premium'], [...OFFERS, 'won', 'claim', 'costs', 'unit_price', 'opt_out']],
    [['short_number'], [...OFFERS, 'costs', 'unit_price', 'opt_out', 'advertised', 'won', 'claim']],
    [['unit_price'], ['reply', 'call', 'link', 'keyword', 'number'],
      [...OFFERS, 'won', 'claim', 'opt_out', 'advertised', 'costs']],
    [['keyword'], [...OFFERS, 'opt_out'], [...OFFERS_AND_SIGNS, 'advertised', 'link']],
    [[...OFFERS], ['opt_out', 'unit_price'], ['reply', 'call', 'link', 'number', 'keyword', 'costs', 'advertised']],
    [['costs'], [...OFFERS, 'won'], ['reply', 'call', 'link', 'claim', 'keyword'],
      ['advertised', 'won', 'opt_out', 'claim', 'link', 'number']],
    [['phone_offer', 'account_points', 'loan', 'contest'], ['call', 'reply', 'claim'], ['number', 'short_number'],
      ['advertised', 'won', 'claim', 'opt_out']],
    [['won', 'account_points'], ['claim'], ['call'], ['number', 'amount']],
    [['message_waiting', 'curiosity'], ['call', 'reply'], ['number', 'perhaps_premium'], ['urgent', 'curiosity', 'advertised']],
    [['content_offer', 'phone_offer', 'contest', 'adult_offer', 'loan'], ['link', 'keyword', 'number'],
      ['advertised', 'costs', 'opt_out', 'click']],
    [['content_offer', 'account_points'], ['advertised', 'opt_out', 'renewed']],
    [['contest'], ['advertised'], ['claim', 'reply', 'keyword', 'costs', 'amount']],
    [['keyword'], ['short_number', 'costs', 'unit_price', 'won', 'claim']],
    [['won'], ['call', 'keyword'], ['number'], ['amount', 'claim', 'advertised']],
    [['claim'], ['advertised'], ['link', 'number', 'keyword'], ['costs', 'opt_out', 'won', 'amount', 'urgent']],
    [['adult_offer', 'curiosity'], ['call', 'reply'], ['number', 'link', 'keyword', 'short_number']],
  ] },
];

/** Whether a combination matches. */
function isThere(combination: readonly Group[], evidence: ReadonlySet<string>): boolean {
  return combination.every((group) => {
    const refused = group.filter((one) => one.startsWith('!'));
    const wanted = group.filter((one) => !one.startsWith('!'));
    return (
      refused.every((one) => !evidence.has(one.slice(1))) && (wanted.length === 0 || wanted.some((one) => evidence.has(one)))
    );
  });
}

/** A detected intent, with its evidence. */
export interface FoundIntent {
  intent: IntentRule['intent'];
  shownBy: Evidence[];
}

/** All intents with a matching combination, in the order of the rules. */
export function findIntents(evidence: ReadonlySet<Evidence>): FoundIntent[] {
  return INTENT_RULES.flatMap(({ intent, combinations }) => {
    const combination = combinations.find((one) => isThere(one, evidence));
    if (combination === undefined) return [];
    const groups = combination.flat();
    return [{ intent, shownBy: [...evidence].filter((one) => groups.includes(one)) }];
  });
}
