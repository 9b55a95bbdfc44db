import type { Span } from './firewall-grammar.ts';
import type { Packets } from './firewall-steps.ts';
import { type Family, printIp } from './ip-address.ts';

/** Writes packets in nftables syntax, for the agent and for exports. Addresses and numbers are printed from integers, so that nft resolves no names. */

/** Prints a span as `10.0.0.1` or `10.0.0.0-10.0.0.255`. */
export function nftSpan({ from, to }: Span, family: Family): string {
  const first = printIp({ family, value: from });
  return from === to ? first : `${first}-${printIp({ family, value: to })}`;
}

export const oneOrSet = (parts: readonly string[]) => (parts.length === 1 ? (parts[0] ?? '') : `{ ${parts.join(', ')} }`);

const PROTOCOLS = {
  4: { tcp: 'tcp', udp: 'udp', icmp: 'icmp' },
  6: { tcp: 'tcp', udp: 'udp', icmp: 'ipv6-icmp' },
} as const;

/** The nftables expressions that match packets, at least for their family. */
export function nftMatch({ family, protocol, sources, destinations, source_port, ports, icmp_types }: Packets): string {
  const ip = family === 4 ? 'ip' : 'ip6';
  const side = (name: 'saddr' | 'daddr', spans: readonly Span[] | undefined) =>
    spans === undefined ? [] : [`${ip} ${name} ${oneOrSet(spans.map((span) => nftSpan(span, family)))}`];
  const words = [`meta nfproto ipv${family}`, ...side('saddr', sources), ...side('daddr', destinations)];
  if (protocol === 'icmp' && icmp_types !== undefined) {
    words.push(`${family === 4 ? 'icmp' : 'icmpv6'} type ${oneOrSet(icmp_types.map(String))}`);
  } else if (protocol === 'other') {
    words.push('meta l4proto != { tcp, udp, icmp, ipv6-icmp }');
  } else if (protocol !== undefined) {
    const numbers = ports?.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
    if (source_port !== undefined) words.push(`${protocol} sport ${source_port}`);
    words.push(numbers === undefined ? `meta l4proto ${PROTOCOLS[family][protocol]}` : `${protocol} dport ${oneOrSet(numbers)}`);
  }
  return words.join(' ');
}
