import { createHash, randomBytes } from 'node:crypto';
import type { Account, UserInfo } from '@palisade/contract/auth';
import { canonicalEmail } from '@palisade/contract/email';
import { may } from '@palisade/contract/may';
import type { AdministratorBy, Exposure } from '@palisade/contract/platform';
import { shownEmail } from '@palisade/contract/shown-email';
import type { Insertable, Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inBatches } from '#platform/batches.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { nameOrderOf } from '#platform/folded-text.ts';
import { newId } from '#platform/id.ts';
import { claimFact, type InstallationTables, readFact, readProvider } from '#platform/installation.ts';
import type { Origin } from '#platform/origin.ts';
import { containing } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import type { AuthTables } from './auth.tables.ts';
import { hashPassword, matchPassword, type Passwords } from './password.ts';
import { nameTaken, storedUsername, usernameColumns, usernameKey, usernameRefusal } from './username.ts';

/** The fact that says who became administrator by coming first. */
/** Accounts that a search in another feature goes on with. */
const MATCHING_MAXIMUM = 500;

export const FIRST_ADMIN = 'first_admin';

function markOf(password_hash: string): string {
  return createHash('sha256').update(password_hash).digest('hex');
}

export interface Auth {
  /**
   * In public exposure an email that is known is answered as one that is not. `not_first` is why who registers does not become an administrator in local exposure,
   * undefined where they may.
   * @throws Problem `email_taken`, `forbidden` with `not_first` for an account that would be an administrator's (both in local exposure), `username_taken`, `invalid_field`.
   */
  register(account: { email: string; username: string; password: string }, origin: Origin, not_first?: string): Promise<UserInfo>;
  /** @throws Problem `invalid_credentials`, after the same time for known and unknown emails; `account_disabled` for a right password. */
  authenticate(credentials: { email: string; password: string }): Promise<{
    user_info: UserInfo;
    /** Stands for the password that was right: SHA-256 of what is stored of it. */
    password_mark: string;
  }>;
  /**
   * Whether the account may be signed in to, and the password that was right still is: a session that began while that changed must not outlive the change.
   * `password_mark` is undefined for who gave none.
   */
  stillHolds(id: string, password_mark: string | undefined): Promise<boolean>;
  /** Undefined for an account that is disabled, as for one that is not there. */
  findUser(id: string): Promise<UserInfo | undefined>;
  /** Everybody who may use the support desk, and may sign in. */
  staff(): Promise<UserInfo[]>;
  /** Ids of accounts whose name or address contains the words; so many at most. */
  matching(words: string): Promise<string[]>;
  /** `email` as `emailSchema` makes it: trimmed, in lower case. */
  findUserByEmail(email: string): Promise<UserInfo | undefined>;
  /** Those of the ids that are accounts, in any order. */
  findUsers(ids: readonly string[]): Promise<UserInfo[]>;
  /** The ids of all administrators who may sign in. */
  administrators(): Promise<string[]>;
  /** Who becomes the first administrator: nobody any more, the first account, or an address of ADMIN_EMAILS that was proved. `isHere`: who asks could make the first one. */
  administrator(isHere: boolean): Promise<AdministratorBy>;
  /** Whether anybody else has an account. */
  hasOthers(id: string): Promise<boolean>;
  findAccount(id: string): Promise<Account | undefined>;
  /** Since when somebody is of the staff; null for a customer, and where nobody knows. */
  staffSince(id: string): Promise<string | null>;
  /** How an account stands; `common_password` is whether its password is one of those that attackers try first, undefined when that is not known. */
  standing(id: string): Promise<{ common_password: boolean | undefined; is_admin: boolean; created_at: string }>;
  /** By email, username or id, in any case. */
  findPerson(words: string): Promise<UserInfo | undefined>;
}

export function createAuth(parts: {
  database: Kysely<AuthTables & InstallationTables & AuditTables>;
  audit: Audit;
  passwords: Passwords;
  exposure: Exposure;
  admin_emails: readonly string[];
  /** Told of a registration in public exposure, and whether it made an account: an email that has one already makes none. Nobody waits for what it does. */
  onRegistered: (email: string, isNew: boolean) => void;
  now: () => number;
}): Auth {
  const { database, audit, passwords, exposure, admin_emails, onRegistered, now } = parts;
  const columns = ['id', 'username', 'email', 'role'] as const;
  // What an unknown email's password is compared with, so that it takes as long as a known one's.
  let isAdministered = false;
  const nobodysHash = hashPassword(randomBytes(16).toString('hex'));

  async function hasAdministrator(): Promise<boolean> {
    // An installation does not lose its last one.
    isAdministered ||=
      exposure === 'local' && (await readFact(database.$pickTables<'installation'>(), FIRST_ADMIN)) !== undefined;
    isAdministered ||=
      (await database.selectFrom('users').select('id').where('role', '=', 'admin').limit(1).executeTakeFirst()) !== undefined;
    return isAdministered;
  }

  async function disabledAccount(): Promise<Problem> {
    const { support } = await readProvider(database.$pickTables<'installation'>());
    const contact = [support.phone, shownEmail(support.email)].filter((part) => part !== '').join(' or ');
    return new Problem(
      'account_disabled',
      contact === '' ? {} : { detail: `This account is disabled. Ask support: ${contact}.` },
    );
  }

  type NewAccount = Omit<
    Insertable<AuthTables['users']>,
    'role' | 'disabled_at' | 'email_proven_at' | 'admin_by_email_at' | 'staff_since'
  >;

  async function requireFreeName(username: string): Promise<void> {
    const { username_key, username_skeleton } = usernameColumns(username);
    const taken = await database
      .selectFrom('users')
      .select('username_key')
      .where(({ or, eb }) => or([eb('username_key', '=', username_key), eb('username_skeleton', '=', username_skeleton)]))
      .executeTakeFirst();
    if (taken !== undefined) throw nameTaken(taken.username_key === username_key);
  }

  /** In local exposure: the administrator is whoever came first, and an email that is known is told. */
  async function registerHere(account: NewAccount, origin: Origin, not_first: string | undefined): Promise<UserInfo> {
    const { id, email, created_at } = account;
    const isNamed = admin_emails.includes(email);
    // A server that was public before has its administrators, and nobody who came first.
    const isFirst = !(await hasAdministrator());
    if (not_first !== undefined && (isNamed || isFirst)) throw new Problem('forbidden', { detail: not_first });
    return await database.transaction().execute(async (transaction) => {
      // The primary key decides who of two at once is first.
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
      await recordRegistration(transaction, id, origin);
      return user;
    });
  }

  /** In public exposure: an email that is known is answered as one that is not, after as much work, and its owner is told by mail. */
  async function registerUnseen(account: NewAccount, origin: Origin): Promise<UserInfo> {
    const { id, email, username } = account;
    const isNew = await database.transaction().execute(async (transaction) => {
      const made = await transaction
        .insertInto('users')
        .values({ ...account, role: 'customer' })
        .onConflict((conflict) => conflict.column('email').doNothing())
        .returning('id')
        .executeTakeFirst();
      if (made !== undefined) {
        await recordRegistration(transaction, id, origin);
        return true;
      }
      // A write as well, so that the disk is waited for.
      await transaction
        .updateTable('users')
        .set(({ ref }) => ({ role: ref('role') }))
        .where('email', '=', email)
        .execute();
      return false;
    });
    onRegistered(email, isNew);
    return { id, username, email, role: 'customer' };
  }

  async function recordRegistration(transaction: typeof database, id: string, origin: Origin): Promise<void> {
    const entry = { kind: 'account_registered', subject_id: id, actor_id: id, origin } as const;
    await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), entry);
  }

  /** Stores the hash of the form that is hashed now; answers the one that is stored, of two sign-ins at once the first one's. */
  async function renewed(id: string, before: string, password: string): Promise<string> {
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
    // Another password meanwhile: this one is worth nothing more.
    return (await matchPassword(password_hash, password)) === undefined ? before : password_hash;
  }

  return {
    async register({ email, username: given, password }, origin, not_first) {
      const username = storedUsername(given);
      // A name that is taken is told whatever the email: it is known by being seen, and says nothing of the email.
      if (exposure === 'public') await requireFreeName(username);
      const stored = await passwords.stored(password, { field: 'password', person: { username, email } });
      const account = { id: newId(), email, ...usernameColumns(username), ...stored, created_at: new Date(now()).toISOString() };
      try {
        return exposure === 'public' ? await registerUnseen(account, origin) : await registerHere(account, origin, not_first);
      } catch (error) {
        if (isUniqueViolation(error, 'email')) throw new Problem('email_taken');
        throw usernameRefusal(error);
      }
    },

    async authenticate({ email, password }) {
      const user = await database
        .selectFrom('users')
        .select([...columns, 'password_hash', 'common_password', 'disabled_at'])
        .where('email', '=', email)
        .executeTakeFirst();
      const password_hash = user?.password_hash ?? (await nobodysHash);
      const match = await matchPassword(password_hash, password);
      if (user === undefined || match === undefined) throw new Problem('invalid_credentials');
      const { password_hash: _hash, common_password, disabled_at, ...user_info } = user;
      // Only who knows the password learns of it.
      if (disabled_at !== null) throw await disabledAccount();
      if (common_password === null) {
        const isCommon = await passwords.isCommon(password, user);
        await database
          .updateTable('users')
          .set({ common_password: isCommon ? 1 : 0 })
          .where('id', '=', user.id)
          .where('password_hash', '=', password_hash)
          .execute();
      }
      return {
        user_info,
        password_mark: markOf(match === 'old' ? await renewed(user.id, password_hash, password) : password_hash),
      };
    },

    async stillHolds(id, password_mark) {
      // Read by being written, so that a change under way is waited for: it ends the sessions that it sees, and this one might not be among them.
      const current = await database
        .updateTable('users')
        .set(({ ref }) => ({ role: ref('role') }))
        .where('id', '=', id)
        .returning(['password_hash', 'disabled_at'])
        .executeTakeFirst();
      if (current === undefined || current.disabled_at !== null) return false;
      return password_mark === undefined || markOf(current.password_hash) === password_mark;
    },

    findUser: (id) =>
      database.selectFrom('users').select(columns).where('id', '=', id).where('disabled_at', 'is', null).executeTakeFirst(),

    findUserByEmail: (email) => database.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst(),

    async findUsers(ids) {
      return await inBatches([...new Set(ids)], (batch) =>
        database.selectFrom('users').select(columns).where('id', 'in', batch).execute(),
      );
    },

    staff: () =>
      database
        .selectFrom('users')
        .select(columns)
        .where('role', 'in', ['support', 'admin'])
        .where('disabled_at', 'is', null)
        .orderBy(nameOrderOf('username'))
        .execute(),

    async matching(words) {
      const rows = await database
        .selectFrom('users')
        .select('id')
        .where(containing(words, ['username', 'email']))
        .orderBy('id')
        .limit(MATCHING_MAXIMUM)
        .execute();
      return rows.map(({ id }) => id);
    },

    async administrators() {
      const rows = await database
        .selectFrom('users')
        .select('id')
        .where('role', '=', 'admin')
        .where('disabled_at', 'is', null)
        .orderBy('id')
        .execute();
      return rows.map(({ id }) => id);
    },

    async administrator(isHere) {
      if (await hasAdministrator()) return 'there';
      if (exposure === 'public') return 'named_email';
      return isHere ? 'first_account' : 'first_account_on_machine';
    },

    async hasOthers(id) {
      const other = await database.selectFrom('users').select('id').where('id', '!=', id).limit(1).executeTakeFirst();
      return other !== undefined;
    },

    findAccount: (id) =>
      database
        .selectFrom('users')
        .select([...columns, 'created_at'])
        .where('id', '=', id)
        .executeTakeFirst(),

    async staffSince(id) {
      const row = await database.selectFrom('users').select('staff_since').where('id', '=', id).executeTakeFirst();
      return row?.staff_since ?? null;
    },

    async standing(id) {
      const { common_password, role, created_at } = await database
        .selectFrom('users')
        .select(['common_password', 'role', 'created_at'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const is_common = common_password === null ? undefined : common_password === 1;
      return { common_password: is_common, is_admin: may.administrate({ role }), created_at };
    },

    async findPerson(words) {
      const query = database.selectFrom('users').select(columns).limit(1);
      return await query
        .where(({ or, eb }) =>
          or([
            eb('email', '=', canonicalEmail(words) ?? ''),
            eb('username_key', '=', usernameKey(words)),
            eb('id', '=', words.toLowerCase()),
          ]),
        )
        .executeTakeFirst();
    },
  };
}
