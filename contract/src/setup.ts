import { z } from 'zod';
import { addressIn, canonicalEmail } from './email.ts';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';

const COMPANY_NAME_LENGTH_MAXIMUM = 80;
const PHONE_LENGTH_MAXIMUM = 40;
const PROMISE_LENGTH_MAXIMUM = 120;
/** RFC 5321, 4.5.3.1.3. */
const EMAIL_LENGTH_MAXIMUM = 254;

/** They become lines of mails and pages, so none of them may end its line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f\u2028\u2029]/u;

const line = (label: string, maximum: number) =>
  z
    .string({ error: `Enter the ${label}.` })
    .trim()
    .max(maximum, `Use at most ${maximum} characters for the ${label}.`)
    .refine((text) => !CONTROL_CHARACTERS.test(text), `Use one line of plain text for the ${label}.`);

/**
 * The provider of this installation. Phone and email are not checked; blank ones are not shown. `support_promise` is what the provider promises
 * of its support; where it is blank nothing is promised in public exposure, and the specification's words stand in local exposure.
 */
export const clientInfoSchema = z.object({
  company_name: line('company name', COMPANY_NAME_LENGTH_MAXIMUM).min(1, 'Enter the company name.'),
  support_phone: line('support phone', PHONE_LENGTH_MAXIMUM),
  support_email: line('support email', EMAIL_LENGTH_MAXIMUM).overwrite(addressIn),
  support_promise: line('support promise', PROMISE_LENGTH_MAXIMUM).default(''),
});
export type ClientInfo = z.infer<typeof clientInfoSchema>;

const PHONE = /^\+?[\d\s().\-/]+$/u;
const PHONE_DIGITS_LEAST = 3;

/** Whether a link can call it: digits, and what people write between them. */
export function isCallable(phone: string): boolean {
  return PHONE.test(phone) && phone.replace(/\D/gu, '').length >= PHONE_DIGITS_LEAST;
}

/** Whether a link can write to it. */
export function isMailable(email: string): boolean {
  return canonicalEmail(email) !== undefined;
}

export const setupPayloadSchema = z.object({
  client_info: clientInfoSchema,
  setup_type: z.literal('basic_installation', { error: 'Use the setup type "basic_installation".' }),
  timestamp: timeSchema,
});

export const setupConfig = endpoint({
  method: 'POST',
  path: '/admin/setup-config',
  summary: 'Set up the installation: the name and the support contact that every screen and mail shows from then on.',
  access: 'admin',
  body: setupPayloadSchema,
  changes_installation: 'provider',
  status: 200,
  reply: z.object({ success: z.literal(true) }),
  problems: [],
});
