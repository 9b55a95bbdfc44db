import { RESET_TOKEN_LIFETIME_S } from '@palisade/contract/auth';
import { formatSpan } from '@palisade/contract/intl';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { Sessions, SessionTables } from '#platform/session.ts';
import { findToken, issueToken, takeToken } from './account-tokens.ts';
import type { AskedMail, Recipient } from './asked-mail.ts';
import { refuse, refuseField } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';
import type { EmailProofs } from './email-proof.ts';
import { adviceOf, type Passwords } from './password.ts';
import { endSignIns } from './sign-in-challenges.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = AuthTables & TwoFactorTables & SessionTables & MailTables & InstallationTables & AuditTables;

/** An email, and the source of a request about it. */
interface Asked {
  email: string;
  source: string;
}

interface RecoveryOptions {
  database: Kysely<Tables>;
  audit: Audit;
  passwords: Pick<Passwords, 'stored'>;
  sessions: Pick<Sessions, 'endAll' | 'refresh'>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  askedMail: AskedMail;
  emailProofs: Pick<EmailProofs, 'proveByReset' | 'mayHear'>;
  /** The address at which people open the application; undefined when it is not known. */
  public_url: string | undefined;
  now: () => number;
}

async function requireByEmail(database: Kysely<Tables>, email: string): Promise<Recipient> {
  const user = await database
    .selectFrom('users')
    .select(['id', 'email', 'username'])
    .where('email', '=', email)
    .executeTakeFirst();
  if (user === undefined) throw refuse('recovery.unknown_email');
  return user;
}

const newToken = (now: () => number, transaction: Kysely<Tables>, user_id: string, is_mailed: boolean) =>
  issueToken(transaction.$pickTables<'account_tokens'>(), {
    user_id,
    is_mailed,
    purpose: 'reset',
    lifetime_s: RESET_TOKEN_LIFETIME_S,
    now: now(),
  });

export class Recovery {
  private readonly options: RecoveryOptions;

  constructor(options: RecoveryOptions) {
    this.options = options;
  }

  private pageOf(mode: string) {
    return this.options.public_url === undefined ? [] : [new URL(`/?mode=${mode}`, this.options.public_url).href];
  }

  /** Creates a reset token, returned to the machine itself in place of a mail. Earlier ones stay valid until one is used. @throws Problem `not_found` for an unknown email. */
  async answerToken(email: string): Promise<string> {
    const user = await requireByEmail(this.options.database, email);
    const token = await inTransaction(this.options.database, (transaction) =>
      newToken(this.options.now, transaction, user.id, false),
    );
    if (token === undefined) throw new Problem('internal');
    return token;
  }

  /** @throws Problem `not_found` for an unknown email. */
  async usernameOf(email: string): Promise<string> {
    return (await requireByEmail(this.options.database, email)).username;
  }

  /** Mails a token, or the username, to a known email. Returns at once with the same result for every email; the work is done after the answer. */
  mailToken(asked: Asked): void {
    this.options.askedMail.afterwards({ kind: 'reset', ...asked }, async (transaction, user) => {
      const token = await newToken(this.options.now, transaction, user.id, true);
      if (token === undefined) return;
      await this.options.askedMail.queue(transaction, {
        recipient: user.email,
        subject: 'Reset your password',
        priority: 'proof',
        lines: [
          'Hello,',
          `Here is your password reset token. It works once and expires in ${formatSpan(RESET_TOKEN_LIFETIME_S / 60, 'minute')}:`,
          token,
          ...(this.options.public_url === undefined
            ? []
            : ['Enter it with your new password here:', ...this.pageOf('reset-password')]),
          'Don’t share it. Support never asks for it. If you didn’t request it, ignore this email. Your password stays the same.',
        ],
      });
    });
  }

  mailUsername(asked: Asked): void {
    this.options.askedMail.afterwards({ kind: 'username', ...asked }, async (transaction, user) => {
      // Until the address is proved, another person may have chosen the name, as a text to be mailed.
      const isProven = await this.options.emailProofs.mayHear(transaction.$pickTables<'users'>(), user.email);
      await this.options.askedMail.queue(transaction, {
        recipient: user.email,
        subject: 'Your username',
        priority: 'proof',
        lines: isProven
          ? [
              'Hello,',
              'You asked for your username. It is:',
              shownUsername(user.username),
              'Sign in with this email and your password.',
            ]
          : [
              'Hello,',
              'You asked for your username. This address isn’t confirmed yet, so we can’t email it.',
              'Sign in with this email and your password to see your username. Use “Forgot Password?” to set a new password.',
            ],
      });
    });
  }

  /** Mails the owner of a known email that someone tried to register with it. Returns at once. */
  mailRegistration(email: string): void {
    this.options.askedMail.afterwards({ kind: 'registration', email, source: undefined }, async (transaction, user) => {
      await this.options.askedMail.queue(transaction, {
        recipient: user.email,
        subject: 'You already have an account',
        priority: 'proof',
        lines: [
          'Hello,',
          'Someone tried to create an account with this address. You already have one, and nothing has changed.',
          'If it was you, sign in with this email, or choose “Forgot Password?” to set a new password.',
          ...this.pageOf('login'),
          'If it wasn’t you, ignore this email. We didn’t tell them that you have an account.',
        ],
      });
    });
  }

  /** Sets a new password with a token, once, and ends every session and every other token of the account. @throws Problem `invalid_field` for an invalid token. */
  async reset(reset_token: string, new_password: string, origin: Origin): Promise<{ common_password?: true }> {
    const token = { token: reset_token, purpose: 'reset' as const };
    // An early check, so that a stranger's guess does not cost a password hash; the claim below decides.
    const found = await findToken(this.options.database.$pickTables<'account_tokens'>(), { ...token, now: this.options.now() });
    if (found === undefined) throw refuseField('reset_token', 'recovery.wrong_token');
    const { user_id, is_mailed } = found;
    const person = await this.options.database
      .selectFrom('users')
      .select(['username', 'email', 'role'])
      .where('id', '=', user_id)
      .executeTakeFirst();
    if (person === undefined) throw refuseField('reset_token', 'recovery.wrong_token');
    const stored = await this.options.passwords.stored(new_password, { field: 'new_password', person });
    await inTransaction(this.options.database, async (transaction) => {
      const user = await transaction
        .updateTable('users')
        .set(stored)
        .where('id', '=', user_id)
        .returning(['id', 'email', 'username'])
        .executeTakeFirst();
      // Lock the account's row first: of several concurrent uses, of whichever token, the later ones find theirs removed.
      if (user === undefined || !(await takeToken(transaction.$pickTables<'account_tokens'>(), { token: reset_token, user_id })))
        throw refuseField('reset_token', 'recovery.wrong_token');
      const entries = is_mailed ? await this.options.emailProofs.proveByReset(transaction, user, origin) : [];
      await this.options.mail.queue(transaction.$pickTables<'mails' | 'installation'>(), passwordNotice(user));
      await endSignIns(transaction.$pickTables<'sign_in_challenges'>(), user_id);
      await this.options.sessions.endAll(transaction.$pickTables<'sessions'>(), user_id);
      const auditTables = transaction.$pickTables<'audit_entries' | 'audit_head'>();
      await this.options.audit.record(auditTables, { kind: 'password_reset', subject_id: user_id, actor_id: user_id, origin });
      for (const entry of entries) await this.options.audit.record(auditTables, entry);
    });
    this.options.sessions.refresh(user_id);
    this.options.mail.wake();
    return adviceOf(stored);
  }
}

export function createRecovery(options: RecoveryOptions): Recovery {
  return new Recovery(options);
}

/** A username from before names were validated may hold characters that a mail must not contain. */
function shownUsername(username: string): string {
  return username.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '');
}

/** The letter after a password was changed in any way, which warns an owner who did not do it. */
export function passwordNotice({ email }: { email: string }) {
  return {
    recipient: email,
    subject: 'Your password was changed',
    lines: [
      'Hello,',
      'Your password was changed, and you were signed out everywhere else.',
      'If this wasn’t you, reset your password now and contact support.',
    ],
  };
}
