import { z } from 'zod';
import { alertSchema, resolutionReasonSchema } from './anti-hacking.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';
import { severitySchema } from './severity.ts';

/** Days for which a suppression applies, and that its preview covers. */
export const SUPPRESSION_DAYS = 30;
/** Maximum number of days for which a risk can be accepted. */
export const ACCEPTED_RISK_DAYS_MAXIMUM = 365;
const NOTE_LENGTH_MAXIMUM = 500;

/** One decision about an alert by the person, or by the monitor: `recurred` means that it happened again after it was resolved. */
const alertDecisionSchema = z.object({
  id: idSchema,
  /** `other` is shown for a decision of a newer server; no server sends it. */
  kind: z.enum(['acknowledged', 'resolved', 'reopened', 'recurred', 'not_me', 'other']),
  at: timeSchema,
  by: z.enum(['person', 'monitor']),
  reason: resolutionReasonSchema.nullable(),
  note: z.string().nullable(),
  until: timeSchema.nullable(),
});
export type AlertDecision = z.infer<typeof alertDecisionSchema>;

export const alertDetailSchema = alertSchema.extend({
  /** Whether the alert asks "Was it you?". */
  about_sign_in: z.boolean(),
  /** Whether similar alerts can be suppressed when this one is a false positive. */
  suppressible: z.boolean(),
  /** Newest first. */
  decisions: z.array(alertDecisionSchema),
});
export type AlertDetail = z.infer<typeof alertDetailSchema>;

export const readAlert = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/alerts/{id}',
  summary: 'One alert with what was decided about it.',
  access: 'customer',
  reply: alertDetailSchema,
});

export const acknowledgeAlert = endpoint({
  method: 'POST',
  path: '/premium/anti-hacking/alerts/{id}/acknowledge',
  summary: 'Say that an open alert was seen.',
  access: 'customer',
  reply: alertDetailSchema,
  problems: ['conflict'],
});

const resolveBodySchema = z
  .object({
    reason: resolutionReasonSchema,
    note: z.string().trim().max(NOTE_LENGTH_MAXIMUM, `Use at most ${NOTE_LENGTH_MAXIMUM} characters.`).optional(),
    /** Time until which the risk is accepted; only with `accepted_risk`. */
    until: timeSchema.optional(),
    /** Only with `false_positive`: suppress similar alerts for 30 days. */
    suppress: z.boolean().default(false),
  })
  .refine(({ reason, until }) => reason !== 'accepted_risk' || until !== undefined, {
    path: ['until'],
    error: 'Choose how long you accept the risk.',
  })
  .refine(({ reason, until }) => reason === 'accepted_risk' || until === undefined, {
    path: ['until'],
    error: 'Only an accepted risk has an end date.',
  })
  .refine(({ reason, suppress }) => reason === 'false_positive' || !suppress, {
    path: ['suppress'],
    error: 'You can hide future alerts only for a false positive.',
  });

export const resolveAlert = endpoint({
  method: 'POST',
  path: '/premium/anti-hacking/alerts/{id}/resolve',
  summary: 'Close an alert with a reason. "was_me" also trusts the browser.',
  access: 'customer',
  body: resolveBodySchema,
  reply: alertDetailSchema,
  problems: ['conflict'],
});

export const reopenAlert = endpoint({
  method: 'POST',
  path: '/premium/anti-hacking/alerts/{id}/reopen',
  summary: 'Open a resolved alert again.',
  access: 'customer',
  reply: alertDetailSchema,
  problems: ['conflict'],
});

export const disownAlert = endpoint({
  method: 'POST',
  path: '/premium/anti-hacking/alerts/{id}/not-me',
  summary: '"Wasn\'t me": ends the sessions that the alert names, and says what to do next.',
  access: 'customer',
  reply: z.object({
    alert: alertDetailSchema,
    /** Number of sessions that were ended; the calling session stays. */
    sessions_ended: z.int(),
    /** Another person may know the password, so the person should choose a new one. */
    change_password: z.literal(true),
    /** The account has no second factor, which would have prevented the sign-in. */
    offer_two_factor: z.boolean(),
  }),
  problems: ['conflict'],
});

/** Hides false positives: alerts of one rule from one source, for 30 days. Critical alerts are never hidden. */
const suppressionSchema = z.object({
  id: idSchema,
  rule: z.string(),
  source: z.string(),
  /** Description of the alert that the suppression was created from, and its phrase. */
  description: z.string(),
  phrase: phraseSchema.nullable(),
  created_at: timeSchema,
  until: timeSchema,
  /** Number of hidden alerts, and the time of the last one. Hidden alerts are kept and listed with `status=hidden`. */
  hidden_count: z.int(),
  last_hidden_at: timeSchema.nullable(),
});
export type Suppression = z.infer<typeof suppressionSchema>;

export const listSuppressions = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/suppressions',
  summary: 'What is kept out of the list of alerts, newest first.',
  access: 'premium',
  query: pageQuerySchema,
  reply: z.array(suppressionSchema),
});

export const previewSuppression = endpoint({
  method: 'POST',
  path: '/premium/anti-hacking/suppressions/preview',
  summary: 'What a suppression made from an alert would have hidden of the last 30 days.',
  access: 'premium',
  body: z.object({ alert_id: idSchema }),
  reply: z.object({
    rule: z.string(),
    source: z.string(),
    until: timeSchema,
    /** Number of alerts of the last 30 days, including this one. */
    would_hide: z.int(),
  }),
  problems: ['not_found'],
});

export const deleteSuppression = endpoint({
  method: 'DELETE',
  path: '/premium/anti-hacking/suppressions/{id}',
  summary: 'End a suppression. What it hid is listed again.',
  access: 'premium',
});

/** Sources of events that the monitor watches now, so that an empty list is known to be complete. */
export const readMonitor = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/monitor',
  summary: 'What is watched, since when, and how many alerts there are.',
  access: 'premium',
  reply: z.object({
    watching_since: timeSchema,
    watches: z.array(
      z.object({
        id: z.enum(['files', 'sign_ins', 'requests']),
        is_watched: z.boolean(),
        /** The reason why it is not watched, as a sentence; otherwise null. */
        reason: z.string().nullable(),
      }),
    ),
    alerts: z.object({
      active: z.int(),
      resolved: z.int(),
      hidden: z.int(),
      /** Number of active alerts except drills and those about harmless test files. */
      real: z.int(),
      test_files: z.int(),
      /** Number of `real` alerts that were not blocked. */
      unstopped: z.int(),
      /** The most severe unblocked alert, the newest if there are several; null if all were blocked. */
      gravest: z.object({ id: idSchema, threat_type: z.string(), severity: severitySchema }).nullable(),
    }),
  }),
});
export type Monitor = z.infer<NonNullable<(typeof readMonitor)['reply']>>;
