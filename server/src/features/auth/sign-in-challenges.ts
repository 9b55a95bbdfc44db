import { createHash, randomBytes } from 'node:crypto';
import { SIGN_IN_CHALLENGE_LIFETIME_S } from '@palisade/contract/two-factor';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { Problem } from '#platform/problem.ts';
import { isRefusedFactor } from './second-factors.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = Pick<TwoFactorTables, 'sign_in_challenges'>;

/** A person with a verified password. */
interface Waiting {
  user_id: string;
  /** SHA-256 of the stored hash of the verified password. */
  password_mark: string;
  browser_id: string | null;
}

/** State between the two steps of signing in. */
export interface SignInChallenges {
  /** 256 random bits, base64url; only the hash is stored. */
  issue(waiting: Waiting): Promise<string>;
  /** The person of a challenge, without consuming it. @throws Problem `sign_in_expired`. */
  find(challenge: string): Promise<Waiting>;
  /**
   * Runs work that checks a second factor, as one of the tries of a challenge. Only a refused one counts. @throws Problem `sign_in_expired`, also after too many, and the
   * work's own errors.
   */
  attempt(challenge: string, work: () => Promise<void>): Promise<void>;
  /** Ends a challenge, as part of a transaction. @throws Problem `sign_in_expired` when it has ended meanwhile. */
  end(database: Kysely<Tables>, challenge: string): Promise<void>;
}

const CHALLENGE_BYTES = 32;
const TRIES_MAXIMUM = 5;

const hashOf = (challenge: string) => createHash('sha256').update(challenge).digest('hex');

/** Ends all half-finished sign-ins of a person, as part of a transaction: their password has changed. */
export async function endSignIns(transaction: Kysely<Tables>, user_id: string): Promise<void> {
  await transaction.deleteFrom('sign_in_challenges').where('user_id', '=', user_id).execute();
}

export function createSignInChallenges(parts: {
  database: Kysely<Tables>;
  now: () => number;
  logger: FastifyBaseLogger;
}): SignInChallenges {
  const { database, now, logger } = parts;
  const at = (offset_s = 0) => new Date(now() + offset_s * 1_000).toISOString();

  async function giveBack(challenge: string): Promise<void> {
    await database
      .updateTable('sign_in_challenges')
      .set((update) => ({ tries: update('tries', '-', 1) }))
      .where('challenge_hash', '=', hashOf(challenge))
      .where('tries', '>', 0)
      .execute()
      .catch((error: unknown) => logger.error({ err: error }, 'a try that was not looked at could not be given back'));
  }

  return {
    async issue({ user_id, password_mark, browser_id }) {
      await database.deleteFrom('sign_in_challenges').where('expires_at', '<', at()).execute();
      const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
      await database
        .insertInto('sign_in_challenges')
        .values({
          challenge_hash: hashOf(challenge),
          user_id,
          password_mark,
          browser_id,
          tries: 0,
          expires_at: at(SIGN_IN_CHALLENGE_LIFETIME_S),
        })
        .execute();
      return challenge;
    },

    async find(challenge) {
      const waiting = await database
        .selectFrom('sign_in_challenges')
        .select(['user_id', 'password_mark', 'browser_id'])
        .where('challenge_hash', '=', hashOf(challenge))
        .where('expires_at', '>', at())
        .where('tries', '<', TRIES_MAXIMUM)
        .executeTakeFirst();
      if (waiting === undefined) throw new Problem('sign_in_expired');
      return waiting;
    },

    async attempt(challenge, work) {
      // Counted before it is checked, so that concurrent tries cannot bypass the limit.
      const waiting = await database
        .updateTable('sign_in_challenges')
        .set((update) => ({ tries: update('tries', '+', 1) }))
        .where('challenge_hash', '=', hashOf(challenge))
        .where('expires_at', '>', at())
        .where('tries', '<', TRIES_MAXIMUM)
        .returning('user_id')
        .executeTakeFirst();
      if (waiting === undefined) throw new Problem('sign_in_expired');
      try {
        await work();
      } catch (error) {
        if (!isRefusedFactor(error)) await giveBack(challenge);
        throw error;
      }
    },

    async end(transaction, challenge) {
      const ended = await transaction
        .deleteFrom('sign_in_challenges')
        .where('challenge_hash', '=', hashOf(challenge))
        .returning('user_id')
        .executeTakeFirst();
      if (ended === undefined) throw new Problem('sign_in_expired');
    },
  };
}
