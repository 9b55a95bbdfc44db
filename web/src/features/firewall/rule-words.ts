import type { Action, Direction, NewRule, Protocol, Revision } from '@palisade/contract/firewall';
import type { FindingKind } from '@palisade/contract/firewall-verdict';

export const DIRECTIONS: Record<Direction, string> = { inbound: 'Inbound', outbound: 'Outbound' };
export const ACTIONS: Record<Action, string> = { allow: 'Allow', block: 'Block' };
export const PROTOCOLS: Record<Protocol, string> = { tcp: 'TCP', udp: 'UDP', icmp: 'ICMP', all: 'All' };
export const FINDINGS: Record<FindingKind, string> = {
  duplicate: 'Duplicate',
  contradicting: 'Contradiction',
  never_matching: 'No effect',
};

/** Default of a device for traffic that no rule matches. */
export const DEFAULTS_SENTENCE = 'Without a matching rule: inbound blocked, outbound allowed.';

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
      return `Enabled ${what}`;
    case 'disabled':
      return `Disabled ${what}`;
    case 'deleted':
      return `Deleted ${what}`;
    case 'expired':
      return `${rule_name === null ? `${rules(changed)} ended` : `${what} ended`} and ${rule_name === null ? 'were' : 'was'} disabled`;
    case 'imported':
      return removed > 0 ? `Imported ${rules(added)}, replacing ${count.format(removed)}` : `Imported ${rules(added)}`;
    case 'undone':
      return `Undid a change to ${what}`;
  }
}
