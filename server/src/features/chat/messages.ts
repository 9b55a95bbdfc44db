import type { MessagesQuery } from '@palisade/contract/chat-read';
import type { DeskMessage } from '@palisade/contract/desk-record';
import type { Kysely } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { containing } from '#platform/page.ts';
import { refuseField } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import { type ConversationRow, deskMessagesOf, type MessageRow } from './records.ts';

/**
 * A page of a conversation, newest first: the messages before `cursor`, or those right after `after`, or the newest.
 * @throws Problem `invalid_field` for a place that is not in it.
 */
export async function readMessages(
  database: Kysely<ChatTables>,
  conversation: ConversationRow,
  { limit, cursor, after, search }: MessagesQuery,
  with_notes: boolean,
): Promise<DeskMessage[]> {
  const all = database.selectFrom('chat_messages').where('conversation_id', '=', conversation.id);
  const seqOf = async (field: 'cursor' | 'after', id: string) => {
    const row = await all.select('seq').where('id', '=', id).executeTakeFirst();
    if (row === undefined) throw refuseField(field, 'message.gone');
    return row.seq;
  };
  let query = all
    .selectAll()
    .where(containing(search, ['message']))
    .limit(limit);
  if (!with_notes) query = query.where('is_note', '=', 0);
  if (cursor !== undefined) query = query.where('seq', '<', await seqOf('cursor', cursor));
  if (after !== undefined) query = query.where('seq', '>', await seqOf('after', after));
  const rows = await query.orderBy('seq', after === undefined ? 'desc' : 'asc').execute();
  return await deskMessagesOf(database, after === undefined ? rows : rows.toReversed(), () => conversation);
}

const READ_AT_ONCE = 200;

/** All messages of a conversation, oldest first, read page by page: a transcript may be larger than memory. */
export async function* allMessages(
  database: Kysely<ChatTables>,
  conversation: ConversationRow,
  with_notes: boolean,
): AsyncGenerator<DeskMessage> {
  const pages = inPages(READ_AT_ONCE, async (last?: MessageRow) => {
    const query = database
      .selectFrom('chat_messages')
      .selectAll()
      .where('conversation_id', '=', conversation.id)
      .where('seq', '>', last?.seq ?? 0);
    return await (with_notes ? query : query.where('is_note', '=', 0)).orderBy('seq').limit(READ_AT_ONCE).execute();
  });
  for await (const rows of pages) yield* await deskMessagesOf(database, rows, () => conversation);
}
