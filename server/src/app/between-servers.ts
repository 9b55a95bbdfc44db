import type { Kysely } from 'kysely';
import { type Counters, createMemoryCounters } from '#platform/counters.ts';
import { KeptAnswers } from '#platform/kept-answers.ts';
import { joinServers } from '#platform/live-servers.ts';
import { createRedisCounters } from '#platform/redis-counters.ts';
import { createRedisSessionNews, type SessionNews } from '#platform/session-news.ts';
import type { Tables } from '#platform/tables.ts';
import { createMemoryTopics } from '#platform/topics/memory-topics.ts';
import { createRedisTopics } from '#platform/topics/redis-topics.ts';
import type { Topics } from '#platform/topics/topics.ts';
import type { AppOptions } from './app-options.ts';

/**
 * Registers this server in the database. Undefined for servers of a test that share a PostgreSQL database without these settings.
 * @throws SharedDatabaseError if another server runs and one of them lacks a setting that several servers need; the database is closed then.
 */
export async function joinOthers({ settings, logger, shares_database }: AppOptions, database: Kysely<Tables>, home: string) {
  if (shares_database === true) return undefined;
  return await joinServers({
    database: database.$pickTables<'servers'>(),
    home,
    needed: { REDIS_URL: settings.redis_url !== undefined, STORAGE_URL: settings.storage !== undefined },
    logger,
  }).catch(async (error: unknown) => {
    await database.destroy();
    throw error;
  });
}

/** Opens topics, session news, counters and cached answers. With REDIS_URL all servers share them; without it they are local to this server. */
export async function openBetween(
  { settings, logger }: AppOptions,
  now: () => number,
): Promise<{ topics: Topics; counters: Counters; news: SessionNews | undefined; kept: KeptAnswers }> {
  const kept = new KeptAnswers({ alone: settings.redis_url === undefined, now });
  const topics =
    settings.redis_url === undefined
      ? createMemoryTopics({ before: kept })
      : await createRedisTopics({ url: settings.redis_url, logger });
  const ownCounters = createMemoryCounters({ now });
  const counters =
    settings.redis_url === undefined
      ? ownCounters
      : await createRedisCounters({ url: settings.redis_url, meanwhile: ownCounters, logger });

  const news = settings.redis_url === undefined ? undefined : await createRedisSessionNews({ url: settings.redis_url, logger });
  return { topics, counters, news, kept };
}
