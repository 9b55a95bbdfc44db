import type { Rule } from '@palisade/contract/firewall';
import { type AddressSet, readAddresses, readPorts, wholeFamily } from '@palisade/contract/firewall-grammar';
import { findings } from '@palisade/contract/firewall-verdict';

/** What somebody's firewall rules leave open, each with the names of the rules that do. */
export interface OpenRules {
  /** Everything, to everyone. */
  everything: readonly string[];
  /** Of the ports asked for: to everyone. */
  ports: ReadonlyMap<number, readonly string[]>;
  /** Rules that repeat or contradict another one. */
  clashing: readonly string[];
}

type Family = NonNullable<AddressSet['family']>;
const FAMILIES: readonly Family[] = [4, 6];

/** The families of which a field means every address: both for `*`, one for `0.0.0.0/0`. */
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

/** Inbound rules that let everyone in, less the families that a block closes to everyone: a block always wins. */
function openFor(rules: readonly Rule[], port: number | undefined): string[] {
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
    .map((rule) => rule.rule_name);
}

/** Looks at all rules of a person. Comparing each with each takes time in the square of their number. */
export function readOpenRules(rules: readonly Rule[], ports: readonly number[]): OpenRules {
  const odd = findings(rules).filter(({ kind }) => kind !== 'never_matching');
  const oddIds = new Set(odd.map(({ rule_id }) => rule_id));
  return {
    everything: openFor(rules, undefined),
    ports: new Map(ports.map((port) => [port, openFor(rules, port)])),
    clashing: rules.filter(({ id }) => oddIds.has(id)).map(({ rule_name }) => rule_name),
  };
}
