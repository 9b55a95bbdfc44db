import { expect, it } from 'vitest';
import { hostileRun } from '#test/hostile.ts';

it('answers a million malformed messages in at most their bytes', async () => {
  expect(await hostileRun(1_000_000, 52)).toEqual({ crashes: 0, longer: 0 });
}, 300_000);
