import type { DeskMessage } from '@palisade/contract/desk-record';
import type { LiveEvent } from '@palisade/contract/events';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { logFailure } from '#platform/database-patience.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { conversationTopic, personTopic, STAFF_TOPIC, type Topics } from '#platform/topics/topics.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Write } from './conversation-writes.ts';
import { type ConversationRow, chatMessageOf, conversationsOf, deskMessagesOf, type People } from './records.ts';

/** Changes within this many ms are sent to the staff's lists, and marked as sent, together. Messages themselves do not wait for it. */
const PAUSE_MS = 100;
/** Interval between looks for stored but unsent messages. */
const MISSED_NEWS_EVERY_MS = 5_000;
const UNTOLD_AT_ONCE = 100;
/** Maximum messages of one conversation that are sent at one look; the rest follow at the next. */
const MESSAGES_AT_ONCE = 200;
const MARKED_AT_ONCE = 100;

const MISSED_NEWS = jobKind({ name: 'desk_untold', payload: z.object({}), every_ms: MISSED_NEWS_EVERY_MS });

interface DeskNewsOptions {
  database: Kysely<ChatTables>;
  topics: Pick<Topics, 'publish' | 'isHeard'>;
  people: People;
  jobs: Pick<Jobs, 'handle'>;
  /** Cached answers, valid until the conversations change. Staff who ask for counts need not listen for changes. */
  kept: Pick<KeptAnswers, 'told'>;
  logger: FastifyBaseLogger;
}

/** Marks conversations as sent up to here, in one statement. A higher mark by another server stays. */
async function note(database: Kysely<ChatTables>, told: readonly { id: string; seq: number; version: number }[]): Promise<void> {
  if (told.length === 0) return;
  const latest = (column: 'told_seq' | 'told_version', of: 'seq' | 'version') => {
    const cases = told.map((one) => {
      const to = sql`cast(${one[of]} as integer)`;
      return sql`when ${one.id} then case when ${sql.ref(column)} < ${to} then ${to} else ${sql.ref(column)} end`;
    });
    return sql<number>`case id ${sql.join(cases, sql` `)} else ${sql.ref(column)} end`;
  };
  await database
    .updateTable('conversations')
    .set({ told_seq: latest('told_seq', 'seq'), told_version: latest('told_version', 'version') })
    .where(
      'id',
      'in',
      told.map(({ id }) => id),
    )
    .execute();
}

/**
 * Sends new messages to pages. A message is sent as soon as it is stored, and its row is then marked. Messages that a server stored but did not send before it stopped are
 * sent by another one, or by this one after its start; so a message may be sent twice, and pages ignore repeated ids.
 */
export class DeskNews {
  private readonly options: DeskNewsOptions;
  /** Conversations to report to the staff, with the positions of messages that were sent here. */
  private waiting = new Map<string, Set<number>>();
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private closed = false;
  /** Versions of conversations that were unsent at the last look: their server may still be about to send them. */
  private seen = new Map<string, string>();

  constructor(options: DeskNewsOptions) {
    this.options = options;
    options.jobs.handle(MISSED_NEWS, this.tellMissedNews);
  }

  private plan(conversation_id: string, seqs: readonly number[]): void {
    this.options.kept.told(STAFF_TOPIC);
    const known = this.waiting.get(conversation_id) ?? new Set();
    for (const seq of seqs) known.add(seq);
    this.waiting.set(conversation_id, known);
    if (this.timer !== undefined || this.closed) return;
    this.timer = setTimeout(() => void this.flushNow(), PAUSE_MS);
  }

  private flushNow(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushing = this.flushing
      .then(this.flush)
      .catch((error: unknown) => logFailure(this.options.logger, error, 'could not tell support about a conversation'));
    return this.flushing;
  }

  private publishMessages(conversation: ConversationRow, shown: readonly DeskMessage[]): void {
    for (const message of shown) {
      const theirs = chatMessageOf(message);
      if (theirs !== undefined)
        this.options.topics.publish(personTopic(conversation.user_id), { kind: 'chat_message', message: theirs });
      this.options.topics.publish(conversationTopic(conversation.id), { kind: 'desk_message', message });
    }
  }

  /** Sends conversations to the staff, and marks that. */
  private readonly flush = async (): Promise<void> => {
    const due = this.waiting;
    this.waiting = new Map();
    const ids = [...due.keys()];
    for (let from = 0; from < ids.length; from += MARKED_AT_ONCE) {
      const some = ids.slice(from, from + MARKED_AT_ONCE);
      const rows = await this.options.database.selectFrom('conversations').selectAll().where('id', 'in', some).execute();
      // Checked after reading: a later listener reads these or newer rows itself.
      if (await this.options.topics.isHeard(STAFF_TOPIC))
        for (const conversation of await conversationsOf(this.options.database, this.options.people, rows))
          this.options.topics.publish(STAFF_TOPIC, { kind: 'conversation_changed', conversation });
      await note(
        this.options.database,
        rows.map(({ id, version, told_version, told_seq }) => {
          let seq = told_seq;
          const told = due.get(id);
          while (told?.has(seq + 1) === true) seq += 1;
          return { id, seq, version: Math.max(version, told_version) };
        }),
      );
    }
  };

  /** Sends stored but unsent messages: their server has stopped. */
  private readonly tellMissedNews = async (): Promise<void> => {
    const rows = await this.options.database
      .selectFrom('conversations')
      .selectAll()
      .where(({ or, eb, ref }) => or([eb('told_version', '<', ref('version')), eb('told_seq', '<', ref('last_seq'))]))
      .orderBy('id')
      .limit(UNTOLD_AT_ONCE)
      .execute();
    const before = this.seen;
    this.seen = new Map(rows.map(({ id, version, last_seq, told_seq }) => [id, `${version} ${last_seq} ${told_seq}`]));
    for (const row of rows) {
      if (before.get(row.id) !== this.seen.get(row.id)) continue;
      const messages = await this.options.database
        .selectFrom('chat_messages')
        .selectAll()
        .where('conversation_id', '=', row.id)
        .where('seq', '>', row.told_seq)
        .where('seq', '<=', row.last_seq)
        .orderBy('seq')
        .limit(MESSAGES_AT_ONCE)
        .execute();
      this.options.logger.warn(
        { conversation: row.id, messages: messages.length },
        'what another server stored and did not tell is told now',
      );
      this.publishMessages(row, await deskMessagesOf(this.options.database, messages, () => row));
      // Includes gaps: those messages were deleted, and will not be sent.
      const last = messages.length < MESSAGES_AT_ONCE ? row.last_seq : (messages.at(-1)?.seq ?? row.last_seq);
      this.plan(
        row.id,
        Array.from({ length: last - row.told_seq }, (_, index) => row.told_seq + 1 + index),
      );
    }
    // Mark them before the next look, which would otherwise send them again.
    if (this.waiting.size > 0) await this.flushNow();
  };

  /** Returns the messages as staff see them. */
  async told({ conversation, messages, is_repeated, without_files }: Write): Promise<DeskMessage[]> {
    const shown = await deskMessagesOf(this.options.database, messages, () => conversation, without_files);
    if (is_repeated) return shown;
    this.publishMessages(conversation, shown);
    this.plan(
      conversation.id,
      messages.map(({ seq }) => seq),
    );
    return shown;
  }

  /** Reports a conversation whose read marks changed. */
  changed({ id }: ConversationRow): void {
    this.plan(id, []);
  }

  read(conversation: ConversationRow, reader: 'user' | 'support'): void {
    const { id: conversation_id, user_id, customer_read_seq, support_read_seq } = conversation;
    const seq = reader === 'user' ? customer_read_seq : support_read_seq;
    const event: LiveEvent = { kind: 'chat_read', conversation_id, reader, seq };
    this.options.topics.publish(personTopic(user_id), event);
    this.options.topics.publish(conversationTopic(conversation_id), event);
    this.plan(conversation_id, []);
  }

  removed(conversation_id: string): void {
    this.options.topics.publish(STAFF_TOPIC, { kind: 'conversation_removed', conversation_id });
  }

  /** Sends a momentary event to the customer, and to the staff who have the conversation open. */
  ofTheMoment(
    topic: 'customer' | 'conversation',
    { id, user_id }: Pick<ConversationRow, 'id' | 'user_id'>,
    event: LiveEvent,
  ): void {
    this.options.topics.publish(topic === 'customer' ? personTopic(user_id) : conversationTopic(id), event);
  }

  toStaff(event: LiveEvent): void {
    this.options.topics.publish(STAFF_TOPIC, event);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    // Messages without a mark are sent again by the next look.
    await this.flushing
      .then(this.flush)
      .catch((error: unknown) => logFailure(this.options.logger, error, 'could not record a notification'));
  }
}

export function createDeskNews(options: DeskNewsOptions): DeskNews {
  return new DeskNews(options);
}
