import type { Kysely } from 'kysely';
import type { AuthTables } from '#features/auth/auth.tables.ts';
import { accountKey } from '#features/auth/sign-in.ts';
import type { Counters } from '#platform/counters.ts';
import type { Limits } from '#platform/limits.ts';
import type { Mail } from '#platform/mail.ts';

/** Mails as features see them. */
export type RestrainedMail = Pick<Mail, keyof Mail>;

/**
 * Drops letters that their recipient did not ask for, when the address is not proved or has had too many; the screens show the same news. A letter that was
 * asked for is bounded by the code that queues it.
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
