import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { AuditTables } from '#platform/audit.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { SessionTables } from '#platform/session.ts';
import type { AuthTables } from './auth.tables.ts';
import { accountKey } from './sign-in.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = AuthTables & TwoFactorTables & SessionTables & MailTables & InstallationTables & AuditTables;

export interface Recipient {
  id: string;
  email: string;
  username: string;
}

/** Letters that anyone can have written to an address, by knowing it: each kind is bounded for itself, so that none uses up another. */
type AskedKind = 'reset' | 'username' | 'registration' | 'proof';

/**
 * Bounds those letters for each address. `source` is the asking source, where it is known. Answers the ms until there may be another one, or undefined when there
 * may be.
 */
export interface LetterGuard {
  letter(asked: { kind: AskedKind; account: string; source: string | undefined }): Promise<{ wait_ms: number } | undefined>;
}

interface Asked {
  kind: AskedKind;
  email: string;
  source: string | undefined;
}

export interface AskedMail {
  /** Whether a letter of this kind may go to an address now, which counts it: undefined, or the ms until it may. */
  take(asked: Asked): Promise<{ wait_ms: number } | undefined>;
  /**
   * Writes to a known email after the answer has gone out, so that neither the answer nor its time reveals which email is known, nor whether it has had as many
   * letters as it may.
   */
  afterwards(asked: Asked, write: (transaction: Kysely<Tables>, user: Recipient) => Promise<void>): void;
  queue(transaction: Kysely<Tables>, letter: Omit<Parameters<Mail['queue']>[1], 'asked'>): Promise<void>;
  wake(): void;
  close(): Promise<void>;
}

/** When the work behind an answer that tells nothing begins, in ms after it: long enough for the answer to be out, and never the same. */
const AFTERWARDS_MS = { least: 50, most: 250 } as const;

export function createAskedMail(parts: {
  database: Kysely<Tables>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  guard: LetterGuard;
  logger: FastifyBaseLogger;
  /** Waits so many ms. */
  pause?: (ms: number) => Promise<unknown>;
}): AskedMail {
  const { database, mail, guard, logger, pause = sleep } = parts;
  const underway = new Set<Promise<void>>();
  const take = ({ kind, email, source }: Asked) => guard.letter({ kind, account: accountKey(email), source });

  return {
    take,

    afterwards(asked, write) {
      const work = async () => {
        await pause(randomInt(AFTERWARDS_MS.least, AFTERWARDS_MS.most));
        const user = await database
          .selectFrom('users')
          .select(['id', 'email', 'username'])
          .where('email', '=', asked.email)
          .executeTakeFirst();
        if (user === undefined || (await take(asked)) !== undefined) return;
        await inTransaction(database, (transaction) => write(transaction, user));
        mail.wake();
      };
      const done = work()
        .catch((error: unknown) => logger.error({ err: error }, 'a mail that was asked for could not be written'))
        .finally(() => underway.delete(done));
      underway.add(done);
    },

    queue: (transaction, letter) => mail.queue(transaction.$pickTables<'mails' | 'installation'>(), { ...letter, asked: true }),

    wake: mail.wake,

    async close() {
      await Promise.all(underway);
    },
  };
}
