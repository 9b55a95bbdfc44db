import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { Bucket, Counters, Empty } from './counters.ts';
import { connectRedis, withinTime } from './redis.ts';

const PREFIX = 'palisade:';
/** Pause after a failure of Redis, in ms, so that requests do not each wait for it. */
const LEFT_ALONE_MS = 2_000;

/**
 * A script that Redis runs atomically (redis.io/docs/latest/develop/programmability/eval-intro). Its clock is that of Redis, in ms: servers' clocks differ, and one that is
 * ahead would drop the others' counts.
 */
interface Script {
  text: string;
  sha: string;
}

const NOW = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)`;

function script(program: string): Script {
  const text = NOW + program;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** `full` is when a bucket is full again, `wait` the ms until a token is available. */
const BUCKET = `
local function look(i, key)
  local count, period = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local full = math.max(tonumber(redis.call('GET', key)) or now, now) + period / count
  local wait = full - now - period
  return full, wait > period * 1e-9 and math.ceil(wait) or nil
end
local function keep(key, full)
  redis.call('SET', key, string.format('%.17g', full), 'PX', math.max(1, math.ceil(full - now)))
end`;

const TAKE = script(`${BUCKET}
local after = {}
for i, key in ipairs(KEYS) do
  local full, wait = look(i, key)
  if wait then return {i, wait} end
  after[i] = full
end
for i, key in ipairs(KEYS) do keep(key, after[i]) end
return {0, 0}`);

const TAKE_IN_TURN = script(`${BUCKET}
for i, key in ipairs(KEYS) do
  local full, wait = look(i, key)
  if wait then return {i, wait} end
  keep(key, full)
end
return {0, 0}`);

const GIVE_BACK = script(`
for i, key in ipairs(KEYS) do
  local count, period = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local full = tonumber(redis.call('GET', key))
  if full then redis.call('SET', key, string.format('%.17g', full - period / count), 'KEEPTTL') end
end
return 0`);

const PUT = script(`
local window, most, member = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local isNew = not redis.call('ZSCORE', KEYS[1], member)
local count = redis.call('ZCARD', KEYS[1])
if isNew and count >= most then
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return {count, 0, math.ceil(tonumber(oldest[2]) + window - now)}
end
redis.call('ZADD', KEYS[1], now, member)
redis.call('PEXPIRE', KEYS[1], window)
return {isNew and count + 1 or count, isNew and 1 or 0, 0}`);

const COUNT = script(`
return redis.call('ZCOUNT', KEYS[1], string.format('(%.17g', now - tonumber(ARGV[1])), '+inf')`);

const takenSchema = z.tuple([z.number(), z.number()]);
const putSchema = z.tuple([z.number(), z.number(), z.number()]);

/**
 * Counts in Redis or Valkey, shared by several servers. While it is away, `meanwhile` counts for this server alone, so that calls are neither refused nor uncounted
 * (docs/decisions/database.md). @throws Error with one line when it cannot be used at the start.
 */
export async function createRedisCounters(parts: {
  url: string;
  meanwhile: Counters;
  logger: FastifyBaseLogger;
}): Promise<Counters> {
  const { url, meanwhile, logger } = parts;
  const connection = await connectRedis(url, logger);
  let failedAt: number | undefined;
  let isTried = false;

  async function run({ text, sha }: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys.map((key) => PREFIX + key), ...values.map(String)];
    try {
      return await connection.send(['EVALSHA', sha, ...rest]);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await connection.send(['EVAL', text, ...rest]);
    }
  }

  async function counted<T>(inRedis: () => Promise<T>, here: () => Promise<T>): Promise<T> {
    // The real clock, because Redis is a real server also in tests.
    if (failedAt !== undefined && (isTried || performance.now() - failedAt < LEFT_ALONE_MS)) return await here();
    // One request tests whether Redis is back; the others do not wait for that.
    isTried = failedAt !== undefined;
    try {
      const answer = await withinTime(inRedis());
      if (failedAt !== undefined) logger.warn('Redis answers again: limits are counted for all servers together');
      failedAt = undefined;
      return answer;
    } catch (error) {
      if (failedAt === undefined)
        logger.error({ err: error }, 'Redis does not answer: until it does, each server counts limits by itself');
      failedAt = performance.now();
      connection.renew();
      return await here();
    } finally {
      isTried = false;
    }
  }

  async function takeBy(program: Script, buckets: readonly Bucket[]): Promise<Empty | undefined> {
    const keys = buckets.map(({ key }) => key);
    const values = buckets.flatMap(({ rate }) => [rate.count, rate.period_ms]);
    const [place, wait_ms] = takenSchema.parse(await run(program, keys, values));
    return place === 0 ? undefined : { index: place - 1, wait_ms };
  }

  return {
    take: (buckets) =>
      counted(
        () => takeBy(TAKE, buckets),
        () => meanwhile.take(buckets),
      ),

    takeInTurn: (buckets) =>
      counted(
        () => takeBy(TAKE_IN_TURN, buckets),
        () => meanwhile.takeInTurn(buckets),
      ),

    giveBack: (buckets) =>
      counted(
        async () => {
          const keys = buckets.map(({ key }) => key);
          const values = buckets.flatMap(({ rate }) => [rate.count, rate.period_ms]);
          await run(GIVE_BACK, keys, values);
        },
        () => meanwhile.giveBack(buckets),
      ),

    put: (key, place) =>
      counted(
        async () => {
          const { member, most, window_ms } = place;
          const [count, isNew, wait_ms] = putSchema.parse(await run(PUT, [key], [window_ms, most, member]));
          return { count, isNew: isNew === 1, wait_ms };
        },
        () => meanwhile.put(key, place),
      ),

    count: (key, window_ms) =>
      counted(
        async () => z.number().parse(await run(COUNT, [key], [window_ms])),
        () => meanwhile.count(key, window_ms),
      ),

    async remove(key, member) {
      await meanwhile.remove(key, member);
      await counted(
        async () => void (await connection.send(['ZREM', PREFIX + key, member])),
        () => Promise.resolve(),
      );
    },

    async clear(keys) {
      await meanwhile.clear(keys);
      await counted(
        async () => void (await connection.send(['DEL', ...keys.map((key) => PREFIX + key)])),
        () => Promise.resolve(),
      );
    },

    async close() {
      connection.close();
      await meanwhile.close();
    },
  };
}
