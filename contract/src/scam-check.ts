import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** Maximum length of a text, in UTF-16 units. */
export const SCAM_TEXT_MAXIMUM = 20_000;
/** Maximum size of a file, in bytes. */
export const SCAM_FILE_MAXIMUM = 10 * 1024 * 1024;
export const SCAM_REASONS_MAXIMUM = 5;
/** Maximum number of links, numbers and accounts in a reply. More are checked as well. */
export const SCAM_PARTS_MAXIMUM = 50;
/** Maximum length of the text in a span, in UTF-16 units. */
export const SPAN_LENGTH_MAXIMUM = 300;

/** `nothing_found` is no promise: `checked` lists the checked parts. `not_checked`: the input or a part of it could not be read. */
export const scamVerdictSchema = z.enum(['dangerous', 'suspicious', 'nothing_found', 'not_checked']);
export type ScamVerdict = z.infer<typeof scamVerdictSchema>;

/** Kinds of requests in scams of households. */
export const SCAM_INTENTS = [
  'bank',
  'parcel',
  'family',
  'boss',
  'tech',
  'refund',
  'fine',
  'job',
  'romance',
  'rental',
  'qr',
  'code',
  'extortion',
  'prize',
] as const;
export type ScamIntent = (typeof SCAM_INTENTS)[number];

/** Codes of all reasons. The list is closed; a code never changes its meaning. */
export const SCAM_REASON_CODES = [
  // Links.
  'listed_domain',
  'lookalike_domain',
  'brand_in_address',
  'mixed_letters',
  'user_before_at',
  'number_address',
  'shortened_link',
  'open_redirect',
  'hidden_target',
  'code_in_link',
  'disguised_link',
  'link_text_differs',
  'throwaway_ending',
  'free_hosting',
  'program_link',
  // Words.
  'intent_bank',
  'intent_parcel',
  'intent_family',
  'intent_boss',
  'intent_tech',
  'intent_refund',
  'intent_fine',
  'intent_job',
  'intent_romance',
  'intent_rental',
  'intent_qr',
  'intent_code',
  'intent_extortion',
  'intent_prize',
  'intent_paid_number',
  'pressure',
  'secrecy',
  'channel_change',
  'unusual_payment',
  'asks_for_secret',
  'asks_for_money',
  'hidden_letters',
  // Emails.
  'sender_name_differs',
  'sender_lookalike',
  'sender_listed',
  'reply_elsewhere',
  'signature_failed',
  'risky_attachment',
  'infected_attachment',
  // Codes in pictures, numbers, accounts.
  'code_payment',
  'premium_number',
  'foreign_number',
  'account_country',
  'account_wrong',
] as const;
export type ScamReasonCode = (typeof SCAM_REASON_CODES)[number];

/**
 * The part of an input that a span refers to: the sent text; an email's subject, sender, reply address or links; the name of an attachment; text in a
 * picture; the content of a code in it.
 */
export const SPAN_SOURCES = ['text', 'subject', 'sender', 'reply_to', 'attachment', 'link', 'picture', 'code'] as const;
export type SpanSource = (typeof SPAN_SOURCES)[number];

/** A position in the input, in UTF-16 units of the source. `text` is the text there, cut to `SPAN_LENGTH_MAXIMUM`. `index` numbers sources of the same kind. */
export const spanSchema = z.object({
  source: z.enum(SPAN_SOURCES),
  index: z.int().min(0),
  start: z.int().min(0),
  end: z.int().min(0),
  text: z.string(),
});
export type Span = z.infer<typeof spanSchema>;

/** `weight` is 1 (adds to others), 2 (suspicious alone) or 3 (proof of danger alone). `params` are the values in the sentence, for pages in another language. */
export const scamReasonSchema = z.object({
  code: z.enum(SCAM_REASON_CODES),
  params: z.record(z.string(), z.string()),
  sentence: z.string(),
  span: spanSchema.nullable(),
  weight: z.int().min(1).max(3),
});
export type ScamReason = z.infer<typeof scamReasonSchema>;

/** A parsed link. `owner` is the registrable domain, which receives the click. */
export const checkedLinkSchema = z.object({
  shown: z.string(),
  url: z.string(),
  host: z.string(),
  /** The host as people see it, in its own script. */
  host_shown: z.string(),
  owner: z.string().nullable(),
  kind: z.enum(['web', 'number_address', 'local', 'mail', 'phone', 'code', 'other']),
  /** The brand that owns the domain. */
  brand: z.string().nullable(),
  /** The brand that the domain imitates. */
  imitates: z.string().nullable(),
  trust: z.enum(['listed', 'suspicious', 'unknown', 'trusted']),
  span: spanSchema.nullable(),
});
export type CheckedLink = z.infer<typeof checkedLinkSchema>;

/** The content of a QR or bar code, by kind. `facts` are name and value pairs, such as payee and amount. */
export const CODE_KINDS = [
  'link',
  'payment',
  'wifi',
  'contact',
  'calendar',
  'sms',
  'phone',
  'mail',
  'place',
  'app',
  'text',
] as const;
export const checkedCodeSchema = z.object({
  kind: z.enum(CODE_KINDS),
  format: z.string(),
  text: z.string(),
  facts: z.array(z.object({ name: z.string(), value: z.string() })),
});
export type CheckedCode = z.infer<typeof checkedCodeSchema>;

/** Actions, payments and data that an input can ask for. */
export const SCAM_ASKS = [
  'link',
  'call',
  'reply',
  'money',
  'gift_card',
  'crypto',
  'login',
  'card',
  'code',
  'install',
  'app_chat',
] as const;
export type ScamAsk = (typeof SCAM_ASKS)[number];

export const scamPartsSchema = z.object({
  links: z.array(checkedLinkSchema),
  sender: z
    .object({
      name: z.string(),
      address: z.string(),
      reply_to: z.string().nullable(),
      /** `proven`: a valid signature of the domain confirms the email. */
      proof: z.enum(['proven', 'failed', 'unsigned', 'not_checked']),
    })
    .nullable(),
  organisations: z.array(z.object({ name: z.string(), domain: z.string(), role: z.enum(['named', 'imitated']) })),
  asks: z.array(z.object({ kind: z.enum(SCAM_ASKS), span: spanSchema })),
  codes: z.array(checkedCodeSchema),
  numbers: z.array(z.object({ number: z.string(), country: z.string().nullable(), kind: z.string(), span: spanSchema })),
  accounts: z.array(
    z.object({
      kind: z.enum(['iban', 'crypto']),
      account: z.string(),
      country: z.string().nullable(),
      valid: z.boolean(),
      span: spanSchema,
    }),
  ),
});
export type ScamParts = z.infer<typeof scamPartsSchema>;

/** Actions that the person has already taken; they select the advice. */
export const SCAM_SITUATIONS = ['nothing', 'clicked', 'gave_data', 'paid', 'gave_access'] as const;
export type ScamSituation = (typeof SCAM_SITUATIONS)[number];

const adviceSchema = z.array(z.object({ code: z.string(), sentence: z.string() }));
export type ScamAdvice = z.infer<typeof adviceSchema>;

export const CHECKED_PARTS = [
  'words',
  'links',
  'domain_lists',
  'link_target',
  'sender',
  'signature',
  'attachments',
  'codes',
  'picture_text',
  'numbers',
  'accounts',
] as const;
export type CheckedPart = (typeof CHECKED_PARTS)[number];

/** `absent`: the input has no such part. An unchecked part has a reason, as `code` and as a sentence. */
export const checkedSchema = z.object({
  part: z.enum(CHECKED_PARTS),
  state: z.enum(['checked', 'not_checked', 'absent']),
  code: z.string().nullable(),
  sentence: z.string(),
});
export type Checked = z.infer<typeof checkedSchema>;

/** Kinds of input. */
export const INPUT_KINDS = ['text', 'link', 'email', 'picture', 'contact', 'calendar', 'phone', 'document', 'unknown'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

export const scamAnswerSchema = z.object({
  verdict: scamVerdictSchema,
  headline: z.string(),
  kind: z.enum(INPUT_KINDS),
  reasons: z.array(scamReasonSchema),
  parts: scamPartsSchema,
  advice: z.object({
    nothing: adviceSchema,
    clicked: adviceSchema,
    gave_data: adviceSchema,
    paid: adviceSchema,
    gave_access: adviceSchema,
  }),
  checked: z.array(checkedSchema),
});
export type ScamAnswer = z.infer<typeof scamAnswerSchema>;

/** A check that the person stored. The picture or file is not stored; `excerpt` is the beginning of its text. */
export const scamCheckSchema = z.object({ id: idSchema, created_at: timeSchema, excerpt: z.string(), answer: scamAnswerSchema });
export type ScamCheck = z.infer<typeof scamCheckSchema>;

/** `id` is the id of the stored check, null if it is not stored. */
export const scamReplySchema = scamAnswerSchema.extend({ id: idSchema.nullable() });

const keepSchema = z.object({ keep: z.enum(['true', 'false']).default('false') });
const fileQuerySchema = keepSchema.extend({ ask_dns: z.enum(['true', 'false']).default('false') });

/** A multipart request with a `file` at the same path is handled by `checkScamFile`. */
export const checkScamText = endpoint({
  method: 'POST',
  path: '/scam-check',
  summary:
    'Check a text or a link for signs of a scam, or a picture, an email or a document in the multipart field `file`. `keep=true` stores the answer, never a file.',
  access: 'customer',
  query: keepSchema,
  body: z.object({
    text: z
      .string({ error: 'Paste a message or a link.' })
      .max(SCAM_TEXT_MAXIMUM, `Paste at most ${SCAM_TEXT_MAXIMUM} characters.`)
      .refine((text) => text.trim() !== '', 'Paste a message or a link.'),
  }),
  reply: scamReplySchema,
  expensive: true,
  problems: ['unavailable'],
});

export const checkScamFile = endpoint({
  method: 'POST',
  path: '/scam-check',
  summary:
    'Check a picture, an email or a document for signs of a scam. `keep=true` stores the answer, never the file. `ask_dns=true` verifies the signature of an email: the server asks the DNS for at most two keys of the sender’s domain, and asks nothing without it.',
  access: 'customer',
  query: fileQuerySchema,
  upload: 'file',
  beside_json: true,
  reply: scamReplySchema,
  expensive: true,
  problems: ['too_large', 'malformed', 'upload_stalled', 'unsupported_media_type', 'unavailable'],
});

export const listScamChecks = endpoint({
  method: 'GET',
  path: '/scam-check/checks',
  summary: 'Your own checks that you kept, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(scamCheckSchema),
});

export const deleteScamCheck = endpoint({
  method: 'DELETE',
  path: '/scam-check/checks/{id}',
  summary: 'Delete one of your own checks.',
  access: 'customer',
  problems: ['not_found'],
});

/** Maximum number of domains on one person's list, and of entries on one list of the provider. */
export const TRUSTED_MAXIMUM = 200;
export const PROVIDER_DOMAINS_MAXIMUM = 5_000;

/** A typed domain name; the server parses it further. */
const domainSchema = z
  .string({ error: 'Enter a domain, like example.com.' })
  .trim()
  .min(1, 'Enter a domain, like example.com.')
  .max(300, 'Enter a domain, like example.com.');

/** A domain that a person trusts: links to it and its subdomains are never a reason. */
export const trustedDomainSchema = z.object({ id: idSchema, domain: z.string(), created_at: timeSchema });
export type TrustedDomain = z.infer<typeof trustedDomainSchema>;

export const listTrustedDomains = endpoint({
  method: 'GET',
  path: '/scam-check/trusted',
  summary: 'Domains that you trust: links to them are never a reason.',
  access: 'customer',
  reply: z.array(trustedDomainSchema),
});

export const trustDomain = endpoint({
  method: 'POST',
  path: '/scam-check/trusted',
  summary: 'Trust a domain, and all names below it.',
  access: 'customer',
  body: z.object({ domain: domainSchema }),
  status: 201,
  reply: trustedDomainSchema,
  problems: ['conflict'],
});

export const distrustDomain = endpoint({
  method: 'DELETE',
  path: '/scam-check/trusted/{id}',
  summary: 'Remove a domain from those that you trust.',
  access: 'customer',
  problems: ['not_found'],
});

/** The provider's lists for all customers: `trusted` works like a person's own list, `dangerous` like a feed of domains. */
export const PROVIDER_LISTS = ['trusted', 'dangerous'] as const;
export const providerDomainSchema = trustedDomainSchema.extend({ list: z.enum(PROVIDER_LISTS) });
export type ProviderDomain = z.infer<typeof providerDomainSchema>;

export const listProviderDomains = endpoint({
  method: 'GET',
  path: '/admin/scam-domains',
  summary: "The provider's own lists of trusted and of dangerous domains.",
  access: 'admin',
  reply: z.array(providerDomainSchema),
});

export const addProviderDomain = endpoint({
  method: 'POST',
  path: '/admin/scam-domains',
  summary: "Put a domain on one of the provider's own lists.",
  access: 'admin',
  body: z.object({ domain: domainSchema, list: z.enum(PROVIDER_LISTS) }),
  status: 201,
  reply: providerDomainSchema,
  problems: ['conflict'],
});

export const removeProviderDomain = endpoint({
  method: 'POST',
  path: '/admin/remove-scam-domain',
  summary: "Take a domain off the provider's own lists.",
  access: 'admin',
  body: z.object({ id: idSchema }),
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found'],
});
