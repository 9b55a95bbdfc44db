import type { Template } from '@palisade/contract/phrase';
import { PHRASES } from '@palisade/contract/phrases';
import { PROBLEMS, problemCodes } from '@palisade/contract/problem';
import { ALERT_REFUSALS } from '#features/alerts/alerts.refusals.ts';
import { ANTIVIRUS_REFUSALS } from '#features/antivirus/antivirus.refusals.ts';
import { AUTH_REFUSALS } from '#features/auth/auth.refusals.ts';
import { TWO_FACTOR_REFUSALS } from '#features/auth/two-factor.refusals.ts';
import { CHAT_PHRASES } from '#features/chat/chat.phrases.ts';
import { CHAT_REFUSALS } from '#features/chat/chat.refusals.ts';
import { DEVICE_REFUSALS } from '#features/devices/devices.refusals.ts';
import { ENFORCEMENT_REFUSALS } from '#features/enforcement/enforcement.refusals.ts';
import { FIREWALL_REFUSALS } from '#features/firewall/firewall.refusals.ts';
import { HELP_REFUSALS } from '#features/help/help.refusals.ts';
import { POSTURE_PHRASES } from '#features/posture/posture.phrases.ts';
import { POSTURE_REFUSALS } from '#features/posture/posture.refusals.ts';
import { PUSH_REFUSALS } from '#features/push/push.refusals.ts';
import { REMOTE_REFUSALS } from '#features/remote/remote.refusals.ts';
import { SCAM_CHECK_REFUSALS } from '#features/scam-check/scam-check.refusals.ts';
import { SETUP_REFUSALS } from '#features/setup/setup.refusals.ts';
import { SUBSCRIPTION_REFUSALS } from '#features/subscriptions/subscriptions.refusals.ts';
import { HOUSEHOLD_REFUSALS } from '#features/web-protection/household.refusals.ts';
import { WEB_PROTECTION_REFUSALS } from '#features/web-protection/web-protection.refusals.ts';
import { PLATFORM_REFUSALS } from '#platform/platform.refusals.ts';
import type { Refusal } from '#platform/refusals.ts';
import { AS_WRITTEN } from '#platform/sentence.ts';
import { STATE_REFUSALS } from './state.refusals.ts';

/** All catalogs of error codes. A test compares the list with the `*.refusals.ts` files. */
export const REFUSALS: readonly Readonly<Record<string, Refusal>>[] = [
  STATE_REFUSALS,
  PLATFORM_REFUSALS,
  ALERT_REFUSALS,
  ANTIVIRUS_REFUSALS,
  AUTH_REFUSALS,
  TWO_FACTOR_REFUSALS,
  CHAT_REFUSALS,
  DEVICE_REFUSALS,
  ENFORCEMENT_REFUSALS,
  FIREWALL_REFUSALS,
  HELP_REFUSALS,
  POSTURE_REFUSALS,
  PUSH_REFUSALS,
  REMOTE_REFUSALS,
  SCAM_CHECK_REFUSALS,
  SETUP_REFUSALS,
  SUBSCRIPTION_REFUSALS,
  WEB_PROTECTION_REFUSALS,
  HOUSEHOLD_REFUSALS,
];

/** Sentences of problems that are in no catalog, by problem code. */
const OWN: Readonly<Record<string, Template>> = Object.fromEntries(
  problemCodes.map((code) => [code, { english: PROBLEMS[code].detail }]),
);

/** All sentences of problems, by code. */
export const PROBLEM_PHRASES: Readonly<Record<string, Template>> = Object.fromEntries(
  [AS_WRITTEN, OWN, ...REFUSALS].flatMap((catalog) => Object.entries<Template>(catalog)),
);

/** All sentences of the server with a code, by their source. */
export const SERVER_PHRASES = {
  ...PHRASES,
  security_checks: POSTURE_PHRASES,
  chat_messages: CHAT_PHRASES,
  problems: PROBLEM_PHRASES,
} as const;
