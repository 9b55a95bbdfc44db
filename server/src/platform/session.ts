import { createHash, randomBytes } from 'node:crypto';
import type { UserInfo } from '@palisade/contract/auth';
import type { PageQuery } from '@palisade/contract/fields';
import type { Kysely, Selectable } from 'kysely';
import { inBatches } from './batches.ts';
import { newId } from './id.ts';
import { type Origin, sourceOf } from './origin.ts';
import type { PersonalTable } from './personal-data.ts';
import type { SessionNews } from './session-news.ts';
import { describeUserAgent } from './user-agent.ts';

export interface SessionTables {
  sessions: {
    id: string;
    /** SHA-256 of the token in hex: a stolen database signs nobody in. */
    token_hash: string;
    user_id: string;
    created_at: string;
    last_used_at: string;
    /** As the browser sent it, cut to a bound; null when it sent none. */
    user_agent: string | null;
    /** The address that signed in. */
    source: string | null;
  };
}

/** Of the accounts, what is read with each session: in one question, since it is asked for nearly every call. */
export interface PersonTables {
  users: UserInfo & { disabled_at: string | null; email_proven_at: string | null };
}

export const SESSION_PERSONAL: readonly PersonalTable[] = [{ table: 'sessions', withheld: ['token_hash'] }];

/** A session as its person may see it: without its token's hash. */
export type SessionRecord = Omit<Selectable<SessionTables['sessions']>, 'token_hash'>;

/** A signed-in person's session. */
export interface Session {
  id: string;
  user: UserInfo;
  /** Where and with what it signed in; null for a session of before that was kept. */
  began: Pick<Origin, 'address' | 'source' | 'client'> | null;
  /** Its person must have a second factor and has none yet: it may do nothing but set one up. */
  is_held: boolean;
  /** Its person has still to prove that mails to their address reach them. */
  is_unproven: boolean;
}

const DAY_MS = 86_400_000;
/** Lifetimes of a session (OWASP ASVS 5, 7.3): 30 days in all, 7 days without use. */
const ABSOLUTE_LIFETIME_MS = 30 * DAY_MS;
const IDLE_LIFETIME_MS = 7 * DAY_MS;
/** How exactly `last_used_at` is kept: far below the idle lifetime, so that a request is not a write. */
const LAST_USE_GRAIN_MS = 60_000;
/**
 * How long an answer of the database is trusted, so that another server's logout counts here after at most this: short where there are other servers, and for one server
 * alone so long that only what is changed in the database by hand waits for it.
 */
const CACHE_MS = { alone: 5_000, several: 500 } as const;
const SWEPT_AT_ONCE = 1_000;
const CACHE_SIZE_MAXIMUM = 10_000;
const TOKEN_BYTES = 32;
const USER_AGENT_LENGTH_MAXIMUM = 400;
const PUBLIC_COLUMNS = ['id', 'user_id', 'created_at', 'last_used_at', 'user_agent', 'source'] as const;

function beganOf({ source: address, user_agent }: Pick<SessionRecord, 'source' | 'user_agent'>): Session['began'] {
  return address === null ? null : { address, source: sourceOf(address), client: describeUserAgent(user_agent) };
}

interface Cached {
  session: Session;
  expires_at: number;
  last_used_at: number;
  trusted_until: number;
}

type SessionEndListener = (session_id: string, is_deletion: boolean) => void;

export interface Sessions {
  /** Starts a session and answers its token: 256 random bits, base64url. Only the hash is stored. */
  start(user_id: string, origin: Pick<Origin, 'address' | 'user_agent'>): Promise<{ token: string; session_id: string }>;
  /** The session of a token, or undefined when it is unknown, ended or expired. */
  resolve(token: string): Promise<Session | undefined>;
  /** Whose session a token was when it was last looked up here, if that was lately. It may have ended since at another server: it lets nobody in. */
  recall(token: string): Session | undefined;
  /** Ends a session at once. */
  end(session_id: string): Promise<void>;
  /** Ends a session as part of `database`'s transaction. It is not answered from here any more, committed or not. */
  endOne(database: Kysely<SessionTables>, session_id: string): Promise<void>;
  /** Ends all sessions of a person, or all but one, as part of `database`'s transaction. None of them is answered from here any more, committed or not. */
  endAll(database: Kysely<SessionTables>, user_id: string, except_id?: string): Promise<void>;
  /** As `endAll`, of a person whose account is deleted in the same transaction. Answers what tells everybody who has one open, for when that is committed. */
  endWithAccount(database: Kysely<SessionTables>, user_id: string): Promise<() => void>;
  /** The sessions of a person that still count, newest first. */
  list(user_id: string, page: PageQuery): Promise<SessionRecord[]>;
  find(session_id: string): Promise<SessionRecord | undefined>;
  /** How many sessions of each person still count, and when one of them was last used. Who has none is missing. */
  counts(user_ids: readonly string[]): Promise<Map<string, { sessions: number; last_used_at: string }>>;
  /** Has a person read anew by their sessions' next requests, after their record changed. */
  refresh(user_id: string): void;
  /** Which of many sessions still count. Asking is no use of them. */
  living(session_ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Removes the sessions that are over their time, of everybody. */
  forgetExpired(): Promise<void>;
  /** Has `listener` told of each session that ends here, and whether with its account, until the answered function is called. */
  onEnd(listener: SessionEndListener): () => void;
  /** Has `listener` told of each person whose record changed here, until the answered function is called. */
  onChange(listener: (user_id: string) => void): () => void;
}

/** `lacksFactor` is whether a person must have a second factor and has none, `lacksProof` whether they have still to prove their address. */
export function createSessions(parts: {
  database: Kysely<SessionTables & PersonTables>;
  lacksFactor: (user: UserInfo) => Promise<boolean>;
  lacksProof: (person: Pick<PersonTables['users'], 'email_proven_at'>) => boolean;
  now: () => number;
  /** Tells the other servers that may serve the same people; undefined where there are none. */
  news?: Pick<SessionNews, 'tell' | 'listen'> | undefined;
}): Sessions {
  const { database, lacksFactor, lacksProof, now, news } = parts;
  const cache_ms = news === undefined ? CACHE_MS.alone : CACHE_MS.several;
  const cache = new Map<string, Cached>();
  // Sessions that ended while a read of them may have been under way; such a read must not put them back into the cache.
  const ended = new Set<string>();
  const listeners = new Set<SessionEndListener>();
  const changeListeners = new Set<(user_id: string) => void>();
  // Counts changes of people: a read that one overtook is trusted for its own request alone.
  let changes = 0;
  const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

  function drop(belongs: (session: Session) => boolean): void {
    for (const [token_hash, cached] of cache) {
      if (belongs(cached.session)) cache.delete(token_hash);
    }
  }

  function remember(session_id: string): void {
    if (ended.size >= CACHE_SIZE_MAXIMUM) ended.clear();
    ended.add(session_id);
  }

  function tellHere(session_id: string, is_deletion: boolean): void {
    for (const listener of listeners) listener(session_id, is_deletion);
  }

  function tell(session_ids: readonly string[], is_deletion = false): void {
    for (const id of session_ids) tellHere(id, is_deletion);
    if (session_ids.length > 0) news?.tell({ kind: 'ended', session_ids: [...session_ids], is_deletion });
  }

  function changed(user_id: string): void {
    changes += 1;
    drop((session) => session.user.id === user_id);
    for (const listener of changeListeners) listener(user_id);
  }

  news?.listen((told) => {
    switch (told.kind) {
      case 'ended': {
        // One of ours is told to us as well, and was dropped before.
        const ids = new Set(told.session_ids.filter((id) => !ended.has(id)));
        if (ids.size === 0) return;
        for (const id of ids) remember(id);
        drop((session) => ids.has(session.id));
        for (const id of ids) tellHere(id, told.is_deletion ?? false);
        return;
      }
      case 'changed':
        changed(told.user_id);
        return;
      case 'work':
      case 'work_cancelled':
      case 'upload_asked':
      case 'upload_told':
        return;
    }
  });

  const lifetimeStarts = () => ({
    created: new Date(now() - ABSOLUTE_LIFETIME_MS).toISOString(),
    used: new Date(now() - IDLE_LIFETIME_MS).toISOString(),
  });

  async function read(token_hash: string): Promise<Cached | undefined> {
    // The tokens of an account that is gone or disabled are worth nothing.
    const row = await database
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['sessions.id', 'sessions.created_at', 'last_used_at', 'user_agent', 'source'])
      .select(['users.id as user_id', 'username', 'email', 'role', 'email_proven_at'])
      .where('token_hash', '=', token_hash)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { username, email, role } = row;
    const user = { id: row.user_id, username, email, role };
    const is_held = await lacksFactor(user);
    const is_unproven = lacksProof(row);
    return {
      session: { id: row.id, user, began: beganOf(row), is_held, is_unproven },
      expires_at: Date.parse(row.created_at) + ABSOLUTE_LIFETIME_MS,
      last_used_at: Date.parse(row.last_used_at),
      // Whoever has just set their second factor up, or proved their address, is free at once, on every server.
      trusted_until: is_held || is_unproven ? 0 : now() + cache_ms,
    };
  }

  /** Nobody waits for it: it is far within the idle lifetime, and the next call tries again. */
  function noteUse(token_hash: string, cached: Cached): void {
    const before = cached.last_used_at;
    cached.last_used_at = now();
    database
      .updateTable('sessions')
      .set({ last_used_at: new Date(now()).toISOString() })
      .where('token_hash', '=', token_hash)
      .execute()
      .catch(() => {
        cached.last_used_at = before;
      });
  }

  async function endOne(transaction: Kysely<SessionTables>, session_id: string): Promise<void> {
    remember(session_id);
    await transaction.deleteFrom('sessions').where('id', '=', session_id).execute();
    drop((session) => session.id === session_id);
    tell([session_id]);
  }

  async function endSeveral(transaction: Kysely<SessionTables>, user_id: string, except_id?: string): Promise<string[]> {
    let query = transaction.deleteFrom('sessions').where('user_id', '=', user_id);
    if (except_id !== undefined) query = query.where('id', '!=', except_id);
    const rows = await query.returning('id').execute();
    for (const { id } of rows) remember(id);
    drop((session) => session.user.id === user_id && session.id !== except_id);
    return rows.map(({ id }) => id);
  }

  return {
    async start(user_id, { user_agent, address }) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const session_id = newId();
      const at = new Date(now()).toISOString();
      await database
        .insertInto('sessions')
        .values({
          id: session_id,
          token_hash: hashOf(token),
          user_id,
          created_at: at,
          last_used_at: at,
          user_agent: user_agent?.slice(0, USER_AGENT_LENGTH_MAXIMUM) ?? null,
          source: address,
        })
        .execute();
      return { token, session_id };
    },

    async resolve(token) {
      const token_hash = hashOf(token);
      let cached = cache.get(token_hash);
      if (cached === undefined || cached.trusted_until < now()) {
        const before = changes;
        cached = await read(token_hash);
        cache.delete(token_hash);
        if (cached === undefined || ended.has(cached.session.id)) return undefined;
        if (changes !== before) cached.trusted_until = 0;
        if (cache.size >= CACHE_SIZE_MAXIMUM) cache.clear();
        cache.set(token_hash, cached);
      }
      if (now() >= cached.expires_at || now() - cached.last_used_at >= IDLE_LIFETIME_MS) {
        cache.delete(token_hash);
        await database.deleteFrom('sessions').where('token_hash', '=', token_hash).execute();
        return undefined;
      }
      if (now() - cached.last_used_at >= LAST_USE_GRAIN_MS) noteUse(token_hash, cached);
      return cached.session;
    },

    recall: (token) => cache.get(hashOf(token))?.session,

    end: (session_id) => endOne(database, session_id),
    endOne,

    async endAll(transaction, user_id, except_id) {
      tell(await endSeveral(transaction, user_id, except_id));
    },

    async endWithAccount(transaction, user_id) {
      const ids = await endSeveral(transaction, user_id);
      return () => tell(ids, true);
    },

    async list(user_id, { limit, cursor }) {
      const { created, used } = lifetimeStarts();
      let query = database
        .selectFrom('sessions')
        .select(PUBLIC_COLUMNS)
        .where('user_id', '=', user_id)
        .where('created_at', '>', created)
        .where('last_used_at', '>', used)
        .orderBy('id', 'desc')
        .limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return await query.execute();
    },

    find: (session_id) => database.selectFrom('sessions').select(PUBLIC_COLUMNS).where('id', '=', session_id).executeTakeFirst(),

    async counts(user_ids) {
      const { created, used } = lifetimeStarts();
      const rows = await database
        .selectFrom('sessions')
        .select(({ fn }) => ['user_id', fn.countAll<number>().as('sessions'), fn.max('last_used_at').as('last_used_at')])
        .where('user_id', 'in', user_ids)
        .where('created_at', '>', created)
        .where('last_used_at', '>', used)
        .groupBy('user_id')
        .execute();
      return new Map(rows.map(({ user_id, ...counted }) => [user_id, counted]));
    },

    refresh(user_id) {
      changed(user_id);
      news?.tell({ kind: 'changed', user_id });
    },

    async living(session_ids) {
      const { created, used } = lifetimeStarts();
      const rows = await inBatches(session_ids, (ids) =>
        database
          .selectFrom('sessions')
          .select('id')
          .where('id', 'in', ids)
          .where('created_at', '>', created)
          .where('last_used_at', '>', used)
          .execute(),
      );
      return new Set(rows.map(({ id }) => id));
    },

    async forgetExpired() {
      const { created, used } = lifetimeStarts();
      for (let full = true; full; ) {
        const over = database
          .selectFrom('sessions')
          .select('id')
          .where(({ or, eb }) => or([eb('created_at', '<=', created), eb('last_used_at', '<=', used)]))
          .limit(SWEPT_AT_ONCE);
        const removed = await database.deleteFrom('sessions').where('id', 'in', over).returning('id').execute();
        for (const { id } of removed) remember(id);
        tell(removed.map(({ id }) => id));
        full = removed.length === SWEPT_AT_ONCE;
      }
    },

    onEnd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    onChange(listener) {
      changeListeners.add(listener);
      return () => changeListeners.delete(listener);
    },
  };
}
