import { HISTORY_DAYS } from '@palisade/contract/anti-hacking';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { PostureTables } from './posture.tables.ts';

/** Days begin at a whole quarter of an hour in every time zone, so once in each is enough to know on which days somebody looked. */
const QUARTER_MS = 900_000;
/** Who looks again within this has looked on every day in between, the one of 23 hours too. */
const PAUSE_MAXIMUM_MS = 20 * 3_600_000;
/** People whose last score is remembered. */
const REMEMBERED_MAXIMUM = 10_000;

/** Longer than anybody can look back, by the clocks of any time zone. */
const KEPT_MS = (HISTORY_DAYS.most + 2) * 86_400_000;

/** A score, and when it was found first and last. */
export type ScoreRun = Pick<PostureTables['score_history'], 'since' | 'until' | 'score'>;

interface ScoreHistory {
  /** Keeps a score that was just found. A failure is logged: what is asked for does not hang on it. */
  note(user_id: string, score: number): Promise<void>;
  /** What was found from `start` (ISO time) on, oldest first. */
  from(user_id: string, start: string): Promise<ScoreRun[]>;
}

/** Which score somebody had when. It is found far more often than it is written. `now` is in ms. */
export function createScoreHistory(parts: {
  database: Kysely<PostureTables>;
  now: () => number;
  logger: FastifyBaseLogger;
}): ScoreHistory {
  const { database, now, logger } = parts;
  const written = new Map<string, { score: number; quarter: number }>();

  async function write(user_id: string, score: number, time: number): Promise<void> {
    const at = new Date(time).toISOString();
    const { numUpdatedRows } = await database
      .updateTable('score_history')
      .set({ until: at })
      .where('user_id', '=', user_id)
      .where('score', '=', score)
      .where('until', '>=', new Date(time - PAUSE_MAXIMUM_MS).toISOString())
      .where('since', '=', ({ selectFrom }) =>
        selectFrom('score_history as latest')
          .select(({ fn }) => fn.max('latest.since').as('since'))
          .where('latest.user_id', '=', user_id),
      )
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) return;
    await database
      .insertInto('score_history')
      .values({ user_id, since: at, until: at, score })
      .onConflict((conflict) => conflict.columns(['user_id', 'since']).doUpdateSet({ score }))
      .execute();
  }

  return {
    async note(user_id, score) {
      const time = now();
      const quarter = Math.floor(time / QUARTER_MS);
      const last = written.get(user_id);
      if (last?.score === score && last.quarter === quarter) return;
      if (written.size >= REMEMBERED_MAXIMUM) written.clear();
      written.set(user_id, { score, quarter });
      try {
        await write(user_id, score, time);
      } catch (error) {
        written.delete(user_id);
        logger.error({ err: error }, 'the score could not be kept');
      }
    },

    from: (user_id, start) =>
      database
        .selectFrom('score_history')
        .select(['since', 'until', 'score'])
        .where('user_id', '=', user_id)
        .where('until', '>=', start)
        .orderBy('since')
        .execute(),
  };
}

/** Removes the scores that nobody can look back to any more, of everybody. `now` is in ms. */
export async function forgetOldScores(database: Kysely<PostureTables>, now: number): Promise<void> {
  await database
    .deleteFrom('score_history')
    .where('until', '<', new Date(now - KEPT_MS).toISOString())
    .execute();
}
