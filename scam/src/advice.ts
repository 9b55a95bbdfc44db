import { SCAM_SITUATIONS, type ScamAdvice, type ScamSituation, type ScamVerdict } from '@palisade/contract/scam-check';
import { chainOf, type Message } from './message.ts';
import type { Sign } from './signs.ts';

/** Sentences of advice by code. A code never changes its meaning; pages in other languages have their own sentences. */
const SENTENCES = {
  no_answer: 'Don’t answer and do nothing that it asks for.',
  no_link: 'Don’t tap the link.',
  no_call: 'Don’t call the number.',
  no_attachment: 'Don’t open the attachment.',
  no_code: 'Don’t scan the code and pay nothing with it.',
  stay_careful: 'If you weren’t expecting it, don’t give details or money.',
  ask_directly: 'Contact the organization yourself, with a number or an address that you already know.',
  ask_relative: 'Call your relative at the number that you’ve always had.',
  ask_boss: 'Ask the person face to face, or call a number that you already know.',
  never_pass_code: 'Never pass a code on. No bank, shop or friend needs yours.',
  ignore_extortion: 'Don’t pay and don’t answer.',
  change_named_password: 'Change the password that the message names wherever you use it.',
  visit_first: 'Never pay for a home before you’ve seen it.',
  ask_elsewhere: 'Ask the sender in another way that you already know.',
  report: 'Report it to your provider, then delete it.',
  report_imitated: 'Report it: forward it to your provider or to the organization that it imitates, then delete it.',
  close_page: 'Close the page and enter nothing there.',
  scan_device: 'If a file was downloaded, don’t open it. Scan your device.',
  watch_accounts: 'Watch your accounts for the next weeks.',
  change_passwords: 'Change the password now, everywhere you use it, and turn on two-factor.',
  block_card: 'Call your bank at the number on your card and have the card or access blocked.',
  tell_code: 'If you gave a code, call the service that it belongs to at once.',
  call_bank: 'Call your bank now and ask to stop or recall the payment.',
  keep_card: 'For gift cards: call the shop’s card service, with the receipt, to have them frozen.',
  keep_proof: 'Keep messages, numbers and receipts, and report it to the police.',
  disconnect: 'Disconnect the device from the internet and end the remote session.',
  remove_tool: 'Remove the remote control program, then scan the device.',
  from_other_device: 'From another device, change your passwords, starting with email and bank.',
} as const;
type AdviceCode = keyof typeof SENTENCES;

const BY_SITUATION: Readonly<Record<Exclude<ScamSituation, 'nothing'>, readonly AdviceCode[]>> = {
  clicked: ['close_page', 'scan_device', 'watch_accounts'],
  gave_data: ['change_passwords', 'block_card', 'tell_code', 'watch_accounts'],
  paid: ['call_bank', 'keep_card', 'keep_proof'],
  gave_access: ['disconnect', 'remove_tool', 'from_other_device', 'call_bank'],
};

const BY_INTENT: Readonly<Record<string, AdviceCode>> = {
  intent_family: 'ask_relative',
  intent_boss: 'ask_boss',
  intent_code: 'never_pass_code',
  intent_extortion: 'ignore_extortion',
  intent_rental: 'visit_first',
};

/** Warnings about the parts of the message: links, numbers, attachments and codes. */
function dontDo({ links, numbers, attachments, codes }: Message): AdviceCode[] {
  const opens = links.some(({ address }) => address.kind !== 'mail' && address.kind !== 'phone');
  return [
    ...(opens ? (['no_link'] as const) : []),
    ...(numbers.length > 0 ? (['no_call'] as const) : []),
    ...(attachments.length > 0 ? (['no_attachment'] as const) : []),
    ...(codes.length > 0 ? (['no_code'] as const) : []),
    'no_answer',
  ];
}

function beforeAnything(verdict: ScamVerdict, message: Message, signs: readonly Sign[]): AdviceCode[] {
  const isImitated = message.links.flatMap(chainOf).some(({ imitation }) => imitation !== undefined);
  const isNamed = message.named.length > 0 || isImitated;
  const ask = isNamed ? 'ask_directly' : 'ask_elsewhere';
  if (verdict === 'nothing_found' || verdict === 'not_checked') return ['stay_careful', ask];
  const special = signs.flatMap(({ code }) => BY_INTENT[code] ?? []);
  const codes: AdviceCode[] = [...dontDo(message), ...special];
  if (special.includes('ignore_extortion') && message.evidence.has('know_password')) codes.push('change_named_password');
  if (isNamed || special.length === 0) codes.push(ask);
  codes.push(isNamed ? 'report_imitated' : 'report');
  return [...new Set(codes)];
}

/** Advice by situation: the steps that the person has already taken. */
export function adviceFor(verdict: ScamVerdict, message: Message, signs: readonly Sign[]): Record<ScamSituation, ScamAdvice> {
  const written = (codes: readonly AdviceCode[]) => codes.map((code) => ({ code, sentence: SENTENCES[code] }));
  const [nothing, ...others] = SCAM_SITUATIONS;
  const advice: Partial<Record<ScamSituation, ScamAdvice>> = { [nothing]: written(beforeAnything(verdict, message, signs)) };
  for (const situation of others) advice[situation] = written(BY_SITUATION[situation]);
  const { clicked = [], gave_data = [], paid = [], gave_access = [] } = advice;
  return { nothing: advice.nothing ?? [], clicked, gave_data, paid, gave_access };
}
