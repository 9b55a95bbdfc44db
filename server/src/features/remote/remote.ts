import type { UserInfo } from '@palisade/contract/auth';
import {
  type JoinedSession,
  PENDING_LIFETIME,
  type RemoteSession,
  type SessionsQuery,
  sessionCodeSchema,
  WRONG_CODES,
} from '@palisade/contract/remote';
import type { Kysely, Selectable, Updateable } from 'kysely';
import type { Counters } from '#platform/counters.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { containing } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import type { RemoteTables } from './remote.tables.ts';
import { newSessionCode } from './session-code.ts';
import { createWrongCodes } from './wrong-codes.ts';

/** Remote-support sessions: pending -> active -> completed, and cancelled from pending or active. The database decides every move. */
export interface Remote {
  list(user_id: string, query: SessionsQuery): Promise<RemoteSession[]>;
  /** How many there are on all pages together. */
  count(user_id: string, query: SessionsQuery): Promise<number>;
  /** A session that waits for a technician; an older one of this person that still waits is cancelled as `replaced`. */
  create(customer: UserInfo): Promise<RemoteSession>;
  findOwn(id: string): Promise<{ id: string; user_id: string } | undefined>;
  /** @throws Problem `conflict` when it neither waits nor runs. */
  cancel(id: string): Promise<RemoteSession>;
  /** @throws Problem `conflict` when it does not run. */
  complete(id: string): Promise<JoinedSession>;
  /** @throws Problem `not_found`, `conflict`, `too_many_requests`. */
  join(agent: UserInfo, session_code: string): Promise<JoinedSession>;
  listJoined(agent_id: string, query: SessionsQuery): Promise<JoinedSession[]>;
  countJoined(agent_id: string, query: SessionsQuery): Promise<number>;
  /** A session as its technician's: `user_id` is who joined it. */
  findJoined(id: string): Promise<{ id: string; user_id: string } | undefined>;
  /** Takes the name of a technician out of other people's sessions, as part of `database`'s transaction. */
  forgetAgent(database: Kysely<RemoteTables>, agent_id: string): Promise<void>;
  /** How many sessions of a customer have run for longer than this, in ms. */
  countLonger(user_id: string, than_ms: number): Promise<number>;
}

type Row = Selectable<RemoteTables['remote_sessions']>;

/** How often a creation is tried when another one of the same person, or the same code, came first. */
const CREATIONS_MAXIMUM = 5;

/** Whose sessions: a customer's, or those that a technician joined. */
interface Whose {
  column: 'user_id' | 'agent_id';
  id: string;
}

/** Who joined, where the account is gone. */
const FORMER_AGENT = 'A former technician';

const NO_SUCH_CODE = 'No session has this code. Check it with the customer, character by character.';
const NOT_WAITING = 'This session no longer waits: it was joined, has ended or has expired. Ask the customer for a new code.';

function joinedOf({ user_id: _customer, agent_id: _agent, ...session }: Row): JoinedSession {
  const phase = { pending: 'waiting', active: 'active', completed: 'ended', cancelled: 'ended' } as const;
  return {
    ...session,
    ...{ version: 1, phase: phase[session.status], technician: null, approved_at: null, view: null, share: 'none' },
    ...{ is_paused: false, is_customer_here: false, is_technician_here: false, reaffirm_by: null },
    ...{ due_at: null, due_reason: null, rating: null, reported_at: null, notes: '' },
  };
}

function sessionOf(row: Row): RemoteSession {
  const { customer: _self, notes: _notes, ...session } = joinedOf(row);
  return session;
}

export function createRemote(parts: {
  database: Kysely<RemoteTables>;
  counters: Pick<Counters, 'put' | 'remove'>;
  /** Told of both sides of a session that is not as it was. */
  onChange: (user_id: string) => void;
  now: () => number;
}): Remote {
  const { database, counters, onChange, now } = parts;
  const wrongCodes = createWrongCodes({ ...WRONG_CODES, counters });
  const at = () => new Date(now()).toISOString();

  /** Nobody watches the clock between two calls, so each that changes something first ends what nobody joined in time, at the moment when its time was over. */
  async function closeExpired(): Promise<void> {
    await database
      .updateTable('remote_sessions')
      .set(({ ref }) => ({ status: 'cancelled' as const, end_reason: 'expired' as const, ended_at: ref('expires_at') }))
      .where('status', '=', 'pending')
      .where('expires_at', '<=', at())
      .execute();
  }

  /** As it is now: what nobody joined in time is over, whether that has been written down or not. */
  function asOf(row: Row): Row {
    const is_over = row.status === 'pending' && row.expires_at <= at();
    return is_over ? { ...row, status: 'cancelled', end_reason: 'expired', ended_at: row.expires_at } : row;
  }

  function matching({ column, id }: Whose, { status, search }: SessionsQuery) {
    const query = database
      .selectFrom('remote_sessions')
      .where(column, '=', id)
      .where(containing(search, ['session_code', column === 'user_id' ? 'support_agent' : 'customer']));
    if (status === 'pending') return query.where('status', '=', 'pending').where('expires_at', '>', at());
    if (status !== 'cancelled') return status === undefined ? query : query.where('status', '=', status);
    return query.where(({ or, and, eb }) =>
      or([eb('status', '=', 'cancelled'), and([eb('status', '=', 'pending'), eb('expires_at', '<=', at())])]),
    );
  }

  async function page(whose: Whose, query: SessionsQuery): Promise<Row[]> {
    const { limit, cursor } = query;
    const rows = matching(whose, query).selectAll().orderBy('id', 'desc').limit(limit);
    return (await (cursor === undefined ? rows : rows.where('id', '<', cursor)).execute()).map(asOf);
  }

  async function count(whose: Whose, query: SessionsQuery): Promise<number> {
    const counted = matching(whose, query).select(({ fn }) => fn.countAll<number>().as('count'));
    return (await counted.executeTakeFirstOrThrow()).count;
  }

  async function move(id: string, from: readonly Row['status'][], to: Updateable<RemoteTables['remote_sessions']>): Promise<Row> {
    await closeExpired();
    const row = await database
      .updateTable('remote_sessions')
      .set({ ...to, ended_at: at() })
      .where('id', '=', id)
      .where('status', 'in', from)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) {
      const waits = from.includes('pending') ? 'it has ended already' : 'it has no technician yet, or has ended already';
      throw new Problem('conflict', { detail: `This session cannot be ended like this: ${waits}.` });
    }
    return told(row);
  }

  function told(row: Row): Row {
    for (const user_id of new Set([row.user_id, row.agent_id])) if (user_id !== null) onChange(user_id);
    return row;
  }

  async function insert(customer: UserInfo): Promise<Row> {
    const started_at = at();
    return await database.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('remote_sessions')
        .set({ status: 'cancelled', end_reason: 'replaced', ended_at: started_at })
        .where('user_id', '=', customer.id)
        .where('status', '=', 'pending')
        .execute();
      return await transaction
        .insertInto('remote_sessions')
        .values({
          id: newId(),
          user_id: customer.id,
          customer: customer.username,
          session_code: newSessionCode(),
          status: 'pending',
          started_at,
          expires_at: new Date(Date.parse(started_at) + PENDING_LIFETIME).toISOString(),
          joined_at: null,
          ended_at: null,
          end_reason: null,
          agent_id: null,
          support_agent: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
    });
  }

  return {
    list: async (user_id, query) => (await page({ column: 'user_id', id: user_id }, query)).map(sessionOf),
    count: (user_id, query) => count({ column: 'user_id', id: user_id }, query),

    async create(customer) {
      await closeExpired();
      for (let attempt = 1; attempt <= CREATIONS_MAXIMUM; attempt += 1) {
        try {
          return sessionOf(told(await insert(customer)));
        } catch (error) {
          if (!isUniqueViolation(error, 'session_code') && !isUniqueViolation(error, 'user_id')) throw error;
        }
      }
      throw new Problem('conflict');
    },

    findOwn: (id) => database.selectFrom('remote_sessions').select(['id', 'user_id']).where('id', '=', id).executeTakeFirst(),

    cancel: async (id) => sessionOf(await move(id, ['pending', 'active'], { status: 'cancelled', end_reason: 'cancelled' })),

    complete: async (id) => joinedOf(await move(id, ['active'], { status: 'completed' })),

    async join(agent, typed) {
      const code = sessionCodeSchema.safeParse(typed);
      if (!code.success) throw new Problem('not_found', { detail: NO_SUCH_CODE });
      const session_code = code.data;
      const attempt = await wrongCodes.begin(agent.id);
      let isGuess = false;
      try {
        await closeExpired();
        const row = await database
          .updateTable('remote_sessions')
          .set({ status: 'active', joined_at: at(), agent_id: agent.id, support_agent: agent.username })
          .where('session_code', '=', session_code)
          .where('status', '=', 'pending')
          .returningAll()
          .executeTakeFirst();
        if (row !== undefined) return joinedOf(told(row));
        const known = await database
          .selectFrom('remote_sessions')
          .select('id')
          .where('session_code', '=', session_code)
          .limit(1)
          .executeTakeFirst();
        if (known !== undefined) throw new Problem('conflict', { detail: NOT_WAITING });
        isGuess = true;
        throw new Problem('not_found', { detail: NO_SUCH_CODE });
      } finally {
        if (!isGuess) await attempt.forgive();
      }
    },

    listJoined: async (agent_id, query) => (await page({ column: 'agent_id', id: agent_id }, query)).map(joinedOf),
    countJoined: (agent_id, query) => count({ column: 'agent_id', id: agent_id }, query),

    async forgetAgent(transaction, agent_id) {
      await transaction
        .updateTable('remote_sessions')
        .set({ support_agent: FORMER_AGENT })
        .where('agent_id', '=', agent_id)
        .execute();
    },

    async findJoined(id) {
      const row = await database.selectFrom('remote_sessions').select(['id', 'agent_id']).where('id', '=', id).executeTakeFirst();
      return row?.agent_id == null ? undefined : { id: row.id, user_id: row.agent_id };
    },

    async countLonger(user_id, than_ms) {
      const { count } = await database
        .selectFrom('remote_sessions')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('user_id', '=', user_id)
        .where('status', '=', 'active')
        .where('joined_at', '<', new Date(now() - than_ms).toISOString())
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}
