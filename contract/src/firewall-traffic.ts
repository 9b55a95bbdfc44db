import type { Action, Direction, Protocol } from './firewall.ts';
import type { DecidingRule, Reach, TrafficProtocol } from './firewall-shapes.ts';
import type { IpAddress } from './ip-address.ts';

export type PacketProtocol = Exclude<Protocol, 'all'>;

/** The first packet of a connection. `source` and `destination` have the same family; `port` is the destination port, null for ICMP. */
export interface Packet {
  direction: Direction;
  protocol: PacketProtocol;
  source: IpAddress;
  destination: IpAddress;
  port: number | null;
}

/** Everything that decides about packets on one device. Only enabled rules; their order has no meaning. */
export interface Ruleset<R extends DecidingRule = DecidingRule> {
  rules: readonly Reach<R>[];
  defaults: Record<Direction, Action>;
  /** Sources whose incoming packets are dropped, in the address grammar. */
  block_list: readonly string[];
  /** Addresses of the device's server; outgoing traffic to them is always allowed. */
  control: readonly { address: IpAddress; port: number }[];
}

/** A packet with its connection state. An absent boolean is false. */
export interface Traffic extends Omit<Packet, 'protocol'> {
  protocol: TrafficProtocol;
  source_port?: number;
  icmp_type?: number;
  is_loopback?: boolean;
  /** It belongs to an allowed connection, or is an error message about one. */
  is_established?: boolean;
  /** A TCP packet that neither starts a connection nor belongs to a known one. */
  is_stray?: boolean;
}

/** The step that decided, in the order of evaluation. */
export type Step =
  | 'loopback'
  | 'established'
  | 'stray'
  | 'neighbours'
  | 'addressing'
  | 'control'
  | 'block_list'
  | 'rule'
  | 'default';
