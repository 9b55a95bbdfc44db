import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, searchSchema, timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';
import { specified } from './reader.ts';
import { severitySchema } from './severity.ts';
import { timeZoneQuerySchema } from './time-zone.ts';

/** Constants of the specification for live mode. Times in ms, probabilities from 0 to 1. */
export const LIVE_FEED = {
  interval_ms: 5_000,
  simulate_chance: 0.15,
  stats_chance: 0.3,
  held: 20,
  shown: 5,
  description_length: 50,
} as const;

/** Delay after a posture scan until the alerts are read again, in ms. */
export const ALERTS_RELOAD_MS = 1_000;

/** Sentences of the automatic replies to simulated attacks. */
export const PREMIUM_REQUIRED = 'Premium subscription required for anti-hacking features';
export const PREMIUM_REQUIRED_FOR_SCAN = 'Premium subscription required for advanced anti-hacking features';

export const THREAT_TYPES = [
  'brute_force',
  'suspicious_login',
  'malware_detected',
  'phishing_attempt',
  'intrusion_attempt',
  'ddos_attempt',
] as const;
export type ThreatType = (typeof THREAT_TYPES)[number];

/** Maximum number of sample events in an alert's evidence. */
export const EVIDENCE_EVENTS_MAXIMUM = 5;

/** A sentence as a phrase; null in records that were stored before phrases. */
const keptPhraseSchema = phraseSchema.nullable().default(null);

/** The evidence of an alert: the rule's threshold in words, and sample events. Each sentence has its phrase beside it. */
export const evidenceSchema = z.object({
  threshold: z.string(),
  threshold_phrase: keptPhraseSchema,
  events: z
    .array(z.object({ at: timeSchema, what: z.string(), source: z.string().nullable(), phrase: keptPhraseSchema }))
    .max(EVIDENCE_EVENTS_MAXIMUM),
});

export const ALERT_TYPES = [...THREAT_TYPES, 'false_alarm'] as const;

/** The outcome of the event: `blocked` only if it was refused or removed. */
export const alertOutcomeSchema = z.enum(['blocked', 'allowed', 'unknown']);

export const alertStatusSchema = z.enum(['open', 'acknowledged', 'resolved']);
export type AlertStatus = z.infer<typeof alertStatusSchema>;

/** Reason why an alert is resolved. `accepted_risk` ends on a date. */
export const resolutionReasonSchema = z.enum(['fixed', 'was_me', 'false_positive', 'accepted_risk', 'test']);
export type ResolutionReason = z.infer<typeof resolutionReasonSchema>;

const resolutionSchema = z.object({
  reason: resolutionReasonSchema,
  note: z.string().nullable(),
  until: timeSchema.nullable(),
  at: timeSchema,
  /** Author of the decision. */
  by: idSchema,
});

/**
 * An event, or a drill (`simulated`). Repeated events of the same rule and key of a person are one alert; `count` is their number.
 * `blocked` is true only if the newest one is known to have been refused or removed. `created_at` equals `first_seen`.
 * `threat_type` may be unknown to this version; screens then show a generic icon.
 */
export const alertSchema = specified(
  ['id', 'threat_type', 'severity', 'description', 'created_at', 'blocked'],
  z.object({
    id: idSchema,
    threat_type: z.string(),
    severity: severitySchema,
    description: z.string(),
    /** The description as a phrase; null if none is stored, as in alerts of older servers. */
    phrase: phraseSchema.nullable(),
    created_at: timeSchema,
    blocked: z.boolean(),
    ip_address: z.string().nullable(),
    simulated: z.boolean(),
    rule: z.string(),
    outcome: alertOutcomeSchema,
    evidence: evidenceSchema,
    count: z.int().min(1),
    first_seen: timeSchema,
    last_seen: timeSchema,
    status: alertStatusSchema,
    resolution: resolutionSchema.nullable(),
    /** True if a suppression hides it. */
    hidden: z.boolean(),
    /** The scan record of the uploaded file that the alert is about; otherwise null. */
    scan_id: idSchema.nullable(),
  }),
  ({ blocked }) => ({ outcome: blocked === true ? 'blocked' : 'unknown' }),
);
export type Alert = z.infer<typeof alertSchema>;

/**
 * Counts of events; drills are counted separately. "Today" begins at midnight of the requested time zone. The industry's harmless test files are blocked and counted like all others; `test_files` is their number within a figure.
 */
export const statsSchema = specified(
  ['threats_blocked_today', 'intrusion_attempts_stopped', 'brute_force_attempts_blocked', 'threats_blocked_total'],
  z.object({
    threats_blocked_today: z.int(),
    intrusion_attempts_stopped: z.int(),
    brute_force_attempts_blocked: z.int(),
    threats_blocked_total: z.int(),
    simulated_threats_blocked_today: z.int(),
    simulated_intrusion_attempts_stopped: z.int(),
    simulated_brute_force_attempts_blocked: z.int(),
    simulated_threats_blocked_total: z.int(),
    test_files_blocked_today: z.int(),
    test_files_blocked_total: z.int(),
    time_zone: z
      .literal('UTC')
      .optional()
      .describe('There where the time zone that was asked for is unknown to the server: today is a day of UTC.'),
  }),
);
export type Stats = z.infer<typeof statsSchema>;

/** Screens on which the findings of a security check are fixed. `?alert=`, `?scan=`, `?rule=` and `?device=` with an id open one record. */
export const FIX_PLACES = [
  '/dashboard?open=security&tab=two-factor',
  '/dashboard?open=security&tab=password',
  '/dashboard?open=security&tab=sessions',
  '/dashboard',
  '/anti-hacking',
  '/firewall',
  '/devices',
  '/web-protection',
  '/household',
  '/remote',
  '/antivirus',
  '/antivirus?status=infected',
  '/subscription-manager',
  '/chat',
] as const;
export type FixPlace = (typeof FIX_PLACES)[number];

/**
 * One check of the posture scan. A check that cannot run is `unknown`, never `pass`. `deduction` is the points that it takes off the score now; `gain` is the points
 * that the score would rise by if only this were fixed.
 */
export const findingSchema = z.object({
  id: z.string(),
  title: z.string(),
  severity: severitySchema,
  evidence: z.string(),
  fix_route: z.string(),
  deduction: z.int(),
  gain: z.int(),
  state: z.enum(['pass', 'fail', 'unknown']),
  /** The sentences as phrases; absent in checks that an older server stored. */
  title_phrase: phraseSchema.optional(),
  evidence_phrase: phraseSchema.optional(),
});
export type Finding = z.infer<typeof findingSchema>;

export const postureScanSchema = specified(
  ['threats_detected', 'threats_blocked', 'status', 'vulnerabilities_found', 'recommendations'],
  z.object({
    threats_detected: z.int(),
    threats_blocked: z.int(),
    /** Number of harmless test files among those detected. */
    test_files: z.int(),
    status: z.enum(['no_issues_found', 'issues_found']),
    vulnerabilities_found: z.array(z.string()),
    recommendations: z.array(z.string()),
    findings: z.array(findingSchema),
    /** One sentence: how many checks ran, and why the others could not. */
    coverage: z.string(),
    /** As in a finding. */
    recommendation_phrases: z.array(phraseSchema).optional(),
    coverage_phrase: phraseSchema.optional(),
  }),
);
export type PostureScan = z.infer<typeof postureScanSchema>;

/** Numbers of days for which the history can be requested. */
export const HISTORY_DAYS = { least: 7, most: 365, usual: 30 } as const;

const historyQuerySchema = timeZoneQuerySchema.extend({
  days: z.coerce
    .number({ error: 'Enter a whole number of days.' })
    .int('Enter a whole number of days.')
    .min(HISTORY_DAYS.least, `Choose at least ${HISTORY_DAYS.least} days.`)
    .max(HISTORY_DAYS.most, `Choose at most ${HISTORY_DAYS.most} days.`)
    .default(HISTORY_DAYS.usual),
});

/**
 * One day in the requested time zone. `score` is the last one of the day, null if none was computed. `threats` are those first seen on this day, of which `blocked`
 * were refused or removed; drills (`simulated`) are not counted.
 */
export const historyDaySchema = z.object({
  day: z.iso.date(),
  score: z.int().nullable(),
  threats: z.int(),
  blocked: z.int(),
  simulated: z.int(),
});
export type HistoryDay = z.infer<typeof historyDaySchema>;

/** `active` means open and acknowledged; `hidden` means hidden by a suppression, and no other status includes those. The cursor is that of the `Link` header. */
export const alertFilterSchema = z.enum(['active', 'open', 'acknowledged', 'resolved', 'hidden']);
export type AlertFilter = z.infer<typeof alertFilterSchema>;

const alertsQuerySchema = pageQuerySchema.extend({
  status: alertFilterSchema.optional(),
  severity: severitySchema.optional(),
  type: z.enum(ALERT_TYPES).optional(),
  simulated: z.enum(['true', 'false']).optional(),
  search: searchSchema.describe('A part of the description or of the source address, whatever the case of its letters.'),
  sort: z.enum(['latest', 'severity']).default('latest').describe('`severity`: the most severe first, of those the latest.'),
});
export type AlertsQuery = z.infer<typeof alertsQuerySchema>;

export const listAlerts = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/alerts',
  summary: 'The alerts of the signed-in person.',
  access: 'premium',
  query: alertsQuerySchema,
  reply: z.array(alertSchema),
});

export const readStats = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/stats',
  summary: 'How many threats were blocked; drills are counted apart.',
  access: 'premium',
  query: timeZoneQuerySchema,
  reply: statsSchema,
});

export const readHistory = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/history',
  summary: 'Score and threats of the last days, day by day, oldest first; drills are counted apart.',
  access: 'premium',
  query: historyQuerySchema,
  reply: z.array(historyDaySchema).max(HISTORY_DAYS.most),
});

export const readLiveFeed = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/live-feed',
  summary: 'The latest threats and the counts, in one answer.',
  access: 'premium',
  query: timeZoneQuerySchema,
  reply: z.object({ live_threats: z.array(alertSchema).max(LIVE_FEED.held), current_stats: statsSchema }),
});

export const simulateThreat = endpoint({
  method: 'POST',
  path: '/premium/anti-hacking/simulate-threat',
  summary: 'A drill: an alert that is marked as simulated and counts apart.',
  access: 'premium',
  expensive: true,
  changes: 'alerts',
  reply: z.object({ success: z.literal(true), threat_detected: alertSchema }),
});

export const readLastCheck = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/scan',
  summary: 'When the signed-in person last ran the security check, and what its checks say now; null before the first.',
  access: 'premium',
  reply: z.object({ last: z.object({ checked_at: timeSchema, result: postureScanSchema }).nullable() }),
});

export const scanPosture = endpoint({
  method: 'POST',
  path: '/premium/anti-hacking/scan',
  summary: 'Run every check that can run today on this account, and say which could not.',
  access: 'premium',
  expensive: true,
  changes: 'alerts',
  reply: postureScanSchema,
});
