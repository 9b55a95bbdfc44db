/**
 * Concepts that phrases of a message express. An intent is a combination of concepts and facts such as a link; a concept is never a
 * reason alone.
 */
export const CONCEPTS = [
  // Requested actions.
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
  // Money that is paid out or owed.
  'refund',
  'overpaid',
  'give_back',
  'fine',
  'law',
  // Work, romance, investment, housing.
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
  // Paid services offered by text message.
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

/** Concepts of offers by text message. Only the English list has them, because they are common there. */
type Offer =
  | 'content_offer'
  | 'phone_offer'
  | 'account_points'
  | 'contest'
  | 'loan'
  | 'message_waiting'
  | 'curiosity'
  | 'adult_offer';

/** The word list of one language: phrases of each concept, separated by semicolons, in the syntax of `phrases.ts`. */
export type WordList = Readonly<Record<Exclude<Concept, Offer>, string> & Partial<Record<Offer, string>>>;
