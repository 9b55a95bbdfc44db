import type { Action, Direction, Rule } from './firewall.ts';
import { familyConflict, readAddresses, readOneAddress, readOnePort, type Span } from './firewall-grammar.ts';
import {
  byAge,
  type DecidingRule,
  decidingOrder,
  FAMILIES,
  isCovered,
  isOlder,
  type JudgedRule,
  type Reach,
  reachOf,
  refusalOf,
  type Shape,
  shapesOf,
} from './firewall-shapes.ts';
import { firstSteps, holds, isAbout } from './firewall-steps.ts';
import type { Packet, PacketProtocol, Ruleset, Step, Traffic } from './firewall-traffic.ts';

/** The defaults for traffic that no enabled rule matches (product decision). */
export const DEFAULT_ACTIONS: Record<Direction, Action> = { inbound: 'block', outbound: 'allow' };

/** The decision about a packet. `rule` is null if no rule matched and the direction's default decided. */
export interface Verdict<R extends DecidingRule = Rule> {
  action: Action;
  rule: R | null;
}

export interface Decision<R extends DecidingRule = DecidingRule> extends Verdict<R> {
  by: Step;
}

export type FindingKind = 'duplicate' | 'contradicting' | 'never_matching';

/** A problem of one rule: the other rule that causes it, null if its own addresses do, and the reason in one sentence that names neither. */
export interface Finding {
  kind: FindingKind;
  rule_id: string;
  other_id: string | null;
  reason: string;
}

function matches(reach: Reach, packet: Traffic): boolean {
  return (
    reach.rule.direction === packet.direction &&
    reach.protocols.includes(packet.protocol) &&
    holds(reach.sources[packet.source.family], packet.source.value) &&
    holds(reach.destinations[packet.destination.family], packet.destination.value) &&
    (packet.port === null || reach.ports === null || holds(reach.ports, BigInt(packet.port)))
  );
}

/**
 * The decision about packets on a device, as its kernel must make it: loopback, established connections, strays, neighbour discovery, DHCP and traffic to the control
 * server come before all rules; then the block list, any matching block, any matching allow, and the direction's default. Of several matching rules, the result is one
 * that no other rule covers; of those, the oldest.
 */
export function createJudge<R extends DecidingRule>(ruleset: Ruleset<R>): (packet: Traffic) => Decision<R> {
  const order = decidingOrder(ruleset.rules);
  const first = { inbound: firstSteps(ruleset, 'inbound'), outbound: firstSteps(ruleset, 'outbound') };

  return (packet) => {
    const step = first[packet.direction].find((one) => isAbout(one, packet));
    if (step !== undefined) return { action: step.action, rule: null, by: step.by };
    const rule = order.find((reach) => matches(reach, packet))?.rule;
    if (rule !== undefined) return { action: rule.action, rule, by: 'rule' };
    return { action: ruleset.defaults[packet.direction], rule: null, by: 'default' };
  };
}

/**
 * The decision about a packet: any matching enabled block, then any matching enabled allow, then the direction's default.
 * The order of `rules` has no meaning.
 */
export function verdict<R extends JudgedRule & { enabled: boolean }>(
  rules: readonly R[],
  packet: Packet,
  defaults: Record<Direction, Action> = DEFAULT_ACTIONS,
): Verdict<R> {
  const matching = rules
    .filter(({ enabled }) => enabled)
    .map(reachOf)
    .filter((reach) => matches(reach, packet));
  const { action, rule } = createJudge({ rules: matching, defaults, block_list: [], control: [] })(packet);
  return { action, rule };
}

const CONTRADICTED: Record<Action, string> = {
  allow: 'Another rule blocks the same traffic. Blocks always win, so this rule has no effect.',
  block: 'Another rule allows the same traffic. Blocks always win, so that rule has no effect.',
};
const DUPLICATE = 'An older rule does the same. You need only one.';
const SHADOWED = 'Another rule blocks all of this traffic. Blocks always win, so this rule has no effect.';
const SUBSUMED: Record<Action, string> = {
  allow: 'Another rule allows all of this traffic and more, so this rule has no effect.',
  block: 'Another rule blocks all of this traffic and more, so this rule has no effect.',
};

const networkOf = (text: string) => {
  const read = readAddresses(text);
  return read.ok ? read.value.spans : [];
};
const LOOPBACK = { 4: networkOf('127.0.0.0/8'), 6: networkOf('::1') };
/** IPv4-mapped addresses: the kernel drops them (RFC 4291 section 2.5.5.2). */
const MAPPED: Span = { from: 0xffff_0000_0000n, to: 0xffff_ffff_ffffn };
/** Addresses that no packet on a network has as source or destination (RFC 6890; multicast and broadcast as source, unspecified as destination). */
const NOWHERE = {
  sources: { 4: networkOf('224.0.0.0/4, 255.255.255.255'), 6: [...networkOf('ff00::/8'), MAPPED] },
  destinations: { 4: networkOf('0.0.0.0'), 6: [...networkOf('::'), MAPPED] },
};
const isIn = (spans: readonly Span[], outer: readonly Span[]) =>
  spans.every(({ from, to }) => outer.some((span) => span.from <= from && to <= span.to));

const ITSELF = 'A computer can always reach itself, so this rule has no effect.';
const NO_SUCH_PACKET = 'No traffic uses these addresses, so this rule has no effect.';

/** Explains why a rule can match no packet that reaches the rules; undefined if it can match one. */
function whyImpossible({ sources, destinations }: Reach): string | undefined {
  const reasons = FAMILIES.filter((family) => sources[family].length > 0).map((family) => {
    if (isIn(sources[family], LOOPBACK[family]) || isIn(destinations[family], LOOPBACK[family])) return ITSELF;
    const isNowhere =
      isIn(sources[family], [...NOWHERE.sources[family], ...LOOPBACK[family]]) ||
      isIn(destinations[family], [...NOWHERE.destinations[family], ...LOOPBACK[family]]);
    return isNowhere ? NO_SUCH_PACKET : undefined;
  });
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Whether `outer` is in force whenever and wherever `inner` is: on all of its devices, and until it expires. */
function isInForceWith(outer: Rule, inner: Rule): boolean {
  const isOnDevices =
    outer.device_ids.length === 0 ||
    (inner.device_ids.length > 0 && inner.device_ids.every((device_id) => outer.device_ids.includes(device_id)));
  const lasts = outer.expires_at === null || (inner.expires_at !== null && inner.expires_at <= outer.expires_at);
  return isOnDevices && lasts;
}

/** Whether `outer` makes `inner` unnecessary wherever `inner` is in force. */
const isReplaced = (inner: Shape<Rule>, outer: Shape<Rule>) => isInForceWith(outer.rule, inner.rule) && isCovered(inner, outer);

/**
 * Contradictions among the enabled rules, in the order of `rules`. `never_matching` is a
 * rule that one other rule makes unnecessary, or whose addresses no packet has; coverage by several rules together is not checked. A duplicate, a contradicted allow and a never
 * matching rule never decide a verdict. With `about`, the id of a rule, only findings between that rule and others are returned, in time linear in
 * the number of rules; without it the time is quadratic.
 */
export function findings(rules: readonly Rule[], about?: string): Finding[] {
  const reaches = shapesOf(rules.filter((rule) => rule.enabled).map(reachOf));
  const refusals = new Map(reaches.map((reach) => [reach, refusalOf(reach.rule)]));
  const oldestFirst = reaches.filter((reach) => refusals.get(reach) === undefined).toSorted(byAge);
  return reaches.flatMap((reach) => {
    const { id: rule_id, action } = reach.rule;
    const refusal = refusals.get(reach);
    if (refusal !== undefined) {
      const reason = `This rule has no effect. ${refusal}`;
      return about === undefined || about === rule_id ? [{ kind: 'never_matching', rule_id, other_id: null, reason }] : [];
    }
    const impossible = about === undefined || about === rule_id ? whyImpossible(reachOf(reach.rule)) : undefined;
    const covering = oldestFirst.filter(
      (other) =>
        other !== reach && (about === undefined || rule_id === about || other.rule.id === about) && isReplaced(reach, other),
    );
    const found: Finding[] =
      impossible === undefined ? [] : [{ kind: 'never_matching', rule_id, other_id: null, reason: impossible }];
    const add = (kind: FindingKind, other: Shape<Rule> | undefined, reason: string): boolean => {
      if (other) found.push({ kind, rule_id, other_id: other.rule.id, reason });
      return other !== undefined;
    };
    const same = covering.filter((other) => isReplaced(other, reach));
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
    if (impossible !== undefined || isDuplicate || (isContradicted && action === 'allow')) return found;
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

/** The typed fields of the tester. */
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

/** Parses a packet that a person describes, with a sentence for each invalid field. */
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
