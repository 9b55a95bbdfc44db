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

/** Letters that anyone who knows an address can trigger: each kind has its own limit, so that none uses up another. */
type AskedKind = 'reset' | 'username' | 'registration' | 'proof';

/** Limits those letters per address. `source` is the requesting source, if known. Returns the ms until another one is allowed, or undefined if one is allowed now. */
export interface LetterGuard {
  letter(asked: { kind: AskedKind; account: string; source: string | undefined }): Promise<{ wait_ms: number } | undefined>;
}

interface Asked {
  kind: AskedKind;
  email: string;
  source: string | undefined;
}

export interface AskedMail {
  /** Counts a letter of this kind if it may be sent now: undefined, or the ms until it may. */
  take(asked: Asked): Promise<{ wait_ms: number } | undefined>;
  /** Writes to a known email after the answer was sent, so that neither the answer nor its time reveals which emails are known, or whether a limit was reached. */
  afterwards(asked: Asked, write: (transaction: Kysely<Tables>, user: Recipient) => Promise<void>): void;
  queue(transaction: Kysely<Tables>, letter: Omit<Parameters<Mail['queue']>[1], 'asked'>): Promise<void>;
  wake(): void;
  close(): Promise<void>;
}

/** Delay of work after an answer that must reveal nothing, in ms: random, and long enough for the answer to be sent. */
const AFTERWARDS_MS = { least: 50, most: 250 } as const;

export function createAskedMail(parts: {
  database: Kysely<Tables>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  guard: LetterGuard;
  logger: FastifyBaseLogger;
  /** Waits for this many ms. */
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
