/**
 * Meanings that phrases of a message can have. An intent is a combination of these and of facts such as a link; none of them is a
 * reason alone.
 */
export const CONCEPTS = [
  // Actions that a person is asked for.
  'click',
  'call',
  'reply',
  'pay',
  'transfer',
  'gift_card',
  'card_codes',
  'crypto',
  'money_service',
  'cash_pickup',
  'secret_data',
  'confirm',
  'chat_app',
  'remote_tool',
  'tell_number',
  'lend',
  // Pressure and secrecy.
  'urgent',
  'deadline',
  'threat',
  'secrecy',
  // Banks and parcels.
  'account',
  'blocked',
  'unusual',
  'parcel',
  'held_parcel',
  'fee',
  // Family and boss.
  'relation',
  'new_number',
  'phone_broken',
  'new_phone',
  'trouble',
  'boss',
  'unavailable',
  // Devices.
  'virus',
  'technician',
  'renewed',
  'not_authorised',
  // Money that comes or is owed.
  'refund',
  'overpaid',
  'give_back',
  'fine',
  'law',
  // Work, love, investment, dwelling.
  'job',
  'easy_money',
  'income',
  'advance_fee',
  'affection',
  'stuck',
  'investment',
  'sure_profit',
  'dwelling',
  'cannot_show',
  'deposit',
  // Codes.
  'scan',
  'paid_place',
  'invoice',
  'new_account',
  'code',
  'pass_on',
  'keep_code',
  'one_time_code',
  // Extortion and prizes.
  'know_password',
  'recorded',
  'publish',
  'won',
  'claim',
  // Services that cost, offered by text message.
  'costs',
  'advertised',
  'opt_out',
  'content_offer',
  'phone_offer',
  'account_points',
  'contest',
  'loan',
  'message_waiting',
  'curiosity',
  'adult_offer',
] as const;
export type Concept = (typeof CONCEPTS)[number];

/** Offers by text message are written down for English alone, where they are a plague. */
type Offer =
  | 'content_offer'
  | 'phone_offer'
  | 'account_points'
  | 'contest'
  | 'loan'
  | 'message_waiting'
  | 'curiosity'
  | 'adult_offer';

/** The word list of one language: phrases of each concept, between semicolons (the form is that of `phrases.ts`). */
export type WordList = Readonly<Record<Exclude<Concept, Offer>, string> & Partial<Record<Offer, string>>>;
