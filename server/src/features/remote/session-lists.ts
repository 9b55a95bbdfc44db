import { type Counts, REMOTE_NAMED } from '@palisade/contract/desk-counts';
import type { JoinedSession, RemoteSession, SessionStatus, SessionsQuery } from '@palisade/contract/remote';
import type { OverseenQuery, OverseenSession } from '@palisade/contract/remote-staff';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { containing } from '#platform/page.ts';
import { refuseField } from './remote.refusals.ts';
import type { RemoteTables } from './remote.tables.ts';
import { liveOf, type Row } from './session-state.ts';

/** Lists of sessions for each of the three roles, newest first, page by page. */
export interface SessionLists {
  list(user_id: string, query: SessionsQuery): Promise<RemoteSession[]>;
  /** The count on all pages together. */
  count(user_id: string, query: SessionsQuery): Promise<number>;
  listJoined(agent_id: string, query: SessionsQuery): Promise<JoinedSession[]>;
  countJoined(agent_id: string, query: SessionsQuery): Promise<number>;
  /** Those of everybody that a technician asked to join, reported ones first. */
  listOverseen(query: OverseenQuery): Promise<OverseenSession[]>;
  countOverseen(query: OverseenQuery): Promise<number>;
  /** Counts the sessions that wait for this technician: those of all other people. */
  countWaiting(me: string): Promise<number>;
  /** The customers of these sessions who wait longest. */
  listWaiting(me: string): Promise<Counts['remote_customers']>;
  /** Counts the sessions of a customer that have run for longer than this, in ms. */
  countLonger(user_id: string, than_ms: number): Promise<number>;
}

/** The kind of a list: a customer's sessions, or those that a technician joined. */
interface Whose {
  column: 'user_id' | 'agent_id';
  id: string;
}

/** Orders reported ones first. */
const IS_UNREPORTED = sql<number>`case when reported_at is null then 1 else 0 end`;

export function sessionOf(row: Row): RemoteSession {
  const { session_code, started_at, expires_at, joined_at, rating, reported_at } = row;
  return { ...liveOf(row), session_code, started_at, expires_at, joined_at, rating, reported_at };
}

export const joinedOf = (row: Row): JoinedSession => ({ ...sessionOf(row), customer: row.customer, notes: row.notes });

export function overseenOf(row: Row): OverseenSession {
  const { customer, started_at, joined_at, rating, reported_at, report_reason, report_comment } = row;
  return {
    ...{ ...liveOf(row), customer, started_at, joined_at, rating },
    report:
      reported_at === null || report_reason === null
        ? null
        : { at: reported_at, reason: report_reason, comment: report_comment ?? '' },
  };
}

/** Reads them all; remote.ts writes them. */
export function createSessionLists(parts: {
  database: Kysely<Pick<RemoteTables, 'remote_sessions'>>;
  /** A row as it is now, whether that has been written down or not. */
  as_now: (row: Row) => Row;
  now: () => number;
}): SessionLists {
  const { database, as_now, now } = parts;
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();

  /** A session past its end counts as over, even if the database is not updated yet. */
  function standsAs(status: SessionStatus | undefined): RawBuilder<boolean> {
    if (status === undefined) return sql`true`;
    if (status === 'pending' || status === 'active') return sql`(status = ${sql.lit(status)} and due_at > ${at()})`;
    const was = status === 'cancelled' ? 'pending' : 'active';
    return sql`(status = ${status} or (status = ${was} and due_at <= ${at()}))`;
  }

  function matching({ column, id }: Whose, { status, search }: SessionsQuery) {
    return database
      .selectFrom('remote_sessions')
      .where(column, '=', id)
      .where(containing(search, ['session_code', column === 'user_id' ? 'support_agent' : 'customer']))
      .where(standsAs(status));
  }

  function overseen({ status, end_reason, reported, search }: OverseenQuery) {
    const query = database
      .selectFrom('remote_sessions')
      .where('joined_at', 'is not', null)
      .where(containing(search, ['customer', 'support_agent']))
      .where(standsAs(status));
    const ended_so = end_reason === undefined ? query : query.where('end_reason', '=', end_reason);
    return reported === undefined ? ended_so : ended_so.where('reported_at', reported === 'true' ? 'is not' : 'is', null);
  }

  const waiting = (me: string) =>
    database
      .selectFrom('remote_sessions')
      .where('status', '=', sql.lit('pending'))
      .where('joined_at', 'is', null)
      .where('expires_at', '>', at())
      .where('user_id', '!=', me);

  async function page(whose: Whose, query: SessionsQuery): Promise<Row[]> {
    const { limit, cursor } = query;
    const rows = matching(whose, query).selectAll().orderBy('id', 'desc').limit(limit);
    return (await (cursor === undefined ? rows : rows.where('id', '<', cursor)).execute()).map(as_now);
  }

  async function count(whose: Whose, query: SessionsQuery): Promise<number> {
    const counted = matching(whose, query).select(({ fn }) => fn.countAll<number>().as('count'));
    return (await counted.executeTakeFirstOrThrow()).count;
  }

  return {
    list: async (user_id, query) => (await page({ column: 'user_id', id: user_id }, query)).map(sessionOf),
    count: (user_id, query) => count({ column: 'user_id', id: user_id }, query),

    listJoined: async (agent_id, query) => (await page({ column: 'agent_id', id: agent_id }, query)).map(joinedOf),
    countJoined: (agent_id, query) => count({ column: 'agent_id', id: agent_id }, query),

    async listOverseen(query) {
      const { limit, cursor } = query;
      const rows = overseen(query).selectAll().orderBy(IS_UNREPORTED).orderBy('id', 'desc').limit(limit);
      const last =
        cursor === undefined
          ? undefined
          : await database.selectFrom('remote_sessions').selectAll().where('id', '=', cursor).executeTakeFirst();
      if (cursor !== undefined && last === undefined) throw refuseField('cursor', 'remote_session.gone');
      const further =
        last === undefined
          ? rows
          : rows.where(({ and, or, eb }) => {
              const older = and([eb('id', '<', last.id), eb('reported_at', last.reported_at === null ? 'is' : 'is not', null)]);
              return last.reported_at === null ? older : or([older, eb('reported_at', 'is', null)]);
            });
      return (await further.execute()).map(as_now).map(overseenOf);
    },

    async countOverseen(query) {
      const counted = overseen(query).select(({ fn }) => fn.countAll<number>().as('count'));
      return (await counted.executeTakeFirstOrThrow()).count;
    },

    async countWaiting(me) {
      const counted = waiting(me).select(({ fn }) => fn.countAll<number>().as('count'));
      return Number((await counted.executeTakeFirstOrThrow()).count);
    },

    listWaiting: (me) => waiting(me).select(['customer', 'started_at as since']).orderBy('id').limit(REMOTE_NAMED).execute(),

    async countLonger(user_id, than_ms) {
      const { count: many } = await database
        .selectFrom('remote_sessions')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('user_id', '=', user_id)
        .where('status', '=', 'active')
        .where('joined_at', '<', at(-than_ms))
        .executeTakeFirstOrThrow();
      return many;
    },
  };
}
