import type { Direction } from './firewall.ts';
import type { Span } from './firewall-grammar.ts';
import { nftMatch } from './firewall-nft.ts';
import type { Packets } from './firewall-steps.ts';
import {
  CannotExpress,
  chunksOf,
  type Entry,
  each,
  networksOf,
  plainComment,
  portsOf,
  rangesOf,
  type Writer,
} from './firewall-writer.ts';

/**
 * Linux. The kernel does not know connections from before the first load until it sees one of their packets, so strays pass for the first seconds: a person who loads the file over SSH stays connected.
 */
const WARMING_SECONDS = 10;

const NFT_TABLE = 'inet palisade_exported';
const NFT_HOOKS: Record<Direction, string> = { inbound: 'input', outbound: 'output' };

export const nftables: Writer = {
  file_name: 'palisade.nft',
  head: [
    '# nft -f palisade.nft',
    '# Loading it again replaces what it loaded before. To take it away: nft delete table inet palisade_exported',
  ],
  begin: () => [],
  known: (state, direction) => {
    if (state === 'loopback') return [`    ${direction === 'inbound' ? 'iifname' : 'oifname'} "lo" accept`];
    if (state === 'established') return ['    ct state established,related accept'];
    const stray = 'ct state new tcp flags & (fin|syn|rst|ack) != syn';
    return [`    ${stray} meta l4proto @warming accept`, `    ${stray} drop`];
  },
  entry: ({ action, match }) => [`    ${nftMatch(match)} ${action === 'allow' ? 'accept' : 'drop'}`],
  file: (lines, defaults) => [
    // One transaction. The table is created first, because deleting a missing table fails.
    `add table ${NFT_TABLE}`,
    `delete table ${NFT_TABLE}`,
    `table ${NFT_TABLE} {`,
    '  # Open connections continue: they are known after their next packet.',
    `  set warming { type inet_proto; flags timeout; elements = { tcp timeout ${WARMING_SECONDS}s }; }`,
    ...(['inbound', 'outbound'] as const).flatMap((direction) => [
      `  chain ${direction} {`,
      `    type filter hook ${NFT_HOOKS[direction]} priority filter; policy ${defaults[direction] === 'allow' ? 'accept' : 'drop'};`,
      ...lines[direction],
      '  }',
    ]),
    '}',
  ],
  comment: (text) => `    ${plainComment(text)}`,
};

const IPTABLES_CHAINS: Record<Direction, string> = { inbound: 'PALISADE-IN', outbound: 'PALISADE-OUT' };
/** Prefix of a line for one family, which selects its part of the file; a line without a prefix is in both parts. */
const MARKS = { 4: '4 ', 6: '6 ' } as const;
const TIME_STOP = 'PALISADE_WARM_UNTIL';

function iptablesMatches({ family, protocol, sources, destinations, source_port, ports, icmp_types }: Packets): string[] {
  if (protocol === 'other') throw new CannotExpress('iptables has no word for all other protocols.');
  const side = (span: Span | undefined, one: string, range: string) =>
    span === undefined
      ? ''
      : span.from === span.to
        ? ` ${one} ${rangesOf([span], family, '-')[0]}`
        : ` -m iprange ${range} ${rangesOf([span], family, '-')[0]}`;
  const name = protocol === 'icmp' && family === 6 ? 'ipv6-icmp' : protocol;
  const types = icmp_types?.map((type) => ` --${family === 4 ? 'icmp' : 'icmpv6'}-type ${type}`);
  return each(sources).flatMap((from) =>
    each(destinations).flatMap((to) =>
      each(types).flatMap((type) =>
        each(ports && chunksOf(ports)).map(
          (some) =>
            `${name === undefined ? '' : ` -p ${name}`}${type ?? ''}${source_port === undefined ? '' : ` --sport ${source_port}`}${side(from, '-s', '--src-range')}${side(to, '-d', '--dst-range')}${some ? ` -m multiport --dports ${portsOf(some, ':').join(',')}` : ''}`,
        ),
      ),
    ),
  );
}

export const iptables: Writer = {
  file_name: 'palisade-iptables.sh',
  head: ['#!/bin/sh', '# sudo sh palisade-iptables.sh', '# Running it again replaces what it loaded before.'],
  begin: () => [],
  known: (state, direction) => {
    const chain = IPTABLES_CHAINS[direction];
    if (state === 'loopback') return [`-A ${chain} ${direction === 'inbound' ? '-i' : '-o'} lo -j ACCEPT`];
    if (state === 'established') return [`-A ${chain} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`];
    const stray = `-A ${chain} -p tcp -m conntrack --ctstate NEW ! --tcp-flags FIN,SYN,RST,ACK SYN`;
    return [`${stray} -m time --datestop ${TIME_STOP} -j ACCEPT`, `${stray} -j DROP`];
  },
  entry: ({ direction, action, match }) =>
    iptablesMatches(match).map(
      (words) => `${MARKS[match.family]}-A ${IPTABLES_CHAINS[direction]}${words} -j ${action === 'allow' ? 'ACCEPT' : 'DROP'}`,
    ),
  file: (lines, defaults) => {
    const all = [
      ...lines.inbound,
      ...(defaults.inbound === 'block' ? [`-A ${IPTABLES_CHAINS.inbound} -j DROP`] : []),
      ...lines.outbound,
      ...(defaults.outbound === 'block' ? [`-A ${IPTABLES_CHAINS.outbound} -j DROP`] : []),
    ];
    const of = (family: 4 | 6) =>
      all.flatMap((line) =>
        line.startsWith(MARKS[family]) ? [line.slice(2)] : line.startsWith(MARKS[family === 4 ? 6 : 4]) ? [] : [line],
      );
    return [
      'set -e',
      '# Open connections continue: they are known after their next packet.',
      `until=$(date -u -d "@$(($(date +%s) + ${WARMING_SECONDS}))" +%Y-%m-%dT%H:%M:%S)`,
      // Each family is replaced atomically; chains of other programs stay.
      ...([4, 6] as const).flatMap((family) => [
        `sed "s/${TIME_STOP}/$until/" <<'END' | ${family === 4 ? 'iptables' : 'ip6tables'}-restore --noflush`,
        '*filter',
        ...Object.values(IPTABLES_CHAINS).map((chain) => `:${chain} - [0:0]`),
        ...of(family),
        'COMMIT',
        'END',
      ]),
      'for program in iptables ip6tables; do',
      '  $program -C INPUT -j PALISADE-IN 2>/dev/null || $program -I INPUT -j PALISADE-IN',
      '  $program -C OUTPUT -j PALISADE-OUT 2>/dev/null || $program -I OUTPUT -j PALISADE-OUT',
      'done',
    ];
  },
  comment: plainComment,
};

const UFW_MARK = "comment 'palisade'";

function ufwRules({ direction, action, match }: Entry): string[] {
  const { family, protocol, sources, destinations, source_port, ports } = match;
  const any = family === 4 ? '0.0.0.0/0' : '::/0';
  const networks = (side: readonly Span[] | undefined) => side?.flatMap((span) => networksOf(span, family)) ?? [any];
  return networks(sources).flatMap((from) =>
    networks(destinations).flatMap((to) =>
      each(ports && chunksOf(ports)).map((some) => {
        const words = [
          `ufw ${action === 'allow' ? 'allow' : 'deny'} ${direction === 'inbound' ? 'in' : 'out'}`,
          ...(protocol === undefined ? [] : [`proto ${protocol}`]),
          `from ${from}${source_port === undefined ? '' : ` port ${source_port}`}`,
          `to ${to}${some ? ` port ${portsOf(some, ':').join(',')}` : ''}`,
          UFW_MARK,
        ];
        return words.join(' ');
      }),
    ),
  );
}

/** Its built-in rules come first: loopback, established connections, neighbour discovery, pings, and packets of no connection. */
export const ufw: Writer = {
  file_name: 'palisade-ufw.sh',
  head: [
    '#!/bin/sh',
    '# sudo sh palisade-ufw.sh',
    '# Running it again replaces what it added before. ufw answers pings before it asks these rules.',
  ],
  begin: () => [],
  known: () => [],
  entry: (entry) => {
    if (entry.match.protocol === 'icmp') {
      if (entry.rule === null) return [];
      throw new CannotExpress('ufw has no rules about ICMP.');
    }
    return ufwRules(entry);
  },
  file: (lines, defaults) => [
    'set -e',
    // Disables filename expansion, because rules of other programs may contain wildcards.
    'set -f',
    `ufw show added | sed -n "s/^ufw \\(.*\\) ${UFW_MARK}\\$/\\1/p" | while read -r rule; do ufw --force delete $rule; done`,
    ...lines.inbound,
    ...lines.outbound,
    ...(defaults.inbound === 'block' ? [`ufw deny in from any to any ${UFW_MARK}`] : []),
    ...(defaults.outbound === 'block' ? [`ufw deny out from any to any ${UFW_MARK}`] : []),
  ],
  comment: plainComment,
};
