import type { LiveEvent } from '@palisade/contract/events';
import { needing } from '@palisade/scanner/test/needs';
import { createClient } from '@redis/client';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { type Ear, heard, listen, removed } from '#test/ears.ts';
import { freePort } from '#test/free-port.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';
import { createMemoryTopics } from './memory-topics.ts';
import { createRedisTopics } from './redis-topics.ts';
import { personTopic, type Topics } from './topics.ts';

const logger = pino({ level: 'silent' });
const ofTheMoment: LiveEvent = {
  kind: 'scan_progress',
  scan_id: newId(),
  upload_key: null,
  progress: { stage: 'queued', place: 1 },
};

if (REDIS_SERVER === undefined) process.stdout.write('skipped: topics of several servers need a Redis, and there is none\n');
const redis = REDIS_SERVER === undefined ? undefined : await startRedis(await freePort());
const opened: Topics[] = [];
afterAll(async () => {
  for (const topics of opened) topics.close();
  await redis?.stop();
});

async function openInRedis(url = redis?.url ?? '', kept?: number): Promise<Topics> {
  const topics = await createRedisTopics({ url, logger, kept });
  opened.push(topics);
  return topics;
}

/** Two ways to the same topics: those of one process, or of two servers. */
async function openTwo(kind: 'memory' | 'redis', kept?: number): Promise<[Topics, Topics]> {
  if (kind === 'redis') return [await openInRedis(undefined, kept), await openInRedis(undefined, kept)];
  const topics = createMemoryTopics({ kept });
  return [topics, topics];
}

describe.each(['memory', 'redis'] as const)('topics in %s', (kind) => {
  describe.skipIf(kind === 'redis' && redis === undefined)('tell', () => {
    // proves: support-scale-1
    test('all listeners, here and at another server, in the same order, and no others', async () => {
      const [one, other] = await openTwo(kind);
      const topic = personTopic(newId());
      const ears = [await listen(one, topic), await listen(other, topic), await listen(other, topic)];
      const somebody_else = await listen(other, personTopic(newId()));
      for (let count = 0; count < 50; count += 1) (count % 2 === 0 ? one : other).publish(topic, removed());
      for (const ear of ears) await heard(ear, 50);
      expect(new Set(ears[0]?.ids).size).toBe(50);
      for (const ear of ears) expect(ear.ids).toEqual(ears[0]?.ids);
      expect(somebody_else.events).toEqual([]);
    });

    test('reach no one without listeners, and say whether there are or were some lately, here or at another server', async () => {
      const [one, other] = await openTwo(kind);
      const topic = personTopic(newId());
      expect(await one.isHeard(topic)).toBe(false);
      const ear = await listen(other, topic);
      expect([await one.isHeard(topic), await other.isHeard(topic)]).toEqual([true, true]);
      ear.stop();
      expect([await one.isHeard(topic), await other.isHeard(topic)]).toEqual([true, true]);
      expect(await one.isHeard(personTopic(newId()))).toBe(false);
    });

    test('every person, on any topic', async () => {
      const [one, other] = await openTwo(kind);
      const ears = [await listen(one, personTopic(newId())), await listen(other, personTopic(newId()))];
      const event = removed();
      one.publishToAll(event);
      for (const ear of ears) {
        await heard(ear, 1);
        expect(ear.events).toEqual([event]);
      }
    });

    test('missed events after a gap, once, and say when they are no longer stored', async () => {
      const [one, other] = await openTwo(kind, 3);
      const topic = personTopic(newId());
      const first = await listen(one, topic);
      for (let count = 0; count < 5; count += 1) other.publish(topic, removed());
      await heard(first, 5);
      const ids = first.ids.map(String);
      const resume = async (id: string | undefined) => {
        const { starts, ids: told } = await listen(other, topic, id);
        return { ...starts[0], told };
      };
      expect(await resume(ids[1])).toMatchObject({ missed: false, told: ids.slice(2) });
      expect(await resume(ids[4])).toEqual({ missed: false, cursor: ids[4], told: [] });
      expect(await resume(ids[0])).toEqual({ missed: true, cursor: ids[4], told: [] });
      expect(await resume(first.starts[0]?.cursor)).toMatchObject({ missed: true });
      expect(await resume(undefined)).toEqual({ missed: false, cursor: ids[4], told: [] });
      expect(await resume(newId())).toMatchObject({ missed: true });
    });

    test('an event of the moment once, and never again', async () => {
      const [one, other] = await openTwo(kind);
      const topic = personTopic(newId());
      const first = await listen(one, topic);
      other.publish(topic, ofTheMoment);
      other.publish(topic, removed());
      await heard(first, 2);
      expect(first.events[0]).toEqual(ofTheMoment);
      expect((await listen(other, topic, first.starts[0]?.cursor)).ids).toEqual(first.ids.slice(1));
    });

    test('send nothing to a listener that stopped, but keep it for its return', async () => {
      const [one, other] = await openTwo(kind);
      const topic = personTopic(newId());
      const gone = await listen(one, topic);
      gone.stop();
      other.publish(topic, removed());
      const back = await listen(one, topic, gone.starts[0]?.cursor);
      await heard(back, 1);
      expect(back.starts).toMatchObject([{ missed: false }]);
      expect(gone.events).toEqual([]);
      // And from then on, as if it had never gone.
      other.publish(topic, removed());
      await heard(back, 2);
    });

    test('those who begin while events come, each event once and in order', async () => {
      const [one, other] = await openTwo(kind);
      const topic = personTopic(newId());
      const first = await listen(one, topic);
      const ears: Promise<Ear>[] = [];
      for (let count = 0; count < 60; count += 1) {
        one.publish(topic, removed());
        if (count % 10 === 0) ears.push(listen(other, topic, first.starts[0]?.cursor));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await heard(first, 60);
      for (const ear of await Promise.all(ears)) {
        await heard(ear, 60);
        expect(ear.ids).toEqual(first.ids);
      }
    });
  });
});

// proves: support-fault-6
needing('Redis', redis !== undefined).test('a Redis that has lost its events is noticed', async () => {
  const topics = await openInRedis();
  const topic = personTopic(newId());
  const ear = await listen(topics, topic);
  ear.stop();
  const client = createClient({ url: redis?.url ?? '' });
  await client.connect();
  await client.sendCommand(['FLUSHALL']);
  client.destroy();
  expect((await listen(topics, topic, ear.starts[0]?.cursor)).starts).toMatchObject([{ missed: true }]);
});
