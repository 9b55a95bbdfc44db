import type { Account } from '@palisade/contract/auth';
import type { Exposure } from '@palisade/contract/platform';
import type { Kysely } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import { invalidField, Problem } from '#platform/problem.ts';
import type { Sessions, SessionTables } from '#platform/session.ts';
import type { AuthTables } from './auth.tables.ts';
import { usernameKey } from './auth.ts';
import { isPassword, storedPassword } from './password.ts';
import { passwordNotice } from './recovery.ts';
import { endSignIns } from './sign-in-challenges.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

/** What a person changes about their own account. */
export interface Accounts {
  /** @throws Problem `username_taken`. */
  changeUsername(user_id: string, username: string): Promise<Account>;
  /**
   * Sets a new password and ends every session but the one that asks.
   * @throws Problem `invalid_field` for a wrong current password or a common new one, `conflict` when it was changed meanwhile.
   */
  changePassword(change: { user_id: string; session_id: string; current_password: string; new_password: string }): Promise<void>;
  endOtherSessions(user_id: string, session_id: string): Promise<void>;
}

export function createAccounts(parts: {
  database: Kysely<AuthTables & TwoFactorTables & SessionTables & MailTables & InstallationTables>;
  sessions: Pick<Sessions, 'endAll' | 'refresh'>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  exposure: Exposure;
}): Accounts {
  const { database, sessions, mail, exposure } = parts;

  return {
    async changeUsername(user_id, username) {
      try {
        const account = await database
          .updateTable('users')
          .set({ username, username_key: usernameKey(username) })
          .where('id', '=', user_id)
          .returning(['id', 'username', 'email', 'role', 'created_at'])
          .executeTakeFirst();
        if (account === undefined) throw new Problem('unauthenticated');
        return account;
      } catch (error) {
        if (isUniqueViolation(error, 'username_key')) throw new Problem('username_taken');
        throw error;
      } finally {
        sessions.refresh(user_id);
      }
    },

    async changePassword({ user_id, session_id, current_password, new_password }) {
      const user = await database
        .selectFrom('users')
        .select(['email', 'username', 'password_hash'])
        .where('id', '=', user_id)
        .executeTakeFirst();
      if (user === undefined) throw new Problem('unauthenticated');
      if (!(await isPassword(user.password_hash, current_password)))
        throw invalidField('current_password', 'This is not your current password.');
      const stored = await storedPassword(new_password, { field: 'new_password', exposure });
      await database.transaction().execute(async (transaction) => {
        const changed = await transaction
          .updateTable('users')
          .set(stored)
          .where('id', '=', user_id)
          .where('password_hash', '=', user.password_hash)
          .returning('id')
          .executeTakeFirst();
        if (changed === undefined) throw new Problem('conflict');
        // A reset that was asked for before must not undo the change.
        await transaction.deleteFrom('reset_tokens').where('user_id', '=', user_id).execute();
        await endSignIns(transaction.$pickTables<'sign_in_challenges'>(), user_id);
        await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), passwordNotice(user));
        await sessions.endAll(transaction.$pickTables<'sessions'>(), user_id, session_id);
      });
      mail.wake();
    },

    endOtherSessions: (user_id, session_id) => sessions.endAll(database.$pickTables<'sessions'>(), user_id, session_id),
  };
}
