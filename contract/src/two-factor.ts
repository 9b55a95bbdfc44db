import { z } from 'zod';
import { browserIdSchema, signedInSchema } from './auth.ts';
import { endpoint, HEADER_FIELDS } from './endpoint.ts';
import { idSchema, NO_PASSWORD_IS_LONGER, TYPED_PASSWORD_MAXIMUM, timeSchema } from './fields.ts';
import { typedCode } from './text.ts';

/** Number of codes in a set of recovery codes, and the number of remaining codes below which a person should create new ones. */
export const RECOVERY_CODES = { count: 10, few: 3 } as const;
/** Parameters of authenticator codes that every app supports (RFC 6238; the key URI format of Google Authenticator). */
export const TOTP = { digits: 6, period_s: 30 } as const;
/** Time limit of the second step of signing in, in seconds. */
export const SIGN_IN_CHALLENGE_LIFETIME_S = 300;
/** Time after a confirmation in which two-factor sign-in can be changed, in seconds. */
export const CONFIRMATION_LIFETIME_S = 600;
const PASSKEY_NAME_LENGTH_MAXIMUM = 60;
const TOKEN_LENGTH_MAXIMUM = 200;
const RECOVERY_CODE_LENGTH_MAXIMUM = 100;
/** Far above the size that any authenticator sends (WebAuthn level 3, section 4: a credential id has at most 1,023 bytes). */
const CREDENTIAL_PART_LENGTH_MAXIMUM = 16_384;
const ONE_FACTOR = 'Use one of these: a code, a recovery code, or a passkey.';

const base64url = z
  .string()
  .max(CREDENTIAL_PART_LENGTH_MAXIMUM, 'This is too long.')
  .regex(/^[\w-]+$/, 'This isn’t base64url.');

/** A code of an authenticator app, also if it is typed in groups. */
export const totpCodeSchema = z
  .string({ error: 'Enter the code.' })
  .max(TOKEN_LENGTH_MAXIMUM, 'A code has 6 digits.')
  .overwrite((code) => typedCode(code).replaceAll('-', ''))
  .regex(/^\d{6}$/, 'A code has 6 digits.');

const challengeSchema = z.string({ error: 'Enter the challenge.' }).min(1, 'Enter the challenge.').max(TOKEN_LENGTH_MAXIMUM);

/** The browser's response when a passkey is used: the validated part of `AuthenticationResponseJSON` (WebAuthn level 3, section 5.1.8). */
export const passkeyAssertionSchema = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
});
export type PasskeyAssertion = z.infer<typeof passkeyAssertionSchema>;

/** The browser's response when a passkey is created: `RegistrationResponseJSON` (same section). */
export const newPasskeySchema = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(40)).max(10).optional(),
  }),
});
export type NewPasskey = z.infer<typeof newPasskeySchema>;

const credentialSchema = z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) });

/** Request to a browser to use a passkey: `PublicKeyCredentialRequestOptionsJSON`. */
export const passkeyRequestSchema = z.object({
  /** The only origin at which the browser accepts the request. */
  origin: z.string(),
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.int().describe('Milliseconds.'),
  userVerification: z.literal('required'),
  allowCredentials: z.array(credentialSchema),
});
export type PasskeyRequest = z.infer<typeof passkeyRequestSchema>;

/** Request to a browser to create a passkey: `PublicKeyCredentialCreationOptionsJSON`. */
export const passkeyCreationSchema = z.object({
  /** The only origin at which the browser accepts the request. */
  origin: z.string(),
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
  timeout: z.int().describe('Milliseconds.'),
  attestation: z.literal('none'),
  excludeCredentials: z.array(credentialSchema),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.literal(true),
    userVerification: z.literal('required'),
  }),
});
export type PasskeyCreation = z.infer<typeof passkeyCreationSchema>;

/** The fields for a second factor, of which a body may have at most one. */
export const proofShape = {
  code: totpCodeSchema.optional(),
  recovery_code: z.string().trim().min(1, 'Enter the recovery code.').max(RECOVERY_CODE_LENGTH_MAXIMUM).optional(),
  passkey: passkeyAssertionSchema.optional(),
};
interface Proof {
  code?: string | undefined;
  recovery_code?: string | undefined;
  passkey?: PasskeyAssertion | undefined;
}
const countOf = ({ code, recovery_code, passkey }: Proof) =>
  [code, recovery_code, passkey].filter((factor) => factor !== undefined).length;
/** Arguments of `refine` for a body with `proofShape`. */
export const AT_MOST_ONE_PROOF = [(body: Proof) => countOf(body) <= 1, ONE_FACTOR] as const;

export const passkeySchema = z.object({
  id: idSchema,
  name: z.string(),
  created_at: timeSchema,
  last_used_at: timeSchema.nullable(),
});
export type Passkey = z.infer<typeof passkeySchema>;

/** The second factors of an account. `recovery_codes_left` is 0 while two-factor sign-in is off. */
export const twoFactorSchema = z.object({
  enabled: z.boolean(),
  /** Whether this installation requires a second factor of this person; the last one then cannot be removed. */
  required: z.boolean(),
  /** Time since which an authenticator app is set up; null if none is. */
  totp_since: timeSchema.nullable(),
  passkeys: z.array(passkeySchema),
  recovery_codes_left: z.int(),
  /** The origin at which this installation's passkeys work; null if none exists. */
  passkey_origin: z.string().nullable(),
});
export type TwoFactor = z.infer<typeof twoFactorSchema>;

/** The codes of a new set, returned only once; null if the change created none. */
const newCodesSchema = z.array(z.string()).nullable();

export const readTwoFactor = endpoint({
  method: 'GET',
  path: '/auth/two-factor',
  summary: 'What one’s own two-factor sign-in rests on.',
  access: 'customer',
  while_held: true,
  reply: twoFactorSchema,
});

export const confirmIdentity = endpoint({
  method: 'POST',
  path: '/auth/two-factor/confirm',
  summary:
    'Prove who is there, with the password and, where two-factor sign-in is on, the second factor. This session may change two-factor sign-in for a while then.',
  access: 'customer',
  while_held: true,
  body: z
    .object({
      current_password: z
        .string({ error: 'Enter your current password.' })
        .min(1, 'Enter your current password.')
        .max(TYPED_PASSWORD_MAXIMUM, NO_PASSWORD_IS_LONGER),
      ...proofShape,
    })
    .refine(...AT_MOST_ONE_PROOF),
  reply: z.object({ expires_in: z.int().describe('Seconds.') }),
  problems: ['too_many_requests', 'unavailable'],
});

export const requestPasskeyProof = endpoint({
  method: 'POST',
  path: '/auth/two-factor/confirm/passkey',
  summary: 'What to ask the browser for to prove with a passkey who is there.',
  access: 'customer',
  reply: passkeyRequestSchema,
  problems: ['conflict'],
});

export const startTotp = endpoint({
  method: 'POST',
  path: '/auth/two-factor/totp',
  summary: 'Begin to set up an authenticator app. One that is in use stays in use until the new one has proved itself.',
  access: 'customer',
  needs_proven_email: true,
  while_held: true,
  reply: z.object({ secret: z.string().describe('Base32.'), uri: z.string().describe('For the QR code: otpauth://totp/...') }),
  problems: ['confirmation_required'],
});

export const activateTotp = endpoint({
  method: 'POST',
  path: '/auth/two-factor/totp/activate',
  summary: 'End setting up an authenticator app with a code that it shows.',
  access: 'customer',
  needs_proven_email: true,
  while_held: true,
  body: z.object({ code: totpCodeSchema }),
  changes: 'account',
  reply: z.object({ recovery_codes: newCodesSchema }),
  problems: ['confirmation_required', 'conflict', 'unavailable'],
});

export const removeTotp = endpoint({
  method: 'DELETE',
  path: '/auth/two-factor/totp',
  summary: 'Stop asking for codes of the authenticator app. The last second factor goes by turning two-factor sign-in off.',
  access: 'customer',
  changes: 'account',
  problems: ['confirmation_required', 'conflict'],
});

export const requestNewPasskey = endpoint({
  method: 'POST',
  path: '/auth/two-factor/passkeys/options',
  summary: 'What to ask the browser for to make a passkey.',
  access: 'customer',
  needs_proven_email: true,
  while_held: true,
  reply: passkeyCreationSchema,
  problems: ['confirmation_required', 'conflict'],
});

const passkeyNameSchema = z
  .string({ error: 'Enter a passkey name.' })
  .trim()
  .min(1, 'Enter a passkey name.')
  .max(PASSKEY_NAME_LENGTH_MAXIMUM, `Use at most ${PASSKEY_NAME_LENGTH_MAXIMUM} characters for the name.`);

export const addPasskey = endpoint({
  method: 'POST',
  path: '/auth/two-factor/passkeys',
  summary: 'Keep a passkey that the browser has made.',
  access: 'customer',
  needs_proven_email: true,
  while_held: true,
  body: z.object({ name: passkeyNameSchema, passkey: newPasskeySchema }),
  changes: 'account',
  status: 201,
  reply: z.object({ passkey: passkeySchema, recovery_codes: newCodesSchema }),
  problems: ['confirmation_required', 'conflict'],
});

export const renamePasskey = endpoint({
  method: 'PATCH',
  path: '/auth/two-factor/passkeys/{id}',
  summary: 'Give one’s own passkey another name.',
  access: 'customer',
  body: z.object({ name: passkeyNameSchema }),
  changes: 'account',
  reply: passkeySchema,
});

export const removePasskey = endpoint({
  method: 'DELETE',
  path: '/auth/two-factor/passkeys/{id}',
  summary: 'Take back one of one’s own passkeys. The last second factor goes by turning two-factor sign-in off.',
  access: 'customer',
  changes: 'account',
  problems: ['confirmation_required', 'conflict'],
});

export const renewRecoveryCodes = endpoint({
  method: 'POST',
  path: '/auth/two-factor/recovery-codes',
  summary: 'Make a new set of recovery codes. Those before it are worth nothing then.',
  access: 'customer',
  needs_proven_email: true,
  changes: 'account',
  reply: z.object({ recovery_codes: z.array(z.string()) }),
  problems: ['confirmation_required', 'conflict'],
});

export const turnTwoFactorOff = endpoint({
  method: 'DELETE',
  path: '/auth/two-factor',
  summary: 'Turn two-factor sign-in off: authenticator app, passkeys and recovery codes are gone.',
  access: 'customer',
  changes: 'account',
  problems: ['confirmation_required', 'conflict'],
});

export const loginSecondStep = endpoint({
  method: 'POST',
  path: '/auth/login/two-factor',
  summary: 'Sign in with the second factor that a right password has asked for.',
  access: 'anyone',
  body: z.object({ challenge: challengeSchema, ...proofShape }).refine((body) => countOf(body) === 1, ONE_FACTOR),
  reply: signedInSchema,
  problems: ['second_factor_refused', 'sign_in_expired', 'too_many_requests', 'unavailable'],
});

export const requestSecondStepPasskey = endpoint({
  method: 'POST',
  path: '/auth/login/two-factor/passkey',
  summary: 'What to ask the browser for in the second step of signing in.',
  access: 'anyone',
  body: z.object({ challenge: challengeSchema }),
  reply: passkeyRequestSchema,
  problems: ['sign_in_expired', 'conflict'],
});

export const requestPasskeyLogin = endpoint({
  method: 'POST',
  path: '/auth/login/passkey/options',
  summary: 'What to ask the browser for to sign in with a passkey alone.',
  access: 'anyone',
  reply: passkeyRequestSchema,
  problems: ['conflict'],
});

export const loginWithPasskey = endpoint({
  method: 'POST',
  path: '/auth/login/passkey',
  summary: 'Sign in with a passkey alone. It stands for both factors, because its device has checked who holds it.',
  access: 'anyone',
  body: z.object({ passkey: passkeyAssertionSchema, browser_id: browserIdSchema.optional() }),
  header_fields: { browser_id: HEADER_FIELDS.browser },
  reply: signedInSchema,
  problems: ['second_factor_refused'],
});
