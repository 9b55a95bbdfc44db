import type { Activity } from '@palisade/contract/audit';
import type { Kysely } from 'kysely';
import { type AuditTables, activityOf } from '#platform/audit.ts';
import type { Row } from './session-state.ts';

const READ_AT_ONCE = 500;

/** The audit entries of one session, oldest first, page by page: for its customer, whose account it is about. */
export async function* auditOf(database: Kysely<AuditTables>, session: Row): AsyncIterable<Activity> {
  if (session.joined_at === null) return;
  for (let last = 0; ; ) {
    const rows = await database
      .selectFrom('audit_entries')
      .selectAll()
      .where('subject_id', '=', session.user_id)
      .where('kind', 'in', [
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
        'customer_card_opened',
      ])
      .where('at', '>=', session.joined_at)
      .where('seq', '>', last)
      .orderBy('seq')
      .limit(READ_AT_ONCE)
      .execute();
    for (const row of rows) {
      const activity = activityOf(row);
      if (activity.details['session_id'] === session.id) yield activity;
    }
    last = rows.at(-1)?.seq ?? last;
    if (rows.length < READ_AT_ONCE) return;
  }
}
