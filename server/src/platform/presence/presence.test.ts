import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { createClient } from '@redis/client';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { freePort } from '#test/free-port.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';
import { createMemoryPresence } from './memory-presence.ts';
import type { Presence } from './presence.ts';
import { createRedisPresence } from './redis-presence.ts';

const logger = pino({ level: 'silent' });
if (REDIS_SERVER === undefined) process.stdout.write('skipped: presence of several servers needs a Redis, and there is none\n');
const redis = REDIS_SERVER === undefined ? undefined : await startRedis(await freePort());
const opened: Presence[] = [];
afterAll(async () => {
  for (const presence of opened) presence.close();
  await redis?.stop();
});

/** Two ways to the same presence: those of one process, or of two servers. */
async function openTwo(kind: 'memory' | 'redis', lease_ms?: number): Promise<[Presence, Presence]> {
  const open = async () => {
    const memory = createMemoryPresence({ lease_ms });
    const presence =
      kind === 'memory' ? memory : await createRedisPresence({ url: redis?.url ?? '', meanwhile: memory, logger, lease_ms });
    opened.push(presence);
    return presence;
  };
  const one = await open();
  return [one, kind === 'memory' ? one : await open()];
}

/** Two members of a group, at one place each. */
async function holdTwo(presence: Presence) {
  const [group, ana, ben] = [newId(), newId(), newId()];
  await presence.hold([
    { group, member: ana, place: 'a' },
    { group, member: ben, place: 'b' },
  ]);
  return { group, ana, ben };
}

async function cutConnections(): Promise<void> {
  const cutter = createClient({ url: redis?.url ?? '' });
  await cutter.connect();
  await cutter.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
  cutter.destroy();
}

describe.each(['memory', 'redis'] as const)('presence in %s', (kind) => {
  describe.skipIf(kind === 'redis' && redis === undefined)('knows', () => {
    test('lists present members, on every server, until their last place is gone', async () => {
      const [one, other] = await openTwo(kind);
      const { group, ana, ben } = await holdTwo(one);
      await other.hold([{ group, member: ana, place: 'c' }]);
      expect(await one.members(group)).toEqual(new Set([ana, ben]));
      expect(await other.members(group)).toEqual(new Set([ana, ben]));
      await one.release({ group, member: ana, place: 'a' });
      expect(await one.members(group)).toEqual(new Set([ana, ben]));
      await other.release({ group, member: ana, place: 'c' });
      await other.release({ group, member: ana, place: 'c' });
      expect(await one.members(group)).toEqual(new Set([ben]));
      expect(await one.members(newId())).toEqual(new Set());
    });

    // proves: support-scale-2
    test('drops members whose lease ran out, and keeps those who renew it', async () => {
      const [one, other] = await openTwo(kind, 300);
      const { group, ben } = await holdTwo(one);
      await eventually(async () => {
        await other.hold([{ group, member: ben, place: 'b' }]);
        expect(await other.members(group)).toEqual(new Set([ben]));
      });
    });
  });
});

needing('Redis', redis !== undefined).describe('a Redis whose connections are cut', () => {
  test('learns about earlier arrivals as soon as it is back', async () => {
    const [one, other] = await openTwo('redis');
    await cutConnections();
    const { group, ana, ben } = await holdTwo(one);
    await one.release({ group, member: ben, place: 'b' });
    expect(await one.members(group)).toEqual(new Set([ana]));
    // Long before the lease is renewed.
    await eventually(async () => expect(await other.members(group)).toEqual(new Set([ana])));
  });

  test('keeps no member who left meanwhile, and removes no other', async () => {
    const [one, other] = await openTwo('redis');
    const { group, ana, ben } = await holdTwo(one);
    await cutConnections();
    await one.release({ group, member: ana, place: 'a' });
    expect(await one.members(group)).toEqual(new Set([ben]));
    // Well before the lease is over.
    await eventually(async () => expect(await other.members(group)).toEqual(new Set([ben])));
    expect(await one.members(group)).toEqual(new Set([ben]));
  });
});
