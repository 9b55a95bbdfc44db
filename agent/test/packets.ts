import type { Traffic } from '@palisade/contract/firewall-traffic';
import { FAMILY_BITS, type IpAddress } from '@palisade/contract/ip-address';

/** Builds packets byte by byte, each with a number by which the kernel's answer finds it again: IPv4's identification, IPv6's flow label. */

const TCP_SYN = 0x02;
const ICMP_ECHO = { 4: 8, 6: 128 } as const;
const NUMBERS = { tcp: { 4: 6, 6: 6 }, udp: { 4: 17, 6: 17 }, icmp: { 4: 1, 6: 58 }, other: { 4: 47, 6: 47 } } as const;

function addressBytes({ family, value }: IpAddress): Buffer {
  const bytes = FAMILY_BITS[family] / 8;
  return Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex');
}

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  if (bytes.length % 2 === 1) sum += (bytes.at(-1) ?? 0) << 8;
  return sum;
}

function folded(sum: number): number {
  let rest = sum;
  while (rest > 0xffff) rest = (rest & 0xffff) + Math.floor(rest / 0x10000);
  return ~rest & 0xffff;
}

function payloadOf({ protocol, source, source_port = 40_000, port, icmp_type }: Traffic, number: number): Buffer {
  if (protocol === 'tcp') {
    const bytes = Buffer.alloc(20);
    bytes.writeUInt16BE(source_port, 0);
    bytes.writeUInt16BE(port ?? 0, 2);
    bytes.writeUInt32BE(number, 4);
    bytes[12] = 5 << 4;
    bytes[13] = TCP_SYN;
    bytes.writeUInt16BE(64_240, 14);
    return bytes;
  }
  if (protocol === 'udp') {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt16BE(source_port, 0);
    bytes.writeUInt16BE(port ?? 0, 2);
    bytes.writeUInt16BE(bytes.length, 4);
    return bytes;
  }
  const bytes = Buffer.alloc(8);
  if (protocol === 'icmp') {
    bytes[0] = icmp_type ?? ICMP_ECHO[source.family];
    bytes.writeUInt16BE(number & 0xffff, 4);
  }
  return bytes;
}

const CHECKSUM_AT = { tcp: 16, udp: 6, icmp: 2, other: undefined } as const;

/** An IP packet with correct checksums. */
export function packetOf(traffic: Traffic, number: number): Buffer {
  const { family } = traffic.source;
  const source = addressBytes(traffic.source);
  const destination = addressBytes(traffic.destination);
  const protocol = NUMBERS[traffic.protocol][family];
  const payload = payloadOf(traffic, number);
  const at = CHECKSUM_AT[traffic.protocol];
  if (at !== undefined) {
    const has_pseudo_header = traffic.protocol !== 'icmp' || family === 6;
    const pseudo = has_pseudo_header ? sumOf(source) + sumOf(destination) + protocol + payload.length : 0;
    payload.writeUInt16BE(folded(sumOf(payload) + pseudo) || 0xffff, at);
  }
  if (family === 6) {
    const header = Buffer.alloc(8);
    header.writeUInt32BE((6 << 28) | (number & 0xfffff), 0);
    header.writeUInt16BE(payload.length, 4);
    header[6] = protocol;
    header[7] = 64;
    return Buffer.concat([header, source, destination, payload]);
  }
  const header = Buffer.alloc(12);
  header[0] = 0x45;
  header.writeUInt16BE(20 + payload.length, 2);
  header.writeUInt16BE(number & 0xffff, 4);
  header[8] = 64;
  header[9] = protocol;
  header.writeUInt16BE(folded(sumOf(header) + sumOf(source) + sumOf(destination)), 10);
  return Buffer.concat([header, source, destination, payload]);
}

/** The packet in an Ethernet frame. */
export function frameOf(packet: Buffer, to: string, from: string): Buffer {
  const mac = (text: string) => Buffer.from(text.replaceAll(':', ''), 'hex');
  const type = Buffer.alloc(2);
  type.writeUInt16BE((packet[0] ?? 0) >> 4 === 6 ? 0x86dd : 0x0800, 0);
  return Buffer.concat([mac(to), mac(from), type, packet]);
}

/** Input of `send-packets.py`. */
export function requestOf(kind: 'f' | '4' | '6', packets: readonly Buffer[]): Buffer {
  const parts = packets.flatMap((packet) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(packet.length, 0);
    return [length, packet];
  });
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(kind, 0, 'latin1');
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}
