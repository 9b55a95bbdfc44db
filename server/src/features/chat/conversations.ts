import type { Priority } from '@palisade/contract/desk-record';
import { type Kysely, sql, type Updateable } from 'kysely';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Sentence } from '#platform/sentence.ts';
import { refuse } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import {
  at,
  byCustomer,
  byNobody,
  type Colleague,
  ConditionFailed,
  changing,
  insert,
  isWithoutFiles,
  keep,
  lastMatter,
  once,
  opened,
  type Phrased,
  Repeated,
  refuseRepeated,
  reopenMatter,
  requireTaken,
  tagTopic,
  take,
  takeOwn,
  type Write,
  type Written,
} from './conversation-writes.ts';
import type { ConversationRow } from './records.ts';

interface ConversationsOptions {
  database: Kysely<ChatTables>;
  now: () => number;
}

/**
 * The conversations and their messages. Every write locks its conversation first by updating its row: so the database orders writes and numbers messages without gaps,
 * whatever the servers' clocks.
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

  /** `answer` is the automatic answer after it. @throws Problem `conflict`, `not_found` for a file that cannot be sent. */
  writeAsCustomer(user_id: string, written: Written | Phrased, answer?: Phrased): Promise<Write> {
    return once(this.database, async (transaction) => {
      const conversation = await takeOwn(this.now, transaction, user_id);
      const changes = await opened(this.now, transaction, conversation);
      const seq = conversation.last_seq + 1;
      const messages = [await insert(this.now, transaction, conversation, written, { ...byCustomer, author_id: user_id }, seq)];
      if (answer !== undefined)
        messages.push(await insert(this.now, transaction, conversation, answer, { ...byNobody, is_note: 0 }, seq + 1));
      if (written.topic !== undefined) await tagTopic(transaction, conversation.id, written.topic);
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

  /** Adds a note without an author, once per `client_message_id`. */
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

  /** Changes a conversation that still satisfies `when`: of two concurrent changes one succeeds. Undefined otherwise. `note` is added without an author. */
  change(
    conversation_id: string,
    when: (row: ConversationRow) => boolean,
    values: Updateable<ChatTables['conversations']>,
    note?: Sentence,
  ): Promise<Write | undefined> {
    return changing(this.database, async (transaction) => {
      const conversation = await take(transaction, 'id', conversation_id);
      if (conversation === undefined || !when(conversation)) throw new ConditionFailed();
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
      if (conversation === undefined || conversation.status === 'closed') throw new ConditionFailed();
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
      if (conversation === undefined || conversation.status === 'open') throw new ConditionFailed();
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

  /** Moves the position up to which a side has read; undefined if it had already read that far. */
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
