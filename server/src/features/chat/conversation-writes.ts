import { type ChatTopic, REOPENED_WITHIN } from '@palisade/contract/chat';
import type { Card } from '@palisade/contract/chat-record';
import { TAGS_MAXIMUM } from '@palisade/contract/desk';
import type { Kysely, Updateable } from 'kysely';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { Problem } from '#platform/problem.ts';
import type { Sentence } from '#platform/sentence.ts';
import { refuse } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import type { ConversationRow, MessageRow } from './records.ts';

// Steps of a write in a conversation, each in the transaction of its caller.

/** A message to write. */
export interface Written {
  message: string;
  client_message_id?: string | undefined;
  attachment_ids?: readonly string[] | undefined;
  card?: Card | undefined;
  /** Becomes a tag of the conversation. */
  topic?: ChatTopic | undefined;
  /** The author of a mail may not have read the chat. */
  by_mail?: true;
}

/** A message in the server's own sentences. Each needs a code, so that no other text becomes such a message. */
export interface Phrased extends Omit<Written, 'message'> {
  sentences: readonly Sentence[];
}

/** A member of staff. */
export interface Colleague {
  id: string;
  username: string;
}

/** A conversation after a write, with the written messages. `is_repeated`: they existed already, and nothing was changed. */
export interface Write {
  conversation: ConversationRow;
  messages: MessageRow[];
  is_repeated: boolean;
  /** The messages have no files to look up. */
  without_files?: boolean;
}

/** Thrown for a message that was already written, to roll back the transaction. */
export class Repeated extends Error {
  readonly write: Write;
  constructor(write: Write) {
    super('This message was already sent.');
    this.write = write;
  }
}

/** A precondition on the conversation failed: the transaction is rolled back. */
export class ConditionFailed extends Error {
  override name = 'ConditionFailed';
}

type WrittenBy = Pick<MessageRow, 'sender' | 'author_id' | 'author' | 'is_automatic' | 'is_note'>;

export const isWithoutFiles = ({ attachment_ids = [] }: Written | Phrased) => attachment_ids.length === 0;

export const byNobody = { sender: 'support', author_id: null, author: null, is_automatic: 1 } as const;

export const byCustomer = { sender: 'user', author: null, is_automatic: 0, is_note: 0 } as const;

export const at = (now: () => number) => new Date(now()).toISOString();

/** Locks a conversation: other writers wait until this transaction ends. */
export function take(
  transaction: Kysely<ChatTables>,
  column: 'id' | 'user_id',
  value: string,
): Promise<ConversationRow | undefined> {
  return transaction
    .updateTable('conversations')
    .set(({ eb }) => ({ version: eb('version', '+', 1) }))
    .where(column, '=', value)
    .returningAll()
    .executeTakeFirst();
}

export async function requireTaken(transaction: Kysely<ChatTables>, conversation_id: string): Promise<ConversationRow> {
  const row = await take(transaction, 'id', conversation_id);
  if (row === undefined) throw new Problem('not_found');
  return row;
}

/** The single conversation of a customer, created with their first message. Concurrent first messages find the same one. */
export async function takeOwn(now: () => number, transaction: Kysely<ChatTables>, user_id: string): Promise<ConversationRow> {
  const known = await take(transaction, 'user_id', user_id);
  if (known !== undefined) return known;
  const begun: ConversationRow = {
    id: newId(),
    user_id,
    status: 'closed',
    assignee_id: null,
    priority: 'normal',
    wants_person: 0,
    opened_at: at(now),
    closed_at: null,
    snoozed_until: null,
    last_customer_message_at: null,
    waiting_since: null,
    held_since: null,
    last_at: at(now),
    last_seq: 0,
    last_shown_seq: 0,
    customer_read_seq: 0,
    support_read_seq: 0,
    mailed_seq: 0,
    version: 0,
    told_version: 0,
    told_seq: 0,
  };
  await transaction
    .insertInto('conversations')
    .values(begun)
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute();
  const own = await take(transaction, 'user_id', user_id);
  if (own === undefined) throw new Problem('conflict');
  return own;
}

export function keep(
  now: () => number,
  transaction: Kysely<ChatTables>,
  { id }: ConversationRow,
  values: Updateable<ChatTables['conversations']>,
): Promise<ConversationRow> {
  return transaction
    .updateTable('conversations')
    .set({ ...values, last_at: at(now) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** @throws Repeated if this person has already written the message here. */
export async function refuseRepeated(
  transaction: Kysely<ChatTables>,
  conversation: ConversationRow,
  author_id: string,
  client_message_id: string | undefined,
): Promise<void> {
  if (client_message_id === undefined) return;
  const before = await transaction
    .selectFrom('chat_messages')
    .selectAll()
    .where('author_id', '=', author_id)
    .where('client_message_id', '=', client_message_id)
    .executeTakeFirst();
  if (before === undefined) return;
  if (before.conversation_id !== conversation.id) throw refuse('message.other_conversation');
  const next = await transaction
    .selectFrom('chat_messages')
    .selectAll()
    .where('conversation_id', '=', conversation.id)
    .where('seq', '=', before.seq + 1)
    .where('is_automatic', '=', 1)
    .where('is_note', '=', 0)
    .executeTakeFirst();
  throw new Repeated({ conversation, messages: next === undefined ? [before] : [before, next], is_repeated: true });
}

/** Attaches unsent files of their uploader to a message. */
async function send(transaction: Kysely<ChatTables>, message: MessageRow, attachment_ids: readonly string[]): Promise<void> {
  for (const [place, id] of attachment_ids.entries()) {
    const sent = await transaction
      .updateTable('chat_attachments')
      .set({ conversation_id: message.conversation_id, message_id: message.id, place })
      .where('id', '=', id)
      .where('uploader_id', '=', message.author_id ?? '')
      .where('message_id', 'is', null)
      .returning('status')
      .executeTakeFirst();
    if (sent === undefined) throw refuse('message.file_gone');
    if (sent.status !== 'clean') throw refuse('message.file_not_clean');
  }
}

/** The columns of a message except its conversation and its place there. */
function messageOf(now: () => number, written: Written | Phrased, by: WrittenBy) {
  const { client_message_id, card } = written;
  const kept_card = card === undefined ? null : JSON.stringify(card);
  const named = { ...by, client_message_id: client_message_id ?? null };
  return { id: newId(), ...wordsOf(written), ...named, card: kept_card, timestamp: at(now) };
}

/** The text of a message, and the phrases of the server's own sentences in it. */
function wordsOf(written: Written | Phrased): Pick<MessageRow, 'message' | 'phrases'> {
  if (!('sentences' in written)) return { message: written.message, phrases: null };
  const { sentences } = written;
  return {
    message: sentences.map(({ english }) => english).join(' '),
    phrases: JSON.stringify(sentences.map(({ phrase }) => phrase)),
  };
}

/** Tags the conversation with the topic of a message, unless it has as many tags as it can. */
export async function tagTopic(transaction: Kysely<ChatTables>, conversation_id: string, topic: ChatTopic): Promise<void> {
  const { count } = await transaction
    .selectFrom('conversation_tags')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('conversation_id', '=', conversation_id)
    .executeTakeFirstOrThrow();
  if (Number(count) >= TAGS_MAXIMUM) return;
  await transaction
    .insertInto('conversation_tags')
    .values({ conversation_id, tag: topic })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function insert(
  now: () => number,
  transaction: Kysely<ChatTables>,
  conversation: ConversationRow,
  written: Written | Phrased,
  by: WrittenBy,
  seq: number,
): Promise<MessageRow> {
  const { client_message_id, attachment_ids = [] } = written;
  const { id: conversation_id, user_id } = conversation;
  const row: MessageRow = { conversation_id, user_id, seq, ...messageOf(now, written, by) };
  const inserted = await transaction
    .insertInto('chat_messages')
    .values(row)
    // The unique index covers only messages with a client id.
    .onConflict((conflict) =>
      conflict.columns(['author_id', 'client_message_id']).where('client_message_id', 'is not', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  // Looked up only after a conflict, which is rare.
  if (inserted === undefined) {
    await refuseRepeated(transaction, conversation, row.author_id ?? '', client_message_id);
    // The conflicting message was deleted since; a retry stores it.
    throw new Problem('conflict');
  }
  await send(transaction, row, attachment_ids);
  return row;
}

export async function once(
  database: Kysely<ChatTables>,
  write: (transaction: Kysely<ChatTables>) => Promise<Write>,
): Promise<Write> {
  try {
    return await inTransaction(database, write);
  } catch (error) {
    if (error instanceof Repeated) return error.write;
    throw error;
  }
}

/** Undefined if the conversation is not in the required state. */
export async function changing(
  database: Kysely<ChatTables>,
  change: (transaction: Kysely<ChatTables>) => Promise<Write>,
): Promise<Write | undefined> {
  try {
    return await inTransaction(database, change);
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined;
    throw error;
  }
}

export const lastMatter = (transaction: Kysely<ChatTables>, conversation_id: string) =>
  transaction
    .selectFrom('conversation_matters')
    .selectAll()
    .where('conversation_id', '=', conversation_id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

export const reopenMatter = (transaction: Kysely<ChatTables>, id: string) =>
  transaction.updateTable('conversation_matters').set({ closed_at: null, closed_by: null }).where('id', '=', id).execute();

/** Opens the conversation for a customer's message: a recently closed matter is reopened, otherwise a new one begins. */
export async function opened(
  now: () => number,
  transaction: Kysely<ChatTables>,
  conversation: ConversationRow,
): Promise<Updateable<ChatTables['conversations']>> {
  if (conversation.status === 'snoozed') return { status: 'open', snoozed_until: null, held_since: at(now) };
  if (conversation.status !== 'closed') return { status: 'open', snoozed_until: null };
  const matter = await lastMatter(transaction, conversation.id);
  const closed_at = conversation.closed_at === null ? undefined : Date.parse(conversation.closed_at);
  if (matter !== undefined && closed_at !== undefined && now() - closed_at < REOPENED_WITHIN) {
    await reopenMatter(transaction, matter.id);
    return { status: 'open', closed_at: null };
  }
  const { id: conversation_id, user_id } = conversation;
  await transaction
    .insertInto('conversation_matters')
    .values({
      id: newId(),
      conversation_id,
      user_id,
      opened_at: at(now),
      first_answered_at: null,
      first_answered_by: null,
      closed_at: null,
      closed_by: null,
      rating: null,
      rating_comment: null,
      rated_at: null,
    })
    .execute();
  await transaction.deleteFrom('conversation_tags').where('conversation_id', '=', conversation_id).execute();
  return {
    status: 'open',
    closed_at: null,
    opened_at: at(now),
    assignee_id: null,
    priority: 'normal',
    wants_person: 0,
  };
}
