import type { Direction, Rule } from './firewall.ts';
import { readAddresses, readPorts, type Span } from './firewall-grammar.ts';
import { FAMILY_BITS, type Family, printIp } from './ip-address.ts';

/** Firewalls that rules can be written for. A computer without an agent takes them by hand; what it cannot express is named. */
export const EXPORTS = ['nftables', 'iptables', 'ufw', 'powershell', 'pf'] as const;
export type Export = (typeof EXPORTS)[number];

export interface Exported {
  file_name: string;
  text: string;
  /** Rules that are not in it, with why. */
  left_out: { rule_name: string; reason: string }[];
}

/** An address side of one family: undefined for any address. */
type Side = readonly Span[] | undefined;
interface Part {
  rule: Rule;
  family: Family;
  source: Side;
  destination: Side;
  protocol: 'tcp' | 'udp' | 'icmp' | 'any';
  ports: readonly Span[] | undefined;
}

class CannotExpress extends Error {}

/** A range as many networks is more than these: who wants it writes it otherwise. */
const NETWORKS_MAXIMUM = 200;
const MULTIPORT_MAXIMUM = 15;

/** The fewest networks that are a span. */
function networksOf({ from, to }: Span, family: Family): string[] {
  const bits = FAMILY_BITS[family];
  const networks: string[] = [];
  for (let start = from; start <= to; ) {
    if (networks.length >= NETWORKS_MAXIMUM) throw new CannotExpress('One of its ranges is too many networks.');
    let free = 0;
    while (free < bits && (start & ((1n << BigInt(free + 1)) - 1n)) === 0n && start + (1n << BigInt(free + 1)) - 1n <= to)
      free += 1;
    const address = printIp({ family, value: start });
    networks.push(free === 0 ? address : `${address}/${bits - free}`);
    start += 1n << BigInt(free);
  }
  return networks;
}

const rangesOf = (side: readonly Span[], family: Family, between: string) =>
  side.map(({ from, to }) =>
    from === to
      ? printIp({ family, value: from })
      : `${printIp({ family, value: from })}${between}${printIp({ family, value: to })}`,
  );
const portsOf = (ports: readonly Span[], between: string) =>
  ports.map(({ from, to }) => (from === to ? String(from) : `${from}${between}${to}`));

/** One rule as its families and protocols, which no two firewalls put together in the same way. */
function partsOf(rule: Rule): Part[] {
  const [source, destination, ports] = [readAddresses(rule.source_ip), readAddresses(rule.destination_ip), readPorts(rule.port)];
  if (!source.ok || !destination.ok || !ports.ok) throw new CannotExpress('One of its fields cannot be read.');
  const named = source.value.family ?? destination.value.family;
  const families: readonly Family[] = named === null ? [4, 6] : [named];
  const has_ports = ports.value !== null;
  const protocols: Part['protocol'][] = rule.protocol === 'all' ? (has_ports ? ['tcp', 'udp'] : ['any']) : [rule.protocol];
  return families.flatMap((family) =>
    protocols.map((protocol) => ({
      ...{ rule, family, protocol },
      source: source.value.family === null ? undefined : source.value.spans,
      destination: destination.value.family === null ? undefined : destination.value.spans,
      ports: ports.value ?? undefined,
    })),
  );
}

/** A name as one line of a comment, in any of these languages. */
const commentOf = (name: string) => name.replaceAll(/[^\p{L}\p{N} .,:()-]/gu, '_');

interface Writer {
  file_name: string;
  head: readonly string[];
  tail: readonly string[];
  /** The lines of one rule. @throws CannotExpress */
  lines: (rule: Rule, parts: readonly Part[]) => string[];
  /** Lines of one direction stand together, where the language asks for it. */
  open?: (direction: Direction) => readonly string[];
  close?: readonly string[];
}

const set = (entries: readonly string[]) => (entries.length === 1 ? (entries[0] ?? '') : `{ ${entries.join(', ')} }`);
const each = <T>(some: readonly T[] | undefined): readonly (T | undefined)[] => some ?? [undefined];

const nftables: Writer = {
  file_name: 'palisade.nft',
  head: ['# nft -f palisade.nft', 'table inet palisade_exported {'],
  tail: ['}'],
  open: (direction) => [
    `  chain ${direction} {`,
    `    type filter hook ${direction === 'inbound' ? 'input' : 'output'} priority filter; policy accept;`,
    `    ${direction === 'inbound' ? 'iifname' : 'oifname'} "lo" accept`,
    '    ct state established,related accept',
  ],
  close: ['  }'],
  lines: (rule, parts) => [
    `    # ${commentOf(rule.rule_name)}`,
    ...parts.map(({ family, source, destination, protocol, ports }) => {
      const ip = family === 4 ? 'ip' : 'ip6';
      const words = [
        `meta nfproto ipv${family}`,
        ...(source ? [`${ip} saddr ${set(rangesOf(source, family, '-'))}`] : []),
        ...(destination ? [`${ip} daddr ${set(rangesOf(destination, family, '-'))}`] : []),
        ...(protocol === 'icmp' ? [`meta l4proto ${family === 4 ? 'icmp' : 'ipv6-icmp'}`] : []),
        ...(protocol === 'tcp' || protocol === 'udp'
          ? [ports ? `${protocol} dport ${set(portsOf(ports, '-'))}` : `meta l4proto ${protocol}`]
          : []),
      ];
      return `    ${words.join(' ')} ${rule.action === 'allow' ? 'accept' : 'drop'}`;
    }),
  ],
};

const iptables: Writer = {
  file_name: 'palisade-iptables.sh',
  head: [
    '#!/bin/sh',
    'set -e',
    'for program in iptables ip6tables; do',
    '  for chain in PALISADE-IN PALISADE-OUT; do $program -N $chain 2>/dev/null || $program -F $chain; done',
    '  $program -C INPUT -j PALISADE-IN 2>/dev/null || $program -I INPUT -j PALISADE-IN',
    '  $program -C OUTPUT -j PALISADE-OUT 2>/dev/null || $program -I OUTPUT -j PALISADE-OUT',
    '  $program -A PALISADE-IN -i lo -j ACCEPT',
    '  $program -A PALISADE-OUT -o lo -j ACCEPT',
    '  for chain in PALISADE-IN PALISADE-OUT; do $program -A $chain -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT; done',
    'done',
  ],
  tail: [],
  lines: (rule, parts) => [
    `# ${commentOf(rule.rule_name)}`,
    ...parts.flatMap(({ family, source, destination, protocol, ports }) => {
      const program = family === 4 ? 'iptables' : 'ip6tables';
      const chain = rule.direction === 'inbound' ? 'PALISADE-IN' : 'PALISADE-OUT';
      const name = protocol === 'icmp' && family === 6 ? 'ipv6-icmp' : protocol;
      const chunks = ports && chunksOf(ports);
      const target = rule.action === 'allow' ? 'ACCEPT' : 'DROP';
      const side = (span: Span | undefined, one: string, range: string) =>
        span === undefined
          ? ''
          : span.from === span.to
            ? ` ${one} ${rangesOf([span], family, '-')[0]}`
            : ` -m iprange ${range} ${rangesOf([span], family, '-')[0]}`;
      return each(source).flatMap((from) =>
        each(destination).flatMap((to) =>
          each(chunks).map((some) => {
            const match = `${name === 'any' ? '' : ` -p ${name}`}${side(from, '-s', '--src-range')}${side(to, '-d', '--dst-range')}`;
            return `${program} -A ${chain}${match}${some ? ` -m multiport --dports ${portsOf(some, ':').join(',')}` : ''} -j ${target}`;
          }),
        ),
      );
    }),
  ],
};

/** What multiport takes at once: fifteen, and a range is two. */
function chunksOf(ports: readonly Span[]): Span[][] {
  const chunks: Span[][] = [];
  let room = 0;
  for (const span of ports) {
    const cost = span.from === span.to ? 1 : 2;
    if (cost > room) {
      chunks.push([]);
      room = MULTIPORT_MAXIMUM;
    }
    chunks.at(-1)?.push(span);
    room -= cost;
  }
  return chunks;
}

const ufw: Writer = {
  file_name: 'palisade-ufw.sh',
  head: ['#!/bin/sh', 'set -e'],
  tail: [],
  lines: (rule, parts) => {
    if (rule.protocol === 'icmp') throw new CannotExpress('ufw has no rules about ICMP.');
    return [
      `# ${commentOf(rule.rule_name)}`,
      ...parts.flatMap(({ family, source, destination, protocol, ports }) => {
        const any = family === 4 ? '0.0.0.0/0' : '::/0';
        const networks = (side: Side) => side?.flatMap((span) => networksOf(span, family)) ?? [any];
        const chunks = ports && chunksOf(ports);
        return networks(source).flatMap((from) =>
          networks(destination).flatMap((to) =>
            each(chunks).map(
              (some) =>
                `ufw ${rule.action === 'allow' ? 'allow' : 'deny'} ${rule.direction === 'inbound' ? 'in' : 'out'}${protocol === 'any' ? '' : ` proto ${protocol}`} from ${from} to ${to}${some ? ` port ${portsOf(some, ':').join(',')}` : ''}`,
            ),
          ),
        );
      }),
    ];
  },
};

const POWERSHELL_PROTOCOLS = { tcp: ['TCP'], udp: ['UDP'], any: ['Any'], icmp: ['ICMPv4', 'ICMPv6'] } as const;
/** PowerShell takes typographic quotes for quotes as well. */
const quoted = (text: string) => `'${text.replaceAll(/['\u2018-\u201b]/gu, "''")}'`;

const powershell: Writer = {
  file_name: 'palisade.ps1',
  head: ["Remove-NetFirewallRule -Group 'Palisade' -ErrorAction SilentlyContinue"],
  tail: [],
  lines: (rule, parts) =>
    parts.flatMap(({ family, source, destination, protocol, ports }) => {
      const [here, there] = rule.direction === 'inbound' ? [destination, source] : [source, destination];
      // A rule about no address is about both families; it is written once.
      const is_any = source === undefined && destination === undefined;
      if (is_any && family === 6 && protocol !== 'icmp') return [];
      const name = protocol === 'icmp' ? POWERSHELL_PROTOCOLS.icmp[family === 4 ? 0 : 1] : POWERSHELL_PROTOCOLS[protocol][0];
      const addresses = (side: Side) =>
        rangesOf(side ?? [], family, '-')
          .map(quoted)
          .join(',');
      const words = [
        `New-NetFirewallRule -Group 'Palisade' -DisplayName ${quoted(rule.rule_name)}`,
        `-Direction ${rule.direction === 'inbound' ? 'Inbound' : 'Outbound'} -Action ${rule.action === 'allow' ? 'Allow' : 'Block'} -Protocol ${name}`,
        ...(here ? [`-LocalAddress ${addresses(here)}`] : []),
        ...(there ? [`-RemoteAddress ${addresses(there)}`] : []),
        ...(ports
          ? [`-${rule.direction === 'inbound' ? 'LocalPort' : 'RemotePort'} ${portsOf(ports, '-').map(quoted).join(',')}`]
          : []),
      ];
      return [words.join(' ')];
    }),
};

const pf: Writer = {
  file_name: 'palisade.pf.conf',
  head: ['# pfctl -f palisade.pf.conf', 'set skip on lo0'],
  tail: [],
  lines: (rule, parts) => [
    `# ${commentOf(rule.rule_name)}`,
    ...parts.map(({ family, source, destination, protocol, ports }) => {
      const side = (spans: Side) => (spans ? set(rangesOf(spans, family, ' - ')) : 'any');
      const name = protocol === 'icmp' ? (family === 4 ? 'icmp' : 'icmp6') : protocol;
      const proto = name === 'any' ? '' : ` proto ${name}`;
      const port = ports ? ` port ${set(portsOf(ports, ':'))}` : '';
      return `${rule.action === 'allow' ? 'pass' : 'block drop'} ${rule.direction === 'inbound' ? 'in' : 'out'} quick ${family === 4 ? 'inet' : 'inet6'}${proto} from ${side(source)} to ${side(destination)}${port}`;
    }),
  ],
};

const WRITERS: Record<Export, Writer> = { nftables, iptables, ufw, powershell, pf };

/**
 * Rules in the words of another firewall: blocks before allows, the oldest first, so that what decides there decides here. Rules that are off are not in it; temporary
 * ones and those of some devices alone are left out, and so is what that firewall cannot express. Windows decides as these rules do: a block wins in any order.
 */
export function exportRules(rules: readonly Rule[], target: Export): Exported {
  const { file_name, head, tail, open, close, lines } = WRITERS[target];
  const left_out: Exported['left_out'] = [];
  const on = rules.filter(({ enabled }) => enabled).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ordered = [...on.filter(({ action }) => action === 'block'), ...on.filter(({ action }) => action === 'allow')];
  const written = ordered.flatMap((rule) => {
    try {
      if (rule.expires_at !== null) throw new CannotExpress('It is temporary, and nothing would end it there.');
      if (rule.device_ids.length > 0) throw new CannotExpress('It is for some devices alone.');
      return [{ rule, lines: lines(rule, partsOf(rule)) }];
    } catch (error) {
      if (!(error instanceof CannotExpress)) throw error;
      left_out.push({ rule_name: rule.rule_name, reason: error.message });
      return [];
    }
  });
  const body = (['inbound', 'outbound'] as const).flatMap((direction) => [
    ...(open?.(direction) ?? []),
    ...written.filter(({ rule }) => rule.direction === direction).flatMap((one) => one.lines),
    ...(close ?? []),
  ]);
  const notes = left_out.map(({ rule_name, reason }) => `# Not in here: ${commentOf(rule_name)}. ${reason}`);
  const [first = '', ...rest] = head;
  // A script begins with its interpreter.
  return { file_name, left_out, text: `${[first, ...notes, ...rest, ...body, ...tail].join('\n')}\n` };
}
