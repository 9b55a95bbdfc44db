import { createHash, randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { RESET_TOKEN_LIFETIME_S } from '@palisade/contract/auth';
import type { Exposure } from '@palisade/contract/platform';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { invalidField, Problem } from '#platform/problem.ts';
import type { Sessions, SessionTables } from '#platform/session.ts';
import type { AuthTables } from './auth.tables.ts';
import type { Passwords } from './password.ts';
import { endSignIns } from './sign-in-challenges.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

const TOKEN_BYTES = 32;
/** When the work behind an answer that tells nothing begins, in ms after it: long enough for the answer to be out, and never the same. */
const AFTERWARDS_MS = { least: 50, most: 250 } as const;
const UNKNOWN_EMAIL = 'No account has this email. Check it, or create an account.';
const WORTHLESS_TOKEN = 'This reset token is wrong, has expired, or was used already. Ask for a new one.';

type Tables = AuthTables & TwoFactorTables & SessionTables & MailTables & InstallationTables & AuditTables;

/** What is told the machine itself, in place of a mail. */
export interface Recovery {
  /** A new reset token of 256 random bits, base64url; it voids the one before it. @throws Problem `not_found` for an unknown email. */
  issueToken(email: string): Promise<string>;
  /** @throws Problem `not_found` for an unknown email. */
  usernameOf(email: string): Promise<string>;
  /** Mails a token, or the username, to a known email. Returns at once and the same for every email; the work is done after the answer. */
  mailToken(email: string): void;
  mailUsername(email: string): void;
  /** Mails a token to an address that becomes an administrator's once the token was used. */
  mailProof(email: string): void;
  /** Sets a new password with a token, once, and ends every session of the account. @throws Problem `invalid_field` for a token that is worth nothing. */
  reset(reset_token: string, new_password: string, origin: Origin): Promise<void>;
  close(): Promise<void>;
}

interface Recipient {
  id: string;
  email: string;
  username: string;
}

export function createRecovery(parts: {
  database: Kysely<Tables>;
  audit: Audit;
  passwords: Pick<Passwords, 'stored'>;
  sessions: Pick<Sessions, 'endAll'>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  /** Where people open the application; undefined when it is not known. */
  public_url: string | undefined;
  exposure: Exposure;
  /** Who becomes an administrator in public exposure, once mails have proved to reach them. */
  admin_emails: readonly string[];
  now: () => number;
  logger: FastifyBaseLogger;
}): Recovery {
  const { database, audit, passwords, sessions, mail, public_url, exposure, admin_emails, now, logger } = parts;
  const at = (offset_s = 0) => new Date(now() + offset_s * 1_000).toISOString();
  const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
  const underway = new Set<Promise<void>>();

  const findByEmail = (email: string): Promise<Recipient | undefined> =>
    database.selectFrom('users').select(['id', 'email', 'username']).where('email', '=', email).executeTakeFirst();

  async function requireByEmail(email: string): Promise<Recipient> {
    const user = await findByEmail(email);
    if (user === undefined) throw new Problem('not_found', { detail: UNKNOWN_EMAIL });
    return user;
  }

  async function storeToken(transaction: Kysely<Tables>, user_id: string): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const row = { token_hash: hashOf(token), created_at: at(), expires_at: at(RESET_TOKEN_LIFETIME_S), used_at: null };
    // One row for each account: of two at once the later one stands, and the other is gone.
    await transaction
      .insertInto('reset_tokens')
      .values({ user_id, ...row })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
      .execute();
    return token;
  }

  /** Writes to a known email after the answer has gone out, so that nobody learns from the answer, or from its time, which email is known. */
  function afterwards(email: string, write: (transaction: Transaction<Tables>, user: Recipient) => Promise<void>): void {
    const work = async () => {
      await pause(randomInt(AFTERWARDS_MS.least, AFTERWARDS_MS.most));
      const user = await findByEmail(email);
      if (user === undefined) return;
      await database.transaction().execute((transaction) => write(transaction, user));
      mail.wake();
    };
    const done = work()
      .catch((error: unknown) => logger.error({ err: error }, 'a recovery mail could not be written'))
      .finally(() => underway.delete(done));
    underway.add(done);
  }

  /** A token that was used came by mail, so mails to the address reach its person. That counts once: a role that was taken away later stays so. Answers what the audit log is to say of it. */
  async function proveEmail(transaction: Kysely<Tables>, user: Recipient, origin: Origin) {
    if (exposure !== 'public' || !admin_emails.includes(user.email)) return undefined;
    const { role: from } = await transaction
      .selectFrom('users')
      .select('role')
      .where('id', '=', user.id)
      .executeTakeFirstOrThrow();
    const proven = await transaction
      .updateTable('users')
      .set({ email_proven_at: at(), role: 'admin' })
      .where('id', '=', user.id)
      .where('email_proven_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (proven === undefined) return undefined;
    // Whoever registered the address need not be whom it belongs to: what they could sign in with goes.
    for (const table of ['totp', 'passkeys', 'recovery_codes'] as const)
      await transaction.deleteFrom(table).where('user_id', '=', user.id).execute();
    const details = { from, to: 'admin' };
    return { kind: 'role_changed', subject_id: user.id, actor_id: user.id, origin, details } as const;
  }

  const resetPage = public_url === undefined ? [] : [new URL('/?mode=reset-password', public_url).href];

  return {
    async issueToken(email) {
      const user = await requireByEmail(email);
      return await storeToken(database, user.id);
    },

    async usernameOf(email) {
      return (await requireByEmail(email)).username;
    },

    mailToken(email) {
      afterwards(email, async (transaction, user) => {
        const token = await storeToken(transaction, user.id);
        await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), {
          recipient: user.email,
          subject: 'reset your password',
          priority: 'proof',
          lines: [
            `Hello ${user.username},`,
            `somebody, we hope you, asked for a new password for your account. This is your reset token. It works once, within ${RESET_TOKEN_LIFETIME_S / 60} minutes:`,
            token,
            ...(resetPage.length > 0 ? ['Enter it here with your new password:', ...resetPage] : []),
            'If you did not ask for it, ignore this mail: your password stays as it is.',
          ],
        });
      });
    },

    mailUsername(email) {
      afterwards(email, async (transaction, user) => {
        await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), {
          recipient: user.email,
          subject: 'your username',
          priority: 'proof',
          lines: [
            'Hello,',
            'somebody, we hope you, asked for the username of your account. It is:',
            user.username,
            'You sign in with this email and your password.',
          ],
        });
      });
    },

    mailProof(email) {
      afterwards(email, async (transaction, user) => {
        const token = await storeToken(transaction, user.id);
        await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), {
          recipient: user.email,
          subject: 'prove that you are the administrator',
          priority: 'proof',
          lines: [
            `Hello ${user.username},`,
            'this address is to be an administrator of this installation, and somebody, we hope you, has just registered with it. To prove that it is yours, use this token as a reset token and set your password with it:',
            token,
            ...(resetPage.length > 0 ? ['Enter it here:', ...resetPage] : []),
            `It works once, within ${RESET_TOKEN_LIFETIME_S / 60} minutes. "Forgot Password?" gets you another one.`,
            'If it was not you who registered, do the same: the account becomes yours, and whoever registered is signed out.',
          ],
        });
      });
    },

    async reset(reset_token, new_password, origin) {
      const token_hash = hashOf(reset_token);
      const person = await database
        .selectFrom('reset_tokens')
        .innerJoin('users', 'users.id', 'reset_tokens.user_id')
        .select(['username', 'email'])
        .where('token_hash', '=', token_hash)
        .where('used_at', 'is', null)
        .where('expires_at', '>', at())
        .executeTakeFirst();
      // Asked first, so that a stranger's guess does not cost a password hash; the claim below decides.
      if (person === undefined) throw invalidField('reset_token', WORTHLESS_TOKEN);
      const stored = await passwords.stored(new_password, { field: 'new_password', person });
      await database.transaction().execute(async (transaction) => {
        const claimed = await transaction
          .updateTable('reset_tokens')
          .set({ used_at: at() })
          .where('token_hash', '=', token_hash)
          .where('used_at', 'is', null)
          .where('expires_at', '>', at())
          .returning('user_id')
          .executeTakeFirst();
        if (claimed === undefined) throw invalidField('reset_token', WORTHLESS_TOKEN);
        const user = await transaction
          .updateTable('users')
          .set(stored)
          .where('id', '=', claimed.user_id)
          .returning(['id', 'email', 'username'])
          .executeTakeFirstOrThrow();
        await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), passwordNotice(user));
        await endSignIns(transaction.$pickTables<'sign_in_challenges'>(), user.id);
        await sessions.endAll(transaction.$pickTables<'sessions'>(), user.id);
        const promoted = await proveEmail(transaction, user, origin);
        const auditTables = transaction.$pickTables<'audit_entries' | 'audit_head'>();
        await audit.record(auditTables, { kind: 'password_reset', subject_id: user.id, actor_id: user.id, origin });
        if (promoted !== undefined) await audit.record(auditTables, promoted);
      });
      mail.wake();
    },

    async close() {
      await Promise.all(underway);
    },
  };
}

/** The letter after a password was changed in any way: whoever did not do it learns of it. */
export function passwordNotice({ email, username }: { email: string; username: string }) {
  return {
    recipient: email,
    subject: 'your password was changed',
    lines: [
      `Hello ${username},`,
      'the password of your account was changed, and every other sign-in to it has ended.',
      'If this was not you, reset your password at once and tell support.',
    ],
  };
}
