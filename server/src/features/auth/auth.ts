import { createHash, randomBytes } from 'node:crypto';
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

function markOf(password_hash: string): string {
  return createHash('sha256').update(password_hash).digest('hex');
}

export interface Auth {
  /** @throws Problem `email_taken`, `username_taken`. */
  register(account: { email: string; username: string; password: string }): Promise<UserInfo>;
  /** @throws Problem `invalid_credentials`, after the same time for known and unknown emails. */
  authenticate(credentials: { email: string; password: string }): Promise<{
    user_info: UserInfo;
    /** Stands for the password that was right: SHA-256 of what is stored of it. */
    password_mark: string;
  }>;
  /** Whether the password that was right still is: a session that began while it was changed must not outlive the change. */
  stillHolds(id: string, password_mark: string): Promise<boolean>;
  findUser(id: string): Promise<UserInfo | undefined>;
  /** `email` as `emailSchema` makes it: trimmed, in lower case. */
  findUserByEmail(email: string): Promise<UserInfo | undefined>;
  /** Those of the ids that are accounts, in any order. */
  findUsers(ids: readonly string[]): Promise<UserInfo[]>;
  findAccount(id: string): Promise<Account | undefined>;
  /** How an account stands; `common_password` is whether its password is one of those that attackers try first, undefined when that is not known. */
  standing(id: string): Promise<{ common_password: boolean | undefined; is_admin: boolean; created_at: string }>;
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
      return { user_info, password_mark: markOf(password_hash) };
    },

    async stillHolds(id, password_mark) {
      const current = await database.selectFrom('users').select('password_hash').where('id', '=', id).executeTakeFirst();
      return current !== undefined && markOf(current.password_hash) === password_mark;
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

    async standing(id) {
      const { common_password, role, created_at } = await database
        .selectFrom('users')
        .select(['common_password', 'role', 'created_at'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const is_common = common_password === null ? undefined : common_password === 1;
      return { common_password: is_common, is_admin: role === 'admin', created_at };
    },
  };
}
