import type { Role, UserInfo } from '@palisade/contract/auth';
import type { PageQuery } from '@palisade/contract/fields';
import { LATELY_DAYS } from '@palisade/contract/home';
import { may } from '@palisade/contract/may';
import type { Exposure } from '@palisade/contract/platform';
import type { AdminUser, UserState, UsersQuery } from '@palisade/contract/users';
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { nameOrderOf } from '#platform/folded-text.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { type InstallationTables, writeFact } from '#platform/installation.ts';
import { containing } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import type { SessionRecord, Sessions, SessionTables } from '#platform/session.ts';
import { countBySpan } from '#platform/spans.ts';
import { describeUserAgent } from '#platform/user-agent.ts';
import { refuse, refuseField } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';

type Tables = AuthTables & SessionTables & InstallationTables & AuditTables;

/** The accounts among these with a second factor. */
type SecondFactors = (user_ids: readonly string[]) => Promise<ReadonlyMap<string, boolean>>;

/** Serializes removals of administrators: the update locks the fact until the transaction ends. */
async function holdAdministrators(transaction: Kysely<InstallationTables>, at: string): Promise<void> {
  await writeFact(transaction, 'administrators_changed_at', at);
}

/**
 * Call this in the transaction before an account stops being an enabled administrator's. Of two concurrent calls the database lets one proceed. @throws Problem `last_admin`
 * when there is no other.
 */
export async function requireAnotherAdministrator(
  transaction: Kysely<Pick<AuthTables, 'users' | 'account_tokens'> & InstallationTables>,
  user_id: string,
  at: string,
): Promise<void> {
  await holdAdministrators(transaction.$pickTables<'installation'>(), at);
  const other = await transaction
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .where('id', '!=', user_id)
    .limit(1)
    .executeTakeFirst();
  if (other === undefined) throw new Problem('last_admin');
}

/** The new value of `staff_since` after a change of role. */
function staffSince(before: Role, role: Role, now: string): { staff_since?: string | null } {
  const isStaff = may.joinSessions({ role });
  if (may.joinSessions({ role: before }) === isStaff) return {};
  return { staff_since: isStaff ? now : null };
}

/** Facts of people that other features own. */
export interface PeopleFacts {
  plans: (user_ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  scores: (user_ids: readonly string[]) => Promise<ReadonlyMap<string, { score: number; state: AdminUser['state'] }>>;
  seriousAlerts: (user_ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  silentDevices: (user_ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** True if the person of a row of `users` is in a group. */
  isIn: Record<'at_risk' | 'unchecked' | 'serious_alert' | 'silent_device', () => RawBuilder<boolean>>;
}

interface UsersOptions {
  database: Kysely<Tables>;
  facts: PeopleFacts;
  audit: Audit;
  sessions: Pick<Sessions, 'list' | 'find' | 'endOne' | 'endAll' | 'refresh' | 'counts'>;
  secondFactors: SecondFactors;
  exposure: Exposure;
  /** Called with a person whose account has changed. */
  onChange: (user_id: string) => void;
  now: () => number;
}

const columns = ['id', 'username', 'email', 'role', 'created_at', 'disabled_at', 'email_proven_at', 'last_signed_in_at'] as const;

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();
const LATELY_MS = LATELY_DAYS * 86_400_000;

const auditTables = (transaction: Kysely<Tables>) => transaction.$pickTables<'audit_entries' | 'audit_head'>();

/** Administrators' view of accounts, and their actions on them. */
export class Users {
  private readonly database: Kysely<Tables>;
  private readonly audit: Audit;
  private readonly signIns: Pick<Sessions, 'list' | 'find' | 'endOne' | 'endAll' | 'refresh' | 'counts'>;
  private readonly secondFactors: SecondFactors;
  private readonly exposure: Exposure;
  private readonly onChange: (user_id: string) => void;
  private readonly facts: PeopleFacts;
  private readonly now: () => number;

  constructor(options: UsersOptions) {
    this.database = options.database;
    this.facts = options.facts;
    this.audit = options.audit;
    this.signIns = options.sessions;
    this.secondFactors = options.secondFactors;
    this.exposure = options.exposure;
    this.onChange = options.onChange;
    this.now = options.now;
  }

  private async withFacts(
    users: readonly (UserInfo &
      Pick<Selectable<AuthTables['users']>, 'created_at' | 'disabled_at' | 'email_proven_at' | 'last_signed_in_at'>)[],
  ): Promise<AdminUser[]> {
    if (users.length === 0) return [];
    const ids = users.map(({ id }) => id);
    const counts = await this.signIns.counts(ids);
    const factors = await this.secondFactors(ids);
    const plans = await this.facts.plans(ids);
    const scores = await this.facts.scores(ids);
    const alerts = await this.facts.seriousAlerts(ids);
    const silent = await this.facts.silentDevices(ids);
    return users.map(({ email_proven_at, ...user }) => ({
      ...user,
      sessions: counts.get(user.id)?.sessions ?? 0,
      last_used_at: counts.get(user.id)?.last_used_at ?? null,
      two_factor: factors.get(user.id) ?? false,
      email_unproven: this.exposure === 'public' && email_proven_at === null,
      plan_name: plans.get(user.id) ?? null,
      security_score: scores.get(user.id)?.score ?? null,
      state: scores.get(user.id)?.state ?? null,
      serious_alerts: alerts.get(user.id) ?? 0,
      has_silent_device: silent.has(user.id),
    }));
  }

  private isIn(state: UserState): RawBuilder<boolean> {
    const lately = at(this.now, -LATELY_MS);
    switch (state) {
      case 'disabled':
        return sql`users.disabled_at is not null`;
      case 'unproven':
        return sql`(users.email_proven_at is null and ${sql.lit(this.exposure === 'public')})`;
      case 'new':
        return sql`users.created_at >= ${lately}`;
      case 'active':
        return sql`(users.last_signed_in_at >= ${lately}
          or exists (select 1 from sessions where sessions.user_id = users.id and sessions.last_used_at >= ${lately}))`;
      case 'at_risk':
      case 'unchecked':
      case 'serious_alert':
      case 'silent_device':
        return this.facts.isIn[state]();
    }
  }

  /** The sort key of a row of `users`, smallest first; undefined if ids define the order. */
  private placeIn(sort: UsersQuery['sort']): RawBuilder<string | number> | undefined {
    if (sort === 'name') return sql<string>`${nameOrderOf('username')}`;
    if (sort !== 'urgent') return undefined;
    const groups = ['serious_alert', 'at_risk', 'silent_device', 'unproven'] as const;
    const whens = groups.map((state, place) => sql`when ${this.isIn(state)} then ${sql.lit(place)}`);
    return sql<string | number>`case ${sql.join(whens, sql` `)} else ${sql.lit(groups.length)} end`;
  }

  private matching({ search, role, state }: Pick<UsersQuery, 'search' | 'role' | 'state'>) {
    let query = this.database.selectFrom('users');
    if (role !== undefined) query = query.where('role', '=', role);
    if (state !== undefined) query = query.where(this.isIn(state));
    return query.where(containing(search, ['email', 'username']));
  }

  /** @throws Problem `invalid_field` for a cursor whose account was deleted, if the order needs it. */
  async list(query: UsersQuery): Promise<AdminUser[]> {
    const { limit, cursor, sort } = query;
    const direction = sort === 'newest' || sort === 'urgent' ? 'desc' : 'asc';
    const by = this.placeIn(sort);
    let rows = this.matching(query).select(columns).limit(limit);
    if (by !== undefined) rows = rows.orderBy(by);
    if (cursor !== undefined && by !== undefined) {
      const last = await this.database.selectFrom('users').select(by.as('place')).where('id', '=', cursor).executeTakeFirst();
      if (last === undefined) throw refuseField('cursor', 'account.cursor_gone');
      // Several people may have the same sort key.
      rows = rows.where(({ or, and, eb }) =>
        or([eb(by, '>', last.place), and([eb(by, '=', last.place), eb('id', direction === 'desc' ? '<' : '>', cursor)])]),
      );
    } else if (cursor !== undefined) rows = rows.where('id', direction === 'desc' ? '<' : '>', cursor);
    rows = rows.orderBy('id', direction);
    return await this.withFacts(await rows.execute());
  }

  /** The number of matching accounts on all pages. */
  async count(query: Pick<UsersQuery, 'search' | 'role' | 'state'>): Promise<number> {
    const counted = this.matching(query).select(({ fn }) => fn.countAll<number>().as('count'));
    return Number((await counted.executeTakeFirstOrThrow()).count);
  }

  /** New accounts in each span of time. */
  countNew(starts: readonly string[], end?: string): Promise<number[]> {
    return countBySpan(this.database, { table: 'users', column: 'created_at' }, starts, end);
  }

  /** @throws Problem `not_found`, and `last_admin` when no administrator would be left. */
  async change(
    { user_id, ...change }: { user_id: string; role?: Role | undefined; disabled?: boolean | undefined },
    by: Doer,
  ): Promise<AdminUser> {
    const user = await inTransaction(this.database, async (transaction) => {
      // The update locks the row, so that the row compared below is the one that changes.
      const before = await transaction
        .updateTable('users')
        .set(({ ref }) => ({ role: ref('role') }))
        .where('id', '=', user_id)
        .returning([...columns, 'common_password'])
        .executeTakeFirst();
      if (before === undefined) throw refuse('account.gone');
      const { role = before.role } = change;
      if (may.administrate({ role }) && !may.administrate(before) && before.common_password === 1)
        throw refuseField('role', 'password.of_new_admin');
      const disabled_at =
        change.disabled === undefined ? before.disabled_at : change.disabled ? (before.disabled_at ?? at(this.now)) : null;
      const remains = may.administrate({ role }) && disabled_at === null;
      if (may.administrate(before) && before.disabled_at === null && !remains)
        await requireAnotherAdministrator(
          transaction.$pickTables<'users' | 'account_tokens' | 'installation'>(),
          user_id,
          at(this.now),
        );
      const after = await transaction
        .updateTable('users')
        .set({ role, disabled_at, ...staffSince(before.role, role, at(this.now)) })
        .where('id', '=', user_id)
        .returning(columns)
        .executeTakeFirstOrThrow();
      const record = (entry: Pick<Parameters<Audit['record']>[1], 'kind' | 'details'>) =>
        this.audit.record(auditTables(transaction), { ...entry, ...by, subject_id: user_id });
      const is_disabled_now = disabled_at !== null && before.disabled_at === null;
      if (is_disabled_now) await this.signIns.endAll(transaction.$pickTables<'sessions'>(), user_id);
      if (role !== before.role) await record({ kind: 'role_changed', details: { from: before.role, to: role } });
      if (is_disabled_now) await record({ kind: 'account_disabled' });
      if (disabled_at === null && before.disabled_at !== null) await record({ kind: 'account_enabled' });
      return after;
    });
    this.signIns.refresh(user_id);
    this.onChange(user_id);
    const [changed] = await this.withFacts([user]);
    if (changed === undefined) throw new Problem('not_found');
    return changed;
  }

  sessions(user_id: string, page: PageQuery): Promise<SessionRecord[]> {
    return this.signIns.list(user_id, page);
  }

  /** @throws Problem `not_found` for a session that is not theirs. */
  async endSessions(user_id: string, session_id: string | undefined, by: Doer): Promise<void> {
    const session = session_id === undefined ? undefined : await this.signIns.find(session_id);
    if (session_id !== undefined && session?.user_id !== user_id) throw refuse('account.session_ended');
    await inTransaction(this.database, async (transaction) => {
      const tables = transaction.$pickTables<'sessions'>();
      if (session === undefined) await this.signIns.endAll(tables, user_id);
      else await this.signIns.endOne(tables, session.id);
      const details =
        session === undefined ? { all: true } : { session: describeUserAgent(session.user_agent), from: session.source };
      await this.audit.record(auditTables(transaction), { kind: 'session_ended', ...by, subject_id: user_id, details });
    });
    this.onChange(user_id);
  }
}

export function createUsers(options: UsersOptions): Users {
  return new Users(options);
}
