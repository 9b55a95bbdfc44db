import { z } from 'zod';
import { requireWords, seqSchema, writtenFields } from './chat.ts';
import { messagesQuerySchema } from './chat-read.ts';
import { sharedKindSchema } from './chat-record.ts';
import { timeZoneOf } from './day.ts';
import { tagSchema } from './desk-list.ts';
import { conversationSchema, deskMessageSchema, prioritySchema } from './desk-record.ts';
import { endpoint, HEADER_FIELDS } from './endpoint.ts';
import { idSchema, timeSchema } from './fields.ts';
import { formatList } from './intl.ts';
import { statusSchema } from './status.ts';

/** The support desk: data and actions for staff (the roles support and admin). */

export const TAGS_MAXIMUM = 10;
/** Maximum time for which a conversation can be snoozed, in ms. */
export const SNOOZE_MAXIMUM = 90 * 86_400_000;
export const CANNED_ANSWERS_MAXIMUM = 500;
const CANNED_TEXT_LENGTH_MAXIMUM = 4_000;
/** Placeholders of a canned answer, filled in by the page: `{{customer}}`. */
export const PLACEHOLDERS = ['customer', 'agent', 'provider', 'support_phone'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

export const tagsSchema = z
  .array(tagSchema)
  .max(TAGS_MAXIMUM, `A conversation can have at most ${TAGS_MAXIMUM} tags.`)
  .transform((tags) => [...new Set(tags)].sort());

export const readConversation = endpoint({
  method: 'GET',
  path: '/support/conversations/{id}',
  summary: 'One conversation.',
  access: 'support',
  reply: conversationSchema,
});

export const listDeskMessages = endpoint({
  method: 'GET',
  path: '/support/conversations/{id}/messages',
  summary: 'The messages and notes of a conversation, newest first.',
  access: 'support',
  query: messagesQuerySchema,
  reply: z.array(deskMessageSchema),
});

export const answerConversation = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/messages',
  summary: 'Answer the customer, or write a note that they never see. Answering one that nobody has takes it.',
  access: 'support',
  body: z.object({ ...writtenFields, is_note: z.boolean().default(false) }).superRefine(requireWords),
  header_fields: { client_message_id: HEADER_FIELDS.message },
  status: 201,
  reply: deskMessageSchema,
  problems: ['conflict'],
});

export const markConversationRead = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/read',
  summary: 'Say up to which message of the customer the staff has read.',
  access: 'support',
  body: z.object({ seq: seqSchema }),
  reply: conversationSchema,
});

export const claimConversation = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/claim',
  summary: 'Take a conversation that nobody has. Of two at once one gets it.',
  access: 'support',
  reply: conversationSchema,
  problems: ['conflict'],
});

export const assignConversation = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/assign',
  summary: 'Give a conversation to a colleague, or back to all.',
  access: 'support',
  body: z.object({ assignee_id: idSchema.nullable() }),
  reply: conversationSchema,
  problems: ['conflict', 'forbidden'],
});

export const closeConversation = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/close',
  summary: 'Close the matter of a conversation. The customer is asked to rate it.',
  access: 'support',
  reply: conversationSchema,
  problems: ['conflict'],
});

export const reopenConversation = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/reopen',
  summary: 'Open a closed or snoozed conversation again.',
  access: 'support',
  reply: conversationSchema,
  problems: ['conflict'],
});

export const snoozeConversation = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/snooze',
  summary: 'Put a conversation off until a time, or until the customer writes.',
  access: 'support',
  body: z.object({ until: timeSchema }),
  reply: conversationSchema,
  problems: ['conflict'],
});

export const sortConversation = endpoint({
  method: 'PATCH',
  path: '/support/conversations/{id}',
  summary: 'Set the tags or the priority of a conversation.',
  access: 'support',
  body: z.object({ tags: tagsSchema.optional(), priority: prioritySchema.optional() }),
  reply: conversationSchema,
});

/** The customer of a conversation: names and counts, without the content of files or alerts. `infected_files` are the newest that are not deleted yet. */
export const customerCardSchema = z.object({
  user_id: idSchema,
  username: z.string(),
  email: z.string(),
  since: timeSchema,
  /** Null without a plan. */
  plan_name: z.string().nullable(),
  is_premium: z.boolean(),
  security_score: z.int(),
  /** Their status (status.ts): state, sentence as the customer reads it, number of open steps, and whether the score is meaningful. */
  status: statusSchema.pick({ state: true, sentence: true, is_scored: true }).extend({ steps: z.int() }),
  /** Excludes simulated alerts and those about harmless test files. */
  open_alerts: z.int(),
  /** Computers, and other devices with web protection. */
  devices: z.array(z.object({ name: z.string(), last_seen_at: timeSchema.nullable() })),
  /** `test_files` are harmless ones, which `infected` excludes. */
  scans: z.object({ clean: z.int(), infected: z.int(), pending: z.int(), test_files: z.int() }),
  infected_files: z.array(z.object({ filename: z.string(), threat: z.string().nullable() })),
  remote_sessions: z.array(z.object({ status: z.string(), started_at: timeSchema, support_agent: z.string().nullable() })),
  conversations_closed: z.int(),
  ratings: z.object({ count: z.int(), average: z.number().nullable() }),
});
export type CustomerCard = z.infer<typeof customerCardSchema>;

export const readCustomerCard = endpoint({
  method: 'GET',
  path: '/support/conversations/{id}/customer',
  summary: 'Who the customer is: names and counts. Each opening is in the audit log.',
  access: 'support',
  reply: customerCardSchema,
});

/** The present state of a record that a customer has shared. */
export const sharedSchema = z.object({
  thing: sharedKindSchema,
  title: z.string(),
  facts: z.array(z.object({ name: z.string(), value: z.string() })),
});
export type Shared = z.infer<typeof sharedSchema>;

export const readShared = endpoint({
  method: 'GET',
  path: '/support/messages/{id}/shared',
  summary: 'What a customer has shared with a card, as it is now. Each opening is in the audit log.',
  access: 'support',
  reply: sharedSchema,
});

export const takeMail = endpoint({
  method: 'POST',
  path: '/support/mails/{id}/take',
  summary: 'Take a mail whose sender is not verified over as the customer’s words. Its files are scanned first.',
  access: 'support',
  status: 201,
  reply: deskMessageSchema,
  problems: ['conflict', 'unavailable'],
});

export const downloadMail = endpoint({
  method: 'GET',
  path: '/support/mails/{id}/file',
  summary: 'A mail as it arrived. Nothing in it was scanned.',
  access: 'support',
  download: true,
  problems: ['unavailable'],
});

export const startRemoteSession = endpoint({
  method: 'POST',
  path: '/support/conversations/{id}/remote-session',
  summary: 'Create a remote session for the customer and put its code card into the chat.',
  access: 'support',
  status: 201,
  reply: deskMessageSchema,
  problems: ['conflict'],
});

export const deskTranscript = endpoint({
  method: 'GET',
  path: '/support/conversations/{id}/transcript',
  summary: 'A conversation with its notes as a text file.',
  access: 'support',
  download: true,
});

const SHORTCUT = /^[a-z0-9][a-z0-9-]{0,31}$/u;
const cannedFields = z.object({
  /** The name that staff type after `/`. */
  shortcut: z
    .string({ error: 'Enter a shortcut.' })
    .trim()
    .toLowerCase()
    .regex(SHORTCUT, 'Use at most 32 letters, digits, and dashes.'),
  title: z
    .string({ error: 'Enter a title.' })
    .trim()
    .min(1, 'Enter a title.')
    .max(80, 'Use at most 80 characters for the title.'),
  text: z
    .string({ error: 'Enter the text.' })
    .trim()
    .min(1, 'Enter the text.')
    .max(CANNED_TEXT_LENGTH_MAXIMUM, `Use at most ${CANNED_TEXT_LENGTH_MAXIMUM} characters for the text.`)
    .refine(
      (text) =>
        [...text.matchAll(/\{\{([^{}]*)\}\}/gu)].every(([, name]) => PLACEHOLDERS.some((known) => known === name?.trim())),
      `Use only these placeholders: ${formatList(
        PLACEHOLDERS.map((name) => `{{${name}}}`),
        'plain',
      )}.`,
    ),
});

export const cannedAnswerSchema = cannedFields.extend({ id: idSchema, updated_at: timeSchema });
export type CannedAnswer = z.infer<typeof cannedAnswerSchema>;

/** Fills in the placeholders of a canned answer; unknown values are left out. */
export function fillCanned(text: string, values: Partial<Record<Placeholder, string>>): string {
  return text.replaceAll(/\{\{([^{}]*)\}\}/gu, (whole, name: string) => {
    const known = PLACEHOLDERS.find((placeholder) => placeholder === name.trim());
    return known === undefined ? whole : (values[known] ?? '');
  });
}

export const listCanned = endpoint({
  method: 'GET',
  path: '/support/canned-answers',
  summary: 'The canned answers, by shortcut.',
  access: 'support',
  reply: z.array(cannedAnswerSchema),
});

export const createCanned = endpoint({
  method: 'POST',
  path: '/admin/canned-answers',
  summary: 'Add a canned answer.',
  access: 'admin',
  body: cannedFields,
  changes_installation: 'desk',
  status: 201,
  reply: cannedAnswerSchema,
  problems: ['conflict'],
});

export const changeCanned = endpoint({
  method: 'PUT',
  path: '/admin/canned-answers/{id}',
  summary: 'Change a canned answer.',
  access: 'admin',
  body: cannedFields,
  changes_installation: 'desk',
  reply: cannedAnswerSchema,
  problems: ['conflict'],
});

export const deleteCanned = endpoint({
  method: 'DELETE',
  path: '/admin/canned-answers/{id}',
  summary: 'Remove a canned answer.',
  access: 'admin',
  changes_installation: 'desk',
});

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/u;
/** A time of day; `24:00` is its end. */
const clockSchema = z
  .string({ error: 'Enter a time.' })
  .max(5, 'Enter a time, like 09:00.')
  .refine((time) => CLOCK.test(time) || time === '24:00', 'Enter a time, like 09:00.');

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export const weekdaySchema = z.enum(WEEKDAYS);
export type Weekday = z.infer<typeof weekdaySchema>;

/** Opening hours of support in the time zone; null means always open. A day may have no interval (closed) or several. An interval whose `to` is before its `from` extends into the next day. */
export const deskSettingsSchema = z.object({
  time_zone: z
    .string({ error: 'Enter a time zone.' })
    .max(64)
    .refine((name) => timeZoneOf(name).is_known, 'Enter a time zone, like Europe/Vienna.'),
  hours: z
    .array(
      z
        .object({ day: weekdaySchema, from: clockSchema, to: clockSchema })
        .refine(({ from, to }) => from !== to && from !== '24:00', {
          path: ['to'],
          message: 'Choose different opening and closing times.',
        }),
    )
    .max(28, 'Enter at most 28 opening times.')
    .nullable(),
  /** Minutes after which a conversation with a waiting customer returns to Unassigned. */
  unanswered_minutes: z
    .int({ error: 'Enter whole minutes.' })
    .min(1, 'Enter at least 1 minute.')
    .max(1_440, 'Enter at most 1,440 minutes.'),
  /** Minutes without an open page after which a staff member's conversations return to Unassigned. */
  offline_minutes: z
    .int({ error: 'Enter whole minutes.' })
    .min(1, 'Enter at least 1 minute.')
    .max(1_440, 'Enter at most 1,440 minutes.'),
});
export type DeskSettings = z.infer<typeof deskSettingsSchema>;

export const unknownZoneSchema = z
  .string()
  .optional()
  .describe('The stored time zone, where this server does not know it: `time_zone` is UTC then.');
/** Settings in a reply: a stored zone may be unknown to this version. */
export const readSettingsSchema = deskSettingsSchema.extend({ unknown_time_zone: unknownZoneSchema });
export type ReadSettings = z.infer<typeof readSettingsSchema>;

export const readDeskSettings = endpoint({
  method: 'GET',
  path: '/support/settings',
  summary: 'When support is there, and when a conversation that nobody answers goes back to all.',
  access: 'support',
  reply: readSettingsSchema,
});

export const changeDeskSettings = endpoint({
  method: 'PUT',
  path: '/admin/desk-settings',
  summary: 'Set the hours of support, and when a conversation goes back to all.',
  access: 'admin',
  body: deskSettingsSchema,
  changes_installation: 'desk',
  reply: deskSettingsSchema,
});

const DATE = 'Enter a date, like 2026-11-20.';
/** Excludes days before this desk could exist, and years of more than four digits. */
const dateSchema = z.iso.date({ error: DATE }).refine((day) => day >= '1970-01-02' && day <= '9998-12-31', DATE);
export const reportQuerySchema = z.object({
  /** First and last day, both included, in the desk's time zone; by default the last 12 weeks, starting on a Monday. */
  from: dateSchema.optional(),
  to: dateSchema.optional(),
});
export type ReportQuery = z.output<typeof reportQuerySchema>;

const figuresSchema = z.object({
  /** Number of matters that were opened, and closed. */
  opened: z.int(),
  closed: z.int(),
  answered: z.int(),
  /** In seconds; null if there were none. */
  first_answer_s: z.object({ median: z.int().nullable(), p90: z.int().nullable() }),
  resolution_s: z.object({ median: z.int().nullable(), p90: z.int().nullable() }),
  ratings: z.object({ count: z.int(), average: z.number().nullable() }),
});
export type DeskFigures = z.infer<typeof figuresSchema>;

export const reportSchema = z.object({
  from: z.string(),
  to: z.string(),
  /** The time zone of the days. */
  time_zone: z.string(),
  unknown_time_zone: unknownZoneSchema,
  total: figuresSchema,
  /** Weeks by the date of their Monday, oldest first, including empty ones. */
  weeks: z.array(figuresSchema.extend({ week: z.string() })),
  /** Staff members who gave a first answer or closed a matter. */
  people: z.array(figuresSchema.extend({ user_id: idSchema.nullable(), username: z.string() })),
  /** The median of the last 7 days, in seconds, independent of `from` and `to`; null with fewer than 5 answers. */
  response_s: z.int().nullable(),
});
export type Report = z.infer<typeof reportSchema>;

export const readReport = endpoint({
  method: 'GET',
  path: '/admin/desk-report',
  summary: 'What the support desk did: matters, times of first answers and solutions, ratings, by week and person.',
  access: 'admin',
  query: reportQuerySchema,
  expensive: true,
  reply: reportSchema,
});

export const exportReport = endpoint({
  method: 'GET',
  path: '/admin/desk-report/csv',
  summary: 'The same as a CSV file: one line for each matter.',
  access: 'admin',
  query: reportQuerySchema,
  expensive: true,
  download: true,
});
