import { createHash, randomBytes } from 'node:crypto';
import type { PageQuery } from '@palisade/contract/fields';
import { formatSpan } from '@palisade/contract/intl';
import { INVITATION_DAYS, type Invitation } from '@palisade/contract/invitation';
import { may } from '@palisade/contract/may';
import type { Exposure } from '@palisade/contract/platform';
import { shownEmail } from '@palisade/contract/shown-email';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { SessionTables } from '#platform/session.ts';
import type { AccountDeletion } from './account-deletion.ts';
import { refuse, refuseField } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';
import { adviceOf, type Passwords } from './password.ts';
import { storedUsername, usernameColumns, usernameRefusal } from './username.ts';

const TOKEN_BYTES = 32;
const DAY_MS = 86_400_000;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const columns = [
  'invitations.id',
  'invitations.email',
  'invitations.role',
  'invitations.created_at',
  'invitations.expires_at',
] as const;

type Tables = AuthTables & SessionTables & MailTables & InstallationTables & AuditTables;

interface InvitationsOptions {
  database: Kysely<Tables>;
  audit: Audit;
  passwords: Passwords;
  accountDeletion: Pick<AccountDeletion, 'clearAddress'>;
  exposure: Exposure;
  mail: Pick<Mail, 'queue' | 'wake'>;
  public_url: string | undefined;
  now: () => number;
}

/** Invitations whose author is still an administrator: one who is deleted, disabled or demoted cannot invite. */
const valid = (database: Kysely<Tables>, at: string) =>
  database
    .selectFrom('invitations')
    .innerJoin('users as maker', 'maker.id', 'invitations.invited_by')
    .where('maker.role', '=', 'admin')
    .where('maker.disabled_at', 'is', null)
    .where('expires_at', '>', at);

/** Invitations by mail: a link that works once, for `INVITATION_DAYS`, and creates an account with a confirmed address. */
export class Invitations {
  private readonly options: InvitationsOptions;

  constructor(options: InvitationsOptions) {
    this.options = options;
  }

  /** @throws Problem `conflict` for an address that has an account. */
  async invite({ email, role }: { email: string; role: 'customer' | 'support' }, by: Doer): Promise<Invitation> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const now = this.options.now();
    const row = {
      id: newId(),
      email,
      role,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + INVITATION_DAYS * DAY_MS).toISOString(),
    };
    await inTransaction(this.options.database, async (transaction) => {
      const user = await transaction
        .selectFrom('users')
        .select(['role', 'email_proven_at'])
        .where('email', '=', email)
        .executeTakeFirst();
      // Staff accounts belong to their people. In public exposure anybody may have registered another's address. In local exposure addresses are never proved, and an
      // account is its person's.
      const is_claimed =
        user !== undefined && !may.joinSessions(user) && user.email_proven_at === null && this.options.exposure === 'public';
      if (user !== undefined && !is_claimed) throw refuse('invitation.has_account', { email: shownEmail(email) });
      await transaction.deleteFrom('invitations').where('expires_at', '<=', row.created_at).execute();
      const sent = { ...row, token_hash: hashOf(token), invited_by: by.actor_id };
      await transaction
        .insertInto('invitations')
        .values(sent)
        .onConflict((conflict) => conflict.column('email').doUpdateSet(sent))
        .execute();
      // The audit log names no address, because it outlives the person's other data.
      const entry = { kind: 'person_invited', subject_id: by.actor_id, details: { role } } as const;
      await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), { ...entry, ...by });
      await this.options.mail.queue(transaction.$pickTables<'mails' | 'installation'>(), {
        recipient: email,
        subject: 'you are invited',
        priority: 'proof',
        lines: [
          'Hello,',
          'you are invited to create an account here. Choose a username and a password on this page:',
          this.options.public_url === undefined
            ? `/invitation#${token}`
            : new URL(`/invitation#${token}`, this.options.public_url).href,
          ...(this.options.public_url === undefined ? ['Put the address of this server in front of it.'] : []),
          `The link works once, within ${formatSpan(INVITATION_DAYS, 'day')}.`,
          'If you did not expect this invitation, ignore this email.',
        ],
      });
    });
    this.options.mail.wake();
    return row;
  }

  /** The valid invitations, newest first. */
  async list({ limit, cursor }: PageQuery): Promise<Invitation[]> {
    let query = valid(this.options.database, new Date(this.options.now()).toISOString())
      .select(columns)
      .orderBy('invitations.id', 'desc')
      .limit(limit);
    if (cursor !== undefined) query = query.where('invitations.id', '<', cursor);
    return await query.execute();
  }

  /** @throws Problem `not_found` for one that was accepted, withdrawn or replaced. */
  async withdraw(id: string): Promise<void> {
    const gone = await this.options.database.deleteFrom('invitations').where('id', '=', id).returning('id').executeTakeFirst();
    if (gone === undefined) throw refuse('invitation.used');
  }

  /**
   * Creates the account of an invitation, once. It replaces an account that another person registered with the address and never proved. @throws Problem `invalid_field` for
   * an invalid token, `email_taken`, `username_taken`.
   */
  async accept(
    { token, username: given, password }: { token: string; username: string; password: string },
    origin: Origin,
  ): Promise<{ email: string; common_password?: true }> {
    const token_hash = hashOf(token);
    const at = new Date(this.options.now()).toISOString();
    const find = (database: Kysely<Tables>) =>
      valid(database, at)
        .select(['invitations.email', 'invitations.role', 'maker.id as maker_id'])
        .where('token_hash', '=', token_hash)
        .executeTakeFirst();
    const found = await find(this.options.database);
    // An early check, so that a guess costs no password hash; the deletion below decides.
    if (found === undefined) throw refuseField('token', 'invitation.expired');
    const { email } = found;
    const username = storedUsername(given);
    const stored = await this.options.passwords.stored(password, {
      field: 'password',
      person: { username, email, role: found.role },
    });
    const id = newId();
    try {
      const rest = await inTransaction(this.options.database, async (transaction) => {
        const used = await find(transaction);
        const taken = await transaction
          .deleteFrom('invitations')
          .where('token_hash', '=', token_hash)
          .returning('id')
          .executeTakeFirst();
        if (used === undefined || taken === undefined) throw refuseField('token', 'invitation.expired');
        const clear = await this.options.accountDeletion.clearAddress(transaction, email, { actor_id: used.maker_id, origin });
        await transaction
          .insertInto('users')
          .values({
            id,
            email,
            ...usernameColumns(username),
            ...stored,
            role: used.role,
            created_at: at,
            // The token was mailed to this address.
            email_proven_at: at,
            staff_since: may.joinSessions(used) ? at : null,
          })
          .execute();
        const entry = { kind: 'account_registered', subject_id: id, actor_id: id, origin } as const;
        await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), entry);
        return clear;
      });
      for (const finish of rest) await finish();
    } catch (error) {
      if (isUniqueViolation(error, 'email')) throw new Problem('email_taken');
      throw usernameRefusal(error);
    }
    return { email, ...adviceOf(stored) };
  }
}
