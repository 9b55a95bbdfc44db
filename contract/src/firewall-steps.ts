import type { Action, Direction } from './firewall.ts';
import { readAddresses, type Span } from './firewall-grammar.ts';
import type { TrafficProtocol } from './firewall-shapes.ts';
import type { Ruleset, Step, Traffic } from './firewall-traffic.ts';
import type { Family } from './ip-address.ts';

/**
 * The steps before a person's rules, as one list for verdicts, the agent and every export. A firewall without one of them stops
 * IPv6 (no neighbour discovery) or loses its address (no DHCP) at the first rule that blocks everything.
 */

/** ICMPv6 types of neighbour discovery (RFC 4861: router and neighbour solicitation and advertisement) and of multicast listener discovery (RFC 2710, RFC 3810). */
export const NEIGHBOUR_TYPES: readonly number[] = [130, 131, 132, 133, 134, 135, 136, 143];

/** DHCP ports of server and client (RFC 2131, RFC 8415). */
export const ADDRESSING_PORTS = { 4: { server: 67, client: 68 }, 6: { server: 547, client: 546 } } as const;

/** A set of packets of one family. An absent property matches every value. */
export interface Packets {
  kind: 'packets';
  family: Family;
  protocol?: TrafficProtocol;
  sources?: readonly Span[];
  destinations?: readonly Span[];
  source_port?: number;
  /** Destination ports. */
  ports?: readonly Span[];
  icmp_types?: readonly number[];
}

/** Connection states that the kernel tracks. */
export type KnownState = 'loopback' | 'established' | 'stray';

export interface FirstStep {
  by: Exclude<Step, 'rule' | 'default'>;
  action: Action;
  match: { kind: KnownState } | Packets;
}

const FAMILIES: readonly Family[] = [4, 6];
export const onePort = (port: number): Span => ({ from: BigInt(port), to: BigInt(port) });

/** Whether any traffic can be blocked. */
export function blocksAnything({ rules, defaults, block_list }: Pick<Ruleset, 'rules' | 'defaults' | 'block_list'>): boolean {
  return (
    defaults.inbound === 'block' ||
    defaults.outbound === 'block' ||
    block_list.length > 0 ||
    rules.some(({ rule }) => rule.action === 'block')
  );
}

function addressing(direction: Direction): FirstStep[] {
  return FAMILIES.map((family) => {
    const { server, client } = ADDRESSING_PORTS[family];
    const [from, to] = direction === 'inbound' ? [server, client] : [client, server];
    return {
      by: 'addressing',
      action: 'allow',
      match: { kind: 'packets', family, protocol: 'udp', source_port: from, ports: [onePort(to)] },
    };
  });
}

function control(ruleset: Ruleset): FirstStep[] {
  return ruleset.control.map(({ address: { family, value }, port }) => ({
    by: 'control',
    action: 'allow',
    match: { kind: 'packets', family, protocol: 'tcp', destinations: [{ from: value, to: value }], ports: [onePort(port)] },
  }));
}

function blockList({ block_list }: Ruleset): FirstStep[] {
  const sets = block_list.flatMap((entry) => {
    const read = readAddresses(entry);
    return read.ok ? [read.value] : [];
  });
  return FAMILIES.flatMap((family) => {
    const sources = sets.filter((set) => set.family === family).flatMap(({ spans }) => spans);
    return sources.length === 0 ? [] : [{ by: 'block_list', action: 'block', match: { kind: 'packets', family, sources } }];
  });
}

/** The steps of one direction in the order of evaluation; the first match decides. */
export function firstSteps(ruleset: Ruleset, direction: Direction): FirstStep[] {
  const steps: FirstStep[] = [
    { by: 'loopback', action: 'allow', match: { kind: 'loopback' } },
    { by: 'established', action: 'allow', match: { kind: 'established' } },
  ];
  if (blocksAnything(ruleset)) steps.push({ by: 'stray', action: 'block', match: { kind: 'stray' } });
  steps.push({
    by: 'neighbours',
    action: 'allow',
    match: { kind: 'packets', family: 6, protocol: 'icmp', icmp_types: NEIGHBOUR_TYPES },
  });
  steps.push(...addressing(direction));
  steps.push(...(direction === 'outbound' ? control(ruleset) : blockList(ruleset)));
  return steps;
}

export const holds = (spans: readonly Span[], value: bigint) => spans.some(({ from, to }) => from <= value && value <= to);

/** Whether a step matches a packet of its direction. */
export function isAbout({ match }: FirstStep, packet: Traffic): boolean {
  switch (match.kind) {
    case 'loopback':
      return packet.is_loopback === true;
    case 'established':
      return packet.is_established === true;
    case 'stray':
      return packet.is_stray === true;
    case 'packets':
      return (
        match.family === packet.source.family &&
        (match.protocol === undefined || match.protocol === packet.protocol) &&
        (match.icmp_types === undefined || match.icmp_types.includes(packet.icmp_type ?? -1)) &&
        (match.source_port === undefined || match.source_port === packet.source_port) &&
        (match.ports === undefined || (packet.port !== null && holds(match.ports, BigInt(packet.port)))) &&
        (match.sources === undefined || holds(match.sources, packet.source.value)) &&
        (match.destinations === undefined || holds(match.destinations, packet.destination.value))
      );
  }
}
