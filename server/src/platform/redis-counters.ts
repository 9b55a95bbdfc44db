import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { Counters } from './counters.ts';

const PREFIX = 'palisade:';
const CONNECT_MS = 5_000;
/** How long one answer is waited for. It comes within one when all is well. */
const ANSWER_MS = 500;
/** How long Redis is left alone after it has failed, so that a request does not wait for it each time. */
const LEFT_ALONE_MS = 2_000;
const RECONNECT_MOST_MS = 2_000;

/** A program that Redis runs as one step (redis.io/docs/latest/develop/programmability/eval-intro). `now` is given, so that it is the application's clock. */
interface Script {
  text: string;
  sha: string;
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

const TAKE = script(`
local now = tonumber(ARGV[1])
local after = {}
for i, key in ipairs(KEYS) do
  local count, period = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local full = math.max(tonumber(redis.call('GET', key)) or now, now) + period / count
  local wait = full - now - period
  if wait > period * 1e-9 then return {i, math.ceil(wait)} end
  after[i] = full
end
for i, key in ipairs(KEYS) do
  redis.call('SET', key, string.format('%.17g', after[i]), 'PX', math.max(1, math.ceil(after[i] - now)))
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
local now, window, most, member = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
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

const takenSchema = z.tuple([z.number(), z.number()]);
const putSchema = z.tuple([z.number(), z.number(), z.number()]);

/** Sends one command to a Redis or Valkey server. Rejects at once while it is away. */
interface Connection {
  send(command: readonly string[]): Promise<unknown>;
  close(): void;
}

/** @throws Error with one line for the person who starts the server. */
async function connect(url: string, logger: FastifyBaseLogger): Promise<Connection> {
  // Loaded by who has a Redis alone.
  const { createClient } = await import('@redis/client');
  let connected = false;
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (retries: number, cause: Error) => (connected ? Math.min(RECONNECT_MOST_MS, 50 * 2 ** retries) : cause),
    },
  });
  // Each command fails by itself; without a listener the process would.
  client.on('error', (error: unknown) => logger.debug({ err: error }, 'the connection to Redis failed'));
  try {
    await client.connect();
    await client.sendCommand(['PING']);
  } catch (error) {
    if (client.isOpen) client.destroy();
    const reason = error instanceof AggregateError ? error.errors.map(String).join(', ') : String(error);
    throw new Error(`The Redis of REDIS_URL cannot be used: ${reason.replace(/^Error: /, '')}. Start it, or unset REDIS_URL.`, {
      cause: error,
    });
  }
  connected = true;
  return {
    send: (command) => client.sendCommand<unknown>(command),
    close: () => client.destroy(),
  };
}

async function withinTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Counts in Redis or Valkey, so that several servers count together. While it is away `meanwhile` counts, for this server alone: nobody is locked out by that, and
 * nobody gets in without being counted (docs/decisions/0042).
 * @throws Error with one line when it cannot be used at the start.
 */
export async function createRedisCounters(parts: {
  url: string;
  meanwhile: Counters;
  now: () => number;
  logger: FastifyBaseLogger;
}): Promise<Counters> {
  const { url, meanwhile, now, logger } = parts;
  const connection = await connect(url, logger);
  let failedAt: number | undefined;

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
    // The real clock: what is waited for is a machine.
    if (failedAt !== undefined && performance.now() - failedAt < LEFT_ALONE_MS) return await here();
    try {
      const answer = await withinTime(inRedis());
      if (failedAt !== undefined) logger.warn('Redis answers again: limits are counted for all servers together');
      failedAt = undefined;
      return answer;
    } catch (error) {
      if (failedAt === undefined)
        logger.error({ err: error }, 'Redis does not answer: until it does, each server counts limits by itself');
      failedAt = performance.now();
      return await here();
    }
  }

  return {
    take: (buckets) =>
      counted(
        async () => {
          const keys = buckets.map(({ key }) => key);
          const values = [now(), ...buckets.flatMap(({ rate }) => [rate.count, rate.period_ms])];
          const [place, wait_ms] = takenSchema.parse(await run(TAKE, keys, values));
          return place === 0 ? undefined : { index: place - 1, wait_ms };
        },
        () => meanwhile.take(buckets),
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
          const [count, isNew, wait_ms] = putSchema.parse(await run(PUT, [key], [now(), window_ms, most, member]));
          return { count, isNew: isNew === 1, wait_ms };
        },
        () => meanwhile.put(key, place),
      ),

    count: (key, window_ms) =>
      counted(
        async () => z.number().parse(await connection.send(['ZCOUNT', PREFIX + key, `(${now() - window_ms}`, '+inf'])),
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
