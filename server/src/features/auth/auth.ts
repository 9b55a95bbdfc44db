import { createHash, randomBytes } from 'node:crypto';
import type { Account, UserInfo } from '@palisade/contract/auth';
import type { Exposure } from '@palisade/contract/platform';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inBatches } from '#platform/batches.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { claimFact, type InstallationTables, readProvider } from '#platform/installation.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { AuthTables } from './auth.tables.ts';
import { hashPassword, isPassword, type Passwords } from './password.ts';

/** The fact that says who became administrator by coming first. */
export const FIRST_ADMIN = 'first_admin';

/** The username in the form in which two are the same. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').toLowerCase();
}

function markOf(password_hash: string): string {
  return createHash('sha256').update(password_hash).digest('hex');
}

export interface Auth {
  /** @throws Problem `email_taken`, `username_taken`. */
  register(account: { email: string; username: string; password: string }, origin: Origin): Promise<UserInfo>;
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
  /** `email` as `emailSchema` makes it: trimmed, in lower case. */
  findUserByEmail(email: string): Promise<UserInfo | undefined>;
  /** Those of the ids that are accounts, in any order. */
  findUsers(ids: readonly string[]): Promise<UserInfo[]>;
  /** The ids of all administrators who may sign in. */
  administrators(): Promise<string[]>;
  findAccount(id: string): Promise<Account | undefined>;
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
  /** Has an address of `admin_emails`, which has just registered in public exposure, asked to prove itself: only then it is an administrator's. */
  proveEmail: (email: string) => void;
  now: () => number;
}): Auth {
  const { database, audit, passwords, exposure, admin_emails, proveEmail, now } = parts;
  const columns = ['id', 'username', 'email', 'role'] as const;
  // What an unknown email's password is compared with, so that it takes as long as a known one's.
  const nobodysHash = hashPassword(randomBytes(16).toString('hex'));

  async function disabledAccount(): Promise<Problem> {
    const { support } = await readProvider(database.$pickTables<'installation'>());
    const contact = [support.phone, support.email].filter((part) => part !== '').join(' or ');
    return new Problem(
      'account_disabled',
      contact === '' ? {} : { detail: `This account is disabled. Ask support: ${contact}.` },
    );
  }

  return {
    async register({ email, username, password }, origin) {
      const stored = await passwords.stored(password, { field: 'password', person: { username, email } });
      const id = newId();
      try {
        const registered = await database.transaction().execute(async (transaction): Promise<UserInfo> => {
          const user = await transaction
            .insertInto('users')
            .values({
              id,
              email,
              username,
              username_key: usernameKey(username),
              ...stored,
              role: 'customer',
              created_at: new Date(now()).toISOString(),
            })
            .returning([...columns, 'created_at'])
            .executeTakeFirstOrThrow();
          // The primary key decides who of two at once is first; the administrator of a local installation is whoever came first.
          const isAdministrator =
            exposure === 'local' &&
            ((await claimFact(transaction.$pickTables<'installation'>(), FIRST_ADMIN, id)) || admin_emails.includes(email));
          const role = isAdministrator ? ('admin' as const) : user.role;
          if (isAdministrator)
            await transaction.updateTable('users').set({ role, email_proven_at: user.created_at }).where('id', '=', id).execute();
          const entry = { kind: 'account_registered', subject_id: id, actor_id: id, origin } as const;
          await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), entry);
          return { ...user, role };
        });
        if (exposure === 'public' && admin_emails.includes(email)) proveEmail(email);
        return registered;
      } catch (error) {
        if (isUniqueViolation(error, 'email')) throw new Problem('email_taken');
        if (isUniqueViolation(error, 'username_key')) throw new Problem('username_taken');
        throw error;
      }
    },

    async authenticate({ email, password }) {
      const user = await database
        .selectFrom('users')
        .select([...columns, 'password_hash', 'common_password', 'disabled_at'])
        .where('email', '=', email)
        .executeTakeFirst();
      const password_hash = user?.password_hash ?? (await nobodysHash);
      const right = await isPassword(password_hash, password);
      if (user === undefined || !right) throw new Problem('invalid_credentials');
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
      return { user_info, password_mark: markOf(password_hash) };
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

    findAccount: (id) =>
      database
        .selectFrom('users')
        .select([...columns, 'created_at'])
        .where('id', '=', id)
        .executeTakeFirst(),

    async standing(id) {
      const { common_password, role, created_at } = await database
        .selectFrom('users')
        .select(['common_password', 'role', 'created_at'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const is_common = common_password === null ? undefined : common_password === 1;
      return { common_password: is_common, is_admin: role === 'admin', created_at };
    },

    async findPerson(words) {
      const query = database.selectFrom('users').select(columns).limit(1);
      return await query
        .where(({ or, eb }) =>
          or([
            eb('email', '=', words.toLowerCase()),
            eb('username_key', '=', usernameKey(words)),
            eb('id', '=', words.toLowerCase()),
          ]),
        )
        .executeTakeFirst();
    },
  };
}
