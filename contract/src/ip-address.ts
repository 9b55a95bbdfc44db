/** IP addresses as numbers: parsed by RFC 4291 section 2.2 and RFC 6943 section 3.1.1, printed by RFC 5952. */

export type Family = 4 | 6;

export interface IpAddress {
  family: Family;
  /** The address as an unsigned integer of 32 or 128 bits. */
  value: bigint;
}

export const FAMILY_BITS: Record<Family, number> = { 4: 32, 6: 128 };

const GROUPS = 8;
const GROUP_BITS = 16n;
/** The upper 96 bits of an IPv4-mapped address (RFC 4291 section 2.5.5.2). */
const MAPPED_PREFIX = 0xffffn;

/** The highest address of a family. */
export function lastAddress(family: Family): bigint {
  return (1n << BigInt(FAMILY_BITS[family])) - 1n;
}

/** Parses four numbers from 0 to 255. Leading zeros are refused, because some programs read them as octal. */
function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0;
  for (const part of parts) {
    if (!/^(?:0|[1-9][0-9]{0,2})$/u.test(part) || Number(part) > 255) return undefined;
    value = value * 256 + Number(part);
  }
  return BigInt(value);
}

/** Parses groups of 16 bits; an IPv4 address at the end counts as two. Undefined if a group is invalid. */
function parseGroups(text: string, mayEndInIpv4: boolean): bigint[] | undefined {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (mayEndInIpv4 && index === parts.length - 1 && part.includes('.')) {
      const embedded = parseIpv4(part);
      if (embedded === undefined) return undefined;
      groups.push(embedded >> GROUP_BITS, embedded & 0xffffn);
    } else {
      if (!/^[0-9a-f]{1,4}$/iu.test(part)) return undefined;
      groups.push(BigInt(`0x${part}`));
    }
  }
  return groups;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = '', tail] = halves;
  const before = parseGroups(head, tail === undefined);
  const after = tail === undefined ? [] : parseGroups(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = GROUPS - before.length - after.length;
  // `::` stands for at least one group of zeros.
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array<bigint>(missing).fill(0n), ...after];
  return groups.reduce((value, group) => (value << GROUP_BITS) | group, 0n);
}

/** Parses one address. Undefined for anything else: host names, zones (`fe80::1%eth0`), brackets, leading zeros, spaces. */
export function parseIp(text: string): IpAddress | undefined {
  const family = text.includes(':') ? 6 : 4;
  const value = family === 6 ? parseIpv6(text) : parseIpv4(text);
  return value === undefined ? undefined : { family, value };
}

/** The IPv4 address in an IPv4-mapped address; undefined for any other. */
export function embeddedIpv4({ family, value }: IpAddress): IpAddress | undefined {
  return family === 6 && value >> 32n === MAPPED_PREFIX ? { family: 4, value: value & 0xffffffffn } : undefined;
}

function printIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
}

/** The first of the longest runs of two or more zero groups, which is printed as `::` (RFC 5952 section 4.2). */
function longestZeroRun(groups: readonly bigint[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0n) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best.length < 2 ? { start: 0, length: 0 } : best;
}

function printIpv6(value: bigint): string {
  if (value >> 32n === MAPPED_PREFIX) return `::ffff:${printIpv4(value & 0xffffffffn)}`;
  const groups = Array.from({ length: GROUPS }, (_, index) => (value >> (GROUP_BITS * BigInt(GROUPS - 1 - index))) & 0xffffn);
  const hex = (part: readonly bigint[]) => part.map((group) => group.toString(16)).join(':');
  const { start, length } = longestZeroRun(groups);
  return length === 0 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

/** The canonical text of an address. */
export function printIp({ family, value }: IpAddress): string {
  return family === 4 ? printIpv4(value) : printIpv6(value);
}
