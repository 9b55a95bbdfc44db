import { z } from 'zod';
import { specified } from './reader.ts';

/** The code of every refusal of the API. The list is closed; a code never changes its meaning. */
const problemCodeSchema = z.enum([
  'malformed',
  'unauthenticated',
  'invalid_credentials',
  'two_factor_required',
  'second_factor_refused',
  'sign_in_expired',
  'device_revoked',
  'forbidden',
  'account_disabled',
  'premium_required',
  'two_factor_setup_required',
  'email_unproven',
  'confirmation_required',
  'not_found',
  'upload_stalled',
  'email_taken',
  'username_taken',
  'last_admin',
  'conflict',
  'upload_cancelled',
  'rule_limit',
  'device_limit',
  'device_in_use',
  'enrolment_expired',
  'too_large',
  'unsupported_media_type',
  'wrong_host',
  'invalid_field',
  'too_many_requests',
  'internal',
  'storage_full',
  'unavailable',
  'on_another_server',
]);

/** A stable, machine-readable problem code. */
export type ProblemCode = z.infer<typeof problemCodeSchema>;
export const problemCodes: readonly ProblemCode[] = problemCodeSchema.options;

/**
 * HTTP status, title and default sentence of each code, in the form of RFC 9457. Only for the server: pages show the received text and do not load
 * this table.
 */
export const PROBLEMS = {
  malformed: {
    status: 400,
    title: 'Malformed request',
    detail: 'We couldn’t read the request. Check that its body is valid JSON.',
  },
  unauthenticated: { status: 401, title: 'Not signed in', detail: 'Your session has ended. Sign in again.' },
  invalid_credentials: { status: 401, title: 'Wrong email or password', detail: 'The email or password is wrong. Try again.' },
  two_factor_required: {
    status: 401,
    title: 'Two-factor sign-in',
    detail: 'Your password is correct. Now enter a code or use a passkey.',
  },
  second_factor_refused: { status: 401, title: 'Wrong code or passkey', detail: 'That didn’t match. Try again.' },
  sign_in_expired: {
    status: 401,
    title: 'Sign-in expired',
    detail: 'This sign-in took too long or had too many wrong codes. Start again.',
  },
  device_revoked: {
    status: 401,
    title: 'Device revoked',
    detail: 'This device was revoked or never enrolled. Enroll it again with a new code.',
  },
  forbidden: { status: 403, title: 'Not allowed', detail: 'You don’t have permission to do this.' },
  account_disabled: {
    status: 403,
    title: 'Account disabled',
    detail: 'This account is disabled. Ask an administrator.',
  },
  premium_required: {
    status: 403,
    title: 'Premium required',
    detail: 'Premium subscription required for anti-hacking features',
  },
  two_factor_setup_required: {
    status: 403,
    title: 'Two-factor required',
    detail: 'Your account requires two-factor sign-in. Set up an authenticator app or a passkey to continue.',
  },
  email_unproven: {
    status: 403,
    title: 'Email address not confirmed',
    detail: 'Confirm your email address first. We emailed you a code.',
  },
  confirmation_required: {
    status: 403,
    title: 'Confirm it’s you',
    detail: 'Confirm it’s you before you change this.',
  },
  not_found: { status: 404, title: 'Not found', detail: 'We couldn’t find this, or you don’t have access to it.' },
  upload_stalled: {
    status: 408,
    title: 'Upload stalled',
    detail: 'The upload stopped because no data arrived. Upload the file again.',
  },
  email_taken: {
    status: 409,
    title: 'Email already registered',
    detail: 'An account with this email already exists. Sign in instead.',
  },
  username_taken: { status: 409, title: 'Username already taken', detail: 'This username is taken. Choose another.' },
  last_admin: {
    status: 409,
    title: 'Last administrator',
    detail: 'This is the last administrator. Make someone else an administrator first.',
  },
  conflict: { status: 409, title: 'Conflict', detail: 'Someone else just changed this. Reload and try again.' },
  upload_cancelled: { status: 409, title: 'Cancelled', detail: 'You cancelled this upload. We deleted our copy.' },
  rule_limit: {
    status: 409,
    title: 'Too many rules',
    detail: 'You’ve reached the rule limit. Delete a rule before you add another.',
  },
  device_limit: {
    status: 409,
    title: 'Too many devices',
    detail: 'You’ve reached your plan’s device limit. Revoke a device or request a larger plan.',
  },
  device_in_use: {
    status: 409,
    title: 'Device in use',
    detail: 'Another computer with this identity is connected. If this computer is a copy, enroll it with its own code.',
  },
  enrolment_expired: {
    status: 410,
    title: 'Code not valid',
    detail: 'This code is wrong, already used, or older than ten minutes. Get a new one.',
  },
  too_large: { status: 413, title: 'Too large', detail: 'The request is too large for this server.' },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'This address doesn’t accept that content type.',
  },
  wrong_host: {
    status: 421,
    title: 'Wrong address',
    detail: 'This server answers only to its own machine’s names. Set PUBLIC_URL to the address people open.',
  },
  invalid_field: { status: 422, title: 'Check your entries', detail: 'A field is missing or needs correcting.' },
  too_many_requests: { status: 429, title: 'Too many requests', detail: 'Too many requests. Wait a moment and try again.' },
  internal: {
    status: 500,
    title: 'Something went wrong',
    detail: 'Something went wrong on the server. Try again. If it keeps happening, give support the request ID.',
  },
  storage_full: {
    status: 503,
    title: 'Storage full',
    detail: 'The server’s storage is full. Try again later, or tell support if it keeps happening.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    detail: 'Part of the server isn’t available right now. Try again in a moment.',
  },
  on_another_server: {
    status: 503,
    title: 'On another server',
    detail: 'This file is on another server. Try again in a moment.',
  },
} as const satisfies Record<ProblemCode, { status: number; title: string; detail: string }>;

/** One invalid field: its path in the request (`user_email`, `features.0`), and the reason in one sentence. */
export const fieldErrorSchema = z.object({ field: z.string(), message: z.string() });
export type FieldError = z.infer<typeof fieldErrorSchema>;

/** Kinds of second factors. */
export const secondFactorSchema = z.enum(['totp', 'passkey', 'recovery_code']);
export type SecondFactor = z.infer<typeof secondFactorSchema>;

/** The body of every error reply (`application/problem+json`). `request_id` is also in the server's log.
 * `two_factor_required` includes the challenge of the second step and the accepted methods. */
export const problemSchema = specified(
  ['detail', 'code'],
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: problemCodeSchema,
    errors: z.array(fieldErrorSchema).optional(),
    challenge: z.string().optional(),
    methods: z.array(secondFactorSchema).optional(),
    request_id: z.string().optional(),
  }),
);
export type ProblemDocument = z.infer<typeof problemSchema>;
