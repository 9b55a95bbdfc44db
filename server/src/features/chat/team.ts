import type { Role } from '@palisade/contract/auth';
import type { Presence as Said } from '@palisade/contract/desk-record';
import type { TeamMember } from '@palisade/contract/desk-team';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import { type Hold, PRESENCE_RENEWED_MS, type Presence } from '#platform/presence/presence.ts';
import type { Topics } from '#platform/topics/topics.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Colleague } from './conversation-writes.ts';
import type { DeskNews } from './desk-news.ts';
import type { ConversationRow } from './records.ts';

const STAFF = 'staff';
const viewing = (conversation_id: string) => `viewing:${conversation_id}`;
/** Delay before a change of presence is reported, in ms: a reloaded page leaves and returns. */
const PAUSE_MS = 1_000;

interface TeamOptions {
  database: Kysely<ChatTables>;
  presence: Presence;
  /** Everybody who may use the desk. */
  staff: () => Promise<(Colleague & { role: Role })[]>;
  news: Pick<DeskNews, 'toStaff' | 'ofTheMoment'>;
  topics: Pick<Topics, 'publishToAll'>;
  now: () => number;
  logger: FastifyBaseLogger;
  pause_ms?: number | undefined;
}

const at = (now: () => number) => new Date(now()).toISOString();

const keyOf = ({ group, member, place }: Hold) => `${group} ${member} ${place}`;

async function write(
  database: Kysely<ChatTables>,
  user_id: string,
  values: Partial<{ chosen: Said; is_absent: number; gone_since: string | null }>,
) {
  await database
    .insertInto('desk_staff')
    .values({ user_id, chosen: 'here', is_absent: 0, gone_since: null, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

/** Tracks which staff are present, and who has which conversation open. */
export class Team {
  private readonly options: TeamOptions;
  private readonly pause_ms: number;
  private readonly held = new Map<string, Hold>();
  private readonly planned = new Map<string, NodeJS.Timeout>();
  private closed = false;
  private readonly renewing: NodeJS.Timeout;

  constructor(options: TeamOptions) {
    this.options = options;
    this.pause_ms = options.pause_ms ?? PAUSE_MS;
    this.renewing = setInterval(
      () => void this.options.presence.hold([...this.held.values()]).catch(this.failed),
      PRESENCE_RENEWED_MS,
    ).unref();
  }

  private readonly failed = (error: unknown) => logFailure(this.options.logger, error, 'could not send who is available');

  async list(): Promise<TeamMember[]> {
    const [everybody, here, said, open] = await Promise.all([
      this.options.staff(),
      this.options.presence.members(STAFF),
      this.options.database.selectFrom('desk_staff').selectAll().execute(),
      this.options.database
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

  private async tellPresence(user_id: string): Promise<void> {
    const everybody = await this.list();
    const member = everybody.find(({ id }) => id === user_id);
    if (member === undefined) return;
    this.options.news.toStaff({ kind: 'presence_changed', user_id, username: member.username, presence: member.presence });
    const others = everybody.some(({ id, presence: said }) => id !== user_id && said === 'here');
    // If another staff member is here, customers see no difference.
    if (!others) this.options.topics.publishToAll({ kind: 'support_here', is_here: member.presence === 'here' });
  }

  private plan(key: string, tell: () => Promise<void>): void {
    if (this.planned.has(key) || this.closed) return;
    const timer = setTimeout(() => {
      this.planned.delete(key);
      tell().catch(this.failed);
    }, this.pause_ms);
    this.planned.set(key, timer.unref());
  }

  async viewers(conversation_id: string): Promise<Colleague[]> {
    const ids = await this.options.presence.members(viewing(conversation_id));
    if (ids.size === 0) return [];
    return (await this.options.staff()).filter(({ id }) => ids.has(id)).map(({ id, username }) => ({ id, username }));
  }

  /** Holds a place until the answered function is called. */
  private hold(place: Hold, onChange: () => void): () => void {
    this.held.set(keyOf(place), place);
    this.options.presence.hold([place]).then(onChange, this.failed);
    return () => {
      if (!this.held.delete(keyOf(place))) return;
      this.options.presence.release(place).then(onChange, this.failed);
    };
  }

  /** Members of the staff who can be given a conversation. */
  async find(user_id: string): Promise<Colleague | undefined> {
    const found = (await this.options.staff()).find(({ id }) => id === user_id);
    return found && { id: found.id, username: found.username };
  }

  async say(me: Colleague, said: Said, by_hand: boolean): Promise<TeamMember> {
    // A page's notice of absence or return does not change a choice made by hand.
    await write(this.options.database, me.id, by_hand ? { chosen: said, is_absent: 0 } : { is_absent: said === 'here' ? 0 : 1 });
    await this.tellPresence(me.id);
    const member = (await this.list()).find(({ id }) => id === me.id);
    return member ?? { ...me, presence: 'offline', open: 0 };
  }

  async isAnybodyHere(): Promise<boolean> {
    return (await this.list()).some(({ presence: said }) => said === 'here');
  }

  /** One of their pages is open at `place`, until the returned function is called. */
  arrive(me: Colleague, place: string): () => void {
    return this.hold({ group: STAFF, member: me.id, place }, () => {
      this.plan(`presence:${me.id}`, async () => {
        const isHere = (await this.options.presence.members(STAFF)).has(me.id);
        if (isHere) await write(this.options.database, me.id, { gone_since: null });
        await this.tellPresence(me.id);
      });
    });
  }

  /** It shows a conversation, until the answered function is called. */
  open(me: Colleague, conversation: Pick<ConversationRow, 'id' | 'user_id'>, place: string): () => void {
    const { id: conversation_id } = conversation;
    return this.hold({ group: viewing(conversation_id), member: me.id, place }, () => {
      this.plan(`viewers:${conversation_id}`, async () => {
        const event = { kind: 'conversation_viewers', conversation_id, viewers: await this.viewers(conversation_id) } as const;
        this.options.news.ofTheMoment('conversation', conversation, event);
      });
    });
  }

  /** Staff with conversations who are not there, with the time since when. */
  async whoIsGone(): Promise<{ user_id: string; gone_since: string }[]> {
    const [everybody, here, rows, assigned] = await Promise.all([
      this.options.staff(),
      this.options.presence.members(STAFF),
      this.options.database.selectFrom('desk_staff').selectAll().execute(),
      this.options.database
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
        if (row !== undefined && row.gone_since !== null) await write(this.options.database, assignee_id, { gone_since: null });
        continue;
      }
      // A person who is no longer staff counts as gone at once.
      const gone_since = isStaff ? (row?.gone_since ?? at(this.options.now)) : new Date(0).toISOString();
      if (isStaff && row?.gone_since !== gone_since) {
        await write(this.options.database, assignee_id, { gone_since });
        await this.tellPresence(assignee_id);
      }
      gone.push({ user_id: assignee_id, gone_since });
    }
    return gone;
  }

  /** Releases the places held here, so that other servers know at once. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.renewing);
    for (const timer of this.planned.values()) clearTimeout(timer);
    await Promise.all([...this.held.values()].map((place) => this.options.presence.release(place).catch(this.failed)));
  }
}

export function createTeam(options: TeamOptions): Team {
  return new Team(options);
}
