import type { UserInfo } from '@palisade/contract/auth';
import type { MessagesQuery } from '@palisade/contract/chat-read';
import { type Card, cardSchema } from '@palisade/contract/chat-record';
import type { ConversationsQuery, Shared, View } from '@palisade/contract/desk';
import { SNOOZE_MAXIMUM } from '@palisade/contract/desk';
import type { Counts } from '@palisade/contract/desk-counts';
import type { Conversation, DeskMessage, Priority } from '@palisade/contract/desk-record';
import { may } from '@palisade/contract/may';
import { findFolded } from '@palisade/contract/text';
import { type Kysely, sql } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { containing } from '#platform/page.ts';
import { invalidField, Problem } from '#platform/problem.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Things } from './chat.ts';
import type { Conversations, Write, Written } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import { allMessages, readMessages } from './messages.ts';
import { type ConversationRow, conversationsOf, type MessageRow, type People, preview } from './records.ts';
import type { Team } from './team.ts';

/** What creates a session for a customer, for the card with its code. */
export interface RemoteSessions {
  create(customer: UserInfo): Promise<{ id: string; session_code: string; expires_at: string }>;
}

/** What staff do. Who may do what is asked of the contract's policies; a conversation that one may not see was not found before it comes here. */
export interface Desk {
  find(id: string): Promise<ConversationRow | undefined>;
  findMessage(id: string): Promise<(MessageRow & { conversation: ConversationRow }) | undefined>;
  list(me: UserInfo, query: ConversationsQuery): Promise<Conversation[]>;
  /** How many there are on all pages together. */
  count(me: UserInfo, query: ConversationsQuery): Promise<number>;
  counts(me: UserInfo): Promise<Counts>;
  show(row: ConversationRow): Promise<Conversation>;
  messages(row: ConversationRow, query: MessagesQuery): Promise<DeskMessage[]>;
  /** All messages and notes, oldest first. */
  all(row: ConversationRow): AsyncIterable<DeskMessage>;
  write(me: UserInfo, row: ConversationRow, written: Written & { is_note: boolean }): Promise<DeskMessage>;
  markRead(row: ConversationRow, seq: number): Promise<Conversation>;
  claim(me: UserInfo, row: ConversationRow): Promise<Conversation>;
  assign(me: UserInfo, row: ConversationRow, assignee_id: string | null): Promise<Conversation>;
  close(me: UserInfo, row: ConversationRow): Promise<Conversation>;
  reopen(me: UserInfo, row: ConversationRow): Promise<Conversation>;
  snooze(me: UserInfo, row: ConversationRow, until: string): Promise<Conversation>;
  sort(
    row: ConversationRow,
    to: { tags?: readonly string[] | undefined; priority?: Priority | undefined },
  ): Promise<Conversation>;
  startRemoteSession(me: UserInfo, row: ConversationRow): Promise<DeskMessage>;
  /** What a message's card opens, as it is now. */
  shared(row: MessageRow): Promise<Shared>;
  typing(me: UserInfo, row: ConversationRow): void;
}

const TAKEN = 'This conversation was changed meanwhile. Look at it again.';
const FOUND_BEFORE = 40;

/** The words around what was searched for. */
function around(text: string, search: string): string {
  const place = findFolded(text, search)?.start ?? 0;
  return preview(place <= FOUND_BEFORE ? text : `…${text.slice(place - FOUND_BEFORE)}`);
}

export function createDesk(parts: {
  database: Kysely<ChatTables>;
  conversations: Conversations;
  news: DeskNews;
  team: Team;
  people: People & { findUser(id: string): Promise<UserInfo | undefined>; matching(search: string): Promise<string[]> };
  things: Things;
  remote: RemoteSessions;
  /** Told that the customer has an answer. */
  onAnswer: (conversation_id: string) => void;
  /** Told of whose chat is not as it was. */
  onChange: (user_id: string) => void;
  now: () => number;
}): Desk {
  const { database, conversations, news, team, people, things, remote, onAnswer, onChange, now } = parts;

  const at = () => new Date(now()).toISOString();

  async function show(row: ConversationRow): Promise<Conversation> {
    const [conversation] = await conversationsOf(database, people, [row]);
    if (conversation === undefined) throw new Problem('not_found');
    return conversation;
  }

  function inView(me: UserInfo, view: View) {
    // Nobody helps themselves.
    const others = database.selectFrom('conversations').where('conversations.user_id', '!=', me.id);
    const begun = others.where(({ or, eb }) => or([eb('last_seq', '>', 0), eb('wants_person', '=', 1)]));
    switch (view) {
      case 'mine':
        return begun.where('status', '=', 'open').where('assignee_id', '=', me.id);
      case 'unassigned':
        return begun.where('status', '=', 'open').where('assignee_id', 'is', null);
      case 'all':
        return begun.where('status', '=', 'open');
      case 'snoozed':
        return begun.where('status', '=', 'snoozed');
      case 'closed':
        return begun.where('status', '=', 'closed');
    }
  }

  async function matching(me: UserInfo, { view, search, tag, priority, assignee_id }: ConversationsQuery) {
    let query = inView(me, view);
    if (tag !== undefined)
      query = query.where('id', 'in', (tags) =>
        tags.selectFrom('conversation_tags').select('conversation_id').where('tag', '=', tag),
      );
    if (priority !== undefined) query = query.where('priority', '=', priority);
    if (assignee_id !== undefined) query = query.where('assignee_id', '=', assignee_id);
    if (search === '') return query;
    const customers = await people.matching(search);
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

  async function withFound(rows: Conversation[], search: string): Promise<Conversation[]> {
    if (search === '' || rows.length === 0) return rows;
    const found = await inBatches(
      rows.map(({ id }) => id),
      (batch) =>
        database
          .selectFrom('chat_messages as message')
          .innerJoin(
            // One of each: all that match may be more than there is room for.
            (matches) =>
              matches
                .selectFrom('chat_messages')
                .where('conversation_id', 'in', batch)
                .where(containing(search, ['message']))
                .groupBy('conversation_id')
                .select(({ fn }) => ['conversation_id', fn.max('seq').as('seq')])
                .as('newest'),
            (join) =>
              join.onRef('message.conversation_id', '=', 'newest.conversation_id').onRef('message.seq', '=', 'newest.seq'),
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

  /** What a move has left; `conflict` when somebody else was first. */
  async function moved(
    write: Write | undefined,
    row: ConversationRow,
    sentence?: (now: Conversation) => string,
  ): Promise<Conversation> {
    if (write === undefined) {
      const current = await conversations.find(row.id);
      if (current === undefined) throw new Problem('not_found');
      throw new Problem('conflict', { detail: sentence?.(await show(current)) ?? TAKEN });
    }
    await news.told(write);
    onChange(row.user_id);
    return await show(write.conversation);
  }

  return {
    find: conversations.find,
    show,

    async findMessage(id) {
      const row = await database.selectFrom('chat_messages').selectAll().where('id', '=', id).executeTakeFirst();
      const conversation = row && (await conversations.find(row.conversation_id));
      return row && conversation && { ...row, conversation };
    },

    async list(me, query) {
      const { limit, cursor, sort, search } = query;
      let rows = (await matching(me, query)).selectAll('conversations').limit(limit);
      // Who waits comes before who does not; texts of times compare like times.
      const place = sort === 'waiting' ? sql<string>`coalesce(waiting_since, '9')` : sql<string>`last_at`;
      const isAscending = sort === 'waiting';
      if (cursor !== undefined) {
        const last = await database
          .selectFrom('conversations')
          .select(['id', place.as('place')])
          .where('id', '=', cursor)
          .executeTakeFirst();
        if (last === undefined) throw invalidField('cursor', 'That conversation is gone. Reload the list.');
        const compared = isAscending ? sql.raw('>') : sql.raw('<');
        rows = rows.where(
          sql<boolean>`(${place} ${compared} ${last.place} or (${place} = ${last.place} and id ${compared} ${last.id}))`,
        );
      }
      const direction = isAscending ? 'asc' : 'desc';
      const found = await rows.orderBy(place, direction).orderBy('id', direction).execute();
      return await withFound(await conversationsOf(database, people, found), search);
    },

    async count(me, query) {
      const counted = (await matching(me, query)).select(({ fn }) => fn.countAll<number>().as('count'));
      return Number((await counted.executeTakeFirstOrThrow()).count);
    },

    async counts(me) {
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
      const [mine, unassigned, all, snoozed, closed, mine_unread, unassigned_waiting, tags] = await Promise.all([
        one(inView(me, 'mine')),
        one(inView(me, 'unassigned')),
        one(inView(me, 'all')),
        one(inView(me, 'snoozed')),
        one(inView(me, 'closed')),
        one(unread(inView(me, 'mine'))),
        one(inView(me, 'unassigned').where('waiting_since', 'is not', null)),
        database
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
      return { mine, unassigned, all, snoozed, closed, mine_unread, unassigned_waiting, tags: counted };
    },

    messages: (row, query) => readMessages(database, row, query, true),
    all: (row) => allMessages(database, row, true),

    async write(me, row, { is_note, ...written }) {
      const write = is_note ? await conversations.note(row.id, me, written) : await conversations.answer(row.id, me, written);
      const [message] = await news.told(write);
      if (!is_note && !write.is_repeated) {
        onAnswer(row.id);
        onChange(row.user_id);
      }
      if (message === undefined) throw new Problem('conflict');
      return message;
    },

    async markRead(row, seq) {
      const read = await conversations.markRead(row.id, 'support', seq);
      if (read !== undefined) news.read(read, 'support');
      return await show(read ?? row);
    },

    async claim(me, row) {
      const write = await conversations.change(row.id, (current) => may.claim(me, current), {
        ...{ assignee_id: me.id, held_since: at() },
      });
      return await moved(write, row, ({ assignee, status }) => {
        if (assignee?.id === me.id) return 'You have this conversation already.';
        if (assignee !== null) return `${assignee.username} has this conversation.`;
        return status === 'closed' ? 'This conversation is closed. Reopen it first.' : TAKEN;
      });
    },

    async assign(me, row, assignee_id) {
      const to = assignee_id === null ? undefined : await team.find(assignee_id);
      if (assignee_id !== null && (to === undefined || to.id === row.user_id))
        throw invalidField('assignee_id', 'This person is not of the staff, or it is their own conversation.');
      if (!may.assign(me, row) && row.status !== 'closed')
        throw new Problem('forbidden', {
          detail: 'Only who has the conversation, or an administrator, gives it to somebody else.',
        });
      const note = to === undefined ? `${me.username} gave this back to all.` : `${me.username} gave this to ${to.username}.`;
      return await moved(
        await conversations.change(row.id, (current) => may.assign(me, current), { assignee_id, held_since: at() }, note),
        row,
        ({ status, assignee }) => {
          if (status === 'closed') return 'This conversation is closed. Reopen it first.';
          return assignee === null ? TAKEN : `${assignee.username} has this conversation by now.`;
        },
      );
    },

    async close(me, row) {
      return await moved(await conversations.close(row.id, me), row, () => 'This conversation is closed already.');
    },

    async reopen(_me, row) {
      return await moved(await conversations.reopen(row.id), row, () => 'This conversation is open already.');
    },

    async snooze(me, row, until) {
      const wait = Date.parse(until) - now();
      if (wait <= 0) throw invalidField('until', 'This time is over. Choose a later one.');
      if (wait > SNOOZE_MAXIMUM) throw invalidField('until', 'Choose a time within the next 90 days.');
      const snoozed_until = new Date(until).toISOString();
      const write = await conversations.change(row.id, (current) => may.snooze(me, current), {
        status: 'snoozed',
        snoozed_until,
      });
      return await moved(write, row, () => 'This conversation is closed. Reopen it first.');
    },

    async sort(row, to) {
      const write = await conversations.sort(row.id, to);
      await news.told(write);
      return await show(write.conversation);
    },

    async startRemoteSession(me, row) {
      if (row.status === 'closed') throw new Problem('conflict', { detail: 'This conversation is closed. Reopen it first.' });
      const customer = await people.findUser(row.user_id);
      if (customer === undefined) throw new Problem('not_found');
      const { id: session_id, session_code, expires_at } = await remote.create(customer);
      const card: Card = { kind: 'remote_session', session_id, session_code, expires_at };
      const write = await conversations.answer(row.id, me, { message: '', card });
      const [message] = await news.told(write);
      onAnswer(row.id);
      onChange(row.user_id);
      if (message === undefined) throw new Problem('conflict');
      return message;
    },

    async shared({ user_id, card }) {
      const parsed = card === null ? undefined : cardSchema.parse(JSON.parse(card));
      if (parsed?.kind !== 'shared') throw new Problem('not_found');
      const found = await things[parsed.thing]?.(user_id, parsed.subject_id);
      if (found === undefined) throw new Problem('not_found', { detail: 'The customer has deleted it since.' });
      return { thing: parsed.thing, ...found };
    },

    typing({ id: user_id, username }, row) {
      const { id: conversation_id } = row;
      news.ofTheMoment('conversation', row, { kind: 'chat_typing', conversation_id, side: 'support', user_id, username });
      // A customer reads a name once that person has written to them.
      const shown = { kind: 'chat_typing', conversation_id, side: 'support', user_id: null, username: null } as const;
      news.ofTheMoment('customer', row, shown);
    },
  };
}
