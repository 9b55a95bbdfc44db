import type { Action, Direction, Rule } from './firewall.ts';
import { readAddresses, readPorts, type Span } from './firewall-grammar.ts';
import { refusalOf } from './firewall-shapes.ts';
import type { KnownState, Packets } from './firewall-steps.ts';
import { FAMILY_BITS, type Family, printIp } from './ip-address.ts';

/** Parts shared by the writers of all firewalls: a rule as packets, addresses and ports as text, and names as comments. */

/** Thrown for a rule that the target firewall cannot express; the message gives the reason to the person who exports. */
export class CannotExpress extends Error {}

/** One decision: packets and the action for them. `rule` is null for a step before all rules. */
export interface Entry {
  direction: Direction;
  action: Action;
  match: Packets;
  rule: Rule | null;
}

/** The language of one firewall. Entries come in the order of evaluation; the first match decides. */
export interface Writer {
  file_name: string;
  /** Comments at the top of the file, one line each. */
  head: readonly string[];
  /** Text before the entries, including the defaults. */
  begin(defaults: Record<Direction, Action>): readonly string[];
  /** The lines that match a connection state; empty if this firewall handles it by default. */
  known(state: KnownState, direction: Direction): readonly string[];
  /** The lines of one entry. @throws CannotExpress */
  entry(entry: Entry): readonly string[];
  /** Combines the lines of both directions into a file. */
  file(lines: Record<Direction, readonly string[]>, defaults: Record<Direction, Action>): readonly string[];
  /** A name, or a sentence about one, as a comment that cannot be parsed as code. */
  comment(text: string): string;
}

/** Maximum number of networks that one range is written as. */
const NETWORKS_MAXIMUM = 200;

/** The smallest set of networks that equals a span. */
export function networksOf({ from, to }: Span, family: Family): string[] {
  const bits = FAMILY_BITS[family];
  const networks: string[] = [];
  for (let start = from; start <= to; ) {
    if (networks.length >= NETWORKS_MAXIMUM) throw new CannotExpress('One of its ranges needs too many networks.');
    let free = 0;
    while (free < bits && (start & ((1n << BigInt(free + 1)) - 1n)) === 0n && start + (1n << BigInt(free + 1)) - 1n <= to)
      free += 1;
    const address = printIp({ family, value: start });
    networks.push(free === 0 ? address : `${address}/${bits - free}`);
    start += 1n << BigInt(free);
  }
  return networks;
}

export const rangesOf = (side: readonly Span[], family: Family, between: string) =>
  side.map(({ from, to }) =>
    from === to
      ? printIp({ family, value: from })
      : `${printIp({ family, value: from })}${between}${printIp({ family, value: to })}`,
  );

export const portsOf = (ports: readonly Span[], between: string) =>
  ports.map(({ from, to }) => (from === to ? String(from) : `${from}${between}${to}`));

export const each = <T>(some: readonly T[] | undefined): readonly (T | undefined)[] => some ?? [undefined];

/** One rule split by family and protocol, because firewalls combine them in different ways. */
export function packetsOf(rule: Rule): Packets[] {
  const [source, destination, ports] = [readAddresses(rule.source_ip), readAddresses(rule.destination_ip), readPorts(rule.port)];
  const refusal = refusalOf(rule);
  if (!source.ok || !destination.ok || !ports.ok || refusal !== undefined)
    throw new CannotExpress(`It has no effect. ${refusal ?? ''}`.trim());
  const named = source.value.family ?? destination.value.family;
  const families: readonly Family[] = named === null ? [4, 6] : [named];
  const protocols = rule.protocol === 'all' ? (ports.value === null ? [undefined] : (['tcp', 'udp'] as const)) : [rule.protocol];
  return families.flatMap((family) =>
    protocols.map((protocol) => ({
      kind: 'packets',
      family,
      ...(protocol === undefined ? {} : { protocol }),
      ...(source.value.family === null ? {} : { sources: source.value.spans }),
      ...(destination.value.family === null ? {} : { destinations: destination.value.spans }),
      ...(ports.value === null ? {} : { ports: ports.value }),
    })),
  );
}

/** A safe comment for languages that read UTF-8 or bytes: letters and digits of any script, and a few characters without special meaning. */
export const plainComment = (text: string) => `# ${text.replaceAll(/[^\p{L}\p{N} .,:()-]/gu, '_')}`;

/** Maximum number of ports for iptables multiport: fifteen, of which a range takes two. */
const MULTIPORT_MAXIMUM = 15;

export function chunksOf(ports: readonly Span[]): Span[][] {
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
