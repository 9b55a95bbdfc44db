import { PROOF_TOKEN_LIFETIME_S } from '@palisade/contract/auth';
import { formatSpan } from '@palisade/contract/intl';
import type { Exposure } from '@palisade/contract/platform';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { Sessions, SessionTables } from '#platform/session.ts';
import { findToken, issueToken, takeToken } from './account-tokens.ts';
import type { AskedMail, Recipient } from './asked-mail.ts';
import { refuseField, refuseFor } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';
import { newProofCode, readProofCode } from './proof-code.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = AuthTables & TwoFactorTables & SessionTables & MailTables & InstallationTables & AuditTables;
type Entry = Parameters<Audit['record']>[1];

interface EmailProofsOptions {
  database: Kysely<Tables>;
  audit: Audit;
  sessions: Pick<Sessions, 'endAll' | 'refresh'>;
  askedMail: AskedMail;
  public_url: string | undefined;
  exposure: Exposure;
  /** Addresses that become administrators in public exposure, once proved. */
  admin_emails: readonly string[];
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** Undefined if the address was proved before. */
async function noteProof(
  now: () => number,
  transaction: Kysely<Tables>,
  user: Recipient,
  origin: Origin,
): Promise<Entry | undefined> {
  const proven = await transaction
    .updateTable('users')
    .set({ email_proven_at: at(now) })
    .where('id', '=', user.id)
    .where('email_proven_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return proven && { kind: 'email_proven', subject_id: user.id, actor_id: user.id, origin };
}

/** Proofs that mails to an account's address reach its person. Required only in public exposure, where the owner of an address is unknown until then. */
export class EmailProofs {
  private readonly database: Kysely<Tables>;
  private readonly audit: Audit;
  private readonly sessions: Pick<Sessions, 'endAll' | 'refresh'>;
  private readonly askedMail: AskedMail;
  private readonly public_url: string | undefined;
  private readonly admin_emails: readonly string[];
  private readonly now: () => number;
  /** Whether people must prove their address on this server. */
  readonly isAsked: boolean;

  constructor(options: EmailProofsOptions) {
    this.database = options.database;
    this.audit = options.audit;
    this.sessions = options.sessions;
    this.askedMail = options.askedMail;
    this.public_url = options.public_url;
    this.admin_emails = options.admin_emails;
    this.now = options.now;
    this.isAsked = options.exposure === 'public';
  }

  private async write(transaction: Kysely<Tables>, user: Recipient): Promise<void> {
    const token = await issueToken(transaction.$pickTables<'account_tokens'>(), {
      user_id: user.id,
      purpose: 'proof',
      is_mailed: true,
      lifetime_s: PROOF_TOKEN_LIFETIME_S,
      now: this.now(),
      make: newProofCode,
    });
    if (token === undefined) return;
    const page = this.public_url === undefined ? [] : [new URL(`/confirm-email#${token}`, this.public_url).href];
    await this.askedMail.queue(transaction, {
      recipient: user.email,
      subject: 'Confirm your email address',
      priority: 'proof',
      lines: [
        'Hello,',
        'An account was created with this address. If it’s yours, sign in and enter this code:',
        token,
        ...(page.length > 0 ? ['Or open this link:', ...page] : []),
        `It works once and expires in ${formatSpan(PROOF_TOKEN_LIFETIME_S / 3_600, 'hour')}.`,
        'If it wasn’t you, ignore this email. No one can use your address without this code. To take over the account, choose “Forgot Password?” on the sign-in screen.',
      ],
    });
  }

  /** Makes the owner of an ADMIN_EMAILS address an administrator. This happens once: a role that was removed later is not restored. */
  private async promote(transaction: Kysely<Tables>, user: Recipient, origin: Origin): Promise<Entry[]> {
    if (!this.admin_emails.includes(user.email)) return [];
    const { role: from } = await transaction
      .selectFrom('users')
      .select('role')
      .where('id', '=', user.id)
      .executeTakeFirstOrThrow();
    const promoted = await transaction
      .updateTable('users')
      .set(({ fn, val }) => ({
        admin_by_email_at: at(this.now),
        role: 'admin',
        staff_since: fn.coalesce('staff_since', val(at(this.now))),
      }))
      .where('id', '=', user.id)
      .where('admin_by_email_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (promoted === undefined || from === 'admin') return [];
    return [{ kind: 'role_changed', subject_id: user.id, actor_id: user.id, origin, details: { from, to: 'admin' } }];
  }

  private async record(transaction: Kysely<Tables>, entries: readonly (Entry | undefined)[]): Promise<void> {
    const tables = transaction.$pickTables<'audit_entries' | 'audit_head'>();
    for (const entry of entries) if (entry !== undefined) await this.audit.record(tables, entry);
  }

  /** Whether an unrequested letter may be sent to an address: not to one that an account has not proved. */
  async mayHear(from: Kysely<Pick<AuthTables, 'users'>>, email: string): Promise<boolean> {
    if (!this.isAsked) return true;
    const user = await from.selectFrom('users').select('email_proven_at').where('email', '=', email).executeTakeFirst();
    return user === undefined || user.email_proven_at !== null;
  }

  /** Whether a person has still to prove their address. */
  async isUnproven(user_id: string): Promise<boolean> {
    if (!this.isAsked) return false;
    const user = await this.database.selectFrom('users').select('email_proven_at').where('id', '=', user_id).executeTakeFirst();
    return user !== undefined && user.email_proven_at === null;
  }

  /** Mails a token to an address that has just registered. Returns at once. */
  mail(email: string): void {
    if (!this.isAsked) return;
    this.askedMail.afterwards({ kind: 'proof', email, source: undefined }, async (transaction, user) => {
      // Proved in the meantime.
      if (await this.mayHear(transaction.$pickTables<'users'>(), email)) return;
      await this.write(transaction, user);
    });
  }

  /** Mails another token to a signed-in person, if they need one. @throws Problem `too_many_requests`. */
  async mailAgain(user_id: string): Promise<void> {
    const user = await this.database
      .selectFrom('users')
      .select(['id', 'email', 'username', 'email_proven_at'])
      .where('id', '=', user_id)
      .executeTakeFirst();
    if (user === undefined) throw new Problem('unauthenticated');
    if (!this.isAsked || user.email_proven_at !== null) return;
    const full = await this.askedMail.take({ kind: 'proof', email: user.email, source: undefined });
    if (full !== undefined) throw refuseFor(full.wait_ms, 'confirmation.too_many_emails');
    await inTransaction(this.database, (transaction) => this.write(transaction, user));
    this.askedMail.wake();
  }

  /**
   * Proves the address of the signed-in person with a token that was mailed to it. Other sessions of the account end, because they did not prove the address. @throws
   * Problem `invalid_field` for an invalid token, or another account's.
   */
  async prove(
    typed: string,
    { user_id, session_id, origin }: { user_id: string; session_id: string; origin: Origin },
  ): Promise<void> {
    const token = readProofCode(typed);
    const found = await findToken(this.database.$pickTables<'account_tokens'>(), { token, purpose: 'proof', now: this.now() });
    if (found?.user_id !== user_id) throw refuseField('token', 'confirmation.wrong_code');
    await inTransaction(this.database, async (transaction) => {
      const user = await transaction
        .updateTable('users')
        .set(({ ref }) => ({ role: ref('role') }))
        .where('id', '=', user_id)
        .returning(['id', 'email', 'username'])
        .executeTakeFirst();
      if (user === undefined) throw new Problem('unauthenticated');
      if (!(await takeToken(transaction.$pickTables<'account_tokens'>(), { token, user_id })))
        throw refuseField('token', 'confirmation.wrong_code');
      const proven = await noteProof(this.now, transaction, user, origin);
      await this.sessions.endAll(transaction.$pickTables<'sessions'>(), user_id, session_id);
      await this.record(transaction, [proven, ...(await this.promote(transaction, user, origin))]);
    });
    this.sessions.refresh(user_id);
  }

  /**
   * Records, in `transaction`, that a person used a mailed token: they read the address's mail, but may not be the person who registered it. Unless the address was proved
   * before, all other ways to sign in are therefore removed. The caller ends the sessions. Returns the entries for the audit log.
   */
  async proveByReset(transaction: Kysely<Tables>, user: Recipient, origin: Origin): Promise<Entry[]> {
    if (!this.isAsked) return [];
    const entries: Entry[] = [];
    const proven = await noteProof(this.now, transaction, user, origin);
    if (proven !== undefined) {
      entries.push(proven);
      const removed = [];
      for (const table of ['totp', 'passkeys', 'recovery_codes', 'passkey_challenges'] as const)
        removed.push(...(await transaction.deleteFrom(table).where('user_id', '=', user.id).returning('user_id').execute()));
      if (removed.length > 0) entries.push({ kind: 'two_factor_disabled', subject_id: user.id, actor_id: user.id, origin });
    }
    return [...entries, ...(await this.promote(transaction, user, origin))];
  }
}

export function createEmailProofs(options: EmailProofsOptions): EmailProofs {
  return new EmailProofs(options);
}
