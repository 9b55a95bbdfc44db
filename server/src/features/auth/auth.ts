import { createHash, randomBytes } from 'node:crypto';
import type { Account, UserInfo } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import type { AdministratorBy, Exposure } from '@palisade/contract/platform';
import { shownEmail } from '@palisade/contract/shown-email';
import type { Insertable, Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inBatches } from '#platform/batches.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { nameOrderOf } from '#platform/folded-text.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { claimFact, type InstallationTables, readFact, readProvider } from '#platform/installation.ts';
import type { Origin } from '#platform/origin.ts';
import { containing } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import type { Sentence } from '#platform/sentence.ts';
import { refuse } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';
import { adviceOf, hashPassword, matchPassword, type Passwords } from './password.ts';
import { nameTaken, storedUsername, usernameColumns, usernameRefusal } from './username.ts';

/** The fact that says who became administrator by coming first. */
/** Maximum number of accounts that a search in another feature uses. */
const MATCHING_MAXIMUM = 500;

export const FIRST_ADMIN = 'first_admin';

function markOf(password_hash: string): string {
  return createHash('sha256').update(password_hash).digest('hex');
}

type NewAccount = Omit<
  Insertable<AuthTables['users']>,
  'role' | 'disabled_at' | 'email_proven_at' | 'admin_by_email_at' | 'staff_since'
>;

interface AuthOptions {
  database: Kysely<AuthTables & InstallationTables & AuditTables>;
  audit: Audit;
  passwords: Passwords;
  exposure: Exposure;
  admin_emails: readonly string[];
  /** Called for a registration in public exposure, with whether it created an account: a known email creates none. The registration does not wait for it. */
  onRegistered: (email: string, isNew: boolean) => void;
  now: () => number;
}

const columns = ['id', 'username', 'email', 'role'] as const;

async function disabledAccount(database: Kysely<AuthTables & InstallationTables & AuditTables>): Promise<Problem> {
  const { support } = await readProvider(database.$pickTables<'installation'>());
  const { phone } = support;
  const email = shownEmail(support.email);
  if (phone !== '' && email !== '') return refuse('account.disabled_contacts', { phone, email });
  const contact = phone || email;
  return contact === '' ? new Problem('account_disabled') : refuse('account.disabled_contact', { contact });
}

async function requireFreeName(database: Kysely<AuthTables & InstallationTables & AuditTables>, username: string): Promise<void> {
  const { username_key, username_skeleton } = usernameColumns(username);
  const taken = await database
    .selectFrom('users')
    .select('username_key')
    .where(({ or, eb }) => or([eb('username_key', '=', username_key), eb('username_skeleton', '=', username_skeleton)]))
    .executeTakeFirst();
  if (taken !== undefined) throw nameTaken(taken.username_key === username_key);
}

/** Stores a hash in the current form; returns the stored one, which of two concurrent sign-ins is the first one's. */
async function renewed(
  database: Kysely<AuthTables & InstallationTables & AuditTables>,
  id: string,
  before: string,
  password: string,
): Promise<string> {
  await database
    .updateTable('users')
    .set({ password_hash: await hashPassword(password) })
    .where('id', '=', id)
    .where('password_hash', '=', before)
    .execute();
  const { password_hash } = await database
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  // The password was changed meanwhile: this one is no longer valid.
  return (await matchPassword(password_hash, password)) === undefined ? before : password_hash;
}

export class Auth {
  private readonly options: AuthOptions;
  // Compared for an unknown email, so that it takes as long as for a known one.
  private isAdministered = false;
  private readonly nobodysHash = hashPassword(randomBytes(16).toString('hex'));

  constructor(options: AuthOptions) {
    this.options = options;
  }

  private async hasAdministrator(): Promise<boolean> {
    // Stays true: an installation never loses its last administrator.
    this.isAdministered ||=
      this.options.exposure === 'local' &&
      (await readFact(this.options.database.$pickTables<'installation'>(), FIRST_ADMIN)) !== undefined;
    this.isAdministered ||=
      (await this.options.database.selectFrom('users').select('id').where('role', '=', 'admin').limit(1).executeTakeFirst()) !==
      undefined;
    return this.isAdministered;
  }

  /** Registration in local exposure: the first account becomes administrator, and a known email is reported. */
  private async registerHere(account: NewAccount, origin: Origin, not_first: Sentence | undefined): Promise<UserInfo> {
    const { id, email, created_at } = account;
    const isNamed = this.options.admin_emails.includes(email);
    // A server that was public before has administrators, so no account is the first.
    const isFirst = !(await this.hasAdministrator());
    if (not_first !== undefined && (isNamed || isFirst)) throw new Problem('forbidden', { says: not_first });
    return await inTransaction(this.options.database, async (transaction) => {
      // Of two concurrent registrations, the primary key decides which is first.
      const isAdministrator =
        (isFirst && (await claimFact(transaction.$pickTables<'installation'>(), FIRST_ADMIN, id))) || isNamed;
      const user = await transaction
        .insertInto('users')
        .values({
          ...account,
          ...(isAdministrator
            ? { role: 'admin', email_proven_at: created_at, admin_by_email_at: created_at, staff_since: created_at }
            : { role: 'customer' }),
        })
        .returning(columns)
        .executeTakeFirstOrThrow();
      await this.recordRegistration(transaction, id, origin);
      return user;
    });
  }

  /** Registration in public exposure: a known email gets the same answer as an unknown one, after as much work, and its owner gets a mail. */
  private async registerUnseen(account: NewAccount, origin: Origin): Promise<UserInfo> {
    const { id, email, username } = account;
    const isNew = await inTransaction(this.options.database, async (transaction) => {
      const made = await transaction
        .insertInto('users')
        .values({ ...account, role: 'customer' })
        .onConflict((conflict) => conflict.column('email').doNothing())
        .returning('id')
        .executeTakeFirst();
      if (made !== undefined) {
        await this.recordRegistration(transaction, id, origin);
        return true;
      }
      // Write as well, so that this also waits for the disk.
      await transaction
        .updateTable('users')
        .set(({ ref }) => ({ role: ref('role') }))
        .where('email', '=', email)
        .execute();
      return false;
    });
    this.options.onRegistered(email, isNew);
    return { id, username, email, role: 'customer' };
  }

  private async recordRegistration(transaction: AuthOptions['database'], id: string, origin: Origin): Promise<void> {
    const entry = { kind: 'account_registered', subject_id: id, actor_id: id, origin } as const;
    await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), entry);
  }

  /**
   * In public exposure a known email gets the same answer as an unknown one. `not_first` is the reason why this request cannot create an administrator in local exposure;
   * undefined if it can. @throws Problem `email_taken`, `forbidden` with `not_first` for an account that would be an administrator's (both in local exposure),
   * `username_taken`, `invalid_field`.
   */
  async register(
    { email, username: given, password }: { email: string; username: string; password: string },
    origin: Origin,
    not_first?: Sentence,
  ): Promise<UserInfo & { common_password?: true }> {
    const username = storedUsername(given);
    // A taken name is reported for any email: names are public, and this reveals no email.
    if (this.options.exposure === 'public') await requireFreeName(this.options.database, username);
    const isAdministrator =
      this.options.exposure === 'local' && (this.options.admin_emails.includes(email) || !(await this.hasAdministrator()));
    const person = { username, email, role: isAdministrator ? ('admin' as const) : ('customer' as const) };
    const stored = await this.options.passwords.stored(password, { field: 'password', person });
    const account = {
      id: newId(),
      email,
      ...usernameColumns(username),
      ...stored,
      created_at: new Date(this.options.now()).toISOString(),
    };
    try {
      const user = await (this.options.exposure === 'public'
        ? this.registerUnseen(account, origin)
        : this.registerHere(account, origin, not_first));
      return { ...user, ...adviceOf(stored) };
    } catch (error) {
      if (isUniqueViolation(error, 'email')) throw new Problem('email_taken');
      throw usernameRefusal(error);
    }
  }

  /** @throws Problem `invalid_credentials`, after the same time for known and unknown emails; `account_disabled` for a right password. */
  async authenticate({ email, password }: { email: string; password: string }): Promise<{
    user_info: UserInfo;
    /** Identifies the verified password: SHA-256 of its stored hash. */
    password_mark: string;
  }> {
    const user = await this.options.database
      .selectFrom('users')
      .select([...columns, 'password_hash', 'common_password', 'disabled_at'])
      .where('email', '=', email)
      .executeTakeFirst();
    const password_hash = user?.password_hash ?? (await this.nobodysHash);
    const match = await matchPassword(password_hash, password);
    if (user === undefined || match === undefined) throw new Problem('invalid_credentials');
    const { password_hash: _hash, common_password, disabled_at, ...user_info } = user;
    // Report this only to a caller who knows the password.
    if (disabled_at !== null) throw await disabledAccount(this.options.database);
    if (common_password === null) {
      const isCommon = await this.options.passwords.isCommon(password, user);
      await this.options.database
        .updateTable('users')
        .set({ common_password: isCommon ? 1 : 0 })
        .where('id', '=', user.id)
        .where('password_hash', '=', password_hash)
        .execute();
    }
    return {
      user_info,
      password_mark: markOf(
        match === 'old' ? await renewed(this.options.database, user.id, password_hash, password) : password_hash,
      ),
    };
  }

  /**
   * Whether the account is enabled and the verified password still valid: a session that began during such a change must not outlive it. `password_mark` is undefined if no
   * password was given.
   */
  async stillHolds(id: string, password_mark: string | undefined): Promise<boolean> {
    // The update waits for a concurrent change, which ends only the sessions that it sees, and so could miss this one.
    const current = await this.options.database
      .updateTable('users')
      .set(({ ref }) => ({ role: ref('role') }))
      .where('id', '=', id)
      .returning(['password_hash', 'disabled_at'])
      .executeTakeFirst();
    if (current === undefined || current.disabled_at !== null) return false;
    return password_mark === undefined || markOf(current.password_hash) === password_mark;
  }

  /** Undefined for a disabled or missing account. */
  findUser(id: string): Promise<UserInfo | undefined> {
    return this.options.database
      .selectFrom('users')
      .select(columns)
      .where('id', '=', id)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
  }

  /** `email` must be normalized by `emailSchema`: trimmed, in lower case. */
  findUserByEmail(email: string): Promise<UserInfo | undefined> {
    return this.options.database.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst();
  }

  /** The accounts among these ids, in any order. */
  async findUsers(ids: readonly string[]): Promise<UserInfo[]> {
    return await inBatches([...new Set(ids)], (batch) =>
      this.options.database.selectFrom('users').select(columns).where('id', 'in', batch).execute(),
    );
  }

  /** All enabled people who may use the support desk. */
  staff(): Promise<UserInfo[]> {
    return this.options.database
      .selectFrom('users')
      .select(columns)
      .where('role', 'in', ['support', 'admin'])
      .where('disabled_at', 'is', null)
      .orderBy(nameOrderOf('username'))
      .execute();
  }

  /** Ids of accounts whose name or address contains the words, up to a maximum. */
  async matching(words: string): Promise<string[]> {
    const rows = await this.options.database
      .selectFrom('users')
      .select('id')
      .where(containing(words, ['username', 'email']))
      .orderBy('id')
      .limit(MATCHING_MAXIMUM)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** The ids of all administrators who may sign in. */
  async administrators(): Promise<string[]> {
    const rows = await this.options.database
      .selectFrom('users')
      .select('id')
      .where('role', '=', 'admin')
      .where('disabled_at', 'is', null)
      .orderBy('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** The way to the first administrator: one exists already, the first account, or a proved address of ADMIN_EMAILS. `isHere`: the caller could create the first one. */
  async administrator(isHere: boolean): Promise<AdministratorBy> {
    if (await this.hasAdministrator()) return 'there';
    if (this.options.exposure === 'public') return 'named_email';
    return isHere ? 'first_account' : 'first_account_on_machine';
  }

  /** Whether anyone else has an account. */
  /** People who have not confirmed their email. */
  async countUnproven(): Promise<number> {
    const { count } = await this.options.database
      .selectFrom('users')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('email_proven_at', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  async hasOthers(id: string): Promise<boolean> {
    const other = await this.options.database.selectFrom('users').select('id').where('id', '!=', id).limit(1).executeTakeFirst();
    return other !== undefined;
  }

  findAccount(id: string): Promise<Account | undefined> {
    return this.options.database
      .selectFrom('users')
      .select([...columns, 'created_at'])
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Since when a person has been staff; null for a customer, and if unknown. */
  async staffSince(id: string): Promise<string | null> {
    const row = await this.options.database.selectFrom('users').select('staff_since').where('id', '=', id).executeTakeFirst();
    return row?.staff_since ?? null;
  }

  /** Facts about an account; `common_password`: whether attackers try its password first, undefined if unknown. */
  async standing(id: string): Promise<{ common_password: boolean | undefined; is_admin: boolean; created_at: string }> {
    const { common_password, role, created_at } = await this.options.database
      .selectFrom('users')
      .select(['common_password', 'role', 'created_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const is_common = common_password === null ? undefined : common_password === 1;
    return { common_password: is_common, is_admin: may.administrate({ role }), created_at };
  }
}

export function createAuth(options: AuthOptions): Auth {
  return new Auth(options);
}
