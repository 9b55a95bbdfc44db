import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REMEMBERED_MS } from './compile.ts';
import { Dropped } from './dropped.ts';
import { type Nft, readCounters } from './nft.ts';

/** An nft that lists one set of the kernel's, and counts how often it is asked. */
function createWorld(most = 10) {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-dropped-'));
  const world: { listed: number; time: number; elements: unknown[] | undefined } = { listed: 0, time: 0, elements: [] };
  const nft: Pick<Nft, 'listJson'> = {
    listJson() {
      world.listed += 1;
      return Promise.resolve(world.elements && [{ set: { name: 'in4', elem: world.elements } }]);
    },
  };
  const paths = { run: join(folder, 'run.json'), state: join(folder, 'state.json') };
  const start = () =>
    new Dropped({
      nft,
      most,
      paths,
      clock: () => world.time,
      at: () => new Date(Date.UTC(2026, 0) + world.time).toISOString(),
    });
  const dropped = start();
  /** Packets that are reported for the first time; confirmed at once. */
  const fresh = async (drops: string, one: Dropped = dropped, epoch = 'one') => {
    const part = await one.read({ epoch, drops });
    if (part === undefined) return [];
    one.noted(part.blocked_part.number);
    return part.blocked.map(({ packets }) => packets);
  };
  return { world, paths, start, dropped, fresh };
}

const element = (packets: number, expires = REMEMBERED_MS / 1_000, address = '203.0.113.9') => ({
  elem: { val: { concat: ['tcp', address, 22] }, expires, counter: { packets, bytes: 60 * packets } },
});

it('looks at who was dropped only where a counter says that anybody was', async () => {
  const { world, dropped, fresh } = createWorld();
  world.elements = [element(5)];
  const at = '2026-01-01T00:00:00.000Z';
  const part = await dropped.read({ epoch: 'one', drops: '1,r 5' });
  expect(part).toMatchObject({
    blocked: [{ direction: 'inbound', protocol: 'tcp', address: '203.0.113.9', port: 22, packets: 5, first_at: at, last_at: at }],
    blocked_part: { number: 1 },
  });
  dropped.noted(1);
  expect(dropped.hasDropped('203.0.113.9')).toBe(true);
  expect(await fresh('1,r 5')).toEqual([]);
  expect(world.listed).toBe(1);
  world.elements = [element(7)];
  expect(await fresh('1,r 7')).toEqual([2]);
  // Drops before an edit are reported after it, though the counter of the rule may be gone.
  world.elements = [element(8)];
  expect(await fresh('2')).toEqual([1]);
  expect(world.listed).toBe(3);
  // A list that could not be read adds nothing, and makes nothing count again.
  world.elements = undefined;
  expect(await fresh('3')).toEqual([]);
  world.elements = [element(9)];
  expect(await fresh('3')).toEqual([1]);
});

it('counts an element from 0 that ran out while nothing was dropped and came again', async () => {
  const { world, dropped, fresh } = createWorld();
  // Its last packet came before the first look.
  world.elements = [element(5, 600)];
  await fresh('1,r 5');
  world.time = 600_000 - 1;
  expect(dropped.hasDropped('203.0.113.9')).toBe(true);
  world.time = 600_000;
  expect(dropped.hasDropped('203.0.113.9')).toBe(false);
  expect(await fresh('1,r 5')).toEqual([]);
  world.time += 30_000;
  world.elements = [element(6)];
  expect(await fresh('1,r 11')).toEqual([6]);
  world.time += REMEMBERED_MS - 1;
  world.elements = [element(9)];
  expect(await fresh('1,r 14')).toEqual([3]);
});

it('does not count an element again that was kept alive a moment before it would have run out', async () => {
  const { world, fresh } = createWorld();
  world.elements = [element(5, 10)];
  expect(await fresh('1,r 5')).toEqual([5]);
  world.time = 30_000;
  world.elements = [element(6)];
  expect(await fresh('1,r 6')).toEqual([1]);
});

it('repeats a part unchanged until it is confirmed, and keeps later drops in one sum for each source', async () => {
  const { world, dropped } = createWorld();
  const read = (drops: string) => dropped.read({ epoch: 'one', drops });
  world.elements = [element(5)];
  const first = await read('5');
  for (const packets of [6, 8, 11]) {
    world.time += 30_000;
    world.elements = [element(packets), element(1, undefined, '203.0.113.10')];
    expect(await read(`${packets}`)).toEqual(first);
  }
  // A confirmation of another part does not count for this one.
  dropped.noted(7);
  expect(await read('11')).toEqual(first);
  dropped.noted(1);
  const second = await read('11');
  expect(second?.blocked_part).toEqual({ log: first?.blocked_part.log, number: 2 });
  expect(second?.blocked).toMatchObject([
    { address: '203.0.113.9', packets: 6, first_at: '2026-01-01T00:00:30.000Z', last_at: '2026-01-01T00:01:30.000Z' },
    { address: '203.0.113.10', packets: 1, first_at: '2026-01-01T00:00:30.000Z', last_at: '2026-01-01T00:00:30.000Z' },
  ]);
  dropped.noted(2);
  expect(await read('11')).toBeUndefined();
});

it('tells the sources apart that were dropped most, and loses no packet of the others', async () => {
  const { world, dropped } = createWorld(3);
  const many = (packets: number) =>
    Array.from({ length: 6 }, (_, index) => element(packets + index, undefined, `203.0.113.${index}`));
  world.elements = [element(1)];
  await dropped.read({ epoch: 'one', drops: '1' });
  for (const packets of [10, 20]) {
    world.time += 30_000;
    world.elements = [element(1), ...many(packets)];
    await dropped.read({ epoch: 'one', drops: `${packets}` });
  }
  dropped.noted(1);
  const part = await dropped.read({ epoch: 'one', drops: '20' });
  expect(part?.blocked.map(({ address, packets }) => [address, packets])).toEqual([
    ['203.0.113.5', 25],
    ['203.0.113.4', 24],
    ['203.0.113.3', 23],
  ]);
  expect(part?.blocked_more).toEqual({
    packets: 20 + 21 + 22,
    first_at: '2026-01-01T00:00:30.000Z',
    last_at: '2026-01-01T00:01:00.000Z',
  });
});

it('continues after a restart from its last place, in the same table alone', async () => {
  const { world, paths, start, dropped, fresh } = createWorld();
  world.elements = [element(5)];
  expect(await fresh('5')).toEqual([5]);
  world.elements = [element(7)];
  const unnoted = await dropped.read({ epoch: 'one', drops: '7' });
  // Killed: the state in memory is there.
  world.elements = [element(8)];
  const killed = start();
  expect(await killed.read({ epoch: 'one', drops: '8' })).toEqual(unnoted);
  killed.noted(2);
  expect(await fresh('8', killed)).toEqual([1]);
  // Ended, and the memory is gone: the state on the disk is there, once.
  world.elements = [element(10)];
  const last = await killed.read({ epoch: 'one', drops: '10' });
  await killed.keep();
  rmSync(paths.run);
  const ended = start();
  expect(existsSync(paths.state)).toBe(false);
  expect(await ended.read({ epoch: 'one', drops: '10' })).toEqual(last);
  ended.noted(last?.blocked_part.number ?? 0);
  // Another table: its counts were never reported.
  world.elements = [element(12)];
  expect(await fresh('12', start(), 'two')).toEqual([12]);
  // An unreadable log begins another one: none of its numbers counts as counted.
  writeFileSync(paths.run, '{"log":');
  const anew = await start().read({ epoch: 'two', drops: '12' });
  expect(anew?.blocked_part.log).not.toBe(last?.blocked_part.log);
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
