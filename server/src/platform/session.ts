import { hash, randomBytes } from 'node:crypto';
import type { UserInfo } from '@palisade/contract/auth';
import type { PageQuery } from '@palisade/contract/fields';
import type { Kysely, Selectable } from 'kysely';
import { inBatches, inPages } from './batches.ts';
import { newId } from './id.ts';
import { type Origin, sourceOf } from './origin.ts';
import type { PersonalTable } from './personal-data.ts';
import type { SessionNews } from './session-news.ts';
import { describeUserAgent } from './user-agent.ts';

export interface SessionTables {
  sessions: {
    id: string;
    /** SHA-256 of the token in hex, so that a stolen database allows no sign-in. */
    token_hash: string;
    user_id: string;
    created_at: string;
    last_used_at: string;
    /** The value that the browser sent, truncated; null if it sent none. */
    user_agent: string | null;
    /** The source of the sign-in. */
    source: string | null;
  };
}

/** The account's columns that are read with each session in one query, since nearly every call needs them. */
export interface PersonTables {
  users: UserInfo & { disabled_at: string | null; email_proven_at: string | null; created_at: string };
}

export const SESSION_PERSONAL: readonly PersonalTable[] = [{ table: 'sessions', withheld: ['token_hash'] }];

/** A session as shown to its person: without its token's hash. */
export type SessionRecord = Omit<Selectable<SessionTables['sessions']>, 'token_hash'>;

/** A signed-in person's session. */
export interface Session {
  id: string;
  user: UserInfo;
  /** The origin of its sign-in; null for a session from before this was stored. */
  began: Pick<Origin, 'address' | 'source' | 'client'> | null;
  /** The person must have a second factor but has none: the session may only set one up. */
  is_held: boolean;
  /** The person must still prove that mails to their address arrive. */
  is_unproven: boolean;
  /** When its person registered. */
  registered_at: string;
}

const DAY_MS = 86_400_000;
/** Lifetimes of a session (OWASP ASVS 5, 7.3), in ms: 30 days in all, 7 days without use. */
const ABSOLUTE_LIFETIME_MS = 30 * DAY_MS;
const IDLE_LIFETIME_MS = 7 * DAY_MS;
/** The precision of `last_used_at`, in ms: far below the idle lifetime, so that most requests cause no write. */
const LAST_USE_GRAIN_MS = 60_000;
/**
 * Time for which a cached session is trusted, in ms: another server's logout takes effect here after at most this. Short with several servers; longer for one server alone,
 * where only manual changes in the database are delayed.
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

interface SessionsOptions {
  database: Kysely<SessionTables & PersonTables>;
  lacksFactor: (user: UserInfo) => Promise<boolean>;
  lacksProof: (person: Pick<PersonTables['users'], 'email_proven_at'>) => boolean;
  now: () => number;
  /** Informs the other servers that serve the same people; undefined if there are none. */
  news?: Pick<SessionNews, 'tell' | 'listen'> | undefined;
}

const hashOf = (token: string) => hash('sha256', token, 'hex');

/** The oldest creation time and the oldest last use of a session that is still valid. */
export const lifetimeStarts = (now: () => number) => ({
  created: new Date(now() - ABSOLUTE_LIFETIME_MS).toISOString(),
  used: new Date(now() - IDLE_LIFETIME_MS).toISOString(),
});

/** Not awaited: the precision is far below the idle lifetime, and the next call tries again. */
function noteUse(database: Kysely<SessionTables & PersonTables>, now: () => number, token_hash: string, cached: Cached): void {
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

/** `lacksFactor` returns whether a person must have a second factor but has none, `lacksProof` whether they must still prove their address. */
export class Sessions {
  private readonly options: SessionsOptions;
  private readonly cache_ms: number;
  private readonly cache = new Map<string, Cached>();
  // Sessions that ended while a read of them may have been running; such a read must not put them back into the cache.
  private readonly ended = new Set<string>();
  private readonly listeners = new Set<SessionEndListener>();
  private readonly changeListeners = new Set<(user_id: string) => void>();
  // Counts changes of people: a read during which one changed is used for its own request only.
  private changes = 0;

  constructor(options: SessionsOptions) {
    this.options = options;
    this.cache_ms = this.options.news === undefined ? CACHE_MS.alone : CACHE_MS.several;
    this.options.news?.listen((told) => {
      switch (told.kind) {
        case 'ended': {
          // This server also receives its own messages, whose sessions it has already dropped.
          const ids = new Set(told.session_ids.filter((id) => !this.ended.has(id)));
          if (ids.size === 0) return;
          for (const id of ids) this.remember(id);
          this.drop((session) => ids.has(session.id));
          for (const id of ids) this.tellHere(id, told.is_deletion ?? false);
          return;
        }
        case 'changed':
          this.changed(told.user_id);
          return;
        case 'work':
        case 'work_cancelled':
        case 'upload_asked':
        case 'upload_told':
          return;
      }
    });
  }

  private drop(belongs: (session: Session) => boolean): void {
    for (const [token_hash, cached] of this.cache) {
      if (belongs(cached.session)) this.cache.delete(token_hash);
    }
  }

  private remember(session_id: string): void {
    if (this.ended.size >= CACHE_SIZE_MAXIMUM) this.ended.clear();
    this.ended.add(session_id);
  }

  private tellHere(session_id: string, is_deletion: boolean): void {
    for (const listener of this.listeners) listener(session_id, is_deletion);
  }

  private tell(session_ids: readonly string[], is_deletion = false): void {
    for (const id of session_ids) this.tellHere(id, is_deletion);
    if (session_ids.length > 0) this.options.news?.tell({ kind: 'ended', session_ids: [...session_ids], is_deletion });
  }

  private changed(user_id: string): void {
    this.changes += 1;
    this.drop((session) => session.user.id === user_id);
    for (const listener of this.changeListeners) listener(user_id);
  }

  private async read(token_hash: string): Promise<Cached | undefined> {
    // Tokens of a deleted or disabled account are invalid.
    const row = await this.options.database
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['sessions.id', 'sessions.created_at', 'last_used_at', 'user_agent', 'source'])
      .select(['users.id as user_id', 'username', 'email', 'role', 'email_proven_at', 'users.created_at as registered_at'])
      .where('token_hash', '=', token_hash)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { username, email, role } = row;
    const user = { id: row.user_id, username, email, role };
    const is_held = await this.options.lacksFactor(user);
    const is_unproven = this.options.lacksProof(row);
    return {
      session: { id: row.id, user, began: beganOf(row), is_held, is_unproven, registered_at: row.registered_at },
      expires_at: Date.parse(row.created_at) + ABSOLUTE_LIFETIME_MS,
      last_used_at: Date.parse(row.last_used_at),
      // Not cached, so that a person who has just set up a second factor, or proved the address, has access at once on every server.
      trusted_until: is_held || is_unproven ? 0 : this.options.now() + this.cache_ms,
    };
  }

  /** Ends a session as part of a transaction. It is dropped from the cache here at once, even if the transaction rolls back. */
  async endOne(transaction: Kysely<SessionTables>, session_id: string): Promise<void> {
    this.remember(session_id);
    await transaction.deleteFrom('sessions').where('id', '=', session_id).execute();
    this.drop((session) => session.id === session_id);
    this.tell([session_id]);
  }

  private async endSeveral(transaction: Kysely<SessionTables>, user_id: string, except_id?: string): Promise<string[]> {
    let query = transaction.deleteFrom('sessions').where('user_id', '=', user_id);
    if (except_id !== undefined) query = query.where('id', '!=', except_id);
    const rows = await query.returning('id').execute();
    for (const { id } of rows) this.remember(id);
    this.drop((session) => session.user.id === user_id && session.id !== except_id);
    return rows.map(({ id }) => id);
  }

  /** Starts a session and returns its token: 256 random bits, base64url. Only the hash is stored. */
  async start(
    user_id: string,
    { user_agent, address }: Pick<Origin, 'address' | 'user_agent'>,
  ): Promise<{ token: string; session_id: string }> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const session_id = newId();
    const at = new Date(this.options.now()).toISOString();
    await this.options.database
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
  }

  /** The session of a token; undefined if it is unknown, ended or expired. */
  async resolve(token: string): Promise<Session | undefined> {
    const token_hash = hashOf(token);
    let cached = this.cache.get(token_hash);
    if (cached === undefined || cached.trusted_until < this.options.now()) {
      const before = this.changes;
      cached = await this.read(token_hash);
      this.cache.delete(token_hash);
      if (cached === undefined || this.ended.has(cached.session.id)) return undefined;
      if (this.changes !== before) cached.trusted_until = 0;
      if (this.cache.size >= CACHE_SIZE_MAXIMUM) this.cache.clear();
      this.cache.set(token_hash, cached);
    }
    if (this.options.now() >= cached.expires_at || this.options.now() - cached.last_used_at >= IDLE_LIFETIME_MS) {
      this.cache.delete(token_hash);
      await this.options.database.deleteFrom('sessions').where('token_hash', '=', token_hash).execute();
      return undefined;
    }
    if (this.options.now() - cached.last_used_at >= LAST_USE_GRAIN_MS)
      noteUse(this.options.database, this.options.now, token_hash, cached);
    return cached.session;
  }

  /** The session that a token had at its last lookup here, if that was recent. Another server may have ended it since: never grant access by it. */
  recall(token: string): Session | undefined {
    return this.cache.get(hashOf(token))?.session;
  }

  /** Ends a session at once. */
  end(session_id: string): Promise<void> {
    return this.endOne(this.options.database, session_id);
  }

  /** Ends all sessions of a person, or all but one, as part of a transaction. They are dropped from the cache here at once, even if the transaction rolls back. */
  async endAll(transaction: Kysely<SessionTables>, user_id: string, except_id?: string): Promise<void> {
    this.tell(await this.endSeveral(transaction, user_id, except_id));
  }

  /** Like `endAll`, for a person whose account is deleted in the same transaction. Returns a function that informs their open pages, to be called after the commit. */
  async endWithAccount(transaction: Kysely<SessionTables>, user_id: string): Promise<() => void> {
    const ids = await this.endSeveral(transaction, user_id);
    return () => this.tell(ids, true);
  }

  /** The valid sessions of a person, newest first. */
  async list(user_id: string, { limit, cursor }: PageQuery): Promise<SessionRecord[]> {
    const { created, used } = lifetimeStarts(this.options.now);
    let query = this.options.database
      .selectFrom('sessions')
      .select(PUBLIC_COLUMNS)
      .where('user_id', '=', user_id)
      .where('created_at', '>', created)
      .where('last_used_at', '>', used)
      .orderBy('id', 'desc')
      .limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return await query.execute();
  }

  find(session_id: string): Promise<SessionRecord | undefined> {
    return this.options.database.selectFrom('sessions').select(PUBLIC_COLUMNS).where('id', '=', session_id).executeTakeFirst();
  }

  /** The number of valid sessions of each person, and the time of their last use. People without a session are missing. */
  async counts(user_ids: readonly string[]): Promise<Map<string, { sessions: number; last_used_at: string }>> {
    const { created, used } = lifetimeStarts(this.options.now);
    const rows = await this.options.database
      .selectFrom('sessions')
      .select(({ fn }) => ['user_id', fn.countAll<number>().as('sessions'), fn.max('last_used_at').as('last_used_at')])
      .where('user_id', 'in', user_ids)
      .where('created_at', '>', created)
      .where('last_used_at', '>', used)
      .groupBy('user_id')
      .execute();
    return new Map(rows.map(({ user_id, ...counted }) => [user_id, counted]));
  }

  /** Makes the next requests of a person's sessions read the person again, after their record changed. */
  refresh(user_id: string): void {
    this.changed(user_id);
    this.options.news?.tell({ kind: 'changed', user_id });
  }

  /** The valid sessions among many. Asking does not count as use. */
  async living(session_ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { created, used } = lifetimeStarts(this.options.now);
    const rows = await inBatches(session_ids, (ids) =>
      this.options.database
        .selectFrom('sessions')
        .select('id')
        .where('id', 'in', ids)
        .where('created_at', '>', created)
        .where('last_used_at', '>', used)
        .execute(),
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Deletes expired sessions of all people. */
  async forgetExpired(): Promise<void> {
    const { created, used } = lifetimeStarts(this.options.now);
    const over = this.options.database
      .selectFrom('sessions')
      .select('id')
      .where(({ or, eb }) => or([eb('created_at', '<=', created), eb('last_used_at', '<=', used)]))
      .limit(SWEPT_AT_ONCE);
    const pages = inPages(SWEPT_AT_ONCE, () =>
      this.options.database.deleteFrom('sessions').where('id', 'in', over).returning('id').execute(),
    );
    for await (const removed of pages) {
      for (const { id } of removed) this.remember(id);
      this.tell(removed.map(({ id }) => id));
    }
  }

  /**
   * Calls `listener` for each session that ends here, with whether its account was deleted, until the returned function is
   * called.
   */
  onEnd(listener: SessionEndListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls `listener` for each person whose record changed here, until the returned function is called. */
  onChange(listener: (user_id: string) => void): () => void {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  }
}

export function createSessions(options: SessionsOptions): Sessions {
  return new Sessions(options);
}
