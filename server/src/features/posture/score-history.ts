import { HISTORY_DAYS } from '@palisade/contract/anti-hacking';
import type { StatusState } from '@palisade/contract/status';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { isForeignKeyViolation } from '#platform/database.ts';
import type { PostureTables } from './posture.tables.ts';

/** Days begin at a quarter of an hour in every time zone, so one run per quarter shows on which days a person looked. */
const QUARTER_MS = 900_000;
/** A person who looks again within this many ms has looked on every day in between, even one of 23 hours. */
const PAUSE_MAXIMUM_MS = 20 * 3_600_000;
/** People whose last score is remembered. */
const REMEMBERED_MAXIMUM = 10_000;

/** Longer than any shown history, in any time zone, in ms. */
const KEPT_MS = (HISTORY_DAYS.most + 2) * 86_400_000;

/** A score and state, with the first and the last time they were found. */
export type ScoreRun = Pick<PostureTables['score_history'], 'since' | 'until' | 'score' | 'state'>;

/** Interval at which scores are written. */
const KEPT_EVERY_MS = 60_000;
/** Maximum unwritten scores of one person: if the score changes more often in a minute, the oldest are lost. */
const WAITING_MAXIMUM = 50;

export interface ScoreHistory {
  /** Records a score found during a read. Reads write nothing: `keep` stores it, once a minute. */
  note(user_id: string, score: number, state: StatusState): void;
  /** Scores from `start` (ISO time) on, oldest first. */
  from(user_id: string, start: string): Promise<ScoreRun[]>;
  /** Stores the recorded scores. A failure is logged: no request depends on it. */
  keep(): Promise<void>;
  /** Drops the waiting scores of a deleted account. */
  forget(user_id: string): void;
  /** Writes the remaining scores. */
  close(): Promise<void>;
}

/** People's scores over time, found far more often than written. `now` is in ms. */
export function createScoreHistory(parts: {
  database: Kysely<PostureTables>;
  now: () => number;
  logger: FastifyBaseLogger;
}): ScoreHistory {
  const { database, now, logger } = parts;
  const noted = new Map<string, { score: number; state: StatusState; quarter: number }>();
  const waiting = new Map<string, ScoreRun[]>();
  const timer = setInterval(() => void keep(), KEPT_EVERY_MS).unref();

  async function write(user_id: string, { since, until, score, state }: ScoreRun): Promise<void> {
    const { numUpdatedRows } = await database
      .updateTable('score_history')
      .set({ until })
      .where('user_id', '=', user_id)
      .where('score', '=', score)
      .where('state', '=', state)
      .where('until', '>=', earlier(since, PAUSE_MAXIMUM_MS))
      .where('since', '=', ({ selectFrom }) =>
        selectFrom('score_history as latest')
          .select(({ fn }) => fn.max('latest.since').as('since'))
          .where('latest.user_id', '=', user_id),
      )
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) return;
    await database
      .insertInto('score_history')
      .values({ user_id, since, until, score, state })
      .onConflict((conflict) => conflict.columns(['user_id', 'since']).doUpdateSet({ until, score, state }))
      .execute();
  }

  async function keep(): Promise<void> {
    const found = [...waiting];
    waiting.clear();
    for (const [user_id, runs] of found) {
      try {
        for (const run of runs) await write(user_id, run);
      } catch (error) {
        noted.delete(user_id);
        // The account was deleted after its score was found.
        if (isForeignKeyViolation(error)) continue;
        logger.error({ err: error }, 'the score could not be kept');
      }
    }
  }

  return {
    note(user_id, score, state) {
      const time = now();
      const quarter = Math.floor(time / QUARTER_MS);
      const last = noted.get(user_id);
      if (last?.score === score && last.state === state && last.quarter === quarter) return;
      if (noted.size >= REMEMBERED_MAXIMUM) noted.clear();
      noted.set(user_id, { score, state, quarter });
      if (waiting.size >= REMEMBERED_MAXIMUM) void keep();
      const at = new Date(time).toISOString();
      const runs = waiting.get(user_id) ?? [];
      const newest = runs.at(-1);
      if (newest?.score === score && newest.state === state && newest.until >= earlier(at, PAUSE_MAXIMUM_MS)) newest.until = at;
      else runs.push({ since: at, until: at, score, state });
      waiting.set(user_id, runs.slice(-WAITING_MAXIMUM));
    },

    async from(user_id, start) {
      // Copied before the table is read: a score written meanwhile occurs twice, which changes no day.
      const found = waiting.get(user_id)?.filter(({ until }) => until >= start) ?? [];
      const written = await database
        .selectFrom('score_history')
        .select(['since', 'until', 'score', 'state'])
        .where('user_id', '=', user_id)
        .where('until', '>=', start)
        .orderBy('since')
        .execute();
      return [...written, ...found];
    },

    keep,

    forget(user_id) {
      waiting.delete(user_id);
      noted.delete(user_id);
    },

    async close() {
      clearInterval(timer);
      await keep();
    },
  };
}

function earlier(time: string, by_ms: number): string {
  return new Date(Date.parse(time) - by_ms).toISOString();
}

/** The last stored state of a person of `users`. */
const lastState = () =>
  sql<string | null>`(select state from score_history where score_history.user_id = users.id order by since desc limit 1)`;

/** True if the last kept state of a person of `users` is danger. */
export const wasInDanger = () => sql<boolean>`${lastState()} = 'danger'`;

/** True if a person of `users` has no kept state, or an unknown one. */
export const wasUnchecked = () => sql<boolean>`coalesce(${lastState()}, 'unknown') = 'unknown'`;

/** The last kept score and state of each of these people who has one. */
export async function lastRunsOf(
  database: Kysely<PostureTables>,
  user_ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<ScoreRun, 'score' | 'state'>>> {
  const rows = await database
    .selectFrom('score_history as kept')
    .select(['user_id', 'score', 'state'])
    .where('user_id', 'in', user_ids)
    .where('since', '=', ({ selectFrom }) =>
      selectFrom('score_history as latest')
        .select(({ fn }) => fn.max('latest.since').as('since'))
        .whereRef('latest.user_id', '=', 'kept.user_id'),
    )
    .execute();
  return new Map(rows.map(({ user_id, ...run }) => [user_id, run]));
}

/** Deletes scores of all people that are older than the shown history. `now` is in ms. */
export async function forgetOldScores(database: Kysely<PostureTables>, now: number): Promise<void> {
  await database
    .deleteFrom('score_history')
    .where('until', '<', new Date(now - KEPT_MS).toISOString())
    .execute();
}
