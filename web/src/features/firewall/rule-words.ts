import type { Action, Direction, NewRule, Protocol, Revision } from '@palisade/contract/firewall';
import type { FindingKind } from '@palisade/contract/firewall-verdict';

export const DIRECTIONS: Record<Direction, string> = { inbound: 'Inbound', outbound: 'Outbound' };
export const ACTIONS: Record<Action, string> = { allow: 'Allow', block: 'Block' };
export const PROTOCOLS: Record<Protocol, string> = { tcp: 'TCP', udp: 'UDP', icmp: 'ICMP', all: 'All' };
export const FINDINGS: Record<FindingKind, string> = {
  duplicate: 'Duplicate',
  contradicting: 'Contradicting',
  never_matching: 'Never matches',
};

/** Default of a device for traffic that no rule matches. */
export const DEFAULTS_SENTENCE = 'What no rule matches would be blocked coming in, and allowed going out.';

/** Source and port in one text; brackets keep the colons of an IPv6 address apart from the port's. */
export function describeSource({ source_ip, port }: Pick<NewRule, 'source_ip' | 'port'>): string {
  return `${source_ip.includes(':') ? `[${source_ip}]` : source_ip}:${port}`;
}

const count = new Intl.NumberFormat('en');
const rules = (number: number) => (number === 1 ? '1 rule' : `${count.format(number)} rules`);

/** The action of a change: "Deleted “Printer”". */
export function describeRevision({ kind, rule_name, added, changed, removed }: Revision): string {
  const what = rule_name === null ? rules(added + changed + removed) : `“${rule_name}”`;
  switch (kind) {
    case 'added':
      return `Added ${what}`;
    case 'edited':
      return `Edited ${what}`;
    case 'enabled':
      return `Switched ${what} on`;
    case 'disabled':
      return `Switched ${what} off`;
    case 'deleted':
      return `Deleted ${what}`;
    case 'expired':
      return `${rule_name === null ? `${rules(changed)} were` : `${what} was`} temporary and switched off`;
    case 'imported':
      return removed > 0 ? `Imported ${rules(added)} in place of ${count.format(removed)}` : `Imported ${rules(added)}`;
    case 'undone':
      return `Took a change of ${what} back`;
  }
}
