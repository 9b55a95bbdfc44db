import type { BlockedSource } from '@palisade/contract/devices';
import { type NewRule, RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';
import { readAddresses, readPorts, type Span, wholeFamily } from '@palisade/contract/firewall-grammar';
import { type Family, type IpAddress, parseIp } from '@palisade/contract/ip-address';
import { printSpans } from './rule-sentence.ts';

/** Changes that allow a blocked connection. */
export interface Allowance {
  /** Rules that block the connection, with the address removed from their terms. */
  narrowed: { rule: Rule; terms: NewRule }[];
  /** Rules to add first, so that no other address is open in between. */
  added: NewRule[];
}

type Blocked = Pick<BlockedSource, 'direction' | 'protocol' | 'address' | 'port'>;

const holds = (spans: readonly Span[], value: bigint) => spans.some(({ from, to }) => from <= value && value <= to);

function spansFor(text: string, family: Family): readonly Span[] {
  const read = readAddresses(text);
  if (!read.ok) return [];
  if (read.value.family === null) return [wholeFamily(family)];
  return read.value.family === family ? read.value.spans : [];
}

function blocks(rule: Rule, { direction, protocol, port }: Blocked, address: IpAddress): boolean {
  const ports = readPorts(rule.port);
  const side = direction === 'inbound' ? rule.source_ip : rule.destination_ip;
  return (
    rule.enabled &&
    rule.action === 'block' &&
    rule.direction === direction &&
    (rule.protocol === 'all' || rule.protocol === protocol) &&
    ports.ok &&
    (ports.value === null || (port !== null && holds(ports.value, BigInt(port)))) &&
    holds(spansFor(side, address.family), address.value)
  );
}

function without(spans: readonly Span[], value: bigint): Span[] {
  return spans.flatMap(({ from, to }) =>
    value < from || value > to
      ? [{ from, to }]
      : [...(from < value ? [{ from, to: value - 1n }] : []), ...(value < to ? [{ from: value + 1n, to }] : [])],
  );
}

const OTHER: Record<Family, { family: Family; whole: string }> = {
  4: { family: 6, whole: '::/0' },
  6: { family: 4, whole: '0.0.0.0/0' },
};

/**
 * Allows a blocked address: removes it from the rules that block it. If only the default blocked it, adds a rule for this connection.
 * A block always wins, so adding an allow rule alone would have no effect.
 * Undefined for protocols other than TCP, UDP and ICMP, and if a rule blocks only this address.
 */
export function allowanceOf(rules: readonly Rule[], blocked: Blocked): Allowance | undefined {
  const address = parseIp(blocked.address);
  const { protocol } = blocked;
  if (address === undefined || protocol === 'other') return undefined;
  const side = blocked.direction === 'inbound' ? 'source_ip' : 'destination_ip';
  const other = blocked.direction === 'inbound' ? 'destination_ip' : 'source_ip';
  const narrowed: Allowance['narrowed'] = [];
  const added: NewRule[] = [];
  for (const rule of rules.filter((one) => blocks(one, blocked, address))) {
    const { rule_name, direction, action, protocol: of, source_ip, destination_ip, port } = rule;
    const terms: NewRule = { rule_name, direction, action, protocol: of, source_ip, destination_ip, port };
    const left = printSpans(without(spansFor(rule[side], address.family), address.value), address.family);
    if (left.length === 0) return undefined;
    narrowed.push({ rule, terms: { ...terms, [side]: left.join(', ') } });
    const read = readAddresses(rule[side]);
    const isOfBoth = read.ok && read.value.family === null && spansFor(rule[other], OTHER[address.family].family).length > 0;
    if (isOfBoth) {
      const { family, whole } = OTHER[address.family];
      added.push({
        ...terms,
        rule_name: `${[...rule_name].slice(0, 92).join('')} (IPv${family})`,
        [side]: whole,
        device_ids: rule.device_ids,
      });
    }
  }
  if (narrowed.length === 0) {
    added.push({
      ...RULE_DEFAULTS,
      rule_name: blocked.port === null ? `Allow ${blocked.address}` : `Allow ${blocked.address}, port ${blocked.port}`,
      direction: blocked.direction,
      action: 'allow',
      protocol,
      [side]: blocked.address,
      port: blocked.port === null || protocol === 'icmp' ? '*' : String(blocked.port),
    });
  }
  return { narrowed, added };
}
