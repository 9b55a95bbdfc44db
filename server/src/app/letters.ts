import type { Kysely } from 'kysely';
import type { AuthTables } from '#features/auth/auth.tables.ts';
import { accountKey } from '#features/auth/sign-in.ts';
import type { Counters } from '#platform/counters.ts';
import type { Limits } from '#platform/limits.ts';
import type { Mail } from '#platform/mail.ts';

/** The mail interface that features get. */
export type RestrainedMail = Pick<Mail, keyof Mail>;

/**
 * Drops mails that the recipient did not request if the address is not verified or has received too many; the screens show the same news. Requested
 * mails are limited by the code that queues them.
 */
export function restrainMail(
  mail: Mail,
  parts: {
    mayHear: (database: Kysely<Pick<AuthTables, 'users'>>, email: string) => Promise<boolean>;
    counters: Counters;
    limits: Limits;
  },
): RestrainedMail {
  const { mayHear, counters, limits } = parts;
  return {
    async queue(transaction, letter) {
      if (!letter.asked) {
        const users = transaction.$extendTables<Pick<AuthTables, 'users'>>().$pickTables<'users'>();
        if (!(await mayHear(users, letter.recipient))) return;
        const full = await counters.take([{ key: `letters:${accountKey(letter.recipient)}`, rate: limits.letters }]);
        if (full !== undefined) return;
      }
      await mail.queue(transaction, letter);
    },
    queueAll: (transaction, letters) => mail.queueAll(transaction, letters),
    wake: () => mail.wake(),
    list: (page) => mail.list(page),
    sender: () => mail.sender(),
    passOn: (id) => mail.passOn(id),
    countUnsent: () => mail.countUnsent(),
    countLate: () => mail.countLate(),
    forgetOld: () => mail.forgetOld(),
    forgetRecipient: (transaction, recipient) => mail.forgetRecipient(transaction, recipient),
    close: () => mail.close(),
  };
}
