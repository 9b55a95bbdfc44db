import { describe, expect, test } from 'vitest';
import { PROBE_DOMAIN } from './forwarder.ts';
import { NAMES_ADDRESS, type Way } from './way.ts';
import { WebProtection, type Wish } from './web-protection.ts';

const WISH: Wish = { key: 'a'.repeat(26) };
const OTHER: Wish = { key: 'b'.repeat(26) };

/** The computer: its parts, each of which can fail. */
class World {
  kept: Wish | undefined;
  way: Way = { kind: 'file' };
  is_taken = false;
  is_listening = false;
  works = true;
  is_asked = true;
  absence: string | undefined = undefined;
  disk_full = false;
  time = 0;
  key = '';
  takes = 0;
  backs = 0;
}

/** Opens the protection of a computer that is made of values. */
function open(kept?: Wish) {
  const world = Object.assign(new World(), { kept });
  const protection = new WebProtection({
    system: {
      way: () => world.way,
      isTaken: () => world.is_taken,
      async takeUp() {
        world.takes += 1;
        world.is_taken = true;
      },
      async giveBack() {
        if (world.is_taken) expect(world.is_listening || world.backs === 0).toBe(true);
        world.backs += 1;
        world.is_taken = false;
      },
    },
    forwarder: { works: async () => world.works, lookAtServer: async () => {}, absent: () => world.absence },
    store: {
      read: async () => world.kept,
      async write(wish) {
        if (world.disk_full) throw new Error('no space left');
        world.kept = wish;
      },
      async remove() {
        world.kept = undefined;
      },
    },
    setKey: (key) => (world.key = key),
    async listen() {
      world.is_listening = true;
      return {
        async close() {
          expect(world.is_taken).toBe(false);
          world.is_listening = false;
        },
      };
    },
    async lookUp(name) {
      expect(name.endsWith(PROBE_DOMAIN)).toBe(true);
      world.time += 500;
      return world.is_taken && world.is_listening && world.is_asked ? NAMES_ADDRESS : undefined;
    },
    wait: async () => {},
    log: () => {},
    now: () => world.time,
  });
  return { world, protection };
}

test('is turned on by a key, changed to another without a gap, and off', async () => {
  const { world, protection } = open();
  await protection.start();
  expect(protection.state()).toBeNull();
  expect(await protection.want(WISH)).toBe(true);
  expect(protection.state()).toEqual({ state: 'on', reason: null });
  expect(await protection.want(WISH)).toBe(false);
  await protection.want(OTHER);
  expect(world).toMatchObject({ key: OTHER.key, kept: OTHER, takes: 1, is_taken: true });
  world.absence = 'no answer in time';
  expect(protection.state()).toEqual({ state: 'open', reason: 'no answer in time' });
  await protection.want(null);
  expect(protection.state()).toBeNull();
  expect(world).toMatchObject({ kept: undefined, is_taken: false, is_listening: false });
});

test('a start undoes what a killed agent left, then takes names up as before', async () => {
  const { world, protection } = open(WISH);
  world.is_taken = true;
  await protection.start();
  expect(world).toMatchObject({ backs: 1, takes: 1, is_taken: true, key: WISH.key });
  await protection.close();
  expect(world).toMatchObject({ kept: WISH, is_taken: false, is_listening: false });
});

describe('the settings from before come back', () => {
  test.each<[string, (world: World) => unknown, RegExp, number]>([
    ['where it is refused', (world) => (world.way = { kind: 'refused', reason: 'dhclient writes it.' }), /dhclient/u, 0],
    ['where there are no names at all', (world) => (world.works = false), /once they do/u, 0],
    ['where the wish cannot be kept', (world) => (world.disk_full = true), /no space left/u, 0],
    ['where names did not come here in time', (world) => (world.is_asked = false), /2 seconds/u, 1],
  ])('%s', async (_, fail, reason, takes) => {
    const { world, protection } = open();
    fail(world);
    await protection.want(WISH);
    expect(protection.state()?.state).toBe('failed');
    expect(protection.state()?.reason).toMatch(reason);
    expect(world).toMatchObject({ takes, is_taken: false, is_listening: false });
    Object.assign(world, { way: { kind: 'file' }, works: true, disk_full: false, is_asked: true, time: world.time + 600_000 });
    await protection.check();
    expect(protection.state()?.state).toBe('on');
  });
});

test('another program that takes names away wins; a resolver that lost them is set right', async () => {
  const { world, protection } = open();
  await protection.want(WISH);
  world.is_asked = false;
  await protection.check();
  expect(protection.state()?.state).toBe('on');
  const asking = protection.check();
  world.is_asked = true;
  await asking;
  await protection.check();
  expect(world.is_taken).toBe(true);
  world.is_taken = false;
  await protection.check();
  await protection.check();
  expect(protection.state()?.state).toBe('failed');
  expect(protection.state()?.reason).toMatch(/Another program/u);
  expect(world.is_listening).toBe(false);
});
