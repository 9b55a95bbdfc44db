import type { Action, Direction, Protocol, Rule } from './firewall.ts';
import {
  type AddressSet,
  familyConflict,
  PORT_MAXIMUM,
  readAddresses,
  readOneAddress,
  readOnePort,
  readPorts,
  type Span,
  wholeFamily,
} from './firewall-grammar.ts';
import type { Family, IpAddress } from './ip-address.ts';

/** What happens to traffic that no enabled rule matches (a decision of the product). */
export const DEFAULT_ACTIONS: Record<Direction, Action> = { inbound: 'block', outbound: 'allow' };

export type PacketProtocol = Exclude<Protocol, 'all'>;

/** The first packet of a connection. `source` and `destination` share a family; `port` is the one connected to, null for ICMP. */
export interface Packet {
  direction: Direction;
  protocol: PacketProtocol;
  source: IpAddress;
  destination: IpAddress;
  port: number | null;
}

/** What a packet may come with. `rule` is null when no rule matched and the direction's default decided. */
export interface Verdict {
  action: Action;
  rule: Rule | null;
}

export type FindingKind = 'duplicate' | 'contradicting' | 'never_matching';

/** Something odd about one rule: which other rule makes it so, and why in one sentence that names neither. */
export interface Finding {
  kind: FindingKind;
  rule_id: string;
  other_id: string;
  reason: string;
}

const FAMILIES: readonly Family[] = [4, 6];
const EVERY_PORT: readonly Span[] = [{ from: 1n, to: BigInt(PORT_MAXIMUM) }];

/** The traffic of a rule as sets. For each family both sets are empty or neither is. */
interface Reach {
  rule: Rule;
  protocols: readonly PacketProtocol[];
  sources: Record<Family, readonly Span[]>;
  destinations: Record<Family, readonly Span[]>;
  ports: readonly Span[];
}

function spansOf(set: AddressSet, family: Family): readonly Span[] {
  if (set.family === null) return [wholeFamily(family)];
  return set.family === family ? set.spans : [];
}

/** @throws Error for a rule whose fields the grammar refuses; the server stores none. */
function reachOf(rule: Rule): Reach {
  const source = readAddresses(rule.source_ip);
  const destination = readAddresses(rule.destination_ip);
  const port = readPorts(rule.port);
  if (!source.ok || !destination.ok || !port.ok) throw new Error(`the fields of rule ${rule.id} cannot be read`);
  const sides = (family: Family) => {
    const from = spansOf(source.value, family);
    const to = spansOf(destination.value, family);
    return from.length > 0 && to.length > 0 ? { from, to } : { from: [], to: [] };
  };
  const [v4, v6] = [sides(4), sides(6)];
  // A rule that names ports says nothing about traffic that has none.
  const all: readonly PacketProtocol[] = port.value === null ? ['tcp', 'udp', 'icmp'] : ['tcp', 'udp'];
  return {
    rule,
    protocols: rule.protocol === 'all' ? all : [rule.protocol],
    sources: { 4: v4.from, 6: v6.from },
    destinations: { 4: v4.to, 6: v6.to },
    ports: port.value ?? EVERY_PORT,
  };
}

const holds = (spans: readonly Span[], value: bigint) => spans.some(({ from, to }) => from <= value && value <= to);

/** Both lists are sorted and joined, so a span that is covered is covered by one span. */
const isWithin = (inner: readonly Span[], outer: readonly Span[]) =>
  inner.every(({ from, to }) => outer.some((span) => span.from <= from && to <= span.to));

function matches(reach: Reach, packet: Packet): boolean {
  return (
    reach.rule.direction === packet.direction &&
    reach.protocols.includes(packet.protocol) &&
    holds(reach.sources[packet.source.family], packet.source.value) &&
    holds(reach.destinations[packet.destination.family], packet.destination.value) &&
    (packet.port === null || holds(reach.ports, BigInt(packet.port)))
  );
}

/** Whether every packet of `inner` is one of `outer`. Exact, because a rule matches every combination of its parts. */
function isCovered(inner: Reach, outer: Reach): boolean {
  return (
    inner.rule.direction === outer.rule.direction &&
    inner.protocols.every((protocol) => outer.protocols.includes(protocol)) &&
    (inner.protocols.every((protocol) => protocol === 'icmp') || isWithin(inner.ports, outer.ports)) &&
    FAMILIES.every(
      (family) =>
        isWithin(inner.sources[family], outer.sources[family]) &&
        isWithin(inner.destinations[family], outer.destinations[family]),
    )
  );
}

const isOlder = (a: Reach, b: Reach) => a.rule.id < b.rule.id;

/** Whether `outer` makes `inner` needless: it covers more, or the same and was there before. */
function outranks(outer: Reach, inner: Reach): boolean {
  return isCovered(inner, outer) && (!isCovered(outer, inner) || isOlder(outer, inner));
}

/** Of several rules that match, the one to name: not outranked by another, and of those the oldest. */
function deciding(reaches: readonly Reach[]): Rule | undefined {
  return reaches
    .filter((reach) => !reaches.some((other) => other !== reach && outranks(other, reach)))
    .toSorted((a, b) => (isOlder(a, b) ? -1 : 1))[0]?.rule;
}

/**
 * What happens to a packet: any enabled block that matches, then any enabled allow that matches, then the direction's default.
 * The order of `rules` means nothing.
 */
export function verdict(rules: readonly Rule[], packet: Packet): Verdict {
  const matching = rules
    .filter((rule) => rule.enabled)
    .map(reachOf)
    .filter((reach) => matches(reach, packet));
  for (const action of ['block', 'allow'] as const) {
    const rule = deciding(matching.filter((reach) => reach.rule.action === action));
    if (rule) return { action, rule };
  }
  return { action: DEFAULT_ACTIONS[packet.direction], rule: null };
}

const CONTRADICTED: Record<Action, string> = {
  allow: 'Another rule blocks exactly the same traffic. A block always wins, so this rule never decides.',
  block: 'Another rule allows exactly the same traffic. A block always wins, so that rule never decides.',
};
const DUPLICATE = 'An older rule says exactly the same. One of the two is enough.';
const SHADOWED = 'Another rule blocks all of this traffic. A block always wins, so this rule never decides.';
const SUBSUMED: Record<Action, string> = {
  allow: 'Another rule allows all of this traffic and more, so this rule makes no difference.',
  block: 'Another rule blocks all of this traffic and more, so this rule makes no difference.',
};

/**
 * What is odd about the enabled rules among themselves; disabled ones decide nothing and are left out. In the order of `rules`. `never_matching` is a
 * rule that one other rule makes needless; what only several together cover is not looked for. A duplicate, a contradicted allow and a rule that never
 * matches are never the rule of a verdict. With `about`, the id of one of the rules, only what is odd between that one and another: in time that rises with
 * the number of rules, where all of them take its square.
 */
export function findings(rules: readonly Rule[], about?: string): Finding[] {
  const reaches = rules.filter((rule) => rule.enabled).map(reachOf);
  const byAge = reaches.toSorted((a, b) => (isOlder(a, b) ? -1 : 1));
  return reaches.flatMap((reach) => {
    const { id: rule_id, action } = reach.rule;
    const covering = byAge.filter(
      (other) =>
        other !== reach && (about === undefined || rule_id === about || other.rule.id === about) && isCovered(reach, other),
    );
    const found: Finding[] = [];
    const add = (kind: FindingKind, other: Reach | undefined, reason: string): boolean => {
      if (other) found.push({ kind, rule_id, other_id: other.rule.id, reason });
      return other !== undefined;
    };
    const same = covering.filter((other) => isCovered(other, reach));
    const isContradicted = add(
      'contradicting',
      same.find((other) => other.rule.action !== action),
      CONTRADICTED[action],
    );
    const isDuplicate = add(
      'duplicate',
      same.find((other) => other.rule.action === action && isOlder(other, reach)),
      DUPLICATE,
    );
    if (isDuplicate || (isContradicted && action === 'allow')) return found;
    const wider = covering.filter((other) => !same.includes(other));
    const isShadowed =
      action === 'allow' &&
      add(
        'never_matching',
        wider.find((other) => other.rule.action === 'block'),
        SHADOWED,
      );
    if (!isShadowed) {
      add(
        'never_matching',
        wider.find((other) => other.rule.action === action),
        SUBSUMED[action],
      );
    }
    return found;
  });
}

/** The fields of the tester as typed. */
export interface PacketText {
  direction: Direction;
  protocol: PacketProtocol;
  source: string;
  destination: string;
  port: string;
}

export type PacketReading =
  | { ok: true; packet: Packet }
  | { ok: false; messages: Partial<Record<'source' | 'destination' | 'port', string>> };

/** Reads a packet that a person describes, with a sentence for each field that cannot be read. */
export function readPacket({ direction, protocol, ...text }: PacketText): PacketReading {
  const source = readOneAddress(text.source);
  const destination = readOneAddress(text.destination);
  const port = protocol === 'icmp' ? ({ ok: true, value: null } as const) : readOnePort(text.port);
  if (source.ok && destination.ok && port.ok) {
    const conflict = familyConflict(source.value.family, destination.value.family);
    if (conflict !== undefined) return { ok: false, messages: { destination: conflict } };
    return { ok: true, packet: { direction, protocol, source: source.value, destination: destination.value, port: port.value } };
  }
  return {
    ok: false,
    messages: {
      ...(source.ok ? {} : { source: source.message }),
      ...(destination.ok ? {} : { destination: destination.message }),
      ...(port.ok ? {} : { port: port.message }),
    },
  };
}
