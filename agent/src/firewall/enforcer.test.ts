import { deviceRuleOf, type TypedRule } from '@palisade/contract/device-rule';
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
    time: Date.UTC(2026, 0),
    loaded: [],
    steps: [],
    open: [],
    opening: [],
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
    apply: load,
    check: () => Promise.resolve({ ok: true }),
    begin: () => Promise.resolve({ load, cancel() {} }),
    list: () => Promise.resolve(undefined),
    listCounters: () => Promise.resolve(''),
    listJson: () => Promise.resolve(tables()),
  };
  let kept: FirewallState | undefined;
  const enforcer = createEnforcer({
    conntrack: {
      list: () => Promise.resolve([]),
      forget: () => Promise.resolve(),
    },
    nft,
    kernel: 'one',
    now: () => world.time,
    warming_ms: 0,
    store: {
      read: () => Promise.resolve(kept),
      write(state) {
        kept = state;
        return Promise.resolve();
      },
      remove: () => Promise.resolve(),
    },
    keepForBoot: () => Promise.resolve(),
    control: () => Promise.resolve([]),
    verify: () => Promise.resolve(undefined),
    openConnections: () => world.open,
    localAddresses: () => new Set(['10.0.0.1']),
    say() {},
    onTampered() {},
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
      source_ip: '*',
      destination_ip: '*',
      port: '7000',
      expires_at,
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

it('keeps rules in force when the server begins to send them parsed', async () => {
  const { world, enforcer } = createWorld();
  const typed: TypedRule = {
    ...({ id: '01930000-0000-7000-8000-000000000001', direction: 'inbound', action: 'block', protocol: 'tcp' } as const),
    ...{ source_ip: '10.0.0.0/8', destination_ip: '*', port: '7000-7010, 8000', expires_at: null },
  };
  for (const is_parsed of [false, true]) {
    const rules = [deviceRuleOf(typed, is_parsed)];
    const state = { defaults: { inbound: 'allow', outbound: 'allow' } as const, rules, block_list: [] };
    await enforcer.want({ rev: 1, hash: hashOf(state), ...state });
    expect(enforcer.rulesetHash()).toBe(hashOf(state));
  }
  const [before, after] = world.loaded.filter((text) => text.includes('7000'));
  expect(before).toContain('ip saddr 10.0.0.0-10.255.255.255 meta l4proto 6 th dport { 7000-7010, 8000 }');
  const rulesOf = (text = '') => text.split('\n').filter((line) => line.startsWith('add rule'));
  expect(rulesOf(after)).toEqual(rulesOf(before));
  expect(world.loaded.join('')).not.toContain('delete table');
});

it('gives the table the connections that are older than its first block, and takes those away that a later one forbids', async () => {
  const { world, enforcer } = createWorld();
  const connection = (here: number, there: number) => ({
    from: { address: { family: 4, value: 0x0a000001n } as const, port: here },
    to: { address: { family: 4, value: 0x0a000002n } as const, port: there },
  });
  world.open = [connection(40_000, 22)];
  world.opening = [connection(40_001, 443)];
  const want = async (rev: number, ...ports: string[]) => {
    const rules = ports.map((port, index) => ({
      ...({
        id: `01930000-0000-7000-8000-00000000000${index}`,
        direction: 'outbound',
        action: 'block',
        protocol: 'tcp',
      } as const),
      source_ip: '*',
      destination_ip: '*',
      port,
      expires_at: null,
    }));
    const state = { defaults: { inbound: 'allow', outbound: 'allow' } as const, rules, block_list: [] };
    await enforcer.want({ rev, hash: hashOf(state), ...state });
    return world.loaded.at(-1)?.match(/(?:flush set|add element) inet palisade older4.*/gu) ?? [];
  };
  const both = '10.0.0.1 . 40000 . 10.0.0.2 . 22, 10.0.0.1 . 40001 . 10.0.0.2 . 443';
  expect(await want(1, '7000')).toEqual(['flush set inet palisade older4', `add element inet palisade older4 { ${both} }`]);
  expect(world.steps).toEqual(['warming', 'rules']);
  // The kernel knows connections that open under the rules.
  world.open = [...world.open, connection(40_002, 80)];
  expect(await want(2, '7000', '7001')).toEqual([]);
  // Connections that a rule forbids are removed once the rule is there, also those that the kernel picked up.
  const kept = ['flush set inet palisade older4', 'add element inet palisade older4 { 10.0.0.1 . 40000 . 10.0.0.2 . 22 }'];
  expect(await want(3, '7000', '443')).toEqual(kept);
  expect(world.loaded.at(-2)).toContain('dport 443');
  expect(await want(4, '7000')).toEqual([]);
  // Without a block everything passes, and a connection that is silent from then on is older than the next block.
  expect(await want(5)).toEqual(['flush set inet palisade older4']);
  await want(6, '22');
  const [rules, cut] = world.loaded.slice(-2);
  const two = '10.0.0.1 . 40001 . 10.0.0.2 . 443, 10.0.0.1 . 40002 . 10.0.0.2 . 80';
  expect(rules).toContain(`{ 10.0.0.1 . 40000 . 10.0.0.2 . 22, ${two} }`);
  expect(cut).toContain(`{ ${two} }`);
});

it('names the counts of another table differently, for any clock', async () => {
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
