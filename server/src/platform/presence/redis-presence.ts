import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { connectRedis, withinTime } from '#platform/redis.ts';
import { redisNames } from '#platform/redis-names.ts';
import { type Hold, PRESENCE_LEASE_MS, type Presence } from './presence.ts';

const PREFIX = 'presence:';

/** Leases use the clock of Redis, because those of servers differ. */
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
/** Interval at which changes that Redis has not confirmed are sent again, in ms. */
const AGAIN_MS = 1_000;
const placeOf = ({ member, place }: Pick<Hold, 'member' | 'place'>) => `${member} ${place}`;

/**
 * Presence for several servers: a Redis sorted set for each group, scored by the end of each lease. This server's own latest changes always count here: an unconfirmed one
 * is sent again until Redis confirms it or the lease expires. While Redis is away, `meanwhile` answers for this server alone. @throws Error with one line when Redis cannot
 * be used at the start.
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

  /** Released here and not confirmed by Redis: by key and place, until when the release matters. */
  const left = new Map<string, { key: string; place: string; until: number }>();
  const leftKey = (key: string, place: string) => `${key} ${place}`;
  const idOf = (hold: Hold) => leftKey(prefix + hold.group, placeOf(hold));
  /** Held here and not confirmed by Redis, likewise. */
  const arrived = new Map<string, { hold: Hold; until: number }>();
  let again: NodeJS.Timeout | undefined;

  /** Undefined if Redis did not answer. */
  async function ask(command: readonly string[]): Promise<unknown> {
    try {
      return await withinTime(connection.send(command));
    } catch (error) {
      logger.debug({ err: error }, 'Redis does not say who is here');
      connection.renew();
      return undefined;
    }
  }

  /** Sends leases to Redis. A member that left while they were being sent stays gone. */
  async function sayHeld(holds: readonly Hold[], until: number): Promise<void> {
    for (let from = 0; from < holds.length; from += HELD_AT_ONCE) {
      const some = holds.slice(from, from + HELD_AT_ONCE).filter((one) => arrived.has(idOf(one)));
      if (some.length === 0) continue;
      const keys = some.map(({ group }) => prefix + group);
      const left_ms = Math.max(1, Math.ceil(until - performance.now()));
      const answer = await ask(['EVAL', HOLD, String(keys.length), ...keys, String(left_ms), ...some.map(placeOf)]);
      if (answer === undefined) continue;
      // A place that was renewed in the meantime is sent by that renewal.
      for (const one of some) if (arrived.get(idOf(one))?.until === until) arrived.delete(idOf(one));
    }
  }

  async function sayAgain(): Promise<void> {
    await sayLeft();
    const byEnd = Map.groupBy(arrived.values(), ({ until }) => until);
    for (const [until, some] of byEnd) {
      if (until > performance.now())
        await sayHeld(
          some.map(({ hold }) => hold),
          until,
        );
      else for (const { hold } of some) arrived.delete(idOf(hold));
    }
    again = left.size + arrived.size === 0 ? undefined : setTimeout(() => void sayAgain(), AGAIN_MS).unref();
  }

  async function sayLeft(): Promise<void> {
    for (const [id, { key, place, until }] of left) {
      if (until <= performance.now() || (await ask(['ZREM', key, place])) !== undefined) left.delete(id);
    }
  }

  return {
    async hold(holds) {
      const until = performance.now() + lease_ms;
      for (const one of holds) {
        left.delete(idOf(one));
        arrived.set(idOf(one), { hold: one, until });
      }
      // This server must know its own members in any case.
      await meanwhile.hold(holds);
      await sayHeld(holds, until);
      if (arrived.size > 0) again ??= setTimeout(() => void sayAgain(), AGAIN_MS).unref();
    },

    async release(hold) {
      const [key, place] = [prefix + hold.group, placeOf(hold)];
      const id = leftKey(key, place);
      arrived.delete(id);
      left.set(id, { key, place, until: performance.now() + lease_ms });
      await meanwhile.release(hold);
      if ((await ask(['ZREM', key, place])) !== undefined) left.delete(id);
      else again ??= setTimeout(() => void sayAgain(), AGAIN_MS).unref();
    },

    async members(group) {
      const key = prefix + group;
      const [answer, own] = await Promise.all([ask(['EVAL', MEMBERS, '1', key]), meanwhile.members(group)]);
      if (answer === undefined) return own;
      const places = placesSchema.parse(answer).filter((place) => !left.has(leftKey(key, place)));
      return new Set([...places.map((place) => place.split(' ', 1)[0] ?? ''), ...own]);
    },

    close() {
      clearTimeout(again);
      connection.close();
      meanwhile.close();
    },
  };
}
