import type { Direction, Protocol, Rule } from './firewall.ts';
import { type AddressSet, familyConflict, readAddresses, readPorts, type Span, wholeFamily } from './firewall-grammar.ts';
import type { Family } from './ip-address.ts';

/** The fields of a rule that need no parsing. */
export type DecidingRule = Pick<Rule, 'id' | 'direction' | 'action' | 'protocol'>;
/** The fields of a rule that select and decide traffic, as a person typed them. */
export type JudgedRule = DecidingRule & Pick<Rule, 'source_ip' | 'destination_ip' | 'port'>;

/** Protocols of a packet: `other` is every protocol except TCP, UDP, ICMP and ICMPv6. */
export type TrafficProtocol = Exclude<Protocol, 'all'> | 'other';

export const FAMILIES: readonly Family[] = [4, 6];

/** The traffic of a rule as sets. For each family, sources and destinations are either both empty or both non-empty. */
export interface Reach<R extends DecidingRule = DecidingRule> {
  rule: R;
  protocols: readonly TrafficProtocol[];
  sources: Record<Family, readonly Span[]>;
  destinations: Record<Family, readonly Span[]>;
  /** Null if the rule names no ports: it matches all ports and traffic without ports. */
  ports: readonly Span[] | null;
}

function spansOf(set: AddressSet, family: Family): readonly Span[] {
  if (set.family === null) return [wholeFamily(family)];
  return set.family === family ? set.spans : [];
}

const WITHOUT_PORTS: readonly TrafficProtocol[] = ['tcp', 'udp', 'icmp', 'other'];
const WITH_PORTS: readonly TrafficProtocol[] = ['tcp', 'udp'];

/**
 * Explains why the grammar refuses a rule, such as one that an older version stored; undefined if every field is valid. An invalid rule matches no packet: verdicts,
 * exports and devices leave it out, and a finding reports it.
 */
export function refusalOf(rule: Pick<JudgedRule, 'protocol' | 'source_ip' | 'destination_ip' | 'port'>): string | undefined {
  const [source, destination, port] = [readAddresses(rule.source_ip), readAddresses(rule.destination_ip), readPorts(rule.port)];
  for (const read of [source, destination, port]) if (!read.ok) return read.message;
  if (rule.protocol === 'icmp' && port.ok && port.value !== null) return 'ICMP has no ports. Leave the port as *.';
  return source.ok && destination.ok ? familyConflict(source.value.family, destination.value.family) : undefined;
}

const NO_SPANS: Readonly<Record<Family, readonly Span[]>> = { 4: [], 6: [] };

/** Whether the rule matches any packet: an invalid rule has no addresses of either family. */
export const reachesAny = ({ sources }: Reach) => FAMILIES.some((family) => sources[family].length > 0);

/** The traffic of a rule; empty for an invalid one (`refusalOf`). */
export function reachOf<R extends JudgedRule>(rule: R): Reach<R> {
  const source = readAddresses(rule.source_ip);
  const destination = readAddresses(rule.destination_ip);
  const port = readPorts(rule.port);
  if (!source.ok || !destination.ok || !port.ok || (rule.protocol === 'icmp' && port.value !== null))
    return { rule, protocols: [], sources: NO_SPANS, destinations: NO_SPANS, ports: [] };
  const sides = (family: Family) => {
    const from = spansOf(source.value, family);
    const to = spansOf(destination.value, family);
    return from.length > 0 && to.length > 0 ? { from, to } : { from: [], to: [] };
  };
  const [v4, v6] = [sides(4), sides(6)];
  return {
    rule,
    protocols: protocolsOf(rule, port.value),
    sources: { 4: v4.from, 6: v6.from },
    destinations: { 4: v4.to, 6: v6.to },
    ports: port.value,
  };
}

/** The protocols of a rule. One that names ports does not match traffic without ports. */
export function protocolsOf({ protocol }: DecidingRule, ports: Reach['ports']): Reach['protocols'] {
  if (protocol !== 'all') return [protocol];
  return ports === null ? WITHOUT_PORTS : WITH_PORTS;
}

/**
 * A rule's traffic in small integers, so that 1,000 rules can be compared with each other: each address or port at which a span of any rule begins or ends has a
 * rank, and a span is a pair of ranks, of which the second is excluded. `protocols` is a bit mask.
 */
export interface Shape<R extends DecidingRule = DecidingRule> {
  rule: R;
  direction: Direction;
  protocols: number;
  /** Sorted pairs of ranks, for each of `SIDES`: IPv4 sources and destinations, IPv6 sources and destinations, ports. */
  spans: readonly Ranks[];
}
type Ranks = Readonly<Int32Array>;

/** IPv4 sources, IPv4 destinations, IPv6 sources, IPv6 destinations, ports. */
const SIDES = 5;
const SOURCE_SIDES = [0, 2];
export const PORT_SIDE = 4;
export const PROTOCOL_BITS: Record<TrafficProtocol, number> = { tcp: 1, udp: 2, icmp: 4, other: 8 };
/** Protocols that have ports. */
export const PORT_BITS = PROTOCOL_BITS.tcp | PROTOCOL_BITS.udp;
const EVERY_PORT: readonly Span[] = [{ from: 1n, to: 65_535n }];

const sidesOf = (reach: Reach): readonly (readonly Span[])[] => [
  reach.sources[4],
  reach.destinations[4],
  reach.sources[6],
  reach.destinations[6],
  reach.ports ?? EVERY_PORT,
];

/** Ranks of the ends of all spans of one side. */
function ranksOf(sides: Iterable<readonly Span[]>): Map<bigint, number> {
  const ends = new Set<bigint>();
  for (const spans of sides) {
    for (const { from, to } of spans) ends.add(from).add(to + 1n);
  }
  const sorted = [...ends].sort((a, b) => (a < b ? -1 : 1));
  return new Map(sorted.map((end, rank) => [end, rank]));
}

export function shapesOf<R extends DecidingRule>(reaches: readonly Reach<R>[]): Shape<R>[] {
  const sides = reaches.map(sidesOf);
  const ranks = Array.from({ length: SIDES }, (_, side) => ranksOf(sides.map((of) => of[side] ?? [])));
  return reaches.map((reach, index) => ({
    rule: reach.rule,
    direction: reach.rule.direction,
    protocols: reach.protocols.reduce((bits, protocol) => bits | PROTOCOL_BITS[protocol], 0),
    spans: (sides[index] ?? []).map((spans, side) =>
      Int32Array.from(spans.flatMap(({ from, to }) => [ranks[side]?.get(from) ?? 0, ranks[side]?.get(to + 1n) ?? 0])),
    ),
  }));
}

/** Whether every span of `inner` is within a span of `outer`. Both are sorted and merged, so one pass over both is enough. */
function isWithin(inner: Ranks | undefined, outer: Ranks | undefined): boolean {
  if (inner === undefined || outer === undefined) return false;
  let at = 0;
  for (let index = 0; index < inner.length; index += 2) {
    const from = inner[index] ?? 0;
    const to = inner[index + 1] ?? 0;
    while (at < outer.length && (outer[at + 1] ?? 0) < to) at += 2;
    if (at >= outer.length || (outer[at] ?? 0) > from) return false;
  }
  return true;
}

/** Whether `outer` matches every packet of `inner`. Exact, because a rule matches every combination of its parts. */
export function isCovered(inner: Shape, outer: Shape): boolean {
  if (inner.direction !== outer.direction || (inner.protocols & ~outer.protocols) !== 0) return false;
  for (let side = 0; side < PORT_SIDE; side += 1) {
    if (!isWithin(inner.spans[side], outer.spans[side])) return false;
  }
  return (inner.protocols & PORT_BITS) === 0 || isWithin(inner.spans[PORT_SIDE], outer.spans[PORT_SIDE]);
}

export const isOlder = (a: { rule: DecidingRule }, b: { rule: DecidingRule }) => a.rule.id < b.rule.id;
export const byAge = (a: { rule: DecidingRule }, b: { rule: DecidingRule }) => (isOlder(a, b) ? -1 : 1);

/** Whether `outer` makes `inner` unnecessary: it covers more, or it covers the same and is older. */
function outranks(outer: Shape, inner: Shape): boolean {
  return isCovered(inner, outer) && (!isCovered(outer, inner) || isOlder(outer, inner));
}

/** The first and the last rank of one side; undefined if the rule has no addresses of this family. */
function boundsOf({ spans }: Shape, side: number): { from: number; to: number } | undefined {
  const of = spans[side];
  const [from, to] = [of?.[0], of?.at(-1)];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/**
 * The `shapes` that another one outranks. An outranking shape covers the other's sources, so shapes are sorted by the start of their sources, and each is compared only with those whose sources overlap.
 */
function outranked<R extends DecidingRule>(shapes: readonly Shape<R>[]): ReadonlySet<Shape<R>> {
  const lost = new Set<Shape<R>>();
  const compare = (outer: Shape<R>, inner: Shape<R>) => {
    if (outer !== inner && !lost.has(inner) && outranks(outer, inner)) lost.add(inner);
  };
  for (const side of SOURCE_SIDES) {
    const bounded = shapes.flatMap((shape) => {
      const bounds = boundsOf(shape, side);
      return bounds === undefined ? [] : [{ shape, ...bounds }];
    });
    bounded.sort((a, b) => a.from - b.from || b.to - a.to);
    let open: typeof bounded = [];
    for (const next of bounded) {
      open = open.filter(({ to }) => to > next.from);
      for (const other of open) {
        compare(other.shape, next.shape);
        if (other.from === next.from && other.to === next.to) compare(next.shape, other.shape);
      }
      open.push(next);
    }
  }
  // A shape without addresses of either family matches no packet and is covered by every shape.
  for (const inner of shapes)
    if (SOURCE_SIDES.every((side) => boundsOf(inner, side) === undefined)) for (const outer of shapes) compare(outer, inner);
  return lost;
}

/**
 * The rules that can decide anything, in the order of evaluation: all blocks, then all allows, the oldest first. A rule that another one with the same action
 * outranks is left out, because the other one matches all of its packets.
 */
export function decidingOrder<R extends DecidingRule>(rules: readonly Reach<R>[]): Reach<R>[] {
  const reaches = rules.filter(reachesAny);
  const shapes = shapesOf(reaches);
  const decided = (action: R['action']) => {
    const same = shapes.map((shape, index) => ({ shape, index })).filter(({ shape }) => shape.rule.action === action);
    const lost = outranked(same.map(({ shape }) => shape));
    return same
      .filter(({ shape }) => !lost.has(shape))
      .flatMap(({ index }) => reaches[index] ?? [])
      .sort(byAge);
  };
  return [...decided('block'), ...decided('allow')];
}
