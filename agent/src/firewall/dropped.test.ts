import { expect, it } from 'vitest';
import { REMEMBERED_MS } from './compile.ts';
import { createDropped } from './dropped.ts';
import { type Nft, readCounters } from './nft.ts';

/** An nft that lists one set of the kernel's, and counts how often it is asked. */
function createWorld() {
  const world: { listed: number; time: number; elements: unknown[] } = { listed: 0, time: 0, elements: [] };
  const never = () => Promise.reject(new Error('not asked for here'));
  const nft: Nft = {
    ...{ apply: never, begin: never, check: never, list: never, listCounters: never },
    listJson() {
      world.listed += 1;
      return Promise.resolve([{ set: { name: 'in4', elem: world.elements } }]);
    },
  };
  return { world, dropped: createDropped(nft, 10, () => world.time) };
}

const element = (packets: number, expires = REMEMBERED_MS / 1_000) => ({
  elem: { val: { concat: ['tcp', '203.0.113.9', 22] }, expires, counter: { packets, bytes: 60 * packets } },
});

it('looks at who was dropped only where a counter says that anybody was', async () => {
  const { world, dropped } = createWorld();
  world.elements = [element(5)];
  expect(await dropped.read('1,r 5')).toEqual([
    { direction: 'inbound', protocol: 'tcp', address: '203.0.113.9', port: 22, packets: 5 },
  ]);
  expect(dropped.hasDropped('203.0.113.9')).toBe(true);
  expect(await dropped.read('1,r 5')).toEqual([]);
  expect(world.listed).toBe(1);
  world.elements = [element(7)];
  expect((await dropped.read('1,r 7')).map(({ packets }) => packets)).toEqual([2]);
  // What was dropped before an edit is told after it, though the counter of the rule may be gone.
  world.elements = [element(8)];
  expect((await dropped.read('2')).map(({ packets }) => packets)).toEqual([1]);
  expect(world.listed).toBe(3);
});

it('counts an element from 0 that ran out and came again while nobody looked', async () => {
  const { world, dropped } = createWorld();
  // Its last packet came before the first look.
  world.elements = [element(5, 600)];
  await dropped.read('1,r 5');
  world.time = 600_000 - 1;
  expect(dropped.hasDropped('203.0.113.9')).toBe(true);
  world.time = 600_000;
  expect(dropped.hasDropped('203.0.113.9')).toBe(false);
  world.time += 30_000;
  world.elements = [element(6)];
  expect((await dropped.read('1,r 11')).map(({ packets }) => packets)).toEqual([6]);
  world.time += REMEMBERED_MS - 1;
  world.elements = [element(9)];
  expect((await dropped.read('1,r 14')).map(({ packets }) => packets)).toEqual([3]);
});

it('reads counters as nft lists them', () => {
  const listing = `table inet palisade {
	counter d_inbound {
		packets 12 bytes 3456
	}
	counter r_01930000000070008000000000000001 {
		packets 9007199254740991 bytes 0
	}
}
`;
  expect(readCounters(listing)).toEqual([
    { name: 'd_inbound', packets: 12, bytes: 3_456 },
    { name: 'r_01930000000070008000000000000001', packets: Number.MAX_SAFE_INTEGER, bytes: 0 },
  ]);
  expect(readCounters('')).toEqual([]);
});
