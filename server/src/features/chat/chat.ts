import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserInfo } from '@palisade/contract/auth';
import type { SentMessage } from '@palisade/contract/chat';
import type { ChatState, MessagesQuery } from '@palisade/contract/chat-read';
import type { ChatMessage, SharedKind } from '@palisade/contract/chat-record';
import type { Shared } from '@palisade/contract/desk';
import type { DeskMessage } from '@palisade/contract/desk-record';
import type { Kysely } from 'kysely';
import type { InstallationTables } from '#platform/installation.ts';
import { Problem } from '#platform/problem.ts';
import { type AutomaticAnswer, automaticAnswer } from './automatic-answer.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Phrased, Write, Written } from './conversation-writes.ts';
import type { Conversations } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import { readDeskSettings } from './desk-settings.ts';
import { opening } from './hours.ts';
import { allMessages, readMessages } from './messages.ts';
import { type ConversationRow, chatMessageOf } from './records.ts';
import type { Team } from './team.ts';

/** For each kind of thing, a function that loads one of the person's own; undefined for another person's or a missing one. Kinds without a function cannot be shared. */
export type Things = Partial<Record<SharedKind, (user_id: string, id: string) => Promise<Omit<Shared, 'thing'> | undefined>>>;

/** The help pages, by their addresses. */
interface Articles {
  titleOf(slug: string): Promise<string | undefined>;
}

interface ChatOptions {
  database: Kysely<ChatTables & InstallationTables>;
  conversations: Conversations;
  news: DeskNews;
  team: Team;
  things: Things;
  articles: Articles;
  /** True if a person has an infected file that is not dealt with. */
  hasInfection: (user_id: string) => Promise<boolean>;
  /** The median time of a first answer, in seconds. */
  response_s: () => Promise<number | null>;
  /** Called with a person whose chat has changed. */
  onChange: (user_id: string) => void;
  now: () => number;
}

const shownOf = (all: readonly DeskMessage[]): ChatMessage[] => all.flatMap((message) => chatMessageOf(message) ?? []);

/** A customer's actions in their conversation. */
export class Chat {
  private readonly options: ChatOptions;
  private readonly tables: Kysely<ChatTables>;

  constructor(options: ChatOptions) {
    this.options = options;
    this.tables = this.options.database.$pickTables<keyof ChatTables>();
  }

  async state(user_id: string): Promise<ChatState> {
    const conversation = await this.options.conversations.ofCustomer(user_id);
    const [settings, is_here, median] = await Promise.all([
      readDeskSettings(this.options.database.$pickTables<'installation'>()),
      this.options.team.isAnybodyHere(),
      this.options.response_s(),
    ]);
    const staff = { is_here, ...opening(settings, this.options.now()) };
    if (conversation === undefined || (conversation.last_seq === 0 && conversation.wants_person === 0)) {
      return {
        conversation_id: null,
        status: 'none',
        agent: null,
        wants_person: false,
        staff,
        response_s: median,
        unread: 0,
        read_seq: 0,
        last_seq: 0,
        rating: null,
      };
    }
    const { id, customer_read_seq, support_read_seq, last_shown_seq, wants_person, assignee_id, status } = conversation;
    const [agent, unread, matter] = await Promise.all([
      assignee_id === null ? undefined : this.options.team.find(assignee_id),
      this.tables
        .selectFrom('chat_messages')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('conversation_id', '=', id)
        .where('seq', '>', customer_read_seq)
        .where('sender', '=', 'support')
        .where('is_note', '=', 0)
        .where('is_automatic', '=', 0)
        .executeTakeFirstOrThrow(),
      this.tables
        .selectFrom('conversation_matters')
        .select(['rating', 'first_answered_at'])
        .where('conversation_id', '=', id)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst(),
    ]);
    const canRate = status === 'closed' && matter !== undefined && matter.first_answered_at !== null;
    return {
      conversation_id: id,
      status: status === 'closed' ? 'closed' : 'open',
      agent: agent?.username ?? null,
      wants_person: wants_person === 1,
      staff,
      response_s: median,
      unread: Number(unread.count),
      read_seq: support_read_seq,
      last_seq: last_shown_seq,
      rating: canRate ? { given: matter.rating } : null,
    };
  }

  /** Writes a message and its automatic answer: none while staff have the conversation open. */
  private async write(user_id: string, written: Written): Promise<Write> {
    const conversation = await this.options.conversations.ofCustomer(user_id);
    const found = written.message === '' ? undefined : automaticAnswer(written.message, written.topic);
    const answer = found && (await this.answerOf(user_id, found, conversation));
    return await this.options.conversations.writeAsCustomer(user_id, written, answer);
  }

  /** The automatic answer for the present state of a conversation. */
  private async answerOf(
    user_id: string,
    { reply, reply_infected, article }: AutomaticAnswer,
    conversation: ConversationRow | undefined,
  ): Promise<Phrased | undefined> {
    if (conversation !== undefined && (await this.options.team.viewers(conversation.id)).length > 0) return undefined;
    const title = article === null ? undefined : await this.options.articles.titleOf(article);
    const isInfected = reply_infected !== undefined && (await this.options.hasInfection(user_id));
    return {
      sentences: [isInfected ? reply_infected : reply],
      ...(article !== null && title !== undefined && { card: { kind: 'article', slug: article, title } }),
    };
  }

  async list(user_id: string, query: MessagesQuery): Promise<ChatMessage[]> {
    const conversation = await this.options.conversations.ofCustomer(user_id);
    if (conversation === undefined) return [];
    const messages = await readMessages(this.tables, conversation, query, false);
    return messages.flatMap((message) => chatMessageOf(message) ?? []);
  }

  /** @throws Problem `not_found`, `conflict` for a file that cannot be sent. */
  async send(user_id: string, written: Written): Promise<SentMessage> {
    const [message, automatic_reply = null] = shownOf(await this.options.news.told(await this.write(user_id, written)));
    // Let the published events be sent before the answer is built.
    await nextTurn();
    if (message === undefined) throw new Problem('conflict');
    return { ...message, automatic_reply };
  }

  async markRead(user_id: string, seq: number): Promise<ChatState> {
    const conversation = await this.options.conversations.ofCustomer(user_id);
    const read = conversation && (await this.options.conversations.markRead(conversation.id, 'user', seq));
    if (read !== undefined) this.options.news.read(read, 'user');
    return await this.state(user_id);
  }

  async askPerson(user_id: string): Promise<ChatState> {
    await this.options.news.told(await this.options.conversations.askPerson(user_id));
    return await this.state(user_id);
  }

  /** @throws Problem `conflict` */
  async rate(user_id: string, rating: number, comment: string): Promise<ChatState> {
    await this.options.news.told(await this.options.conversations.rate(user_id, rating, comment));
    return await this.state(user_id);
  }

  /** @throws Problem `not_found` for a thing that is not theirs. */
  async share(
    user_id: string,
    thing: SharedKind,
    subject_id: string,
    client_message_id: string | undefined,
  ): Promise<ChatMessage> {
    const found = await this.options.things[thing]?.(user_id, subject_id);
    if (found === undefined) throw new Problem('not_found');
    const card = { kind: 'shared', thing, subject_id, title: found.title } as const;
    const write = await this.options.conversations.writeAsCustomer(user_id, { message: '', client_message_id, card });
    const [message] = shownOf(await this.options.news.told(write));
    this.options.onChange(user_id);
    if (message === undefined) throw new Problem('conflict');
    return message;
  }

  /** Tells the staff who have the conversation open that its customer is typing. */
  async typing({ id }: Pick<UserInfo, 'id'>): Promise<void> {
    const conversation = await this.options.conversations.ofCustomer(id);
    if (conversation === undefined) return;
    const event = { kind: 'chat_typing', conversation_id: conversation.id, side: 'user', user_id: id, username: null } as const;
    this.options.news.ofTheMoment('conversation', conversation, event);
  }

  /** All messages, oldest first. */
  async *all(user_id: string): AsyncIterable<ChatMessage> {
    const conversation = await this.options.conversations.ofCustomer(user_id);
    if (conversation === undefined) return;
    for await (const message of allMessages(this.tables, conversation, false)) {
      const shown = chatMessageOf(message);
      if (shown !== undefined) yield shown;
    }
  }
}

export function createChat(options: ChatOptions): Chat {
  return new Chat(options);
}
