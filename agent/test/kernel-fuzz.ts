import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Direction } from '@palisade/contract/firewall';
import { type JudgedRule, reachOf, type TrafficProtocol } from '@palisade/contract/firewall-shapes';
import type { Ruleset, Traffic } from '@palisade/contract/firewall-traffic';
import { createJudge } from '@palisade/contract/firewall-verdict';
import { type Family, type IpAddress, lastAddress, parseIp, printIp } from '@palisade/contract/ip-address';
import { z } from 'zod';
import { compile, counterOf, DEFAULT_COUNTERS } from '#firewall/compile.ts';
import { createNft, type Nft } from '#firewall/nft.ts';
import { createNamespace, join2, type Namespace } from './namespace.ts';
import { frameOf, packetOf, requestOf } from './packets.ts';

/**
 * Compares the contract's judge with a kernel: random rulesets are loaded, random packets are sent, and a table of the test's own notes which of them passed the
 * agent's table (by the number that each carries) and drops them. The counters tell whether the rule that the judge names is the one that decided.
 */

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A generator with a seed, so that a run can be repeated. */
export function createRandom(seed: number) {
  const next = seededNumbers(seed);
  const below = (end: number) => Math.floor(next() * end);
  return {
    below,
    isLikely: (chance: number) => next() < chance,
    pick<const T>(from: readonly [T, ...T[]]): T {
      return from[below(from.length)] ?? from[0];
    },
  };
}
export type Random = ReturnType<typeof createRandom>;

/** Networks of the packets: inbound ones go to the first of each family, outbound ones to the second. */
const NETWORKS = {
  inbound: { 4: { base: '10.1.0.0', bits: 16 }, 6: { base: 'fd01::', bits: 64 } },
  outbound: { 4: { base: '198.18.0.0', bits: 16 }, 6: { base: 'fd02::', bits: 64 } },
} as const;
const PORTS = [1, 22, 53, 80, 443, 1_024, 3_389, 8_080, 50_000, 65_535] as const;
export const FAMILIES: readonly [Family, Family] = [4, 6];
export const DIRECTIONS: readonly [Direction, Direction] = ['inbound', 'outbound'];

function read(text: string): IpAddress {
  const address = parseIp(text);
  if (address === undefined) throw new Error(`no address: ${text}`);
  return address;
}

/** Near the beginning of a network, so that rules and packets meet; now and then anywhere. */
function addressIn(random: Random, family: Family, side: Direction): IpAddress {
  const { base, bits } = NETWORKS[side][family];
  const size = 1n << BigInt(bits);
  const offset = random.isLikely(0.9) ? BigInt(random.below(64)) : (BigInt(random.below(2 ** 30)) * 7_919n) % size;
  const value = read(base).value + offset;
  return { family, value: value > lastAddress(family) ? read(base).value : value };
}

function addressField(random: Random, family: Family, side: Direction): string {
  const one = () => {
    const address = addressIn(random, family, side);
    const kind = random.below(3);
    if (kind === 0) return printIp(address);
    if (kind === 1) {
      const size = 1n << BigInt(random.below(8));
      const from = address.value - (address.value % size);
      return `${printIp({ family, value: from })}/${(family === 4 ? 32 : 128) - (size.toString(2).length - 1)}`;
    }
    return `${printIp(address)}-${printIp({ family, value: address.value + BigInt(random.below(20)) })}`;
  };
  const shape = random.below(10);
  if (shape === 0) return family === 4 ? '0.0.0.0/0' : '::/0';
  return Array.from({ length: shape < 7 ? 1 : 1 + random.below(6) }, one).join(', ');
}

function portField(random: Random): string {
  const one = () => {
    const port = random.pick(PORTS);
    return random.isLikely(0.5) ? `${port}` : `${port}-${Math.min(65_535, port + random.below(2_000))}`;
  };
  return Array.from({ length: 1 + random.below(3) }, one).join(',');
}

export function randomRule(random: Random, number: number): JudgedRule {
  const direction = random.pick(DIRECTIONS);
  const family = random.pick(FAMILIES);
  const protocol = random.pick(['tcp', 'udp', 'icmp', 'all']);
  const other = direction === 'inbound' ? 'outbound' : 'inbound';
  return {
    id: `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    direction,
    action: random.pick(['allow', 'block']),
    protocol,
    source_ip: random.isLikely(0.4) ? '*' : addressField(random, family, other),
    destination_ip: random.isLikely(0.5) ? '*' : addressField(random, family, direction),
    port: protocol === 'icmp' || random.isLikely(0.3) ? '*' : portField(random),
  };
}

function randomRuleset(random: Random): Ruleset {
  const count = 1 + random.below(40);
  return {
    rules: Array.from({ length: count }, (_, index) => reachOf(randomRule(random, index))),
    defaults: { inbound: random.pick(['allow', 'block']), outbound: random.pick(['allow', 'block']) },
    block_list: random.isLikely(0.3) ? [addressField(random, 4, 'outbound').split(',')[0] ?? '198.18.0.9', 'fd02::7'] : [],
    control: [{ address: read('198.18.0.1'), port: 443 }],
  };
}

export function randomPacket(random: Random, direction: Direction, family: Family, protocol: TrafficProtocol): Traffic {
  const other = direction === 'inbound' ? 'outbound' : 'inbound';
  const has_port = protocol === 'tcp' || protocol === 'udp';
  return {
    direction,
    protocol,
    source: addressIn(random, family, other),
    destination: addressIn(random, family, direction),
    source_port: random.isLikely(0.02) ? random.pick([67, 68, 546, 547]) : 20_000 + random.below(30_000),
    port: has_port ? (random.isLikely(0.8) ? random.pick([...PORTS, 67, 68, 546, 547]) : 1 + random.below(65_535)) : null,
  };
}

/** Where packets are sent and judged. */
export interface Bench {
  nft: Nft;
  device: Namespace;
  peer: Namespace;
  close(): void;
  /** Sends packets numbered from 1 and answers the numbers of those that came past the firewall. */
  passed(direction: Direction, family: Family, packets: readonly Buffer[]): Promise<ReadonlySet<number>>;
  /** Packets of each counter of the table, by its name. */
  counters(): Promise<ReadonlyMap<string, number>>;
}

const counterListing = z.object({ counter: z.object({ name: z.string(), packets: z.int() }) });
const setListing = z.object({ set: z.object({ elem: z.array(z.unknown()).optional() }) });
const element = z.union([z.int(), z.object({ elem: z.object({ val: z.int() }) }).transform(({ elem }) => elem.val)]);

function createSender(namespace: Namespace) {
  const child: ChildProcess = namespace.start('python3', [new URL('./send-packets.py', import.meta.url).pathname, 'eth0']);
  if (child.stdin === null || child.stdout === null || child.stderr === null) throw new Error('the sender has no pipes');
  const { stdin } = child;
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async send(request: Buffer): Promise<void> {
      stdin.write(request);
      const { done } = await lines.next();
      if (done === true) throw new Error(`the sender ended: ${said}`);
    },
    end: () => child.kill('SIGKILL'),
  };
}

/** Notes packets that pass the chains under test, and drops them, so that there is no answer: behind those of the agent, or behind those of an export. */
const HOOKS = {
  prerouting: { inbound: 'prerouting priority -109', outbound: 'output priority -109' },
  input: { inbound: 'input priority 10', outbound: 'output priority 10' },
} as const;
const recorderOf = (behind: keyof typeof HOOKS) =>
  DIRECTIONS.flatMap((direction) => [
    `add set inet recorder ${direction}4 { typeof ip id; size 65535; flags dynamic; }`,
    `add set inet recorder ${direction}6 { typeof ip6 flowlabel; size 65535; flags dynamic; }`,
    `add chain inet recorder ${direction} { type filter hook ${HOOKS[behind][direction]}; policy accept; }`,
    `add rule inet recorder ${direction} meta nfproto ipv4 ip id != 0 add @${direction}4 { ip id } drop`,
    `add rule inet recorder ${direction} meta nfproto ipv6 ip6 flowlabel != 0 add @${direction}6 { ip6 flowlabel } drop`,
  ]).join('\n');

export async function createBench(folder: string, behind: keyof typeof HOOKS = 'prerouting'): Promise<Bench> {
  const device = createNamespace();
  const peer = createNamespace(device);
  join2(device, peer);
  const nft = createNft([...device.command, 'nft'], folder);
  const recorded = await nft.apply(`add table inet recorder\n${recorderOf(behind)}\n`);
  if (!recorded.ok) throw new Error(recorded.message);
  // Packets for these networks are this computer's own; all others leave by the cable.
  device.run('ip', 'route', 'add', 'local', '10.1.0.0/16', 'dev', 'lo');
  device.run('ip', '-6', 'route', 'add', 'local', 'fd01::/64', 'dev', 'lo');
  device.run('ip', 'route', 'add', 'default', 'via', '10.77.0.2');
  device.run('ip', '-6', 'route', 'add', 'default', 'via', 'fd77::2');
  const mac = (namespace: Namespace) => /link\/ether (\S+)/u.exec(namespace.run('ip', 'link', 'show', 'eth0'))?.[1] ?? '';
  const macs = { device: mac(device), peer: mac(peer) };
  const senders = { inbound: createSender(peer), outbound: createSender(device) };

  return {
    nft,
    device,
    peer,
    close() {
      for (const { end } of Object.values(senders)) end();
    },
    async passed(direction, family, packets) {
      const set = `${direction}${family}`;
      const emptied = await nft.apply(`flush set inet recorder ${set}\n`);
      if (!emptied.ok) throw new Error(emptied.message);
      const request =
        direction === 'inbound'
          ? requestOf(
              'f',
              packets.map((packet) => frameOf(packet, macs.device, macs.peer)),
            )
          : requestOf(family === 4 ? '4' : '6', packets);
      await senders[direction].send(request);
      const listed = await nft.listJson(['set', 'inet', 'recorder', set]);
      const found = (listed ?? []).flatMap((entry) => {
        const parsed = setListing.safeParse(entry);
        return parsed.success ? (parsed.data.set.elem ?? []).map((one) => element.parse(one)) : [];
      });
      return new Set(found);
    },
    async counters() {
      const listed = await nft.listJson(['counters', 'table', 'inet', 'palisade']);
      const entries = (listed ?? []).flatMap((entry) => {
        const parsed = counterListing.safeParse(entry);
        return parsed.success ? [[parsed.data.counter.name, parsed.data.counter.packets] as const] : [];
      });
      return new Map(entries);
    },
  };
}

/** Which packets the judge and the kernel treat differently, or count for another rule. */
export interface FuzzResult {
  packets: number;
  blocked: number;
  mismatches: string[];
}

/** One ruleset, `count` packets of each protocol, half of them in and half out, half IPv4 and half IPv6. */
export async function fuzzOnce(bench: Bench, random: Random, count: number): Promise<FuzzResult> {
  const ruleset = randomRuleset(random);
  await bench.nft.apply('add table inet palisade\ndelete table inet palisade\n');
  const loaded = await bench.nft.apply(compile(ruleset).text);
  if (!loaded.ok) throw new Error(`the kernel refused ${JSON.stringify(ruleset)}: ${loaded.message}`);
  const judge = createJudge(ruleset);
  const result: FuzzResult = { packets: 0, blocked: 0, mismatches: [] };
  const expected = new Map<string, number>();
  for (const direction of DIRECTIONS) {
    for (const family of FAMILIES) {
      const traffic = (['tcp', 'udp', 'icmp'] as const).flatMap((protocol) =>
        Array.from({ length: Math.ceil(count / 4) }, () => randomPacket(random, direction, family, protocol)),
      );
      const passed = await bench.passed(
        direction,
        family,
        traffic.map((packet, index) => packetOf(packet, index + 1)),
      );
      for (const [index, packet] of traffic.entries()) {
        const { action, by, rule } = judge(packet);
        const is_passed = passed.has(index + 1);
        result.packets += 1;
        if (action === 'block') result.blocked += 1;
        if (is_passed !== (action === 'allow')) {
          const { source, destination, ...rest } = packet;
          result.mismatches.push(
            `${JSON.stringify({ ...rest, source: printIp(source), destination: printIp(destination) })}: judge ${action} by ${by} ${rule?.id ?? ''}, kernel ${is_passed ? 'allow' : 'block'}`,
          );
        }
        const counter =
          by === 'rule'
            ? counterOf(rule?.id ?? '')
            : by === 'default'
              ? DEFAULT_COUNTERS[direction]
              : by === 'block_list'
                ? 'listed'
                : undefined;
        if (counter !== undefined) expected.set(counter, (expected.get(counter) ?? 0) + 1);
      }
    }
  }
  const counted = await bench.counters();
  for (const [name, packets] of expected) {
    // The kernel's own neighbour discovery is no test packet, and passes before the counters.
    if (counted.get(name) !== packets) result.mismatches.push(`counter ${name}: judge ${packets}, kernel ${counted.get(name)}`);
  }
  return result;
}
