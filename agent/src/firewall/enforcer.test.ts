import { afterEach, expect, it, vi } from 'vitest';
import type { OpenConnection } from '#telemetry/proc.ts';
import { type FirewallState, hashOf } from './applied.ts';
import { compileWarming } from './compile.ts';
import { createEnforcer } from './enforcer.ts';
import type { Nft } from './nft.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** An enforcer over a kernel that takes everything, with a clock that a test sets. */
function createWorld() {
  const world: { time: number; loaded: string[]; steps: string[]; open: OpenConnection[]; opening: OpenConnection[] } = {
    ...{ time: Date.UTC(2026, 0), loaded: [], steps: [], open: [], opening: [] },
  };
  const load = (text: string) => {
    world.loaded.push(text);
    world.steps.push(text === compileWarming() ? 'warming' : 'rules');
    world.open = [...world.open, ...world.opening];
    world.opening = [];
    return Promise.resolve({ ok: true as const });
  };
  const tables = () => [{ table: { family: 'inet', name: 'palisade', handle: 1 } }];
  const nft: Nft = {
    ...{ apply: load, check: () => Promise.resolve({ ok: true }), begin: () => Promise.resolve({ load, cancel() {} }) },
    ...{ list: () => Promise.resolve(undefined), listCounters: () => Promise.resolve('') },
    listJson: () => Promise.resolve(tables()),
  };
  let kept: FirewallState | undefined;
  const enforcer = createEnforcer({
    conntrack: {
      learn: (connections) => Promise.resolve(void world.steps.push(`learn ${connections.map(({ to }) => to.port).join()}`)),
      ...{ list: () => Promise.resolve([]), forget: () => Promise.resolve() },
    },
    ...{ nft, kernel: 'one', now: () => world.time, warming_ms: 0 },
    store: {
      read: () => Promise.resolve(kept),
      write(state) {
        kept = state;
        return Promise.resolve();
      },
      remove: () => Promise.resolve(),
    },
    ...{ keepForBoot: () => Promise.resolve(), control: () => Promise.resolve([]), verify: () => Promise.resolve(undefined) },
    ...{ openConnections: () => world.open, localAddresses: () => new Set<string>(), say() {}, onTampered() {} },
    wait: () => Promise.resolve(),
  });
  return { world, enforcer };
}

it('ends a temporary rule soon after the computer was suspended, and not by a timer that stood still', async () => {
  vi.useFakeTimers();
  const { world, enforcer } = createWorld();
  const expires_at = new Date(world.time + 3_600_000).toISOString();
  const rules = [
    {
      ...({ id: '01930000-0000-7000-8000-000000000001', direction: 'inbound', action: 'block', protocol: 'tcp' } as const),
      ...{ source_ip: '*', destination_ip: '*', port: '7000', expires_at },
    },
  ];
  const state = { defaults: { inbound: 'allow', outbound: 'allow' } as const, rules, block_list: [] };
  await enforcer.want({ rev: 1, hash: hashOf(state), ...state });
  expect(world.loaded.at(-1)).toContain('7000');
  const before = world.loaded.length;
  world.time += 60_000;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.loaded).toHaveLength(before);
  // Two hours of sleep, in which no timer ran.
  world.time += 2 * 3_600_000;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.loaded.length).toBeGreaterThan(before);
  expect(world.loaded.at(-1)).not.toContain('7000');
});

it('tells the kernel of open connections before it looks at any packet of theirs, and of those that came meanwhile', async () => {
  const { world, enforcer } = createWorld();
  const address = { family: 4, value: 0x0a000001n } as const;
  const connection = (port: number) => ({ from: { address, port: 40_000 }, to: { address, port } });
  world.open = [connection(22)];
  const rules = [
    {
      ...({ id: '01930000-0000-7000-8000-000000000001', direction: 'inbound', action: 'block', protocol: 'tcp' } as const),
      ...{ source_ip: '*', destination_ip: '*', port: '7000', expires_at: null },
    },
  ];
  const state = { defaults: { inbound: 'allow', outbound: 'allow' } as const, rules, block_list: [] };
  world.opening = [connection(443)];
  await enforcer.want({ rev: 1, hash: hashOf(state), ...state });
  expect(world.steps).toEqual(['learn 22', 'warming', 'learn 443', 'rules']);
});

it('names the counts of another table otherwise, whatever the clock says', async () => {
  const { world, enforcer } = createWorld();
  const state = { defaults: { inbound: 'allow', outbound: 'allow' } as const, rules: [], block_list: [] };
  await enforcer.want({ rev: 1, hash: hashOf(state), ...state });
  const first = (await enforcer.counters()).epoch;
  // A computer without a battery begins in 1970.
  world.time = 5_000;
  await enforcer.disable();
  await enforcer.want({ rev: 2, hash: hashOf(state), ...state });
  const second = (await enforcer.counters()).epoch;
  expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
});
