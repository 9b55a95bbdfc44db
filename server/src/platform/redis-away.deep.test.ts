// Redis that is away for a while, or late: what a server does meanwhile, and afterwards. These wait for its timeouts.
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { heard, listen, removed } from '#test/ears.ts';
import { freePort } from '#test/free-port.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';
import { startRelay } from '#test/relay.ts';
import { type Counters, createMemoryCounters } from './counters.ts';
import { createRedisCounters } from './redis-counters.ts';
import { createRedisTopics } from './topics/redis-topics.ts';
import { personTopic, type Topics } from './topics/topics.ts';

const redis = REDIS_SERVER === undefined ? undefined : await startRedis(await freePort());
const opened: (Topics | Counters)[] = [];
afterAll(async () => {
  for (const one of opened) await one.close();
  await redis?.stop();
});

async function openInRedis(url = redis?.url ?? ''): Promise<Topics> {
  const topics = await createRedisTopics({ url, logger: pino({ level: 'silent' }) });
  opened.push(topics);
  return topics;
}

async function openCounters(url: string, lines: string[] = []): Promise<Counters> {
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const counters = await createRedisCounters({ url, meanwhile: createMemoryCounters({ now: Date.now }), logger });
  opened.push(counters);
  return counters;
}

needing('Redis', redis !== undefined).describe('topics, while Redis is away', () => {
  // proves: support-fault-6
  test('a server tells its own pages, and everybody learns afterwards that something is missing', async () => {
    const relay = await startRelay(Number(new URL(redis?.url ?? '').port));
    const cut = await openInRedis(`redis://127.0.0.1:${relay.port}`);
    const other = await openInRedis();
    const topic = personTopic(newId());
    const [here, there] = [await listen(cut, topic), await listen(other, topic)];
    relay.swallow();
    const event = removed();
    cut.publish(topic, event);
    await heard(here, 1);
    expect(here).toMatchObject({ events: [event], ids: [null] });
    // A newcomer meanwhile does not have to wait.
    const newcomer = await listen(cut, topic, here.starts[0]?.cursor);
    expect(newcomer.starts).toMatchObject([{ missed: true }]);
    expect(there.events).toEqual([]);

    relay.mend();
    await eventually(() => expect([here.lost, newcomer.lost, there.lost]).toEqual([1, 1, 1]));
    for (const ear of [here, newcomer, there]) ear.stop();
    const back = await listen(other, topic, there.starts[0]?.cursor);
    expect(back.starts).toMatchObject([{ missed: true }]);
    // And from then on as before.
    const again = await listen(cut, topic);
    other.publish(topic, removed());
    await heard(again, 1);
    await heard(back, 1);
  });

  test('and what another server told meanwhile is told when it is back', async () => {
    const relay = await startRelay(Number(new URL(redis?.url ?? '').port));
    const cut = await openInRedis(`redis://127.0.0.1:${relay.port}`);
    const other = await openInRedis();
    const topic = personTopic(newId());
    const here = await listen(cut, topic);
    relay.swallow();
    other.publish(topic, removed());
    await eventually(() => expect(here.lost).toBe(0));
    relay.mend();
    await eventually(() => expect(here.lost).toBe(1));
    here.stop();
    const back = await listen(cut, topic, here.starts[0]?.cursor);
    await heard(back, 1);
    expect(back.starts).toMatchObject([{ missed: false }]);
  });

  // proves: support-fault-6
  test('a Redis that is merely late ends no connection, and keeps its events', async () => {
    const slow = await startRedis(await freePort());
    const topics = await openInRedis(slow.url);
    const topic = personTopic(newId());
    const ear = await listen(topics, topic);
    const event = removed();
    slow.freeze();
    topics.publish(topic, event);
    // The pages here hear of it meanwhile.
    await heard(ear, 1);
    slow.thaw();
    await heard(ear, 2);
    expect(ear).toMatchObject({ events: [event, event], lost: 0, ids: [null, expect.any(String)] });
    ear.stop();
    // The stored events are complete: a page that comes now resumes from there.
    await eventually(async () => {
      const back = await listen(topics, topic, ear.starts[0]?.cursor);
      back.stop();
      expect(back).toMatchObject({ starts: [{ missed: false }], events: [event], lost: 0 });
    });
    await slow.stop();
  });
});

needing('Redis', redis !== undefined).describe('counters, while Redis is away,', () => {
  test('reach Redis anew when the network to it has swallowed everything, and answer at once meanwhile', async () => {
    const relay = await startRelay(Number(new URL(redis?.url ?? '').port));
    const counters = await openCounters(`redis://127.0.0.1:${relay.port}`);
    const other = await openCounters(redis?.url ?? '');
    const [key, rate] = [newId(), { count: 1, period_ms: 3_600_000 }];
    relay.swallow();
    await Promise.all(Array.from({ length: 50 }, () => counters.take([{ key: newId(), rate }])));
    relay.mend();
    // Only Redis knows of this one.
    await other.put(key, { member: 'a', most: 1, window_ms: 3_600_000 });
    await eventually(async () => expect(await counters.count(key, 3_600_000)).toBe(1));
  });

  test('each count by themselves while Redis does not answer, and together when it does again', async () => {
    const other = await startRedis(await freePort());
    const lines: string[] = [];
    const counters = await openCounters(other.url, lines);
    const bucket = { key: newId(), rate: { count: 2, period_ms: 600_000 } };
    expect(await counters.take([bucket])).toBeUndefined();
    other.freeze();
    expect(await counters.take([bucket])).toBeUndefined();
    expect(await counters.take([bucket])).toBeUndefined();
    expect(await counters.take([bucket])).toBeDefined();
    expect(lines).toHaveLength(1);
    other.thaw();
    // Redis has counted the commands that it got before it stopped, and says so when it is asked again.
    await eventually(async () => expect((await counters.take([bucket])) && lines.length).toBe(2));
    expect(lines[1]).toContain('Redis answers again');
    await other.stop();
  });
});
