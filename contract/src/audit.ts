import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, NUMBER_MAXIMUM, pageQuerySchema, timeSchema } from './fields.ts';

/** The kinds of entries of the audit log. The list is closed; a kind never changes its meaning. */
export const AUDIT_KINDS = [
  'account_registered',
  'email_proven',
  'signed_in',
  'signed_out',
  'session_ended',
  'other_sessions_ended',
  'username_changed',
  'password_changed',
  'password_reset',
  'two_factor_enabled',
  'two_factor_disabled',
  'authenticator_added',
  'authenticator_removed',
  'passkey_added',
  'passkey_removed',
  'recovery_codes_made',
  'recovery_code_used',
  'role_changed',
  'person_invited',
  'account_disabled',
  'account_enabled',
  'account_deleted',
  'data_exported',
  'subscription_assigned',
  'subscription_cancelled',
  'alert_acknowledged',
  'alert_resolved',
  'alert_reopened',
  'suppression_added',
  'suppression_removed',
  'browser_trusted',
  'block_added',
  'block_lifted',
  'file_restored',
  'file_deleted',
  'setup_changed',
  'proxy_findings_cleared',
  'false_alarm_decided',
  'false_alarm_reopened',
  'customer_card_opened',
  'shared_thing_opened',
  'desk_settings_changed',
  'device_enrolled',
  'device_revoked',
  'device_removed',
  'second_look_asked',
  'second_look_withdrawn',
  'second_look_received',
  'second_look_refused',
  'web_device_added',
  'web_device_removed',
  'web_key_renewed',
  'web_names_shown',
  'web_choices_changed',
  'web_protection_paused',
  'web_protection_resumed',
  'web_name_allowed',
  'web_name_blocked',
  'web_name_removed',
  'profile_added',
  'profile_changed',
  'profile_removed',
  'profile_paused',
  'profile_resumed',
  'profile_name_allowed',
  'profile_name_blocked',
  'profile_name_removed',
  'profile_asked_answered',
  'profile_key_renewed',
  'profile_device_changed',
  'home_invited',
  'home_joined',
  'home_left',
  'domain_list_accepted',
  'remote_session_asked',
  'remote_session_approved',
  'remote_session_declined',
  'remote_session_ended',
  'remote_session_reaffirmed',
  'remote_session_reported',
  'remote_share_started',
  'remote_share_stopped',
  'remote_session_paused',
  'remote_session_resumed',
  'remote_voice_on',
  'remote_voice_off',
  'remote_granted',
  'remote_revoked',
  'remote_file_sent',
  'remote_file_stopped',
  'remote_file_opened',
  'remote_file_refused',
  'remote_recording_started',
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Groups of kinds, for the first filter of the log. */
export const AUDIT_GROUPS = [
  'sign_in',
  'account',
  'plans',
  'alerts',
  'files',
  'devices',
  'remote',
  'support',
  'installation',
] as const;
export type AuditGroup = (typeof AUDIT_GROUPS)[number];

/** Prefixes of the kinds in each group. All other kinds belong to `account`. */
const GROUP_PREFIXES: Readonly<Record<Exclude<AuditGroup, 'account'>, readonly string[]>> = {
  sign_in: ['signed_', 'session_', 'other_sessions_', 'recovery_code_used', 'block_', 'browser_'],
  plans: ['subscription_'],
  alerts: ['alert_', 'suppression_'],
  files: ['file_', 'false_alarm_'],
  devices: ['device_', 'second_look_', 'web_', 'profile_', 'home_'],
  remote: ['remote_'],
  support: ['customer_card_', 'shared_thing_'],
  installation: ['setup_', 'proxy_', 'desk_settings_', 'domain_list_'],
};

export function auditGroupOf(kind: AuditKind): AuditGroup {
  return (
    AUDIT_GROUPS.find((group) => group !== 'account' && GROUP_PREFIXES[group].some((prefix) => kind.startsWith(prefix))) ??
    'account'
  );
}

/** The kinds that a page shows. `other` stands for kinds of a newer server; no server sends it. */
const shownKindSchema = z.enum([...AUDIT_KINDS, 'other']);
export type ShownKind = z.infer<typeof shownKindSchema>;

/** Details of an entry by name, such as `role` of a role change or `filename` of a file. */
const detailsSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

/** Paging of the log, newest first. `cursor` is the number of the last entry of the previous page. */
const auditPageSchema = pageQuerySchema.extend({
  cursor: z.coerce
    .number({ error: 'Enter a number.' })
    .int('Enter a whole number.')
    .min(1, 'Entries start at 1.')
    .max(NUMBER_MAXIMUM, 'This entry doesn’t exist.')
    .optional(),
});

/** An entry about the person's own account. `by` is the actor (`support`: the technician of a remote session; `guardian`: another one of the same home); the address of another actor is null. */
export const activitySchema = z.object({
  seq: z.int(),
  at: timeSchema,
  kind: shownKindSchema,
  by: z.enum(['self', 'support', 'guardian', 'administrator', 'server']),
  address: z.string().nullable(),
  client: z.string().nullable(),
  details: detailsSchema,
});
export type Activity = z.infer<typeof activitySchema>;

export const listActivity = endpoint({
  method: 'GET',
  path: '/auth/audit',
  summary: 'What happened to one’s own account, newest first.',
  access: 'customer',
  query: auditPageSchema,
  reply: z.array(activitySchema),
});

export const exportActivity = endpoint({
  method: 'GET',
  path: '/auth/audit/export',
  summary: 'All that happened to one’s own account as a file.',
  access: 'customer',
  query: z.object({ format: z.enum(['csv', 'json'], { error: 'Choose "csv" or "json".' }) }),
  download: true,
});

const personSchema = z.object({ id: idSchema, email: z.string(), username: z.string() });

/** An entry as administrators see it. `subject` and `actor` are null if the account was deleted (their ids stay) or the server acted. */
export const auditEntrySchema = z.object({
  seq: z.int(),
  at: timeSchema,
  kind: shownKindSchema,
  subject_id: idSchema,
  subject: personSchema.nullable(),
  actor_id: idSchema.nullable(),
  actor: personSchema.nullable(),
  address: z.string().nullable(),
  client: z.string().nullable(),
  details: detailsSchema,
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

const PERSON_LENGTH_MAXIMUM = 254;

export const listAudit = endpoint({
  method: 'GET',
  path: '/admin/audit',
  summary: 'The audit log of this installation, newest first.',
  access: 'admin',
  query: auditPageSchema.extend({
    person: z
      .string()
      .trim()
      .max(PERSON_LENGTH_MAXIMUM, 'Give an email, a username or an id.')
      .optional()
      .describe(
        'A part of the email or the username, or the whole id, of the account that it is about, or of the person who did it.',
      ),
    kind: z.enum(AUDIT_KINDS, { error: 'This kind of entry doesn’t exist.' }).optional(),
    group: z.enum(AUDIT_GROUPS, { error: 'This group of entries doesn’t exist.' }).optional(),
    from: timeSchema.optional().describe('The first moment.'),
    to: timeSchema.optional().describe('The moment after the last.'),
  }),
  reply: z.array(auditEntrySchema),
});

/** Whether the log is intact. The server seals each entry, chained to the previous one, with a key. `fault` is the first entry that fails, and why. */
export const auditChainSchema = z.object({
  entries: z.int().describe('The number of the newest entry that holds.'),
  checked_from: z
    .int()
    .describe(
      'The number of the first entry that was checked: those before it were removed after their time, or sealed with a key that was replaced.',
    ),
  head: z
    .string()
    .describe('Number and hash of the newest entry. Note it outside of the server to prove later that none was cut off.'),
  fault: z.object({ seq: z.int(), reason: z.string() }).nullable(),
  checked_at: timeSchema,
});
export type AuditChain = z.infer<typeof auditChainSchema>;

export const checkAudit = endpoint({
  method: 'GET',
  path: '/admin/audit/chain',
  summary: 'Check the whole audit log.',
  access: 'admin',
  reply: auditChainSchema,
});
