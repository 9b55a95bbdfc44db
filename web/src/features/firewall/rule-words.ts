import type { Action, Direction, NewRule, Protocol } from '@palisade/contract/firewall';
import { EVERY } from '@palisade/contract/firewall-grammar';
import type { FindingKind } from '@palisade/contract/firewall-verdict';

export const DIRECTIONS: Record<Direction, string> = { inbound: 'Inbound', outbound: 'Outbound' };
export const ACTIONS: Record<Action, string> = { allow: 'Allow', block: 'Block' };
export const PROTOCOLS: Record<Protocol, string> = { tcp: 'TCP', udp: 'UDP', icmp: 'ICMP', all: 'All' };
export const FINDINGS: Record<FindingKind, string> = {
  duplicate: 'Duplicate',
  contradicting: 'Contradicting',
  never_matching: 'Never matches',
};

/** What a device that applies the rules does with traffic that none of them matches. */
export const DEFAULTS_SENTENCE = 'What no rule matches would be blocked coming in, and allowed going out.';

/** Source and port in one text; brackets keep the colons of an IPv6 address apart from the port's. */
export function describeSource({ source_ip, port }: Pick<NewRule, 'source_ip' | 'port'>): string {
  return `${source_ip.includes(':') ? `[${source_ip}]` : source_ip}:${port}`;
}

const VERBS: Record<Action, string> = { allow: 'Allows', block: 'Blocks' };
const MOVES: Record<Direction, string> = { inbound: 'coming in', outbound: 'going out' };

/** A rule in one sentence. */
export function describeRule({
  action,
  protocol,
  direction,
  source_ip,
  destination_ip,
  port,
}: Omit<NewRule, 'rule_name'>): string {
  const what = protocol === 'all' ? 'all traffic' : `${PROTOCOLS[protocol]} traffic`;
  const from = source_ip === EVERY ? 'anywhere' : source_ip;
  const to = destination_ip === EVERY ? 'anywhere' : destination_ip;
  return `${VERBS[action]} ${what} ${MOVES[direction]} from ${from} to ${to}${port === EVERY ? '' : `, port ${port}`}.`;
}
