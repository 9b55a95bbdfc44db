import type { UserInfo } from '@palisade/contract/auth';
import type { SessionMessage, Side } from '@palisade/contract/remote-record';
import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { refuse } from './remote.refusals.ts';
import type { RemoteTables } from './remote.tables.ts';
import { isOpen, type Row } from './session-state.ts';

/** Messages beside the picture. */
export interface SessionMessages {
  /** Those after a place, oldest first. */
  list(session_id: string, after: number): Promise<SessionMessage[]>;
  /** A repeated message returns the stored one. @throws Problem `conflict` when nobody is there to read it. */
  write(
    me: UserInfo,
    session: Row,
    written: { message: string; client_message_id?: string | undefined },
  ): Promise<SessionMessage>;
}

const READ_AT_ONCE = 200;
const MOST = 2_000;

function messageOf({ user_id: _, ...message }: Selectable<RemoteTables['remote_messages']>): SessionMessage {
  return message;
}

export function createSessionMessages(parts: {
  database: Kysely<RemoteTables>;
  /** Called with a message, once. */
  onMessage: (message: SessionMessage) => void;
  now: () => number;
}): SessionMessages {
  const { database, onMessage, now } = parts;

  return {
    async list(session_id, after) {
      const rows = await database
        .selectFrom('remote_messages')
        .selectAll()
        .where('session_id', '=', session_id)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(READ_AT_ONCE)
        .execute();
      return rows.map(messageOf);
    },

    async write(me, session, { message, client_message_id = null }) {
      const side: Side = session.user_id === me.id ? 'customer' : 'technician';
      const sent = (tables: Kysely<RemoteTables>) =>
        client_message_id === null
          ? undefined
          : tables
              .selectFrom('remote_messages')
              .selectAll()
              .where('session_id', '=', session.id)
              .where('side', '=', side)
              .where('client_message_id', '=', client_message_id)
              .executeTakeFirst();
      // A repeated message gets no new number.
      const before = await sent(database);
      if (before !== undefined) return messageOf(before);
      const written = await inTransaction(database, async (transaction) => {
        // The update locks the row, and assigns the number.
        const {
          last_seq: seq,
          status,
          joined_at,
        } = await transaction
          .updateTable('remote_sessions')
          .set(({ eb }) => ({ last_seq: eb('last_seq', '+', 1) }))
          .where('id', '=', session.id)
          .returning(['last_seq', 'status', 'joined_at'])
          .executeTakeFirstOrThrow();
        // Of two concurrent sends, the later one finds the earlier one here.
        const known = await sent(transaction);
        if (known !== undefined) return { row: known, isNew: false };
        if (!isOpen({ status }) || !isOpen(session) || joined_at === null) throw refuse('remote_message.nobody_reads');
        if (seq > MOST) throw refuse('remote_message.too_many', { maximum: MOST });
        const row = {
          ...{ id: newId(), session_id: session.id, user_id: session.user_id, seq, side, author: me.username },
          ...{ message, client_message_id, sent_at: new Date(now()).toISOString() },
        };
        await transaction.insertInto('remote_messages').values(row).execute();
        return { row, isNew: true };
      });
      const stored = messageOf(written.row);
      if (written.isNew) onMessage(stored);
      return stored;
    },
  };
}
