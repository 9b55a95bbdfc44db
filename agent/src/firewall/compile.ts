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
 * Compiles a ruleset to one nft transaction. Every name in it is a literal of this file or derived from a rule's hexadecimal id, and every address and number is printed from
 * an integer, so that no text of the server reaches nft, which would resolve host names and drop host bits.
 */

/** The one table that the agent touches. */
const TABLE = 'inet palisade';
/** Hook priority. It runs before Docker's destination NAT (-100), so that rules see the published port that the peer connects to, and after connection tracking (-200). */
const PRIORITY = -110;
/** Maximum elements of each set of dropped packets. */
const REMEMBERED_MAXIMUM = 4_096;
/** An element expires this long after its last packet, in ms. */
export const REMEMBERED_MS = 2 * 60 * 60_000;

/** Sets of dropped packets by direction and family, one for protocols with ports and one for those without. */
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
/** Sets of TCP connections older than the first blocking ruleset, each in the direction of its first packet. */
const OLDER_SETS: readonly { name: string; family: Family }[] = FAMILIES.map((family) => ({ name: `older${family}`, family }));
const NAMES: Record<Family, { keyword: string; nfproto: string; type: string }> = {
  4: { keyword: 'ip', nfproto: 'ipv4', type: 'ipv4_addr' },
  6: { keyword: 'ip6', nfproto: 'ipv6', type: 'ipv6_addr' },
};
/** IANA protocol numbers. */
const TCP = 6;
const UDP = 17;
const PROTOCOLS: Record<Exclude<Protocol, 'all'>, string> = { tcp: `${TCP}`, udp: `${UDP}`, icmp: '{ 1, 58 }' };

/** Name of a rule's counter. The contract's schema guarantees that an id is 32 hexadecimal digits with hyphens. */
export const counterOf = (rule_id: string) => `r_${rule_id.replaceAll('-', '')}`;
export const DEFAULT_COUNTERS: Record<Direction, string> = { inbound: 'd_inbound', outbound: 'd_outbound' };
const RULE_COUNTER = /^r_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/u;
/** Id of the rule that a counter belongs to; undefined for any other counter. */
export const ruleOf = (counter: string) => RULE_COUNTER.exec(counter)?.slice(1).join('-');
const olderSetSchema = z.object({
  set: z.object({ elem: z.array(z.object({ concat: z.tuple([z.string(), z.int(), z.string(), z.int()]) })).optional() }),
});
/** Name of the counter of packets that the block list dropped. */
export const LISTED_COUNTER = 'listed';
const OTHER_COUNTERS = ['d_inbound', 'd_outbound', LISTED_COUNTER, 'stray'];

/** nft expressions that match a rule's sources and destinations in one address family. */
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

/** The nft lines of a user's rule: one line for both families if it names no address, otherwise one per family. */
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

/** Lines that fill the sets of the block list. Its entries may overlap, so the sets use auto-merge. */
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
    // The kernel rejects a transaction that adds the same element twice.
    const once = [...new Set(elements)];
    return [`flush set ${TABLE} ${name}`, ...(once.length === 0 ? [] : [`add element ${TABLE} ${name} { ${once.join(', ')} }`])];
  });
}

/** Parses the `nft -j list set` output of the sets of connections older than the first blocking ruleset. */
export function readOlder(listing: readonly unknown[]): OpenConnection[] {
  return listing.flatMap((entry) =>
    (olderSetSchema.safeParse(entry).data?.set.elem ?? []).flatMap(({ concat: [from, from_port, to, to_port] }) => {
      const [from_address, to_address] = [parseIp(from), parseIp(to)];
      if (from_address === undefined || to_address === undefined) return [];
      return [{ from: { address: from_address, port: from_port }, to: { address: to_address, port: to_port } }];
    }),
  );
}

/** Lines that accept packets of older connections in both directions. */
function acceptOlderLines(): string[] {
  return OLDER_SETS.flatMap(({ name, family }) => {
    const { keyword } = NAMES[family];
    const [source, destination] = [`${keyword} saddr . tcp sport`, `${keyword} daddr . tcp dport`];
    return [`${source} . ${destination}`, `${destination} . ${source}`].map(
      (way) => `add rule ${TABLE} older ${way} @${name} accept`,
    );
  });
}

/** Lines that record the remote address in a set and then drop the packet. A full set affects only the recording. */
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
 * Matches a connection whose first packet the kernel did not see. Connection tracking calls it new until both sides have sent, and calls packets beyond the assumed window
 * invalid.
 */
const OLDER = `meta l4proto ${TCP} ct state new,invalid ${GOES_ON} jump older`;
const STRAY = `meta l4proto ${TCP} ct state new ${GOES_ON} counter name "stray" drop`;

/** nft lines of one fixed step of the contract, which precedes the user's rules. */
function stepLines({ by, match }: FirstStep, direction: Direction): string[] {
  switch (match.kind) {
    case 'loopback':
      return [
        `${direction === 'inbound' ? 'iifname' : 'oifname'} "lo" accept`,
        // Forwarded packets are not filtered. Packets to a network's anycast address are, because a computer that forwards IPv6, as
        // with Docker, answers there.
        ...(direction === 'inbound' ? ['fib daddr type != { local, broadcast, multicast, anycast } accept'] : []),
      ];
    case 'established':
      return ['ct state established,related accept'];
    case 'stray':
      return [OLDER, STRAY];
    case 'packets':
      // A set can hold more entries than a rule, and overlapping ones.
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

/** The text of a transaction, and the counters that the table has after it. */
export interface Compiled {
  text: string;
  counters: readonly string[];
  /** Number of kernel rules that it makes. */
  rules: number;
}

/**
 * Compiles a ruleset to a transaction that replaces the table's content: chains are flushed and refilled, and counters that stay in use keep their values.
 * `counters_now` are the counters in the table. The counter of a disabled rule
 * stays, so that it continues when the rule is enabled again; beyond the maximum of rules of a device, such counters are deleted. `older` are the open TCP connections older than the
 * first blocking ruleset, which stay allowed; undefined keeps those in the table.
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

/** Compiles a table that accepts everything and starts connection tracking, so that open connections are known before blocking rules are loaded. */
export function compileWarming(): string {
  const lines = [
    `add table ${TABLE}`,
    ...chainLines(),
    `flush table ${TABLE}`,
    ...DIRECTIONS.map((direction) => `add rule ${TABLE} ${direction} ct state new accept`),
  ];
  return `${lines.join('\n')}\n`;
}

/** Compiles a transaction that replaces the older connections in the table. */
export function compileOlder(older: readonly OpenConnection[]): string {
  return `${olderLines(older).join('\n')}\n`;
}

/** Compiles the removal of the table. It also succeeds if there is no table. */
export function compileRemoval(): string {
  return `add table ${TABLE}\ndelete table ${TABLE}\n`;
}

/** Literal address and port of the Palisade server. */
export type ControlAddress = { address: IpAddress; port: number };
