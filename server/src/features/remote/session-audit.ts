import { type Activity, AUDIT_KINDS, auditGroupOf } from '@palisade/contract/audit';
import type { Kysely } from 'kysely';
import { type AuditTables, activityOf } from '#platform/audit.ts';
import { inPages } from '#platform/batches.ts';
import type { Row } from './session-state.ts';

const READ_AT_ONCE = 500;
/** Kinds of entries that name a session in their details. */
const SESSION_KINDS = AUDIT_KINDS.filter((kind) => auditGroupOf(kind) === 'remote' || kind === 'customer_card_opened');

/** The audit entries of one session, oldest first, page by page: for its customer, whose account it is about. */
export async function* auditOf(database: Kysely<AuditTables>, session: Row): AsyncIterable<Activity> {
  if (session.joined_at === null) return;
  const { user_id, joined_at } = session;
  const pages = inPages(READ_AT_ONCE, (last?: { seq: number }) =>
    database
      .selectFrom('audit_entries')
      .selectAll()
      .where('subject_id', '=', user_id)
      .where('kind', 'in', SESSION_KINDS)
      .where('at', '>=', joined_at)
      .where('seq', '>', last?.seq ?? 0)
      .orderBy('seq')
      .limit(READ_AT_ONCE)
      .execute(),
  );
  for await (const rows of pages) {
    for (const row of rows) {
      const activity = activityOf(row);
      if (activity.details['session_id'] === session.id) yield activity;
    }
  }
}
