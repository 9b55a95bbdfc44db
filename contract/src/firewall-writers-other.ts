import type { Action, Direction } from './firewall.ts';
import type { Span } from './firewall-grammar.ts';
import { ADDRESSING_PORTS, holds, NEIGHBOUR_TYPES, onePort, type Packets } from './firewall-steps.ts';
import { CannotExpress, type Entry, plainComment, portsOf, rangesOf, type Writer } from './firewall-writer.ts';
import type { Family } from './ip-address.ts';

/** Windows, macOS and the BSDs. Written from their documentation and not tested on these systems. */

/**
 * Windows PowerShell 5.1 reads a file without a byte order mark in the system's code page, where a byte of a letter can be a quote, and treats typographic
 * quotes as quotes. So the file is ASCII: any other character of a name is written as `\uXXXX` within single quotes, where only a quote has a special meaning,
 * and the last line of the file decodes it.
 */
function quotedName(name: string): string {
  // Windows stores a rule as fields separated by bars, and reads a name that begins with @ as a reference to a text in a library.
  const kept = name.replaceAll('|', '_').replace(/^@/u, '_');
  const isPlain = /^[ -~]*$/u.test(kept) && !kept.includes('\\');
  return `'${(isPlain ? kept : escaped(kept)).replaceAll("'", "''")}'`;
}

const escaped = (text: string) =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll(/[^ -~]/gu, (character) =>
      Array.from(
        { length: character.length },
        (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
      ).join(''),
    );

const quoted = (text: string) => `'${text}'`;

/** Removes one number from spans. */
function without(spans: readonly Span[], taken: number): Span[] {
  const value = BigInt(taken);
  return spans.flatMap(({ from, to }) =>
    value < from || value > to
      ? [{ from, to }]
      : [
          { from, to: value - 1n },
          { from: value + 1n, to },
        ].filter((span) => span.from <= span.to),
  );
}

const EVERY_PORT: readonly Span[] = [{ from: 0n, to: 65_535n }];
const OTHER_TYPES = Array.from({ length: 256 }, (_, type) => type).filter((type) => !NEIGHBOUR_TYPES.includes(type));
/** Portless protocols that are blocked by number, because blocking all protocols would also block neighbour discovery and DHCP (IANA protocol numbers). */
const PORTLESS = [2, 4, 41, 47, 50, 51, 89, 103, 112, 115, 132];

/** One `New-NetFirewallRule`, without its name. */
interface WindowsRule {
  protocol: string;
  local_ports?: readonly Span[] | undefined;
  remote_ports?: readonly Span[] | undefined;
  icmp_types?: readonly number[];
}

/** A rule without addresses becomes one Windows rule for both families. */
const familiesOf = ({ family, sources, destinations }: Packets): readonly Family[] =>
  sources === undefined && destinations === undefined ? [4, 6] : [family];

/** Blocks win over allows on Windows in any order, so traffic that must always pass is excluded from the block itself. */
function blockedUdp(direction: Direction, match: Packets): WindowsRule[] {
  const side = (destination: readonly Span[], source?: readonly Span[]): WindowsRule =>
    direction === 'inbound'
      ? { protocol: 'UDP', local_ports: destination, remote_ports: source }
      : { protocol: 'UDP', remote_ports: destination, local_ports: source };
  const ways = familiesOf(match).map((family) => {
    const { server, client } = ADDRESSING_PORTS[family];
    return direction === 'inbound' ? { from: server, to: client } : { from: client, to: server };
  });
  const spans = match.ports ?? EVERY_PORT;
  const met = ways.filter(({ to }) => holds(spans, BigInt(to)));
  const rest = met.reduce((left, { to }) => without(left, to), spans);
  return [
    ...(rest.length === 0 ? [] : [side(rest)]),
    ...met.map(({ from, to }) => side([onePort(to)], without(EVERY_PORT, from))),
  ];
}

function windowsRules({ action, direction, match }: Entry): WindowsRule[] {
  const { family, protocol, ports, source_port, icmp_types } = match;
  const icmp = family === 4 ? 'ICMPv4' : 'ICMPv6';
  if (protocol === 'other') throw new CannotExpress('Windows has no word for all other protocols.');
  if (protocol === 'icmp') {
    const types = icmp_types ?? (action === 'block' && family === 6 ? OTHER_TYPES : undefined);
    return [{ protocol: icmp, ...(types === undefined ? {} : { icmp_types: types }) }];
  }
  if (protocol === undefined && action === 'allow') return [{ protocol: 'Any' }];
  if (protocol === undefined) {
    return [
      { protocol: 'TCP' },
      ...blockedUdp(direction, match),
      { protocol: icmp, ...(family === 6 ? { icmp_types: OTHER_TYPES } : {}) },
      ...PORTLESS.map((number) => ({ protocol: `${number}` })),
    ];
  }
  if (protocol === 'udp' && action === 'block') return blockedUdp(direction, match);
  const source = source_port === undefined ? undefined : [onePort(source_port)];
  const [local_ports, remote_ports] = direction === 'inbound' ? [ports, source] : [source, ports];
  return [{ protocol: protocol === 'tcp' ? 'TCP' : 'UDP', local_ports, remote_ports }];
}

/** Addresses of one family for Windows; a rule without addresses matches both families. */
function windowsAddresses({ family, sources, destinations }: Packets, direction: Direction): string {
  const [here, there] = direction === 'inbound' ? [destinations, sources] : [sources, destinations];
  const list = (spans: readonly Span[]) => rangesOf(spans, family, '-').map(quoted).join(',');
  return `${here ? ` -LocalAddress ${list(here)}` : ''}${there ? ` -RemoteAddress ${list(there)}` : ''}`;
}

function windowsLines(entry: Entry): string[] {
  const { direction, action, match, rule } = entry;
  const name = rule === null ? "'Palisade: always allowed'" : quotedName(rule.rule_name);
  const ports = (spans: readonly Span[]) => portsOf(spans, '-').map(quoted).join(',');
  return windowsRules(entry).map(({ protocol, local_ports, remote_ports, icmp_types }) => {
    const words = [
      `New-NetFirewallRule -Group 'Palisade' -DisplayName ${name}`,
      `-Direction ${direction === 'inbound' ? 'Inbound' : 'Outbound'} -Action ${action === 'allow' ? 'Allow' : 'Block'} -Protocol ${protocol}${windowsAddresses(match, direction)}`,
      ...(local_ports ? [`-LocalPort ${ports(local_ports)}`] : []),
      ...(remote_ports ? [`-RemotePort ${ports(remote_ports)}`] : []),
      ...(icmp_types ? [`-IcmpType ${icmp_types.map((type) => quoted(`${type}`)).join(',')}`] : []),
    ];
    return words.join(' ');
  });
}

/** Merges the lines of a rule without addresses into one for both families, if they are equal. */
const distinct = (lines: readonly string[]) => [...new Set(lines)];

const POWERSHELL_DEFAULTS: Record<Direction, string> = { inbound: 'DefaultInboundAction', outbound: 'DefaultOutboundAction' };

export const powershell: Writer = {
  file_name: 'palisade.ps1',
  head: ['# Run it as administrator. Running it again replaces what it added before.'],
  begin: (defaults) => [
    "Remove-NetFirewallRule -Group 'Palisade' -ErrorAction SilentlyContinue",
    ...(['inbound', 'outbound'] as const).flatMap((direction) =>
      defaults[direction] === 'block' ? [`Set-NetFirewallProfile -All -${POWERSHELL_DEFAULTS[direction]} Block`] : [],
    ),
  ],
  // Windows allows loopback and replies before it evaluates rules, and drops packets that belong to no connection.
  known: () => [],
  entry: windowsLines,
  file: (lines) => [
    ...distinct([...lines.inbound, ...lines.outbound]),
    '# Names with other letters than these are written as numbers above, and are turned back here.',
    "Get-NetFirewallRule -Group 'Palisade' -ErrorAction SilentlyContinue | Where-Object { $_.DisplayName.Contains('\\') } | ForEach-Object { Set-NetFirewallRule -Name $_.Name -NewDisplayName ([regex]::Unescape($_.DisplayName)) }",
  ],
  comment: (text) => `# ${escaped(text).replaceAll(/[^\w .,:()\\-]/gu, '_')}`,
};

const pfSet = (entries: readonly string[]) => (entries.length === 1 ? (entries[0] ?? '') : `{ ${entries.join(', ')} }`);

function pfLine({ direction, action, match }: Entry): string {
  const { family, protocol, sources, destinations, source_port, ports, icmp_types } = match;
  if (protocol === 'other') throw new CannotExpress('pf has no word for all other protocols.');
  const side = (spans: readonly Span[] | undefined) => (spans ? pfSet(rangesOf(spans, family, ' - ')) : 'any');
  const name = protocol === 'icmp' ? (family === 4 ? 'icmp' : 'icmp6') : protocol;
  const from = `${side(sources)}${source_port === undefined ? '' : ` port ${source_port}`}`;
  const to = `${side(destinations)}${ports ? ` port ${pfSet(portsOf(ports, ':'))}` : ''}`;
  const types = icmp_types ? ` ${name}-type ${pfSet(icmp_types.map(String))}` : '';
  return `${action === 'allow' ? 'pass' : 'block drop'} ${direction === 'inbound' ? 'in' : 'out'} quick ${family === 4 ? 'inet' : 'inet6'}${name === undefined ? '' : ` proto ${name}`} from ${from} to ${to}${types}`;
}

const pfDefault = (direction: Direction, action: Action) => {
  const way = direction === 'inbound' ? 'in' : 'out';
  // Allowed connections are tracked, so replies pass; a TCP packet that neither starts a connection nor belongs to one is blocked.
  return action === 'allow' ? [`block drop ${way} proto tcp all`, `pass ${way} all keep state`] : [`block drop ${way} all`];
};

/** Writes its own anchor, which a second load replaces; other rules stay. Without `quick` the last matching line decides, so the defaults come first. */
export const pf: Writer = {
  file_name: 'palisade.pf.conf',
  head: [
    '# macOS: pfctl -a com.apple/palisade -f palisade.pf.conf, then pfctl -e',
    '# BSD: put the line anchor "palisade" into /etc/pf.conf once, then pfctl -a palisade -f palisade.pf.conf',
    '# Loading it again replaces what it loaded before. To take it away: pfctl -a palisade -F rules, or with com.apple/palisade.',
  ],
  begin: (defaults) => [...pfDefault('inbound', defaults.inbound), ...pfDefault('outbound', defaults.outbound)],
  // Replies pass by connection state before any line is evaluated.
  known: (state, direction) => (state === 'loopback' ? [`pass ${direction === 'inbound' ? 'in' : 'out'} quick on lo0 all`] : []),
  entry: (entry) => [pfLine(entry)],
  file: (lines) => [...lines.inbound, ...lines.outbound],
  comment: plainComment,
};
