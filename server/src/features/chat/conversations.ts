import { REOPENED_WITHIN } from '@palisade/contract/chat';
import type { Card } from '@palisade/contract/chat-record';
import type { Priority } from '@palisade/contract/desk-record';
import { type Kysely, sql, type Updateable } from 'kysely';
import { isSqlite, isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { Problem } from '#platform/problem.ts';
import type { Sentence } from '#platform/sentence.ts';
import { refuse } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import type { ConversationRow, MessageRow } from './records.ts';

/** A message to write. */
export interface Written {
  message: string;
  client_message_id?: string | undefined;
  attachment_ids?: readonly string[] | undefined;
  card?: Card | undefined;
  /** The author of a mail may not have read the chat. */
  by_mail?: true;
}

/** A message to write in the server's own sentences. Each has a code, so that no text without one becomes such a message. */
export interface Phrased extends Omit<Written, 'message'> {
  sentences: readonly Sentence[];
}

/** A member of staff. */
export interface Colleague {
  id: string;
  username: string;
}

/**
 * A conversation after a write, with the written messages. `is_repeated`: they were written before, and the write changed
 * nothing.
 */
export interface Write {
  conversation: ConversationRow;
  messages: MessageRow[];
  is_repeated: boolean;
  /** The messages have no files to look up. */
  without_files?: boolean;
}

/** Thrown in the transaction that would write a message again, which is rolled back. */
class Repeated extends Error {
  readonly write: Write;
  constructor(write: Write) {
    super('This message was already sent.');
    this.write = write;
  }
}

/** A precondition on the conversation failed: the transaction is rolled back. */
class NotSo extends Error {
  override name = 'NotSo';
}

type WrittenBy = Pick<MessageRow, 'sender' | 'author_id' | 'author' | 'is_automatic' | 'is_note'>;

const isWithoutFiles = ({ attachment_ids = [] }: Written | Phrased) => attachment_ids.length === 0;

interface ConversationsOptions {
  database: Kysely<ChatTables>;
  now: () => number;
}

const byNobody = { sender: 'support', author_id: null, author: null, is_automatic: 1 } as const;
const byCustomer = { sender: 'user', author: null, is_automatic: 0, is_note: 0 } as const;

const at = (now: () => number) => new Date(now()).toISOString();

/** Locks a conversation: other writers wait until this transaction is over. */
function take(transaction: Kysely<ChatTables>, column: 'id' | 'user_id', value: string): Promise<ConversationRow | undefined> {
  return transaction
    .updateTable('conversations')
    .set(({ eb }) => ({ version: eb('version', '+', 1) }))
    .where(column, '=', value)
    .returningAll()
    .executeTakeFirst();
}

async function requireTaken(transaction: Kysely<ChatTables>, conversation_id: string): Promise<ConversationRow> {
  const row = await take(transaction, 'id', conversation_id);
  if (row === undefined) throw new Problem('not_found');
  return row;
}

/** The one conversation of a customer, which begins with their first message. Of several first ones at once each finds the same. */
async function takeOwn(now: () => number, transaction: Kysely<ChatTables>, user_id: string): Promise<ConversationRow> {
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

function keep(
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

/** @throws Repeated for what this person has written here before. */
async function refuseRepeated(
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

/** Gives files that their uploader has not sent yet to a message. */
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

async function insert(
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
    // The index that says so is of those that have one (migration 0050).
    .onConflict((conflict) =>
      conflict.columns(['author_id', 'client_message_id']).where('client_message_id', 'is not', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  // Looked for where it is known to be there alone: nearly none is.
  if (inserted === undefined) {
    await refuseRepeated(transaction, conversation, row.author_id ?? '', client_message_id);
    // It has gone since; a repeated attempt stores it.
    throw new Problem('conflict');
  }
  await send(transaction, row, attachment_ids);
  return row;
}

async function once(database: Kysely<ChatTables>, write: (transaction: Kysely<ChatTables>) => Promise<Write>): Promise<Write> {
  try {
    return await inTransaction(database, write);
  } catch (error) {
    if (error instanceof Repeated) return error.write;
    throw error;
  }
}

/** Undefined when the conversation is not as it would have to be. */
async function changing(
  database: Kysely<ChatTables>,
  change: (transaction: Kysely<ChatTables>) => Promise<Write>,
): Promise<Write | undefined> {
  try {
    return await inTransaction(database, change);
  } catch (error) {
    if (error instanceof NotSo) return undefined;
    throw error;
  }
}

const lastMatter = (transaction: Kysely<ChatTables>, conversation_id: string) =>
  transaction
    .selectFrom('conversation_matters')
    .selectAll()
    .where('conversation_id', '=', conversation_id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

const reopenMatter = (transaction: Kysely<ChatTables>, id: string) =>
  transaction.updateTable('conversation_matters').set({ closed_at: null, closed_by: null }).where('id', '=', id).execute();

/** Opens the conversation for a customer's message: a closed one is reopened when that was lately, else a new matter begins. */
async function opened(
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

/**
 * Takes an open conversation and writes in it: as `take`, `insert` and `keep` do, in one statement of PostgreSQL. Undefined where there is none. The statement fails as
 * a whole where one of the messages was written before.
 */
async function takeAndInsert(
  database: Kysely<ChatTables>,
  now: () => number,
  drafts: readonly ReturnType<typeof messageOf>[],
  { user_id, has_read }: { user_id: string; has_read: boolean },
): Promise<ConversationRow | undefined> {
  const count = drafts.length;
  const now_at = at(now);
  const values = drafts.map(
    (draft, place) =>
      sql`(${sql.lit(place)}, ${draft.id}, ${draft.message}, ${draft.phrases}, ${draft.sender}, ${draft.author_id}, ${draft.author},
          ${sql.lit(draft.is_automatic)}, ${sql.lit(draft.is_note)}, ${draft.client_message_id}, ${draft.card}, ${draft.timestamp})`,
  );
  const columns = sql`message, phrases, sender, author_id, author, is_automatic, is_note, client_message_id, card, "timestamp"`;
  const { rows } = await sql<ConversationRow>`
      with taken as (
        update conversations set version = version + 1, last_seq = last_seq + ${sql.lit(count)}, last_shown_seq = last_seq + ${sql.lit(count)},
          customer_read_seq = ${has_read ? sql`last_seq + 1` : sql`customer_read_seq`}, snoozed_until = null,
          last_at = ${now_at}, last_customer_message_at = ${now_at}, waiting_since = coalesce(waiting_since, ${now_at})
        where user_id = ${user_id} and status = 'open' returning *
      ), written as (
        insert into chat_messages (conversation_id, user_id, seq, id, ${columns})
        select taken.id, taken.user_id, taken.last_seq - ${sql.lit(count - 1)} + place, draft.id, ${columns}
        from taken cross join (values ${sql.join(values)}) as draft (place, id, ${columns})
      )
      select * from taken`.execute(database);
  return rows[0];
}

/**
 * The conversations and their messages. Every write locks its conversation first, by changing its row: so the database puts writes in order, and counts messages without
 * a gap, whatever the clocks of servers say.
 */
export class Conversations {
  private readonly database: Kysely<ChatTables>;
  private readonly now: () => number;

  constructor(options: ConversationsOptions) {
    this.database = options.database;
    this.now = options.now;
  }

  find(id: string): Promise<ConversationRow | undefined> {
    return this.database.selectFrom('conversations').selectAll().where('id', '=', id).executeTakeFirst();
  }

  ofCustomer(user_id: string): Promise<ConversationRow | undefined> {
    return this.database.selectFrom('conversations').selectAll().where('user_id', '=', user_id).executeTakeFirst();
  }

  /**
   * The same in one statement, where the conversation is open. Undefined, and nothing is written, where it is not, where it was written before, for files, and on
   * SQLite, which changes two tables in no one statement and has no trips to save.
   */
  async writeAtOnce(user_id: string, written: Written, answer?: Phrased): Promise<Write | undefined> {
    if (isSqlite(this.database) || !isWithoutFiles(written)) return undefined;
    const own = messageOf(this.now, written, { ...byCustomer, author_id: user_id });
    const drafts = [own, ...(answer === undefined ? [] : [messageOf(this.now, answer, { ...byNobody, is_note: 0 })])];
    const taking = { user_id, has_read: written.by_mail === undefined };
    const conversation = await takeAndInsert(this.database, this.now, drafts, taking).catch((error: unknown) => {
      if (isUniqueViolation(error, 'chat_messages_sent_once')) return undefined;
      throw error;
    });
    if (conversation === undefined) return undefined;
    const { id: conversation_id, last_seq } = conversation;
    const messages = drafts.map((draft, place) => ({
      conversation_id,
      user_id,
      seq: last_seq - drafts.length + 1 + place,
      ...draft,
    }));
    return { conversation, messages, is_repeated: false, without_files: true };
  }

  /** `answer` is the automatic answer after it. @throws Problem `conflict`, `not_found` for a file that cannot be sent. */
  writeAsCustomer(user_id: string, written: Written | Phrased, answer?: Phrased): Promise<Write> {
    return once(this.database, async (transaction) => {
      const conversation = await takeOwn(this.now, transaction, user_id);
      const changes = await opened(this.now, transaction, conversation);
      const seq = conversation.last_seq + 1;
      const messages = [await insert(this.now, transaction, conversation, written, { ...byCustomer, author_id: user_id }, seq)];
      if (answer !== undefined)
        messages.push(await insert(this.now, transaction, conversation, answer, { ...byNobody, is_note: 0 }, seq + 1));
      const last_seq = conversation.last_seq + messages.length;
      const row = await keep(this.now, transaction, conversation, {
        ...changes,
        last_seq,
        last_shown_seq: last_seq,
        last_customer_message_at: at(this.now),
        waiting_since: conversation.waiting_since ?? at(this.now),
        // Writing marks earlier messages as read.
        ...(written.by_mail === undefined && { customer_read_seq: seq }),
      });
      return { conversation: row, messages, is_repeated: false, without_files: isWithoutFiles(written) };
    });
  }

  /** Writes to the customer, and assigns an unassigned conversation to the writer. @throws Problem `conflict` when it is closed. */
  answer(conversation_id: string, me: Colleague, written: Written): Promise<Write> {
    return once(this.database, async (transaction) => {
      const conversation = await requireTaken(transaction, conversation_id);
      if (conversation.status === 'closed') {
        await refuseRepeated(transaction, conversation, me.id, written.client_message_id);
        throw refuse('conversation.closed');
      }
      const seq = conversation.last_seq + 1;
      const by = { sender: 'support', author_id: me.id, author: me.username, is_automatic: 0, is_note: 0 } as const;
      const message = await insert(this.now, transaction, conversation, written, by, seq);
      const matter = await lastMatter(transaction, conversation_id);
      if (matter !== undefined && matter.first_answered_at === null)
        await transaction
          .updateTable('conversation_matters')
          .set({ first_answered_at: message.timestamp, first_answered_by: me.id })
          .where('id', '=', matter.id)
          .execute();
      const row = await keep(this.now, transaction, conversation, {
        status: 'open',
        snoozed_until: null,
        assignee_id: conversation.assignee_id ?? me.id,
        held_since: at(this.now),
        last_seq: seq,
        last_shown_seq: seq,
        support_read_seq: seq,
        waiting_since: null,
        wants_person: 0,
      });
      return { conversation: row, messages: [message], is_repeated: false, without_files: isWithoutFiles(written) };
    });
  }

  note(conversation_id: string, me: Colleague, written: Written | Phrased): Promise<Write> {
    return once(this.database, async (transaction) => {
      const conversation = await requireTaken(transaction, conversation_id);
      const seq = conversation.last_seq + 1;
      const by = { sender: 'support', author_id: me.id, author: me.username, is_automatic: 0, is_note: 1 } as const;
      const message = await insert(this.now, transaction, conversation, written, by, seq);
      const row = await keep(this.now, transaction, conversation, { last_seq: seq });
      return { conversation: row, messages: [message], is_repeated: false };
    });
  }

  /** Leaves a note without an author, once under its `client_message_id`. */
  noteByNobody(conversation_id: string, written: Phrased & { client_message_id: string }): Promise<Write> {
    return once(this.database, async (transaction) => {
      const conversation = await requireTaken(transaction, conversation_id);
      const before = await transaction
        .selectFrom('chat_messages')
        .selectAll()
        .where('conversation_id', '=', conversation_id)
        .where('client_message_id', '=', written.client_message_id)
        .executeTakeFirst();
      if (before !== undefined) throw new Repeated({ conversation, messages: [before], is_repeated: true });
      const seq = conversation.last_seq + 1;
      const message = await insert(this.now, transaction, conversation, written, { ...byNobody, is_note: 1 }, seq);
      const row = await keep(this.now, transaction, conversation, { last_seq: seq });
      return { conversation: row, messages: [message], is_repeated: false };
    });
  }

  /**
   * Changes a conversation that is still as `when` says: of two who want the same, one gets it. Undefined when it is not. `note` is left in it without an
   * author.
   */
  change(
    conversation_id: string,
    when: (row: ConversationRow) => boolean,
    values: Updateable<ChatTables['conversations']>,
    note?: Sentence,
  ): Promise<Write | undefined> {
    return changing(this.database, async (transaction) => {
      const conversation = await take(transaction, 'id', conversation_id);
      if (conversation === undefined || !when(conversation)) throw new NotSo();
      const seq = conversation.last_seq + 1;
      const messages =
        note === undefined
          ? []
          : [await insert(this.now, transaction, conversation, { sentences: [note] }, { ...byNobody, is_note: 1 }, seq)];
      const row = await keep(this.now, transaction, conversation, { ...values, ...(note !== undefined && { last_seq: seq }) });
      return { conversation: row, messages, is_repeated: false };
    });
  }

  close(conversation_id: string, me: Colleague): Promise<Write | undefined> {
    return changing(this.database, async (transaction) => {
      const conversation = await take(transaction, 'id', conversation_id);
      if (conversation === undefined || conversation.status === 'closed') throw new NotSo();
      const closed_at = at(this.now);
      const matter = await lastMatter(transaction, conversation_id);
      if (matter !== undefined)
        await transaction
          .updateTable('conversation_matters')
          .set({ closed_at, closed_by: me.id })
          .where('id', '=', matter.id)
          .execute();
      const row = await keep(this.now, transaction, conversation, {
        status: 'closed',
        closed_at,
        snoozed_until: null,
        waiting_since: null,
        wants_person: 0,
        support_read_seq: conversation.last_seq,
      });
      return { conversation: row, messages: [], is_repeated: false };
    });
  }

  reopen(conversation_id: string): Promise<Write | undefined> {
    return changing(this.database, async (transaction) => {
      const conversation = await take(transaction, 'id', conversation_id);
      if (conversation === undefined || conversation.status === 'open') throw new NotSo();
      const matter = await lastMatter(transaction, conversation_id);
      if (conversation.status === 'closed' && matter !== undefined) await reopenMatter(transaction, matter.id);
      const row = await keep(this.now, transaction, conversation, {
        status: 'open',
        closed_at: null,
        snoozed_until: null,
        held_since: at(this.now),
      });
      return { conversation: row, messages: [], is_repeated: false };
    });
  }

  sort(
    conversation_id: string,
    { tags, priority }: { tags?: readonly string[] | undefined; priority?: Priority | undefined },
  ): Promise<Write> {
    return inTransaction(this.database, async (transaction) => {
      const conversation = await requireTaken(transaction, conversation_id);
      if (tags !== undefined) {
        await transaction.deleteFrom('conversation_tags').where('conversation_id', '=', conversation_id).execute();
        if (tags.length > 0)
          await transaction
            .insertInto('conversation_tags')
            .values(tags.map((tag) => ({ conversation_id, tag })))
            .execute();
      }
      const row =
        priority === undefined
          ? conversation
          : await transaction
              .updateTable('conversations')
              .set({ priority })
              .where('id', '=', conversation_id)
              .returningAll()
              .executeTakeFirstOrThrow();
      return { conversation: row, messages: [], is_repeated: false };
    });
  }

  /** The position up to which a side has read; undefined when it had read so far already. */
  async markRead(conversation_id: string, side: 'user' | 'support', seq: number): Promise<ConversationRow | undefined> {
    const column = side === 'user' ? 'customer_read_seq' : 'support_read_seq';
    return await this.database
      .updateTable('conversations')
      .set(({ eb }) => ({
        version: eb('version', '+', 1),
        [column]: sql<number>`case when last_seq < ${seq} then last_seq else ${seq} end`,
      }))
      .where('id', '=', conversation_id)
      .where(column, '<', seq)
      .whereRef(column, '<', 'last_seq')
      .returningAll()
      .executeTakeFirst();
  }

  askPerson(user_id: string): Promise<Write> {
    return inTransaction(this.database, async (transaction) => {
      const conversation = await takeOwn(this.now, transaction, user_id);
      const changes = await opened(this.now, transaction, conversation);
      const row = await keep(this.now, transaction, conversation, {
        ...changes,
        wants_person: 1,
        waiting_since: conversation.waiting_since ?? at(this.now),
      });
      return { conversation: row, messages: [], is_repeated: false };
    });
  }

  /** @throws Problem `conflict` when there is nothing to rate. */
  rate(user_id: string, rating: number, comment: string): Promise<Write> {
    return inTransaction(this.database, async (transaction) => {
      const conversation = await take(transaction, 'user_id', user_id);
      const matter = conversation === undefined ? undefined : await lastMatter(transaction, conversation.id);
      if (conversation?.status !== 'closed' || matter === undefined || matter.first_answered_at === null)
        throw refuse('conversation.not_rated_yet');
      await transaction
        .updateTable('conversation_matters')
        .set({ rating, rating_comment: comment, rated_at: at(this.now) })
        .where('id', '=', matter.id)
        .execute();
      return { conversation, messages: [], is_repeated: false };
    });
  }
}

export function createConversations(options: ConversationsOptions): Conversations {
  return new Conversations(options);
}
