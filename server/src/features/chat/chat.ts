import type { ChatMessage } from '@palisade/contract/chat';
import type { PageQuery } from '@palisade/contract/fields';
import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import type { ChatTables } from './chat.tables.ts';

/** The conversations of customers with support: one for each person. */
export interface Chat {
  list(user_id: string, page: PageQuery): Promise<ChatMessage[]>;
  send(user_id: string, message: string): Promise<ChatMessage>;
}

type Row = Selectable<ChatTables['chat_messages']>;

function messageOf(row: Row): ChatMessage {
  return {
    ...row,
    is_read: row.is_read === 1,
    conversation_id: row.user_id,
    seq: 1,
    author: null,
    is_automatic: false,
    client_message_id: null,
    attachments: [],
    card: null,
  };
}

export function createChat(parts: { database: Kysely<ChatTables>; now: () => number }): Chat {
  const { database, now } = parts;
  return {
    async list(user_id, { limit, cursor }) {
      let query = database
        .selectFrom('chat_messages')
        .selectAll()
        .where('user_id', '=', user_id)
        .orderBy('id', 'desc')
        .limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return (await query.execute()).map(messageOf);
    },

    async send(user_id, message) {
      const row: Row = { id: newId(), user_id, message, sender: 'user', timestamp: new Date(now()).toISOString(), is_read: 0 };
      await database.insertInto('chat_messages').values(row).execute();
      return messageOf(row);
    },
  };
}
