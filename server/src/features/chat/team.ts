import type { Role } from '@palisade/contract/auth';
import type { Presence as Said } from '@palisade/contract/desk-record';
import type { TeamMember } from '@palisade/contract/desk-team';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import { type Hold, PRESENCE_RENEWED_MS, type Presence } from '#platform/presence/presence.ts';
import type { Topics } from '#platform/topics/topics.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Colleague } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import type { ConversationRow } from './records.ts';

/** The staff: who of them is here, and who has which conversation open. */
export interface Team {
  list(): Promise<TeamMember[]>;
  /** Those who can be given a conversation. */
  find(user_id: string): Promise<Colleague | undefined>;
  say(me: Colleague, said: Said, by_hand: boolean): Promise<TeamMember>;
  isAnybodyHere(): Promise<boolean>;
  /** A page of theirs is open at `place`, until the answered function is called. */
  arrive(me: Colleague, place: string): () => void;
  /** It shows a conversation, until the answered function is called. */
  open(me: Colleague, conversation: Pick<ConversationRow, 'id' | 'user_id'>, place: string): () => void;
  viewers(conversation_id: string): Promise<Colleague[]>;
  /** Who of the staff has conversations and is not there, noted since when. */
  whoIsGone(): Promise<{ user_id: string; gone_since: string }[]>;
  /** Gives back what is held here, so that other servers know at once. */
  close(): Promise<void>;
}

const STAFF = 'staff';
const viewing = (conversation_id: string) => `viewing:${conversation_id}`;
/** A page that is loaded anew goes and comes: that is told as nothing, in ms. */
const PAUSE_MS = 1_000;

export function createTeam(parts: {
  database: Kysely<ChatTables>;
  presence: Presence;
  /** Everybody who may use the desk. */
  staff: () => Promise<(Colleague & { role: Role })[]>;
  news: Pick<DeskNews, 'toStaff' | 'ofTheMoment'>;
  topics: Pick<Topics, 'publishToAll'>;
  now: () => number;
  logger: FastifyBaseLogger;
  pause_ms?: number | undefined;
}): Team {
  const { database, presence, staff, news, topics, now, logger, pause_ms = PAUSE_MS } = parts;
  const at = () => new Date(now()).toISOString();
  const held = new Map<string, Hold>();
  const planned = new Map<string, NodeJS.Timeout>();
  let closed = false;

  const failed = (error: unknown) => logFailure(logger, error, 'who of the staff is here could not be told');
  const keyOf = ({ group, member, place }: Hold) => `${group} ${member} ${place}`;

  const renewing = setInterval(() => void presence.hold([...held.values()]).catch(failed), PRESENCE_RENEWED_MS).unref();

  async function list(): Promise<TeamMember[]> {
    const [everybody, here, said, open] = await Promise.all([
      staff(),
      presence.members(STAFF),
      database.selectFrom('desk_staff').selectAll().execute(),
      database
        .selectFrom('conversations')
        .where('status', '=', 'open')
        .where('assignee_id', 'is not', null)
        .groupBy('assignee_id')
        .select(({ fn }) => ['assignee_id', fn.countAll<number>().as('count')])
        .execute(),
    ]);
    const saidBy = new Map(said.map((row) => [row.user_id, row]));
    return everybody.map(({ id, username }) => {
      const { chosen = 'here', is_absent = 0 } = saidBy.get(id) ?? {};
      const connected = here.has(id) && chosen !== 'offline';
      const there = chosen === 'away' || is_absent === 1 ? 'away' : 'here';
      const count = open.find(({ assignee_id }) => assignee_id === id)?.count ?? 0;
      return { id, username, presence: connected ? there : 'offline', open: Number(count) } as const;
    });
  }

  async function tellPresence(user_id: string): Promise<void> {
    const everybody = await list();
    const member = everybody.find(({ id }) => id === user_id);
    if (member === undefined) return;
    news.toStaff({ kind: 'presence_changed', user_id, username: member.username, presence: member.presence });
    const others = everybody.some(({ id, presence: said }) => id !== user_id && said === 'here');
    // With somebody else here customers see no difference.
    if (!others) topics.publishToAll({ kind: 'support_here', is_here: member.presence === 'here' });
  }

  function plan(key: string, tell: () => Promise<void>): void {
    if (planned.has(key) || closed) return;
    const timer = setTimeout(() => {
      planned.delete(key);
      tell().catch(failed);
    }, pause_ms);
    planned.set(key, timer.unref());
  }

  async function viewers(conversation_id: string): Promise<Colleague[]> {
    const ids = await presence.members(viewing(conversation_id));
    if (ids.size === 0) return [];
    return (await staff()).filter(({ id }) => ids.has(id)).map(({ id, username }) => ({ id, username }));
  }

  /** Holds a place until the answered function is called. */
  function hold(place: Hold, onChange: () => void): () => void {
    held.set(keyOf(place), place);
    presence.hold([place]).then(onChange, failed);
    return () => {
      if (!held.delete(keyOf(place))) return;
      presence.release(place).then(onChange, failed);
    };
  }

  async function write(user_id: string, values: Partial<{ chosen: Said; is_absent: number; gone_since: string | null }>) {
    await database
      .insertInto('desk_staff')
      .values({ user_id, chosen: 'here', is_absent: 0, gone_since: null, ...values })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
      .execute();
  }

  return {
    list,
    viewers,

    async find(user_id) {
      const found = (await staff()).find(({ id }) => id === user_id);
      return found && { id: found.id, username: found.username };
    },

    async say(me, said, by_hand) {
      // A page that noticed that nobody is there, or that somebody is again, changes nothing of what was said by hand.
      await write(me.id, by_hand ? { chosen: said, is_absent: 0 } : { is_absent: said === 'here' ? 0 : 1 });
      await tellPresence(me.id);
      const member = (await list()).find(({ id }) => id === me.id);
      return member ?? { ...me, presence: 'offline', open: 0 };
    },

    isAnybodyHere: async () => (await list()).some(({ presence: said }) => said === 'here'),

    arrive(me, place) {
      return hold({ group: STAFF, member: me.id, place }, () => {
        plan(`presence:${me.id}`, async () => {
          const isHere = (await presence.members(STAFF)).has(me.id);
          if (isHere) await write(me.id, { gone_since: null });
          await tellPresence(me.id);
        });
      });
    },

    open(me, conversation, place) {
      const { id: conversation_id } = conversation;
      return hold({ group: viewing(conversation_id), member: me.id, place }, () => {
        plan(`viewers:${conversation_id}`, async () => {
          const event = { kind: 'conversation_viewers', conversation_id, viewers: await viewers(conversation_id) } as const;
          news.ofTheMoment('conversation', conversation, event);
        });
      });
    },

    async whoIsGone() {
      const [everybody, here, rows, assigned] = await Promise.all([
        staff(),
        presence.members(STAFF),
        database.selectFrom('desk_staff').selectAll().execute(),
        database
          .selectFrom('conversations')
          .select('assignee_id')
          .distinct()
          .where('assignee_id', 'is not', null)
          .where('status', '!=', 'closed')
          .execute(),
      ]);
      const saidBy = new Map(rows.map((row) => [row.user_id, row]));
      const gone: { user_id: string; gone_since: string }[] = [];
      for (const { assignee_id } of assigned) {
        if (assignee_id === null) continue;
        const row = saidBy.get(assignee_id);
        const isStaff = everybody.some(({ id }) => id === assignee_id);
        if (isStaff && here.has(assignee_id) && row?.chosen !== 'offline') {
          if (row !== undefined && row.gone_since !== null) await write(assignee_id, { gone_since: null });
          continue;
        }
        // Who is no longer of the staff is gone at once.
        const gone_since = isStaff ? (row?.gone_since ?? at()) : new Date(0).toISOString();
        if (isStaff && row?.gone_since !== gone_since) {
          await write(assignee_id, { gone_since });
          await tellPresence(assignee_id);
        }
        gone.push({ user_id: assignee_id, gone_since });
      }
      return gone;
    },

    async close() {
      closed = true;
      clearInterval(renewing);
      for (const timer of planned.values()) clearTimeout(timer);
      await Promise.all([...held.values()].map((place) => presence.release(place).catch(failed)));
    },
  };
}
