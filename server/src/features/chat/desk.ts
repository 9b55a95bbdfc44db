import type { UserInfo } from '@palisade/contract/auth';
import type { MessagesQuery } from '@palisade/contract/chat-read';
import { type Card, cardSchema } from '@palisade/contract/chat-record';
import { type Shared, SNOOZE_MAXIMUM } from '@palisade/contract/desk';
import type { Counts } from '@palisade/contract/desk-counts';
import type { ConversationsQuery } from '@palisade/contract/desk-list';
import type { Conversation, DeskMessage, Priority } from '@palisade/contract/desk-record';
import { may } from '@palisade/contract/may';
import { findFolded } from '@palisade/contract/text';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { containing } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import { sentence } from './chat.phrases.ts';
import { refuse, refuseField } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Things } from './chat.ts';
import type { Write, Written } from './conversation-writes.ts';
import type { Conversations } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import { allMessages, readMessages } from './messages.ts';
import { type ConversationRow, conversationsOf, type MessageRow, type People, preview } from './records.ts';
import type { Team } from './team.ts';

/** Creates a session for a customer, for the card with its code. */
interface RemoteSessions {
  create(customer: UserInfo): Promise<{ id: string; session_code: string; expires_at: string }>;
  countWaiting(me: string): Promise<number>;
  listWaiting(me: string): Promise<Counts['remote_customers']>;
}

const FOUND_BEFORE = 40;

/** A snippet of the text around the search result. */
function around(text: string, search: string): string {
  const place = findFolded(text, search)?.start ?? 0;
  return preview(place <= FOUND_BEFORE ? text : `…${text.slice(place - FOUND_BEFORE)}`);
}

interface Customers extends People {
  findUser(id: string): Promise<UserInfo | undefined>;
  matching(search: string): Promise<string[]>;
  /** True if the customer of a row of `conversations` is in danger. */
  isInDanger(): RawBuilder<boolean>;
}

interface DeskOptions {
  database: Kysely<ChatTables>;
  conversations: Conversations;
  news: DeskNews;
  team: Team;
  people: Customers;
  things: Things;
  remote: RemoteSessions;
  /** Called when staff have answered the customer. */
  onAnswer: (conversation_id: string) => void;
  /** Called with a person whose chat has changed. */
  onChange: (user_id: string) => void;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** Sort key of each order. Waiting customers come first; ISO texts sort like times. */
const PLACES: Record<ConversationsQuery['sort'], (isInDanger: RawBuilder<boolean>) => RawBuilder<string>> = {
  latest: () => sql<string>`last_at`,
  waiting: () => sql<string>`coalesce(waiting_since, '9')`,
  urgent: (isInDanger) =>
    sql<string>`coalesce(case when ${isInDanger} then '0' when priority = 'urgent' then '1' when priority = 'high' then '2'
      when priority = 'normal' then '3' else '4' end || waiting_since, '9')`,
};

function inView(database: Kysely<ChatTables>, me: Pick<UserInfo, 'id'>, view: ConversationsQuery['view']) {
  // Staff do not take their own conversations.
  const others = database.selectFrom('conversations').where('conversations.user_id', '!=', me.id);
  const begun = others.where(({ or, eb }) => or([eb('last_seq', '>', 0), eb('wants_person', '=', 1)]));
  switch (view) {
    case 'mine':
      return begun.where('status', '=', 'open').where('assignee_id', '=', me.id);
    case 'unassigned':
      return begun.where('status', '=', 'open').where('assignee_id', 'is', null);
    case 'all':
      return begun.where('status', '=', 'open');
    case 'waiting':
      return begun
        .where('status', '=', 'open')
        .where('waiting_since', 'is not', null)
        .where(({ or, eb }) => or([eb('assignee_id', 'is', null), eb('assignee_id', '=', me.id)]));
    case 'snoozed':
      return begun.where('status', '=', 'snoozed');
    case 'closed':
      return begun.where('status', '=', 'closed');
  }
}

async function withFound(database: Kysely<ChatTables>, rows: Conversation[], search: string): Promise<Conversation[]> {
  if (search === '' || rows.length === 0) return rows;
  const found = await inBatches(
    rows.map(({ id }) => id),
    (batch) =>
      database
        .selectFrom('chat_messages as message')
        .innerJoin(
          // One match of each: there may be more than there is room for.
          (matches) =>
            matches
              .selectFrom('chat_messages')
              .where('conversation_id', 'in', batch)
              .where(containing(search, ['message']))
              .groupBy('conversation_id')
              .select(({ fn }) => ['conversation_id', fn.max('seq').as('seq')])
              .as('newest'),
          (join) => join.onRef('message.conversation_id', '=', 'newest.conversation_id').onRef('message.seq', '=', 'newest.seq'),
        )
        .select(['message.id', 'message.conversation_id', 'message.seq', 'message.message'])
        .execute(),
  );
  return rows.map((row) => {
    const message = found.find(({ conversation_id }) => conversation_id === row.id);
    if (message === undefined) return row;
    return { ...row, found: { message_id: message.id, seq: message.seq, text: around(message.message, search) } };
  });
}

/**
 * Staff's actions in conversations. The contract's policies decide who may do what; for a conversation that one may not see, the caller answers
 * `not_found` before this.
 */
export class Desk {
  private readonly options: DeskOptions;

  constructor(options: DeskOptions) {
    this.options = options;
  }

  async show(row: ConversationRow): Promise<Conversation> {
    const [conversation] = await conversationsOf(this.options.database, this.options.people, [row]);
    if (conversation === undefined) throw new Problem('not_found');
    return conversation;
  }

  private async matching(me: UserInfo, { view, search, tag, priority, assignee_id }: ConversationsQuery) {
    let query = inView(this.options.database, me, view);
    if (tag !== undefined)
      query = query.where('id', 'in', (tags) =>
        tags.selectFrom('conversation_tags').select('conversation_id').where('tag', '=', tag),
      );
    if (priority !== undefined) query = query.where('priority', '=', priority);
    if (assignee_id !== undefined) query = query.where('assignee_id', '=', assignee_id);
    if (search === '') return query;
    const customers = await this.options.people.matching(search);
    return query.where(({ or, eb, exists, selectFrom }) =>
      or([
        exists(
          selectFrom('chat_messages')
            .select('chat_messages.id')
            .whereRef('conversation_id', '=', 'conversations.id')
            .where(containing(search, ['chat_messages.message'])),
        ),
        ...(customers.length > 0 ? [eb('conversations.user_id', 'in', customers)] : []),
      ]),
    );
  }

  /** The result of a change; `conflict` if a concurrent one was first. */
  private async moved(
    write: Write | undefined,
    row: ConversationRow,
    refusal?: (now: Conversation) => Problem,
  ): Promise<Conversation> {
    if (write === undefined) {
      const current = await this.options.conversations.find(row.id);
      if (current === undefined) throw new Problem('not_found');
      throw refusal?.(await this.show(current)) ?? refuse('conversation.changed');
    }
    await this.options.news.told(write);
    this.options.onChange(row.user_id);
    return await this.show(write.conversation);
  }

  find(id: string): Promise<ConversationRow | undefined> {
    return this.options.conversations.find(id);
  }

  async findMessage(id: string): Promise<(MessageRow & { conversation: ConversationRow }) | undefined> {
    const row = await this.options.database.selectFrom('chat_messages').selectAll().where('id', '=', id).executeTakeFirst();
    const conversation = row && (await this.options.conversations.find(row.conversation_id));
    return row && conversation && { ...row, conversation };
  }

  async list(me: UserInfo, query: ConversationsQuery): Promise<Conversation[]> {
    const { limit, cursor, sort, search } = query;
    let rows = (await this.matching(me, query)).selectAll('conversations').limit(limit);
    const place = PLACES[sort](this.options.people.isInDanger());
    const isAscending = sort !== 'latest';
    if (cursor !== undefined) {
      const last = await this.options.database
        .selectFrom('conversations')
        .select(['id', place.as('place')])
        .where('id', '=', cursor)
        .executeTakeFirst();
      if (last === undefined) throw refuseField('cursor', 'conversation.gone');
      const compared = isAscending ? sql.raw('>') : sql.raw('<');
      rows = rows.where(
        sql<boolean>`(${place} ${compared} ${last.place} or (${place} = ${last.place} and id ${compared} ${last.id}))`,
      );
    }
    const direction = isAscending ? 'asc' : 'desc';
    const found = await rows.orderBy(place, direction).orderBy('id', direction).execute();
    return await withFound(
      this.options.database,
      await conversationsOf(this.options.database, this.options.people, found),
      search,
    );
  }

  /** The number of matching conversations on all pages. */
  async count(me: UserInfo, query: ConversationsQuery): Promise<number> {
    const counted = (await this.matching(me, query)).select(({ fn }) => fn.countAll<number>().as('count'));
    return Number((await counted.executeTakeFirstOrThrow()).count);
  }

  async counts(me: UserInfo): Promise<Counts> {
    const one = async (query: ReturnType<typeof inView>) =>
      Number((await query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count);
    const unread = (query: ReturnType<typeof inView>) =>
      query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('chat_messages')
            .select('chat_messages.id')
            .whereRef('conversation_id', '=', 'conversations.id')
            .whereRef('seq', '>', 'conversations.support_read_seq')
            .where('sender', '=', 'user'),
        ),
      );
    const [mine, unassigned, all, snoozed, closed, mine_unread, unassigned_waiting, remote_waiting, remote_customers, tags] =
      await Promise.all([
        one(inView(this.options.database, me, 'mine')),
        one(inView(this.options.database, me, 'unassigned')),
        one(inView(this.options.database, me, 'all')),
        one(inView(this.options.database, me, 'snoozed')),
        one(inView(this.options.database, me, 'closed')),
        one(unread(inView(this.options.database, me, 'mine'))),
        one(inView(this.options.database, me, 'unassigned').where('waiting_since', 'is not', null)),
        this.options.remote.countWaiting(me.id),
        this.options.remote.listWaiting(me.id),
        this.options.database
          .selectFrom('conversation_tags')
          .innerJoin('conversations', 'conversations.id', 'conversation_id')
          .where('status', '=', 'open')
          .where('conversations.user_id', '!=', me.id)
          .groupBy('tag')
          .orderBy('tag')
          .select(({ fn }) => ['tag', fn.countAll<number>().as('count')])
          .execute(),
      ]);
    const counted = tags.map(({ tag, count }) => ({ tag, count: Number(count) }));
    return {
      mine,
      unassigned,
      all,
      snoozed,
      closed,
      mine_unread,
      unassigned_waiting,
      remote_waiting,
      remote_customers,
      tags: counted,
    };
  }

  /** Number of open conversations whose customer waits for an answer, without those of `me`. */
  async countUnanswered(me: Pick<UserInfo, 'id'>): Promise<number> {
    const { count } = await inView(this.options.database, me, 'all')
      .where('waiting_since', 'is not', null)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  messages(row: ConversationRow, query: MessagesQuery): Promise<DeskMessage[]> {
    return readMessages(this.options.database, row, query, true);
  }

  /** All messages and notes, oldest first. */
  all(row: ConversationRow): AsyncIterable<DeskMessage> {
    return allMessages(this.options.database, row, true);
  }

  async write(me: UserInfo, row: ConversationRow, { is_note, ...written }: Written & { is_note: boolean }): Promise<DeskMessage> {
    const write = is_note
      ? await this.options.conversations.note(row.id, me, written)
      : await this.options.conversations.answer(row.id, me, written);
    const [message] = await this.options.news.told(write);
    if (!is_note && !write.is_repeated) {
      this.options.onAnswer(row.id);
      this.options.onChange(row.user_id);
    }
    if (message === undefined) throw new Problem('conflict');
    return message;
  }

  async markRead(row: ConversationRow, seq: number): Promise<Conversation> {
    const read = await this.options.conversations.markRead(row.id, 'support', seq);
    if (read !== undefined) this.options.news.read(read, 'support');
    return await this.show(read ?? row);
  }

  async claim(me: UserInfo, row: ConversationRow): Promise<Conversation> {
    const write = await this.options.conversations.change(row.id, (current) => may.claim(me, current), {
      assignee_id: me.id,
      held_since: at(this.options.now),
    });
    return await this.moved(write, row, ({ assignee, status }) => {
      if (assignee?.id === me.id) return refuse('conversation.already_yours');
      if (assignee !== null) return refuse('conversation.assigned', { assignee: assignee.username });
      return refuse(status === 'closed' ? 'conversation.closed' : 'conversation.changed');
    });
  }

  async assign(me: UserInfo, row: ConversationRow, assignee_id: string | null): Promise<Conversation> {
    const to = assignee_id === null ? undefined : await this.options.team.find(assignee_id);
    if (assignee_id !== null && (to === undefined || to.id === row.user_id))
      throw refuseField('assignee_id', 'conversation.assignee_refused');
    if (!may.assign(me, row) && row.status !== 'closed') throw refuse('conversation.not_transferred');
    const note =
      to === undefined
        ? sentence('assignment.removed', { by: me.username })
        : sentence('assignment.transferred', { by: me.username, to: to.username });
    return await this.moved(
      await this.options.conversations.change(
        row.id,
        (current) => may.assign(me, current),
        { assignee_id, held_since: at(this.options.now) },
        note,
      ),
      row,
      ({ status, assignee }) => {
        if (status === 'closed') return refuse('conversation.closed');
        if (assignee === null) return refuse('conversation.changed');
        return refuse('conversation.now_assigned', { assignee: assignee.username });
      },
    );
  }

  async close(me: UserInfo, row: ConversationRow): Promise<Conversation> {
    return await this.moved(await this.options.conversations.close(row.id, me), row, () => refuse('conversation.already_closed'));
  }

  async reopen(_me: UserInfo, row: ConversationRow): Promise<Conversation> {
    return await this.moved(await this.options.conversations.reopen(row.id), row, () => refuse('conversation.already_open'));
  }

  async snooze(me: UserInfo, row: ConversationRow, until: string): Promise<Conversation> {
    const wait = Date.parse(until) - this.options.now();
    if (wait <= 0) throw refuseField('until', 'snooze.time_passed');
    if (wait > SNOOZE_MAXIMUM) throw refuseField('until', 'snooze.too_long');
    const snoozed_until = new Date(until).toISOString();
    const write = await this.options.conversations.change(row.id, (current) => may.snooze(me, current), {
      status: 'snoozed',
      snoozed_until,
    });
    return await this.moved(write, row, () => refuse('conversation.closed'));
  }

  async sort(
    row: ConversationRow,
    to: { tags?: readonly string[] | undefined; priority?: Priority | undefined },
  ): Promise<Conversation> {
    const write = await this.options.conversations.sort(row.id, to);
    await this.options.news.told(write);
    return await this.show(write.conversation);
  }

  async startRemoteSession(me: UserInfo, row: ConversationRow): Promise<DeskMessage> {
    if (row.status === 'closed') throw refuse('conversation.closed');
    const customer = await this.options.people.findUser(row.user_id);
    if (customer === undefined) throw new Problem('not_found');
    const { id: session_id, session_code, expires_at } = await this.options.remote.create(customer);
    const card: Card = { kind: 'remote_session', session_id, session_code, expires_at };
    const write = await this.options.conversations.answer(row.id, me, { message: '', card });
    const [message] = await this.options.news.told(write);
    this.options.onAnswer(row.id);
    this.options.onChange(row.user_id);
    if (message === undefined) throw new Problem('conflict');
    return message;
  }

  /** The current state of the thing on a message's card. */
  async shared({ user_id, card }: MessageRow): Promise<Shared> {
    const parsed = card === null ? undefined : cardSchema.parse(JSON.parse(card));
    if (parsed?.kind !== 'shared') throw new Problem('not_found');
    const found = await this.options.things[parsed.thing]?.(user_id, parsed.subject_id);
    if (found === undefined) throw refuse('shared.deleted');
    return { thing: parsed.thing, ...found };
  }

  typing({ id: user_id, username }: UserInfo, row: ConversationRow): void {
    const { id: conversation_id } = row;
    this.options.news.ofTheMoment('conversation', row, {
      kind: 'chat_typing',
      conversation_id,
      side: 'support',
      user_id,
      username,
    });
    // A customer sees a staff name only after that person has written to them.
    const shown = { kind: 'chat_typing', conversation_id, side: 'support', user_id: null, username: null } as const;
    this.options.news.ofTheMoment('customer', row, shown);
  }
}

export function createDesk(options: DeskOptions): Desk {
  return new Desk(options);
}
