import { DEVICE_RULES_MAXIMUM } from '@palisade/contract/agent';
import type { Direction, Protocol } from '@palisade/contract/firewall';
import { readAddresses, type Span, wholeFamily } from '@palisade/contract/firewall-grammar';
import { nftMatch, nftSpan, oneOrSet } from '@palisade/contract/firewall-nft';
import { decidingOrder, type Reach } from '@palisade/contract/firewall-shapes';
import { type FirstStep, firstSteps } from '@palisade/contract/firewall-steps';
import type { Ruleset } from '@palisade/contract/firewall-traffic';
import { type Family, type IpAddress, parseIp, printIp } from '@palisade/contract/ip-address';
import { z } from 'zod';
import type { OpenConnection } from '#telemetry/proc.ts';

/**
 * Turns a ruleset into one nft transaction. Every name in it is one of these literals or made of a rule's hexadecimal id, every address and number is printed from
 * an integer, so that nft never reads a server's own text: nft resolves names and cuts host bits off.
 */

/** The one table that the agent touches. */
const TABLE = 'inet palisade';
/** Before Docker's destination NAT (-100), so that a published port is judged by the number that the other end connects to; after connection tracking (-200). */
const PRIORITY = -110;
/** Sources that are remembered at a time in each set, and for how long after their last packet. */
const REMEMBERED_MAXIMUM = 4_096;
/** ms. */
export const REMEMBERED_MS = 2 * 60 * 60_000;

/** Names of the sets of dropped packets, by direction and family; the second has protocols without ports. */
export const DROPPED_SETS: readonly { name: string; direction: Direction; family: Family; has_port: boolean }[] = [
  { name: 'in4', direction: 'inbound', family: 4, has_port: true },
  { name: 'in6', direction: 'inbound', family: 6, has_port: true },
  { name: 'in4_portless', direction: 'inbound', family: 4, has_port: false },
  { name: 'in6_portless', direction: 'inbound', family: 6, has_port: false },
  { name: 'out4', direction: 'outbound', family: 4, has_port: true },
  { name: 'out6', direction: 'outbound', family: 6, has_port: true },
  { name: 'out4_portless', direction: 'outbound', family: 4, has_port: false },
  { name: 'out6_portless', direction: 'outbound', family: 6, has_port: false },
];

const DIRECTIONS: readonly Direction[] = ['inbound', 'outbound'];
const FAMILIES: readonly Family[] = [4, 6];
/** TCP connections that are older than the first block, each as its first packet went. */
const OLDER_SETS: readonly { name: string; family: Family }[] = FAMILIES.map((family) => ({ name: `older${family}`, family }));
const NAMES: Record<Family, { keyword: string; nfproto: string; type: string }> = {
  4: { keyword: 'ip', nfproto: 'ipv4', type: 'ipv4_addr' },
  6: { keyword: 'ip6', nfproto: 'ipv6', type: 'ipv6_addr' },
};
/** IANA protocol numbers; ICMP is ICMP and ICMPv6. */
const TCP = 6;
const UDP = 17;
const PROTOCOLS: Record<Exclude<Protocol, 'all'>, string> = { tcp: `${TCP}`, udp: `${UDP}`, icmp: '{ 1, 58 }' };

/** The counter of a rule. An id is 32 hexadecimal digits with hyphens, as the contract's schema has made sure. */
export const counterOf = (rule_id: string) => `r_${rule_id.replaceAll('-', '')}`;
export const DEFAULT_COUNTERS: Record<Direction, string> = { inbound: 'd_inbound', outbound: 'd_outbound' };
const RULE_COUNTER = /^r_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/u;
/** The rule of a counter; undefined of one that is no rule's. */
export const ruleOf = (counter: string) => RULE_COUNTER.exec(counter)?.slice(1).join('-');
const olderSetSchema = z.object({
  set: z.object({ elem: z.array(z.object({ concat: z.tuple([z.string(), z.int(), z.string(), z.int()]) })).optional() }),
});
/** Name of the counter of packets that the block list dropped. */
export const LISTED_COUNTER = 'listed';
const OTHER_COUNTERS = ['d_inbound', 'd_outbound', LISTED_COUNTER, 'stray'];

/** Matches the sources and destinations of a rule in one family; nothing for every packet. */
function addressMatch({ sources, destinations }: Reach, family: Family): string[] {
  const side = (name: 'saddr' | 'daddr', spans: readonly Span[]) =>
    isWhole(spans, family) ? [] : [`${NAMES[family].keyword} ${name} ${oneOrSet(spans.map((span) => nftSpan(span, family)))}`];
  const matches = [...side('saddr', sources[family]), ...side('daddr', destinations[family])];
  return matches.length === 0 ? [`meta nfproto ${NAMES[family].nfproto}`] : matches;
}

function isWhole([span, ...others]: readonly Span[], family: Family): boolean {
  const whole = wholeFamily(family);
  return others.length === 0 && span?.from === whole.from && span.to === whole.to;
}

function portMatch({ rule: { protocol }, ports }: Reach): string[] {
  const named = protocol === 'all' ? undefined : [`meta l4proto ${PROTOCOLS[protocol]}`];
  if (ports === null) return named ?? [];
  const numbers = ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  return [...(named ?? [`meta l4proto { ${TCP}, ${UDP} }`]), `th dport ${oneOrSet(numbers)}`];
}

/** A person's rule as lines of its chain: one for both families where it names no address, else one for each. */
function ruleLines(reach: Reach): string[] {
  const { rule, sources, destinations } = reach;
  const end = rule.action === 'allow' ? 'accept' : `goto drop_${rule.direction}`;
  const isEverywhere = FAMILIES.every((family) => isWhole(sources[family], family) && isWhole(destinations[family], family));
  const addresses = isEverywhere
    ? [[]]
    : FAMILIES.filter((family) => sources[family].length > 0).map((family) => addressMatch(reach, family));
  return addresses.map((match) => {
    const words = [...match, ...portMatch(reach), `counter name "${counterOf(rule.id)}"`, end];
    return `add rule ${TABLE} ${rule.direction} ${words.join(' ')}`;
  });
}

function setLines(): string[] {
  return [
    ...OLDER_SETS.map(({ name, family }) => {
      const end = `${NAMES[family].type} . inet_service`;
      return `add set ${TABLE} ${name} { type ${end} . ${end}; }`;
    }),
    ...FAMILIES.map((family) => `add set ${TABLE} listed${family} { type ${NAMES[family].type}; flags interval; auto-merge; }`),
    ...DROPPED_SETS.map(
      ({ name, family, has_port }) =>
        `add set ${TABLE} ${name} { type inet_proto . ${NAMES[family].type}${has_port ? ' . inet_service' : ''}; flags dynamic,timeout; timeout ${REMEMBERED_MS / 1_000}s; size ${REMEMBERED_MAXIMUM}; }`,
    ),
  ];
}

/** A block list may have overlaps, which a set with auto-merge takes. */
function listLines(block_list: readonly string[]): string[] {
  const listed: Record<Family, string[]> = { 4: [], 6: [] };
  for (const entry of block_list) {
    const read = readAddresses(entry);
    if (!read.ok || read.value.family === null) continue;
    const { family, spans } = read.value;
    listed[family].push(...spans.map((span) => nftSpan(span, family)));
  }
  return FAMILIES.flatMap((family) => [
    `flush set ${TABLE} listed${family}`,
    ...(listed[family].length === 0 ? [] : [`add element ${TABLE} listed${family} { ${listed[family].join(', ')} }`]),
  ]);
}

const printEnd = ({ address, port }: OpenConnection['from']) => `${printIp(address)} . ${port}`;

function olderLines(connections: readonly OpenConnection[]): string[] {
  return OLDER_SETS.flatMap(({ name, family }) => {
    const elements = connections
      .filter(({ from, to }) => from.address.family === family && to.address.family === family)
      .map(({ from, to }) => `${printEnd(from)} . ${printEnd(to)}`);
    // The kernel takes one twice in one transaction for a fault of it.
    const once = [...new Set(elements)];
    return [`flush set ${TABLE} ${name}`, ...(once.length === 0 ? [] : [`add element ${TABLE} ${name} { ${once.join(', ')} }`])];
  });
}

/** Reads what `nft -j list set` says of the sets of connections that are older than the first block. */
export function readOlder(listing: readonly unknown[]): OpenConnection[] {
  return listing.flatMap((entry) =>
    (olderSetSchema.safeParse(entry).data?.set.elem ?? []).flatMap(({ concat: [from, from_port, to, to_port] }) => {
      const [from_address, to_address] = [parseIp(from), parseIp(to)];
      if (from_address === undefined || to_address === undefined) return [];
      return [{ from: { address: from_address, port: from_port }, to: { address: to_address, port: to_port } }];
    }),
  );
}

/** Accepts what belongs to an older connection, whichever side says it. */
function acceptOlderLines(): string[] {
  return OLDER_SETS.flatMap(({ name, family }) => {
    const { keyword } = NAMES[family];
    const [source, destination] = [`${keyword} saddr . tcp sport`, `${keyword} daddr . tcp dport`];
    return [`${source} . ${destination}`, `${destination} . ${source}`].map(
      (way) => `add rule ${TABLE} older ${way} @${name} accept`,
    );
  });
}

/** Records the sender in a set, then drops. If the set is full, only the recording line has no effect. */
function dropLines(): string[] {
  return DIRECTIONS.flatMap((direction) => [
    ...DROPPED_SETS.filter((set) => set.direction === direction).map(({ name, family, has_port }) => {
      const address = `${NAMES[family].keyword} ${direction === 'inbound' ? 'saddr' : 'daddr'}`;
      const protocols = `meta l4proto ${has_port ? '' : '!= '}{ ${TCP}, ${UDP} }`;
      return `add rule ${TABLE} drop_${direction} meta nfproto ${NAMES[family].nfproto} ${protocols} update @${name} { meta l4proto . ${address}${has_port ? ' . th dport' : ''} counter }`;
    }),
    `add rule ${TABLE} drop_${direction} drop`,
  ]);
}

const GOES_ON = 'tcp flags & (fin|syn|rst|ack) != syn';
/**
 * A connection whose beginning the kernel did not see: if the kernel starts to track it, it is new until both sides have sent, and packets beyond the assumed window
 * are invalid.
 */
const OLDER = `meta l4proto ${TCP} ct state new,invalid ${GOES_ON} jump older`;
const STRAY = `meta l4proto ${TCP} ct state new ${GOES_ON} counter name "stray" drop`;

/** One step of the contract's list, which comes before a person's rules. */
function stepLines({ by, match }: FirstStep, direction: Direction): string[] {
  switch (match.kind) {
    case 'loopback':
      return [
        `${direction === 'inbound' ? 'iifname' : 'oifname'} "lo" accept`,
        // Packets that are only routed through this computer are not its own. Those to a network's anycast address are: a computer that forwards IPv6, as
        // with Docker, answers there.
        ...(direction === 'inbound' ? ['fib daddr type != { local, broadcast, multicast, anycast } accept'] : []),
      ];
    case 'established':
      return ['ct state established,related accept'];
    case 'stray':
      return [OLDER, STRAY];
    case 'packets':
      // A set takes more entries, and overlaps among them, than a rule does.
      return by === 'block_list'
        ? [`${NAMES[match.family].keyword} saddr @listed${match.family} counter name "${LISTED_COUNTER}" goto drop_inbound`]
        : [`${nftMatch(match)} accept`];
  }
}

function firstLines(direction: Direction, ruleset: Ruleset): string[] {
  return firstSteps(ruleset, direction).flatMap((step) =>
    stepLines(step, direction).map((line) => `add rule ${TABLE} ${direction} ${line}`),
  );
}

const HOOKS: Record<Direction, string> = { inbound: 'prerouting', outbound: 'output' };

function chainLines(): string[] {
  return DIRECTIONS.flatMap((direction) => [
    `add chain ${TABLE} ${direction} { type filter hook ${HOOKS[direction]} priority ${PRIORITY}; policy accept; }`,
    `add chain ${TABLE} drop_${direction}`,
  ]);
}

/** A transaction, and the counters after it. */
export interface Compiled {
  text: string;
  counters: readonly string[];
  /** Number of kernel rules that it makes. */
  rules: number;
}

/**
 * The whole of a ruleset, to replace the table's present content, in one transaction: chains are emptied and filled again, counters that stay in use keep their values.
 * `counters_now` are the counters that the table has. The counter of a disabled rule
 * stays, so that it continues when the rule is enabled again; beyond the rules that a device may have, the oldest of these are deleted. `older` are the open TCP connections that are older than the
 * first block and are kept; undefined for those that the table has.
 */
export function compile(ruleset: Ruleset, counters_now: readonly string[] = [], older?: readonly OpenConnection[]): Compiled {
  const order = decidingOrder(ruleset.rules);
  const counters = [...OTHER_COUNTERS, ...ruleset.rules.map(({ rule }) => counterOf(rule.id))];
  const used = new Set(counters);
  const unused = counters_now.filter((name) => !used.has(name));
  const kept = unused.filter((name) => ruleOf(name) !== undefined).slice(0, DEVICE_RULES_MAXIMUM - ruleset.rules.length);
  const lines = [
    `add table ${TABLE}`,
    ...chainLines(),
    `add chain ${TABLE} older`,
    `flush table ${TABLE}`,
    ...counters.map((name) => `add counter ${TABLE} ${name}`),
    ...setLines(),
    ...listLines(ruleset.block_list),
    ...(older === undefined ? [] : olderLines(older)),
    ...dropLines(),
    ...acceptOlderLines(),
    ...DIRECTIONS.flatMap((direction) => [
      ...firstLines(direction, ruleset),
      ...order.filter(({ rule }) => rule.direction === direction).flatMap(ruleLines),
      `add rule ${TABLE} ${direction} counter name "${DEFAULT_COUNTERS[direction]}" ${ruleset.defaults[direction] === 'allow' ? 'accept' : `goto drop_${direction}`}`,
    ]),
    ...unused.filter((name) => !kept.includes(name)).map((name) => `delete counter ${TABLE} ${name}`),
  ];
  return {
    text: `${lines.join('\n')}\n`,
    counters: [...counters, ...kept],
    rules: lines.filter((line) => line.startsWith('add rule ')).length,
  };
}

/** Lets everything pass and has the kernel begin to track connections, so that those that are open are known when blocks come. */
export function compileWarming(): string {
  const lines = [
    `add table ${TABLE}`,
    ...chainLines(),
    `flush table ${TABLE}`,
    ...DIRECTIONS.map((direction) => `add rule ${TABLE} ${direction} ct state new accept`),
  ];
  return `${lines.join('\n')}\n`;
}

/** Gives the table other connections that are older than the first block, in the place of those that it has. */
export function compileOlder(older: readonly OpenConnection[]): string {
  return `${olderLines(older).join('\n')}\n`;
}

/** Takes the table away, whether it is there or not. */
export function compileRemoval(): string {
  return `add table ${TABLE}\ndelete table ${TABLE}\n`;
}

/** A place to connect to: a literal address. */
export type ControlAddress = { address: IpAddress; port: number };
