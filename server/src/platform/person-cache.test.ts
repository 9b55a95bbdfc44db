import { describe, expect, test } from 'vitest';
import { createPersonCache } from './person-cache.ts';

function start() {
  const world = { now: 0, value: 1, reads: 0 };
  const cache = createPersonCache({
    read: async () => {
      world.reads += 1;
      if (world.value < 0) throw new Error('unreadable');
      return await Promise.resolve(world.value);
    },
    now: () => world.now,
  });
  return { world, cache };
}

describe('a cache of a person', () => {
  test('reads once, each person apart, and again when 5 s are over', async () => {
    const { world, cache } = start();
    expect(await Promise.all([cache.of('a'), cache.of('a'), cache.of('b')])).toEqual([1, 1, 1]);
    expect(world.reads).toBe(2);
    world.value = 2;
    world.now = 4_999;
    expect(await cache.of('a')).toBe(1);
    world.now = 5_000;
    expect(await cache.of('a')).toBe(2);
  });

  test('forgets changed answers at once, also those that are being read', async () => {
    const { world, cache } = start();
    const early = cache.of('a');
    world.value = 2;
    cache.forget('a');
    expect(await cache.of('a')).toBe(2);
    expect(await early).toBe(1);
    expect(await cache.of('a')).toBe(2);
  });

  test('keeps no failure', async () => {
    const { world, cache } = start();
    world.value = -1;
    await expect(cache.of('a')).rejects.toThrow('unreadable');
    world.value = 3;
    expect(await cache.of('a')).toBe(3);
  });
});
