import { SCAM_SITUATIONS, type ScamAdvice, type ScamSituation, type ScamVerdict } from '@palisade/contract/scam-check';
import type { Message } from './message.ts';
import type { Sign } from './signs.ts';

/** Each advice by its code. The code never changes its meaning; pages in other languages write their own sentence. */
const SENTENCES = {
  do_nothing: 'Don’t tap the link, don’t answer and don’t call the number.',
  stay_careful: 'If you weren’t expecting it, don’t give details or money.',
  ask_directly: 'Contact the organization yourself, with a number or an address that you already know.',
  ask_relative: 'Call your relative at the number that you’ve always had.',
  ask_boss: 'Ask the person face to face, or call a number that you already know.',
  never_pass_code: 'Never pass a code on. No bank, shop or friend needs yours.',
  ignore_extortion: 'Don’t pay and don’t answer. Change the password that the message names wherever you use it.',
  visit_first: 'Never pay for a home before you’ve seen it.',
  report: 'Report it: forward it to your provider or to the organization that it imitates, then delete it.',
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

function beforeAnything(verdict: ScamVerdict, message: Message | undefined, signs: readonly Sign[]): AdviceCode[] {
  if (verdict === 'nothing_found' || verdict === 'not_checked') return ['stay_careful', 'ask_directly'];
  const special = signs.flatMap(({ code }) => BY_INTENT[code] ?? []);
  const isNamed = (message?.named.length ?? 0) > 0;
  return [
    ...new Set<AdviceCode>([
      'do_nothing',
      ...special,
      ...(isNamed || special.length === 0 ? (['ask_directly'] as const) : []),
      'report',
    ]),
  ];
}

/** Advice for now, by the steps that the person has already taken. */
export function adviceFor(
  verdict: ScamVerdict,
  message: Message | undefined,
  signs: readonly Sign[],
): Record<ScamSituation, ScamAdvice> {
  const written = (codes: readonly AdviceCode[]) => codes.map((code) => ({ code, sentence: SENTENCES[code] }));
  const [nothing, ...others] = SCAM_SITUATIONS;
  const advice: Partial<Record<ScamSituation, ScamAdvice>> = { [nothing]: written(beforeAnything(verdict, message, signs)) };
  for (const situation of others) advice[situation] = written(BY_SITUATION[situation]);
  const { clicked = [], gave_data = [], paid = [], gave_access = [] } = advice;
  return { nothing: advice.nothing ?? [], clicked, gave_data, paid, gave_access };
}
