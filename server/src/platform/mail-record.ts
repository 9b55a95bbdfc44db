import { type Mail, mailKindSchema } from '@palisade/contract/mail';
import { type RawBuilder, sql } from 'kysely';

/** Kinds of mails by priority, the most urgent first. */
export const PRIORITIES = mailKindSchema.options;

/** A row of the outbox. */
interface MailRow extends Omit<Mail, 'status' | 'kind' | 'is_urgent'> {
  next_attempt_at: string | null;
  priority: number;
}

function statusOf(row: Pick<MailRow, 'sent_at' | 'attempts' | 'next_attempt_at'>): Mail['status'] {
  // Each attempt to send is counted before it is made.
  if (row.sent_at !== null) return row.attempts === 0 ? 'passed_on' : 'sent';
  return row.next_attempt_at === null && row.attempts > 0 ? 'failed' : 'waiting';
}

/** Converts a row to its wire form. Codes of letters from before `valid_from` (ISO time) no longer work. */
export function mailOf(row: MailRow, valid_from: string): Mail {
  const { id, recipient, subject, text, created_at, sent_at, attempts, last_error, priority } = row;
  const status = statusOf(row);
  const kind = PRIORITIES[priority] ?? 'notice';
  const is_urgent = status === 'failed' || (status === 'waiting' && kind === 'proof' && created_at >= valid_from);
  return { id, recipient, subject, kind, is_urgent, text, status, created_at, sent_at, attempts, last_error };
}

/** The order of the outbox: 0 for urgent letters, 1 for others that were not sent, 2 for sent ones. */
export const placeAt = (valid_from: string): RawBuilder<number> => sql<number>`case
  when sent_at is not null then 2
  when next_attempt_at is null and attempts > 0 then 0
  when priority = 0 and created_at >= ${valid_from} then 0
  else 1 end`;
