import type { UserInfo } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import type { Exposure } from '@palisade/contract/platform';
import { type Kysely, sql } from 'kysely';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { isSqlite } from '#platform/database.ts';
import { troubleOf } from '#platform/database-errors.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import { Problem } from '#platform/problem.ts';
import type { Sessions, SessionTables } from '#platform/session.ts';
import { refuse, refuseField } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';
import { FIRST_ADMIN } from './auth.ts';
import { requireAnotherAdministrator } from './users.ts';

type Tables = AuthTables & SessionTables & MailTables & InstallationTables & AuditTables;

/** Deletes a feature's data about a person that the database does not cascade, as part of a transaction. Returns the work for after the commit. */
type Forget = (database: Kysely<Tables>, user_id: string, email: string) => Promise<() => Promise<void>>;

/** Deletion of accounts. */
export interface AccountDeletion {
  /** Deletes an account and everything in it. The audit log keeps ids, kinds and times. @throws Problem `last_admin`, and `unauthenticated` when it was already deleted. */
  remove(user: UserInfo): Promise<void>;
  /** Deletion by an administrator of an account with an unproved address. @throws Problem `not_found`, `conflict` for a proved one, `last_admin`. */
  removeUnproven(user_id: string, by: Doer): Promise<void>;
  /**
   * Deletion by a re-authenticated administrator of another person's account. @throws Problem `not_found`, `conflict` for one's own, `last_admin`, and `invalid_field` when
   * `email` is not that of the account.
   */
  removeAs(user_id: string, email: string, by: Doer): Promise<void>;
  /** Deletes a customer's account that never proved its address, for the address's owner who was invited, as part of the caller's transaction. Returns the work for after the commit. */
  clearAddress(transaction: Kysely<Tables>, email: string, by: Doer): Promise<(() => Promise<void>)[]>;
}

/** A deletion by another person: the condition for it, and whether the owner gets a mail. */
interface Other {
  by: Doer;
  /** @throws a Problem for an account that they may not delete. */
  check: (user: { email: string; email_proven_at: string | null }) => void;
  is_untold?: true;
}

const TRIES = 5;

export function createAccountDeletion(parts: {
  database: Kysely<Tables>;
  audit: Audit;
  sessions: Pick<Sessions, 'endWithAccount'>;
  mail: Pick<Mail, 'queue' | 'wake' | 'forgetRecipient'>;
  forget: readonly Forget[];
  exposure: Exposure;
  now: () => number;
}): AccountDeletion {
  const { database, audit, sessions, mail, forget, exposure, now } = parts;

  async function removeIn(
    transaction: Kysely<Tables>,
    user_id: string,
    other: Other | undefined,
  ): Promise<(() => Promise<void>)[]> {
    const at = new Date(now()).toISOString();
    // Lock the row first, as a deletion does: an inserted row that references it (a finding of detection) would otherwise hold it, and wait for the rows deleted here.
    if (!isSqlite(transaction)) await sql`select id from users where id = ${user_id} for update`.execute(transaction);
    // The update locks the row, so that the role cannot change meanwhile.
    const user = await transaction
      .updateTable('users')
      .set(({ ref }) => ({ role: ref('role') }))
      .where('id', '=', user_id)
      .returning(['email', 'role', 'disabled_at', 'email_proven_at'])
      .executeTakeFirst();
    if (user === undefined) throw other ? refuse('account.gone') : new Problem('unauthenticated');
    other?.check(user);
    if (may.administrate(user) && user.disabled_at === null)
      await requireAnotherAdministrator(transaction.$pickTables<'users' | 'account_tokens' | 'installation'>(), user_id, at);

    const tellEnd = await sessions.endWithAccount(transaction.$pickTables<'sessions'>(), user_id);
    const rest = [async () => tellEnd()];
    for (const forgetIn of forget) rest.push(await forgetIn(transaction, user_id, user.email));
    // It stays known that there was a first administrator, but not who.
    await transaction
      .updateTable('installation')
      .set({ value: '' })
      .where('name', '=', FIRST_ADMIN)
      .where('value', '=', user_id)
      .execute();
    await mail.forgetRecipient(transaction.$pickTables<'mails'>(), user.email);
    if (!other?.is_untold)
      await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), farewellLetter(user, other !== undefined));
    await transaction.deleteFrom('invitations').where('email', '=', user.email).execute();
    await transaction.deleteFrom('users').where('id', '=', user_id).execute();

    const auditTables = transaction.$pickTables<'audit_entries' | 'audit_head'>();
    await audit.record(auditTables, { kind: 'account_deleted', subject_id: user_id, actor_id: user_id, ...other?.by });
    await audit.forget(auditTables, user_id);
    return rest;
  }

  /** A deletion over many tables can collide with a write for the same person: the transaction is then rolled back and retried. */
  async function removeAgain(user_id: string, other: Other | undefined, tries = TRIES): Promise<(() => Promise<void>)[]> {
    try {
      return await inTransaction(database, (transaction) => removeIn(transaction, user_id, other));
    } catch (error) {
      if (tries <= 1 || troubleOf(error) !== 'collision') throw error;
      return await removeAgain(user_id, other, tries - 1);
    }
  }

  async function removeNow(user_id: string, other?: Other): Promise<void> {
    const rest = await removeAgain(user_id, other);
    mail.wake();
    for (const finish of rest) await finish();
  }

  return {
    remove: ({ id }) => removeNow(id),
    removeUnproven: (user_id, by) =>
      removeNow(user_id, {
        by,
        check({ email_proven_at }) {
          if (exposure === 'local' || email_proven_at !== null) throw refuse('account.email_confirmed');
        },
      }),
    async clearAddress(transaction, email, by) {
      const unproven = await transaction
        .selectFrom('users')
        .select('id')
        .where('email', '=', email)
        .where('email_proven_at', 'is', null)
        .where('role', '=', 'customer')
        .executeTakeFirst();
      if (unproven === undefined) return [];
      return await removeIn(transaction, unproven.id, {
        by,
        is_untold: true,
        check({ email_proven_at }) {
          if (email_proven_at !== null) throw new Problem('email_taken');
        },
      });
    },
    async removeAs(user_id, email, by) {
      if (user_id === by.actor_id) throw refuse('account.is_own');
      await removeNow(user_id, {
        by,
        check(user) {
          if (user.email !== email) throw refuseField('confirmation', 'account.other_email');
        },
      });
    },
  };
}

function farewellLetter({ email }: { email: string }, isByOther: boolean) {
  const letter = { recipient: email, subject: 'Your account is deleted', leaves_no_trace: true } as const;
  if (isByOther)
    return {
      ...letter,
      lines: [
        'Hello,',
        'An administrator deleted your account, including your files, rules, alerts, conversations, and plan. This is our last email to you.',
        'If you don’t know why, contact support. Deleted data can’t be restored.',
      ],
    };
  return {
    ...letter,
    lines: [
      'Hello,',
      'Your account and everything in it was deleted at your request. This is our last email to you.',
      'If you didn’t request this, contact support. We can’t restore the data, but we can investigate.',
    ],
  };
}
