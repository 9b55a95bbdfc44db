import { z } from 'zod';
import { accentSchema, logoSizeSchema } from './brand.ts';
import { addressIn } from './email.ts';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';

const COMPANY_NAME_LENGTH_MAXIMUM = 80;
const PHONE_LENGTH_MAXIMUM = 40;
const PROMISE_LENGTH_MAXIMUM = 120;
/** RFC 5321, 4.5.3.1.3. */
const EMAIL_LENGTH_MAXIMUM = 254;

/** These texts become lines of emails and pages, so they must not contain line breaks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f\u2028\u2029]/u;

const line = (label: string, maximum: number) =>
  z
    .string({ error: `Enter the ${label}.` })
    .trim()
    .max(maximum, `Use at most ${maximum} characters for the ${label}.`)
    .refine((text) => !CONTROL_CHARACTERS.test(text), `Use one line of plain text for the ${label}.`);

/**
 * The provider of this installation. Phone and email are not validated; empty ones are not shown. `support_promise` is the provider's promise about
 * its support; if it is empty, screens in public exposure show no promise, and those in local exposure the specification's text.
 */
export const clientInfoSchema = z.object({
  company_name: line('company name', COMPANY_NAME_LENGTH_MAXIMUM).min(1, 'Enter the company name.'),
  support_phone: line('support phone', PHONE_LENGTH_MAXIMUM),
  support_email: line('support email', EMAIL_LENGTH_MAXIMUM).overwrite(addressIn),
  support_promise: line('support promise', PROMISE_LENGTH_MAXIMUM).default(''),
});
export type ClientInfo = z.infer<typeof clientInfoSchema>;

/** Maximum size of an uploaded logo: in bytes, and in pixels per side. */
export const LOGO_BYTES_MAXIMUM = 512 * 1024;
export const LOGO_SIDE_MAXIMUM = 2_048;
/** Maximum size of a stored logo, three times the shown size in pixels, and the maximum length of its Base64. */
export const LOGO_STORED = { width: 480, height: 96, characters: 249_000 } as const;

/** A validated logo: only its pixels, as a PNG in Base64. */
export const checkedLogoSchema = logoSizeSchema.extend({ png: z.base64().max(LOGO_STORED.characters) });

/** A change of the installation's look. An absent field stays unchanged; null restores the product's own look. */
const brandChangeSchema = z.object({
  accent: accentSchema.nullable().optional(),
  logo: z
    .base64('Send the logo as a PNG file in Base64.')
    .max(LOGO_STORED.characters, 'Send the logo as checked: it is larger than a stored logo.')
    .nullable()
    .optional(),
});

export const setupPayloadSchema = z.object({
  client_info: clientInfoSchema,
  brand: brandChangeSchema.optional(),
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
  reply: z.object({ success: z.literal(true) }),
  problems: ['unavailable'],
});

export const checkLogo = endpoint({
  method: 'POST',
  path: '/admin/check-logo',
  summary:
    'Read a PNG file in the multipart field "file" and answer the logo that the installation would show: its pixels alone, scaled down. Stores nothing.',
  access: 'admin',
  upload: 'file',
  reply: checkedLogoSchema,
  problems: ['unsupported_media_type', 'too_large', 'upload_stalled', 'unavailable'],
  expensive: true,
});
