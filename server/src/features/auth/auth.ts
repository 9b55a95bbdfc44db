import { randomBytes } from 'node:crypto';
import type { Account, UserInfo } from '@palisade/contract/auth';
import type { Exposure } from '@palisade/contract/platform';
import type { Kysely } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { claimFact, type InstallationTables } from '#platform/installation.ts';
import { Problem } from '#platform/problem.ts';
import type { AuthTables } from './auth.tables.ts';
import { isCommonPassword } from './common-passwords.ts';
import { hashPassword, isPassword, storedPassword } from './password.ts';

const FIRST_ADMIN = 'first_admin';

/** The username in the form in which two are the same. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').toLowerCase();
}

export interface Auth {
  /** @throws Problem `email_taken`, `username_taken`. */
  register(account: { email: string; username: string; password: string }): Promise<UserInfo>;
  /** @throws Problem `invalid_credentials`, after the same time for known and unknown emails. */
  authenticate(credentials: { email: string; password: string }): Promise<{
    user_info: UserInfo;
    /** Whether the password that was right still is: a session that began while it was changed must not outlive the change. */
    stillHolds(): Promise<boolean>;
  }>;
  findUser(id: string): Promise<UserInfo | undefined>;
  /** `email` as `emailSchema` makes it: trimmed, in lower case. */
  findUserByEmail(email: string): Promise<UserInfo | undefined>;
  /** Those of the ids that are accounts, in any order. */
  findUsers(ids: readonly string[]): Promise<UserInfo[]>;
  findAccount(id: string): Promise<Account | undefined>;
  /** Whether the password of an account is one of those that attackers try first; undefined when that is not known. */
  hasCommonPassword(id: string): Promise<boolean | undefined>;
}

export function createAuth(parts: {
  database: Kysely<AuthTables & InstallationTables>;
  exposure: Exposure;
  admin_emails: readonly string[];
  now: () => number;
}): Auth {
  const { database, exposure, admin_emails, now } = parts;
  const columns = ['id', 'username', 'email', 'role'] as const;
  // What an unknown email's password is compared with, so that it takes as long as a known one's.
  const nobodysHash = hashPassword(randomBytes(16).toString('hex'));

  return {
    async register({ email, username, password }) {
      const stored = await storedPassword(password, { field: 'password', exposure });
      const id = newId();
      try {
        return await database.transaction().execute(async (transaction) => {
          const user = await transaction
            .insertInto('users')
            .values({
              id,
              email,
              username,
              username_key: usernameKey(username),
              ...stored,
              role: exposure === 'public' && admin_emails.includes(email) ? 'admin' : 'customer',
              created_at: new Date(now()).toISOString(),
            })
            .returning(columns)
            .executeTakeFirstOrThrow();
          if (exposure === 'public') return user;
          // The primary key decides who of two at once is first; the administrator of a local installation is whoever came first.
          const isFirst = await claimFact(transaction.$pickTables<'installation'>(), FIRST_ADMIN, id);
          if (!isFirst && !admin_emails.includes(email)) return user;
          return await transaction
            .updateTable('users')
            .set({ role: 'admin' })
            .where('id', '=', id)
            .returning(columns)
            .executeTakeFirstOrThrow();
        });
      } catch (error) {
        if (isUniqueViolation(error, 'email')) throw new Problem('email_taken');
        if (isUniqueViolation(error, 'username_key')) throw new Problem('username_taken');
        throw error;
      }
    },

    async authenticate({ email, password }) {
      const user = await database
        .selectFrom('users')
        .select([...columns, 'password_hash', 'common_password'])
        .where('email', '=', email)
        .executeTakeFirst();
      const password_hash = user?.password_hash ?? (await nobodysHash);
      const right = await isPassword(password_hash, password);
      if (user === undefined || !right) throw new Problem('invalid_credentials');
      const { password_hash: _hash, common_password, ...user_info } = user;
      if (common_password === null) {
        await database
          .updateTable('users')
          .set({ common_password: isCommonPassword(password) ? 1 : 0 })
          .where('id', '=', user.id)
          .where('password_hash', '=', password_hash)
          .execute();
      }
      return {
        user_info,
        async stillHolds() {
          // Written, not read: a change that is under way holds the row, and is waited for.
          const unchanged = await database
            .updateTable('users')
            .set({ password_hash })
            .where('id', '=', user.id)
            .where('password_hash', '=', password_hash)
            .returning('id')
            .executeTakeFirst();
          return unchanged !== undefined;
        },
      };
    },

    findUser: (id) => database.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst(),

    findUserByEmail: (email) => database.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst(),

    async findUsers(ids) {
      if (ids.length === 0) return [];
      return await database
        .selectFrom('users')
        .select(columns)
        .where('id', 'in', [...new Set(ids)])
        .execute();
    },
    findAccount: (id) =>
      database
        .selectFrom('users')
        .select([...columns, 'created_at'])
        .where('id', '=', id)
        .executeTakeFirst(),

    async hasCommonPassword(id) {
      const user = await database.selectFrom('users').select('common_password').where('id', '=', id).executeTakeFirst();
      return user?.common_password === null || user === undefined ? undefined : user.common_password === 1;
    },
  };
}
