import { type Attachment, type Card, type ChatMessage, cardSchema } from '@palisade/contract/chat-record';
import type { Conversation, DeskMessage } from '@palisade/contract/desk-record';
import { type Phrase, phraseSchema } from '@palisade/contract/phrase';
import { type Kysely, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { inBatches } from '#platform/batches.ts';
import { CHAT_PHRASES, sentence } from './chat.phrases.ts';
import type { ChatTables } from './chat.tables.ts';

export type ConversationRow = Selectable<ChatTables['conversations']>;
export type MessageRow = Selectable<ChatTables['chat_messages']>;
export type AttachmentRow = Selectable<ChatTables['chat_attachments']>;

/** Accounts, and the state of their people. */
export interface People {
  findUsers(ids: readonly string[]): Promise<{ id: string; username: string; email: string }[]>;
  /** Those of these people who are in danger. */
  inDanger(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The name shown for a deleted account. */
const GONE = 'Former customer';
const PREVIEW_LENGTH = 200;

/** The beginning of a text on one line. */
export function preview(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return [...line].slice(0, PREVIEW_LENGTH).join('');
}

export function attachmentOf({ id, filename, size, status, threat, picture_type }: AttachmentRow): Attachment {
  return { id, filename, size, status, threat, is_image: picture_type !== null };
}

const phrasesSchema = z.array(phraseSchema);

/** The phrases of a message. Messages never change, so phrases always match the text; null for words of a person, and for a code of a newer version. */
function phrasesOf({ phrases }: Pick<MessageRow, 'phrases'>): Phrase[] | null {
  const stored = phrases === null ? [] : phrasesSchema.parse(JSON.parse(phrases));
  return stored.length > 0 && stored.every(({ code }) => Object.hasOwn(CHAT_PHRASES, code)) ? stored : null;
}

/** The preview of a message in lists; a message without text has a placeholder. */
function shortWordsOf(
  row: Pick<MessageRow, 'message' | 'phrases' | 'card'>,
  files: number,
): { text: string; phrases: Phrase[] | null } {
  if (row.message !== '') return { text: preview(row.message), phrases: phrasesOf(row) };
  const card: Card | undefined = row.card === null ? undefined : cardSchema.safeParse(JSON.parse(row.card)).data;
  if (card?.kind === 'shared' || card?.kind === 'article') return { text: preview(card.title), phrases: null };
  const { english, phrase } =
    card?.kind === 'remote_session' ? sentence('preview.remote_session') : sentence('preview.files', { count: files });
  return { text: english, phrases: [phrase] };
}

type Marks = Pick<ConversationRow, 'customer_read_seq' | 'support_read_seq'>;

/** Messages as staff see them, with their files, in the given order. `without_files`: there are none. */
export async function deskMessagesOf(
  database: Kysely<ChatTables>,
  rows: readonly MessageRow[],
  marksOf: (row: MessageRow) => Marks,
  without_files = false,
): Promise<DeskMessage[]> {
  const files = new Map<string, Attachment[]>();
  const ids = without_files ? [] : rows.map(({ id }) => id);
  const found = await inBatches(ids, (batch) =>
    database.selectFrom('chat_attachments').selectAll().where('message_id', 'in', batch).orderBy('place').execute(),
  );
  for (const file of found) {
    const of = file.message_id ?? '';
    files.set(of, [...(files.get(of) ?? []), attachmentOf(file)]);
  }
  return rows.map((row) => {
    const marks = marksOf(row);
    const { id, user_id, conversation_id, seq, message, sender, author, author_id, client_message_id, timestamp } = row;
    return {
      ...{ id, user_id, conversation_id, seq, message, sender, author, client_message_id, timestamp },
      author_id: sender === 'user' ? null : author_id,
      is_automatic: row.is_automatic === 1,
      phrases: phrasesOf(row),
      is_note: row.is_note === 1,
      is_read: seq <= (sender === 'user' ? marks.support_read_seq : marks.customer_read_seq),
      attachments: files.get(id) ?? [],
      card: row.card === null ? null : cardSchema.parse(JSON.parse(row.card)),
    };
  });
}

/** A message as its customer sees it; undefined for a note, which they never do. */
export function chatMessageOf({ author_id: _author, is_note, ...message }: DeskMessage): ChatMessage | undefined {
  return is_note ? undefined : message;
}

/** Conversations as staff see them, in the order in which they come. */
export async function conversationsOf(
  database: Kysely<ChatTables>,
  people: People,
  rows: readonly ConversationRow[],
): Promise<Conversation[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const all = <T>(read: (batch: readonly string[]) => Promise<T[]>) => inBatches(ids, read);
  const users = new Map(
    (await people.findUsers(rows.flatMap(({ user_id, assignee_id }) => [user_id, ...(assignee_id ? [assignee_id] : [])]))).map(
      (user) => [user.id, user],
    ),
  );
  const endangered = await people.inDanger(rows.map(({ user_id }) => user_id));
  const tags = await all((batch) =>
    database.selectFrom('conversation_tags').selectAll().where('conversation_id', 'in', batch).orderBy('tag').execute(),
  );
  const last = await all((batch) =>
    database
      .selectFrom('conversations as conversation')
      .innerJoin('chat_messages as message', (join) =>
        join
          .onRef('message.conversation_id', '=', 'conversation.id')
          // An automatic message does not describe the customer's problem.
          .on(
            sql<boolean>`message.seq = coalesce((select said.seq from chat_messages said where said.conversation_id = conversation.id
              and said.is_note = 0 and said.is_automatic = 0 order by said.seq desc limit 1), conversation.last_shown_seq)`,
          ),
      )
      .where('conversation.id', 'in', batch)
      .selectAll('message')
      .select(sql<number>`(select count(*) from chat_attachments file where file.message_id = message.id)`.as('files'))
      .execute(),
  );
  const unread = await all((batch) =>
    database
      .selectFrom('conversations as conversation')
      .innerJoin('chat_messages as message', 'message.conversation_id', 'conversation.id')
      .where('conversation.id', 'in', batch)
      .where('message.sender', '=', 'user')
      .whereRef('message.seq', '>', 'conversation.support_read_seq')
      .groupBy('conversation.id')
      .select(({ fn }) => ['conversation.id', fn.countAll<number>().as('count')])
      .execute(),
  );
  const matters = await all((batch) =>
    database
      .selectFrom('conversation_matters')
      .where('conversation_id', 'in', batch)
      .where('id', 'in', (query) =>
        query
          .selectFrom('conversation_matters')
          .where('conversation_id', 'in', batch)
          .groupBy('conversation_id')
          .select(({ fn }) => fn.max('id').as('id')),
      )
      .select(['conversation_id', 'rating'])
      .execute(),
  );
  const lastOf = new Map(last.map((row) => [row.conversation_id, row]));
  const unreadOf = new Map(unread.map(({ id, count }) => [id, Number(count)]));
  const ratingOf = new Map(matters.map(({ conversation_id, rating }) => [conversation_id, rating]));
  return rows.map((row) => {
    const message = lastOf.get(row.id);
    const assignee = users.get(row.assignee_id ?? '');
    return {
      id: row.id,
      version: row.version,
      user_id: row.user_id,
      customer: users.get(row.user_id)?.username ?? GONE,
      is_in_danger: endangered.has(row.user_id),
      status: row.status,
      assignee: assignee === undefined ? null : { id: assignee.id, username: assignee.username },
      tags: tags.filter(({ conversation_id }) => conversation_id === row.id).map(({ tag }) => tag),
      priority: row.priority,
      wants_person: row.wants_person === 1,
      opened_at: row.opened_at,
      closed_at: row.closed_at,
      snoozed_until: row.snoozed_until,
      last_customer_message_at: row.last_customer_message_at,
      waiting_since: row.waiting_since,
      last_message:
        message === undefined
          ? null
          : {
              seq: message.seq,
              ...shortWordsOf(message, Number(message.files)),
              sender: message.sender,
              is_automatic: message.is_automatic === 1,
              at: message.timestamp,
            },
      last_seq: row.last_seq,
      customer_read_seq: row.customer_read_seq,
      support_read_seq: row.support_read_seq,
      unread: unreadOf.get(row.id) ?? 0,
      rating: ratingOf.get(row.id) ?? null,
      found: null,
    };
  });
}
