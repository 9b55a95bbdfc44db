import { needing } from '@palisade/scanner/test/needs';
import { createClient } from '@redis/client';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '#test/free-port.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';
import { type Counters, createMemoryCounters } from './counters.ts';
import { createRedisCounters } from './redis-counters.ts';

const logger = pino({ level: 'silent' });
let clock = 0;
const now = () => clock;

const redis = REDIS_SERVER === undefined ? undefined : await startRedis(await freePort());
const closing: Counters[] = [];
afterAll(async () => {
  await Promise.all(closing.map((counters) => counters.close()));
  await redis?.stop();
});

async function open(kind: 'memory' | 'redis', meanwhile = createMemoryCounters({ now })): Promise<Counters> {
  const counters =
    kind === 'memory' ? createMemoryCounters({ now }) : await createRedisCounters({ url: redis?.url ?? '', meanwhile, logger });
  closing.push(counters);
  return counters;
}

/** Fails the test when a count goes to memory in place of Redis. */
const never: Counters = {
  take: () => Promise.reject(new Error('counted in memory')),
  takeInTurn: () => Promise.reject(new Error('counted in memory')),
  giveBack: () => Promise.reject(new Error('counted in memory')),
  put: () => Promise.reject(new Error('counted in memory')),
  count: () => Promise.reject(new Error('counted in memory')),
  remove: () => Promise.resolve(),
  clear: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

let name = 0;
/** A key that no other test has used. */
function newKey(): string {
  name += 1;
  return `key-${name}`;
}

beforeEach(() => {
  clock += 10_000_000;
});

const kinds = ['memory', 'redis'] as const;

/** Redis uses its own clock: this makes its entries older by so much. */
const OLDER = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key) - ARGV[1]
  if left <= 0 then redis.call('DEL', key)
  elseif redis.call('TYPE', key).ok == 'string' then
    redis.call('SET', key, string.format('%.17g', redis.call('GET', key) - ARGV[1]), 'PX', left)
  else
    local members = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    for at = 1, #members, 2 do redis.call('ZADD', key, string.format('%.17g', members[at + 1] - ARGV[1]), members[at]) end
    redis.call('PEXPIRE', key, left)
  end
end`;

async function inRedis(command: string[]): Promise<unknown> {
  const client = createClient({ url: redis?.url ?? '' });
  await client.connect();
  const answer = await client.sendCommand(command);
  client.destroy();
  return answer;
}

describe.each(kinds)('counters in %s', (kind) => {
  describe.skipIf(kind === 'redis' && redis === undefined)('count', async () => {
    const skipped = kind === 'redis' && redis === undefined;
    const counters = skipped ? never : await open(kind, never);
    const rate = { count: 3, period_ms: 30_000 };
    /** Time also passes between two steps of a test, with a clock that the test does not set. */
    const slack_ms = kind === 'memory' ? 1e-6 : 5_000;
    const pass = async (ms: number) => {
      if (kind === 'memory') clock += ms;
      else await inRedis(['EVAL', OLDER, '0', String(ms)]);
    };
    const expectWait = (answer: { wait_ms: number } | undefined, ms: number) => {
      expect(answer?.wait_ms).toBeLessThanOrEqual(ms);
      expect(answer?.wait_ms).toBeGreaterThan(ms - slack_ms);
    };

    test('a bucket gives all units that it holds, then one each time that it gains one', async () => {
      const bucket = { key: newKey(), rate };
      for (let time = 0; time < 3; time += 1) expect(await counters.take([bucket])).toBeUndefined();
      expectWait(await counters.take([bucket]), 10_000);
      await pass(4_000);
      expectWait(await counters.take([bucket]), 6_000);
      await pass(6_000);
      expect(await counters.take([bucket])).toBeUndefined();
      expectWait(await counters.take([bucket]), 10_000);
      await pass(3_600_000);
      for (let time = 0; time < 3; time += 1) expect(await counters.take([bucket])).toBeUndefined();
      expect(await counters.take([bucket])).toBeDefined();
    });

    test('one empty bucket leaves the others as they were', async () => {
      const [wide, narrow] = [
        { key: newKey(), rate },
        { key: newKey(), rate: { count: 1, period_ms: 60_000 } },
      ];
      expect(await counters.take([wide, narrow])).toBeUndefined();
      expect(await counters.take([wide, narrow])).toMatchObject({ index: 1 });
      expect(await counters.take([wide])).toBeUndefined();
      expect(await counters.take([wide])).toBeUndefined();
      expect(await counters.take([wide, narrow])).toMatchObject({ index: 0 });
      await counters.clear([wide.key]);
      expect(await counters.take([wide])).toBeUndefined();
    });

    test('taken from in turn, those before an empty bucket stay taken from, and those after it do not', async () => {
      const [wide, narrow, last] = [
        { key: newKey(), rate },
        { key: newKey(), rate: { count: 1, period_ms: 60_000 } },
        { key: newKey(), rate: { count: 1, period_ms: 60_000 } },
      ];
      expect(await counters.takeInTurn([wide, narrow])).toBeUndefined();
      const refused = await counters.takeInTurn([wide, narrow, last]);
      expect(refused).toMatchObject({ index: 1 });
      expectWait(refused, 60_000);
      expect(await counters.takeInTurn([last])).toBeUndefined();
      expect(await counters.takeInTurn([wide, narrow])).toMatchObject({ index: 1 });
      expect(await counters.takeInTurn([wide, narrow])).toMatchObject({ index: 0 });
    });

    test('a returned unit can be taken again, and a full bucket stays full', async () => {
      const bucket = { key: newKey(), rate };
      await counters.giveBack([bucket]);
      for (let time = 0; time < 3; time += 1) expect(await counters.take([bucket])).toBeUndefined();
      await counters.giveBack([bucket]);
      expect(await counters.take([bucket])).toBeUndefined();
      const { index, wait_ms = 0 } = (await counters.take([bucket])) ?? {};
      expect(index).toBe(0);
      // The clock of Redis still runs.
      expect(wait_ms).toBeGreaterThan(5_000);
      expect(wait_ms).toBeLessThanOrEqual(10_000);
    });

    test('of many at once no more get through than the bucket holds', async () => {
      const bucket = { key: newKey(), rate: { count: 7, period_ms: 600_000 } };
      const answers = await Promise.all(Array.from({ length: 200 }, () => counters.take([bucket])));
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(7);
    });

    test('a set counts each member once, and forgets it after its time', async () => {
      const key = newKey();
      const put = (member: string) => counters.put(key, { member, most: 10, window_ms: 60_000 });
      expect(await put('a')).toEqual({ count: 1, isNew: true, wait_ms: 0 });
      expect(await put('a')).toEqual({ count: 1, isNew: false, wait_ms: 0 });
      await pass(40_000);
      expect(await put('b')).toEqual({ count: 2, isNew: true, wait_ms: 0 });
      await pass(20_000);
      expect(await counters.count(key, 60_000)).toBe(1);
      expect(await put('a')).toEqual({ count: 2, isNew: true, wait_ms: 0 });
      await counters.remove(key, 'b');
      expect(await counters.count(key, 60_000)).toBe(1);
      await counters.clear([key]);
      expect(await counters.count(key, 60_000)).toBe(0);
    });

    test('a member that is put in again counts from then on', async () => {
      const key = newKey();
      const put = (member: string) => counters.put(key, { member, most: 2, window_ms: 60_000 });
      await put('a');
      await pass(1_000);
      await put('b');
      await pass(29_000);
      await put('a');
      const full = await put('c');
      expect(full).toMatchObject({ count: 2, isNew: false });
      expectWait(full, 31_000);
      await pass(31_000);
      expect(await put('c')).toEqual({ count: 2, isNew: true, wait_ms: 0 });
      expect(await counters.count(key, 60_000)).toBe(2);
    });

    test('of many at once no more get a place than there are', async () => {
      const key = newKey();
      const puts = Array.from({ length: 200 }, (_, member) =>
        counters.put(key, { member: `m${member}`, most: 5, window_ms: 60_000 }),
      );
      const answers = await Promise.all(puts);
      expect(answers.filter(({ wait_ms }) => wait_ms === 0)).toHaveLength(5);
      expect(answers.filter(({ wait_ms }) => wait_ms > 60_000 - slack_ms)).toHaveLength(195);
    });
  });
});

test('memory drops expired entries, then the least recently used, and never grows beyond its bound', async () => {
  const counters = createMemoryCounters({ now, keys_maximum: 100 });
  const rate = { count: 1, period_ms: 60_000 };
  for (let key = 0; key < 100; key += 1) await counters.take([{ key: `old-${key}`, rate }]);
  clock += 60_000;
  for (let key = 0; key < 100; key += 1) await counters.take([{ key: `new-${key}`, rate }]);
  for (let key = 0; key < 100; key += 1) expect(await counters.take([{ key: `new-${key}`, rate }])).toBeDefined();
  await counters.take([{ key: 'one more', rate }]);
  expect(await counters.take([{ key: 'new-0', rate }])).toBeUndefined();
  expect(await counters.take([{ key: 'new-50', rate }])).toBeDefined();
  for (let key = 0; key < 150; key += 1) await counters.put(`set-${key}`, { member: 'a', most: 1, window_ms: 60_000 });
  expect(await counters.count('set-0', 60_000)).toBe(0);
  expect(await counters.count('set-149', 60_000)).toBe(1);
});

needing('Redis', redis !== undefined).describe('several servers', () => {
  test('count together', async () => {
    const [first, second] = await Promise.all([open('redis', never), open('redis', never)]);
    const bucket = { key: newKey(), rate: { count: 10, period_ms: 600_000 } };
    const answers = await Promise.all(Array.from({ length: 100 }, (_, turn) => (turn % 2 === 0 ? first : second).take([bucket])));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
  });

  // proves: attack-D.22-1
  test('agree, however far their clocks are apart', async () => {
    const [right, ahead] = await Promise.all([open('redis', never), open('redis', never)]);
    const bucket = { key: newKey(), rate: { count: 4, period_ms: 60_000 } };
    const [set, lease] = [newKey(), { most: 4, window_ms: 60_000 }];
    /** Runs work as a server whose clock is 90 s ahead: for it, every window here is over. */
    const early = async <T>(work: () => Promise<T>) => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 90_000 });
      try {
        return await work();
      } finally {
        vi.useRealTimers();
      }
    };
    for (let turn = 0; turn < 4; turn += 1) {
      const server = turn % 2 === 0 ? right : ahead;
      const work = async () => [await server.take([bucket]), (await server.put(set, { member: `m${turn}`, ...lease })).wait_ms];
      expect(await (server === right ? work() : early(work))).toEqual([undefined, 0]);
    }
    for (const ask of [<T>(work: () => Promise<T>) => work(), early]) {
      for (const server of [right, ahead]) {
        expect(await ask(() => server.take([bucket]))).toBeDefined();
        expect((await ask(() => server.put(set, { member: 'one more', ...lease }))).wait_ms).toBeGreaterThan(0);
        expect(await ask(() => server.count(set, 60_000))).toBe(4);
      }
    }
  });

  // proves: attack-D.22-2
  test('count wrong codes and files on their way together, and forget those of one that was killed', async () => {
    const [first, second] = await Promise.all([open('redis', never), open('redis', never)]);
    const key = newKey();
    const place = (member: string) => ({ member, most: 2, window_ms: 60_000 });
    await first.put(key, place('of the first'));
    await second.put(key, place('of the second'));
    expect((await second.put(key, place('one more'))).wait_ms).toBeGreaterThan(0);
    await inRedis(['EVAL', OLDER, '0', '40000']);
    // The second renews its own place; the other's is not renewed.
    await second.put(key, place('of the second'));
    await inRedis(['EVAL', OLDER, '0', '30000']);
    expect(await second.count(key, 60_000)).toBe(1);
    expect(await second.put(key, place('one more'))).toMatchObject({ isNew: true, wait_ms: 0 });
  });
});

test('a Redis that is not there is one clear line', async () => {
  const url = `redis://:secret@127.0.0.1:${await freePort()}`;
  const opened = createRedisCounters({ url, meanwhile: never, logger });
  await expect(opened).rejects.toThrow(
    /^We can’t use the Redis at REDIS_URL: .*ECONNREFUSED.*\. Start it, or unset REDIS_URL\.$/,
  );
  await expect(opened).rejects.not.toThrow(/secret/);
});
