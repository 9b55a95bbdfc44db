import type { Action, Direction, Protocol } from './firewall.ts';
import type { DecidingRule, Reach, TrafficProtocol } from './firewall-shapes.ts';
import type { IpAddress } from './ip-address.ts';

export type PacketProtocol = Exclude<Protocol, 'all'>;

/** The first packet of a connection. `source` and `destination` share a family; `port` is the one connected to, null for ICMP. */
export interface Packet {
  direction: Direction;
  protocol: PacketProtocol;
  source: IpAddress;
  destination: IpAddress;
  port: number | null;
}

/** All that decides on one device. Enabled rules alone; their order means nothing. */
export interface Ruleset<R extends DecidingRule = DecidingRule> {
  rules: readonly Reach<R>[];
  defaults: Record<Direction, Action>;
  /** Entries of the address grammar from which nothing comes in. */
  block_list: readonly string[];
  /** Where the device reaches its server: what goes out to there is always allowed. */
  control: readonly { address: IpAddress; port: number }[];
}

/** A packet as a kernel sees it. An absent property is false. */
export interface Traffic extends Omit<Packet, 'protocol'> {
  protocol: TrafficProtocol;
  source_port?: number;
  icmp_type?: number;
  is_loopback?: boolean;
  /** Of a connection that was let through, or an error message about one. */
  is_established?: boolean;
  /** A TCP packet that begins no connection and belongs to none that is known. */
  is_stray?: boolean;
}

/** Which step decided, in the order in which they are asked. */
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
