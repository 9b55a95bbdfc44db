import type { AuditKind } from '@palisade/contract/audit';
import type { Account } from '@palisade/contract/auth';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { SessionRecord, Sessions, SessionTables } from '#platform/session.ts';
import { describeUserAgent } from '#platform/user-agent.ts';
import type { AuthTables } from './auth.tables.ts';
import { adviceOf, type Passwords } from './password.ts';
import { passwordNotice } from './recovery.ts';
import type { RequirePassword } from './require-password.ts';
import { endSignIns } from './sign-in-challenges.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';
import { storedUsername, usernameColumns, usernameRefusal } from './username.ts';

/** A person's changes to their own account. */
export interface Accounts {
  /** @throws Problem `username_taken`, `invalid_field`. */
  changeUsername(user_id: string, username: string, origin: Origin): Promise<Account>;
  /**
   * Sets a new password and ends every session but the requesting one. @throws Problem `invalid_field` for a wrong current password or a common new one, `conflict` when it
   * was changed meanwhile.
   */
  changePassword(change: {
    user_id: string;
    session_id: string;
    current_password: string;
    new_password: string;
    origin: Origin;
  }): Promise<{ common_password?: true }>;
  signOut(user_id: string, session_id: string, origin: Origin): Promise<void>;
  /** Does not check the password: call `RequirePassword` before. */
  endSession(session: SessionRecord, origin: Origin): Promise<void>;
  endOtherSessions(user_id: string, session_id: string, origin: Origin): Promise<void>;
}

export function createAccounts(parts: {
  database: Kysely<AuthTables & TwoFactorTables & SessionTables & MailTables & InstallationTables & AuditTables>;
  audit: Audit;
  passwords: Pick<Passwords, 'stored'>;
  requirePassword: RequirePassword;
  sessions: Pick<Sessions, 'endOne' | 'endAll' | 'refresh'>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  isUnproven: (user_id: string) => Promise<boolean>;
}): Accounts {
  const { database, audit, passwords, requirePassword, sessions, mail, isUnproven } = parts;

  /** Records a person's own change in the audit log, in its transaction. */
  const record = (
    transaction: typeof database,
    kind: AuditKind,
    user_id: string,
    origin: Origin,
    details: Record<string, string | null> = {},
  ) =>
    audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
      kind,
      subject_id: user_id,
      actor_id: user_id,
      origin,
      details,
    });

  async function end(
    kind: AuditKind,
    session: Pick<SessionRecord, 'id' | 'user_id'>,
    origin: Origin,
    details = {},
  ): Promise<void> {
    await inTransaction(database, async (transaction) => {
      await sessions.endOne(transaction.$pickTables<'sessions'>(), session.id);
      await record(transaction, kind, session.user_id, origin, details);
    });
  }

  return {
    async changeUsername(user_id, given, origin) {
      const username = storedUsername(given);
      try {
        return await inTransaction(database, async (transaction) => {
          const account = await transaction
            .updateTable('users')
            .set(usernameColumns(username))
            .where('id', '=', user_id)
            .returning(['id', 'username', 'email', 'role', 'created_at'])
            .executeTakeFirst();
          if (account === undefined) throw new Problem('unauthenticated');
          await record(transaction, 'username_changed', user_id, origin, { username });
          return account;
        });
      } catch (error) {
        throw usernameRefusal(error);
      } finally {
        sessions.refresh(user_id);
      }
    },

    async changePassword({ user_id, session_id, current_password, new_password, origin }) {
      const password_hash = await requirePassword(user_id, { password: current_password, field: 'current_password' }, origin);
      const user = await database
        .selectFrom('users')
        .select(['email', 'username', 'role'])
        .where('id', '=', user_id)
        .executeTakeFirst();
      if (user === undefined) throw new Problem('unauthenticated');
      const stored = await passwords.stored(new_password, { field: 'new_password', person: user });
      const is_unproven = await isUnproven(user_id);
      await inTransaction(database, async (transaction) => {
        const changed = await transaction
          .updateTable('users')
          .set(stored)
          .where('id', '=', user_id)
          .where('password_hash', '=', password_hash)
          .returning('id')
          .executeTakeFirst();
        if (changed === undefined) throw new Problem('conflict');
        // An earlier reset token must not undo the change. But while the address is unproved, its owner may have the mailed tokens, and the person who changes the password may be another.
        let over = transaction.deleteFrom('account_tokens').where('user_id', '=', user_id).where('purpose', '=', 'reset');
        if (is_unproven) over = over.where('is_mailed', '=', 0);
        await over.execute();
        await endSignIns(transaction.$pickTables<'sign_in_challenges'>(), user_id);
        await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), passwordNotice(user));
        await sessions.endAll(transaction.$pickTables<'sessions'>(), user_id, session_id);
        await record(transaction, 'password_changed', user_id, origin);
      });
      mail.wake();
      return adviceOf(stored);
    },

    signOut: (user_id, session_id, origin) => end('signed_out', { id: session_id, user_id }, origin),

    endSession: (session, origin) =>
      end('session_ended', session, origin, { session: describeUserAgent(session.user_agent), from: session.source }),

    async endOtherSessions(user_id, session_id, origin) {
      await inTransaction(database, async (transaction) => {
        await sessions.endAll(transaction.$pickTables<'sessions'>(), user_id, session_id);
        await record(transaction, 'other_sessions_ended', user_id, origin);
      });
    },
  };
}
