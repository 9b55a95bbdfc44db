import type { Rule } from '@palisade/contract/firewall';
import { type AddressSet, readAddresses, readPorts, wholeFamily } from '@palisade/contract/firewall-grammar';
import type { Named } from './named.ts';

/** Openings in a person's firewall rules, each with the responsible rules. */
export interface OpenRules {
  /** Everything, to everyone. */
  everything: readonly Named[];
  /** Those of the requested ports that are open to everyone. */
  ports: ReadonlyMap<number, readonly Named[]>;
  /** Rules that repeat or contradict another one, those without an effect first. */
  clashing: readonly Named[];
}

type Family = NonNullable<AddressSet['family']>;
const FAMILIES: readonly Family[] = [4, 6];

/** The address families that a field covers completely: both for `*`, one for `0.0.0.0/0`. */
function wholeFamilies(field: string): readonly Family[] {
  const read = readAddresses(field);
  if (!read.ok) return [];
  const { family, spans } = read.value;
  if (family === null) return FAMILIES;
  const whole = wholeFamily(family);
  return spans.some(({ from, to }) => from === whole.from && to === whole.to) ? [family] : [];
}

/** Whether a port field covers a TCP port; `undefined` asks for every port. */
function coversPort(field: string, port: number | undefined): boolean {
  const read = readPorts(field);
  if (!read.ok) return false;
  if (read.value === null) return true;
  return port !== undefined && read.value.some(({ from, to }) => from <= BigInt(port) && BigInt(port) <= to);
}

/** Inbound rules that let everyone in, except for families that a block closes to everyone: a block always wins. */
function openFor(rules: readonly Rule[], port: number | undefined): Named[] {
  const covering = rules.filter(
    (rule) =>
      rule.enabled &&
      rule.direction === 'inbound' &&
      (rule.protocol === 'all' || (rule.protocol === 'tcp' && port !== undefined)) &&
      coversPort(rule.port, port),
  );
  const closed = covering
    .filter((rule) => rule.action === 'block')
    .flatMap((rule) => {
      const destinations = wholeFamilies(rule.destination_ip);
      return wholeFamilies(rule.source_ip).filter((family) => destinations.includes(family));
    });
  return covering
    .filter((rule) => rule.action === 'allow')
    .filter((rule) => port !== undefined || wholeFamilies(rule.destination_ip).length > 0)
    .filter((rule) => wholeFamilies(rule.source_ip).some((family) => !closed.includes(family)))
    .map(named);
}

/** The traffic of a rule in canonical form: two rules have the same text exactly if they match the same traffic. */
function trafficOf(rule: Rule): string | undefined {
  const [source, destination, port] = [readAddresses(rule.source_ip), readAddresses(rule.destination_ip), readPorts(rule.port)];
  if (!source.ok || !destination.ok || !port.ok) return undefined;
  const spans = ({ family, spans: some }: AddressSet) =>
    family === null ? '*' : `${family}:${some.map(({ from, to }) => `${from}-${to}`).join()}`;
  // A side without a family takes that of the other.
  const family = source.value.family ?? destination.value.family;
  const whole = (set: AddressSet) => (set.family === null && family !== null ? { family, spans: [wholeFamily(family)] } : set);
  // `all` with ports matches only TCP and UDP; ICMP has no ports.
  const protocol = rule.protocol === 'all' && port.value !== null ? 'tcp,udp' : rule.protocol;
  const ports =
    rule.protocol === 'icmp' || port.value === null ? EVERY_PORT : port.value.map(({ from, to }) => `${from}-${to}`).join();
  return [rule.direction, protocol, spans(whole(source.value)), spans(whole(destination.value)), ports].join(' ');
}
const EVERY_PORT = '1-65535';

const named = ({ id, rule_name }: Rule): Named => ({ id, name: rule_name });

/** Enabled rules that repeat an older one, or contradict another one. A block wins, so allows without effect come first. */
function clashingOf(rules: readonly Rule[]): Rule[] {
  const groups = Map.groupBy(
    rules.filter(({ enabled }) => enabled),
    trafficOf,
  );
  const clashing = new Set<Rule>();
  for (const [traffic, some] of groups) {
    if (traffic === undefined || some.length === 1) continue;
    for (const rule of some) {
      if (some.some((other) => other.action !== rule.action || other.id < rule.id)) clashing.add(rule);
    }
  }
  return rules.filter((rule) => clashing.has(rule)).toSorted((one, other) => one.action.localeCompare(other.action));
}

/** Analyzes all rules of a person, in linear time. */
export function readOpenRules(rules: readonly Rule[], ports: readonly number[]): OpenRules {
  return {
    everything: openFor(rules, undefined),
    ports: new Map(ports.map((port) => [port, openFor(rules, port)])),
    clashing: clashingOf(rules).map(named),
  };
}
