import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { connectRedis, withinTime } from '#platform/redis.ts';
import { redisNames } from '#platform/redis-names.ts';
import { PRESENCE_LEASE_MS, type Presence } from './presence.ts';

const PREFIX = 'presence:';

/** Leases go by the clock of Redis: those of several servers differ. */
const NOW = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)`;
const HOLD = `${NOW}
for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + tonumber(ARGV[1]), ARGV[i + 1])
  redis.call('PEXPIRE', key, ARGV[1])
end
return 0`;
const MEMBERS = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return redis.call('ZRANGE', KEYS[1], 0, -1)`;

const placesSchema = z.array(z.string());
const HELD_AT_ONCE = 500;

/**
 * Presence of several servers: a sorted set of Redis for each group, by when the lease of each place runs out. While Redis is away `meanwhile` answers, for this server
 * alone.
 * @throws Error with one line when Redis cannot be used at the start.
 */
export async function createRedisPresence(parts: {
  url: string;
  meanwhile: Presence;
  logger: FastifyBaseLogger;
  lease_ms?: number | undefined;
}): Promise<Presence> {
  const { url, meanwhile, logger, lease_ms = PRESENCE_LEASE_MS } = parts;
  const prefix = redisNames(url) + PREFIX;
  const connection = await connectRedis(url, logger);

  async function ask<T>(command: readonly string[], read: (answer: unknown) => T, otherwise: () => Promise<T>): Promise<T> {
    try {
      return read(await withinTime(connection.send(command)));
    } catch (error) {
      logger.debug({ err: error }, 'Redis does not say who is here');
      connection.renew();
      return await otherwise();
    }
  }

  return {
    async hold(holds) {
      // This server knows its own in any case.
      await meanwhile.hold(holds);
      for (let from = 0; from < holds.length; from += HELD_AT_ONCE) {
        const some = holds.slice(from, from + HELD_AT_ONCE);
        const keys = some.map(({ group }) => prefix + group);
        const places = some.map(({ member, place }) => `${member} ${place}`);
        await ask(
          ['EVAL', HOLD, String(keys.length), ...keys, String(lease_ms), ...places],
          () => undefined,
          () => Promise.resolve(undefined),
        );
      }
    },

    async release(hold) {
      await meanwhile.release(hold);
      const { group, member, place } = hold;
      await ask(
        ['ZREM', prefix + group, `${member} ${place}`],
        () => undefined,
        () => Promise.resolve(undefined),
      );
    },

    members: (group) =>
      ask(
        ['EVAL', MEMBERS, '1', prefix + group],
        (answer) => new Set(placesSchema.parse(answer).map((place) => place.split(' ', 1)[0] ?? '')),
        () => meanwhile.members(group),
      ),

    close() {
      connection.close();
      meanwhile.close();
    },
  };
}
