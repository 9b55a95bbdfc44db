import {
  addressMeant,
  dividedByOther,
  exceptedAddress,
  hyphenated,
  meansEvery,
  networkMeant,
  plainForm,
  portMeant,
  withoutLeadingZeros,
} from './firewall-slips.ts';
import { embeddedIpv4, FAMILY_BITS, type Family, type IpAddress, lastAddress, parseIp, printIp } from './ip-address.ts';

/**
 * Grammar of the address and port fields of a firewall rule (product decision):
 *
 *     address = "" | "any" | "*" | entry *( "," entry )           at most 64 entries of one family
 *     entry   = ip | ip "/" prefix-length | ip "-" ip
 *     port    = "" | "any" | "*" | ports *( "," ports )           at most 32 entries
 *     ports   = 1-65535 | 1-65535 "-" 1-65535
 *
 * An IPv4-mapped IPv6 address, `::ffff:192.168.1.1`, is read as the IPv4 address, because packets have no other form (RFC 4291 section 2.5.5.2).
 * Spaces around an entry, a hyphen and a comma are ignored. A network must be given by its first address: `192.168.1.5/24` could mean the address or the
 * network, so it is refused, and the message names both. Every refusal is one sentence that says what to enter.
 */

/** First and last value, both included. */
export interface Span {
  from: bigint;
  to: bigint;
}

/** Addresses as sorted spans that neither overlap nor touch; `family` is null for all addresses of both families. */
export interface AddressSet {
  family: Family | null;
  spans: readonly Span[];
}

/** Ports as sorted spans that neither overlap nor touch; null for all ports, and for traffic without ports. */
export type PortSet = readonly Span[] | null;

export type Reading<T> = { ok: true; value: T } | { ok: false; message: string };

export const ADDRESSES_MAXIMUM = 64;
export const PORTS_MAXIMUM = 32;
export const PORT_MAXIMUM = 65_535;
/** Maximum length of a field, in characters: 64 ranges of the longest addresses fit. */
export const ADDRESS_TEXT_MAXIMUM = 6_500;
export const PORT_TEXT_MAXIMUM = 600;
/** Spellings of all addresses or all ports. */
export const EVERY = '*';

/** Maximum number of typed characters that a message repeats. */
const QUOTED_MAXIMUM = 60;

/** Port numbers of common service names (IANA service name registry). */
const SERVICES = new Map([
  ['dns', 53],
  ['ftp', 21],
  ['http', 80],
  ['https', 443],
  ['imap', 143],
  ['imaps', 993],
  ['ntp', 123],
  ['rdp', 3389],
  ['smb', 445],
  ['smtp', 25],
  ['ssh', 22],
  ['telnet', 23],
  ['vnc', 5900],
]);

class Refusal extends Error {}

function quoted(text: string): string {
  const characters = [...text];
  return characters.length > QUOTED_MAXIMUM ? `${characters.slice(0, QUOTED_MAXIMUM).join('')}…` : text;
}

function reading<T>(read: () => T): Reading<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, message: error.message };
    throw error;
  }
}

/** Whether a field means all addresses or ports. */
function isEvery(text: string): boolean {
  return /^(?:\*|any|)$/iu.test(text.trim());
}

/** The stored and shown form of a valid field: trimmed, with the three spellings of "all" as `*`. */
export function fieldText(text: string): string {
  return isEvery(text) ? EVERY : text.trim();
}

/** Sorts spans and merges those that touch or overlap. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    const last = result.at(-1);
    if (last === undefined || span.from > last.to + 1n) result.push({ ...span });
    else if (span.to > last.to) last.to = span.to;
  }
  return result;
}

function entriesOf(text: string, most: number, one: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > most) throw new Refusal(`A list can have at most ${most} entries. This one has ${entries.length}.`);
  if (entries.includes('')) throw new Refusal('Remove the extra comma from the list.');
  if (entries.length > 1 && entries.some(isEvery)) throw new Refusal(`* means every ${one} already. Remove the other entries.`);
  return entries;
}

/** Explains why a text is not an address, with the probable meaning if it can be guessed. */
function refusedAddress(text: string): Refusal {
  const plain = plainForm(text);
  if (plain !== undefined && readAddresses(plain).ok) return new Refusal(`Use plain characters: ${quoted(plain)}`);
  if (meansEvery(text)) return new Refusal(`Use * for every address: ${EVERY}`);
  const excepted = exceptedAddress(text);
  if (excepted !== undefined) return new Refusal(`Rules can’t use “not”. Add a rule with the other action for ${excepted}`);
  const divided = dividedByOther(text, (part) => readAddresses(part).ok);
  if (divided !== undefined) return new Refusal(`Separate addresses with commas: ${quoted(divided)}`);
  const range = hyphenated(text, (part) => parseIp(part) !== undefined);
  if (range !== undefined && /\.\.|~|[a-z>]|--/iu.test(text))
    return new Refusal(`Use a plain hyphen for the range: ${quoted(range)}`);
  const meant = addressMeant(text);
  if (meant?.port !== undefined) return new Refusal(`Enter the port in its own field: ${meant.address} and ${meant.port}`);
  if (meant !== undefined) {
    const isOdd = meant.has_zone === true || /^\[/u.test(text);
    return new Refusal(isOdd ? `Leave out brackets and zone: ${meant.address}` : `Enter only the address: ${meant.address}`);
  }
  const zeros = withoutLeadingZeros(text);
  if (zeros !== undefined) return new Refusal(`Remove the leading zeros: ${zeros}`);
  if (text.includes(':') && !/[/g-z]/iu.test(text))
    return new Refusal(`Enter an IPv6 address, like 2001:db8::1, instead of ${quoted(text)}`);
  if (/^[1-9][0-9]{0,4}$/u.test(text) && Number(text) <= PORT_MAXIMUM)
    return new Refusal(`An IPv4 address has four numbers, like 192.168.1.10. If ${text} is a port, enter it in its own field.`);
  const network = networkMeant(text);
  if (network !== undefined && text.includes('/')) {
    return new Refusal(`An IPv4 address has four numbers, like 192.168.1.10: ${quoted(text)}. For a network, enter ${network}`);
  }
  if (/^[0-9.]+$/u.test(text)) {
    const parts = text.split('.');
    if (parts.length !== 4 || parts.includes('')) {
      return new Refusal(`An IPv4 address has four numbers, like 192.168.1.10: ${quoted(text)}`);
    }
    return new Refusal(`Each number in an IPv4 address is 0 to 255: ${quoted(text)}`);
  }
  const known = /^((?:[0-9]{1,3}\.){1,3})[*x](?:\.[*x])*$/iu.exec(text)?.[1];
  if (known !== undefined) {
    const parts = known.split('.').filter((part) => part !== '');
    const stars = [...parts, '0', '0', '0'].slice(0, 4).join('.');
    if (parseIp(stars)) return new Refusal(`Use a network instead of stars: ${stars}/${parts.length * 8}`);
  }
  return new Refusal(`Enter an IP address like 192.168.1.10, not a host name: ${quoted(text)}`);
}

/** Whether it is an IPv4 address in the deprecated form `::192.168.1.1`, which no packet has: the intended address is unclear. */
function refuseCompatible({ family, value }: IpAddress, suffix = ''): void {
  if (family !== 6 || value <= 0xffffn || value >> 32n !== 0n) return;
  throw new Refusal(`Enter the IPv4 address: ${printIp({ family: 4, value })}${suffix}`);
}

function readAddress(text: string): IpAddress {
  const address = parseIp(text);
  if (address === undefined) throw refusedAddress(text);
  refuseCompatible(address);
  return embeddedIpv4(address) ?? address;
}

/** The prefix length of a netmask such as `/255.255.255.0`. */
function lengthOfMask(text: string): number | undefined {
  const mask = parseIp(text);
  if (mask?.family !== 4) return undefined;
  const bits = mask.value.toString(2).padStart(32, '0');
  if (/^1*0*$/u.test(bits)) return bits.lastIndexOf('1') + 1;
  // An inverted mask, as routers use it.
  return /^0*1*$/u.test(bits) ? bits.indexOf('1') : undefined;
}

function readNetwork(text: string, slash: number): { family: Family; span: Span } {
  const written = parseIp(text.slice(0, slash).trim());
  if (written === undefined) throw refusedAddress(text);
  const typed = text.slice(slash + 1).trim();
  // The prefix of an IPv4-mapped network includes the 96 bits before the IPv4 address.
  const mapped = /^[0-9]{1,3}$/u.test(typed) && Number(typed) >= 96 ? embeddedIpv4(written) : undefined;
  const address = mapped ?? written;
  const inner = mapped === undefined ? embeddedIpv4(written) : undefined;
  if (inner !== undefined && /^(?:0|[1-9][0-9]?)$/u.test(typed) && Number(typed) <= 32) {
    const size = 1n << BigInt(32 - Number(typed));
    throw new Refusal(`Enter the IPv4 network: ${printIp({ family: 4, value: inner.value - (inner.value % size) })}/${typed}`);
  }
  const suffix = mapped === undefined ? typed : String(Number(typed) - 96);
  if (Number(typed) >= 96) refuseCompatible(written, `/${Number(typed) - 96}`);
  const bits = FAMILY_BITS[address.family];
  if (!/^(?:0|[1-9][0-9]{0,2})$/u.test(suffix) || Number(suffix) > bits) {
    const length = lengthOfMask(suffix);
    if (length !== undefined && address.family === 4) {
      throw new Refusal(`Add the network’s length: ${printIp(address)}/${length}`);
    }
    const [, plain] = /^0+([0-9]{1,3})$/u.exec(suffix) ?? [];
    if (plain !== undefined && Number(plain) <= bits)
      throw new Refusal(`Remove the leading zeros from the length: ${printIp(address)}/${plain}`);
    const meant = addressMeant(text);
    if (meant?.port !== undefined) throw refusedAddress(text);
    throw new Refusal(`Enter a number from 0 to ${bits} after the slash: ${quoted(text)}`);
  }
  const size = 1n << BigInt(bits - Number(suffix));
  const from = address.value - (address.value % size);
  if (from !== address.value) {
    const network = printIp({ family: address.family, value: from });
    if (suffix === '0') {
      throw new Refusal(
        `${quoted(text)} means every ${NAMES[address.family]} address. Enter ${network}/0, or only the address, ${printIp(address)}`,
      );
    }
    throw new Refusal(
      `${quoted(text)} is an address inside a network. Enter the network, ${network}/${suffix}, or only the address, ${printIp(address)}`,
    );
  }
  return { family: address.family, span: { from, to: from + size - 1n } };
}

function readAddressRange(text: string, ends: readonly string[]): { family: Family; span: Span } {
  const [first = '', second = ''] = ends;
  if (ends.length !== 2 || first === '' || second === '') {
    // A name with hyphens is not a range.
    if (/^[a-z]/iu.test(text) && !text.includes(':')) throw refusedAddress(text);
    throw new Refusal(`A range needs two ends, like 192.168.1.10-192.168.1.20: ${quoted(text)}`);
  }
  const from = parseIp(first);
  if (from === undefined && /^[a-z]/iu.test(text) && !text.includes(':')) throw refusedAddress(text);
  if (from?.family === 4 && /^[0-9]{1,3}$/u.test(second)) {
    const full = first.replace(/[0-9]+$/u, second);
    if (parseIp(full)) throw new Refusal(`Enter both ends in full: ${first}-${full}`);
  }
  if (text.includes('/')) throw new Refusal(`A range goes from one address to another, not to a network: ${quoted(text)}`);
  const start = readAddress(first);
  const end = readAddress(second);
  if (start.family !== end.family)
    throw new Refusal(`Use IPv4 or IPv6 for both ends of a range: ${quoted(`${first}-${second}`)}`);
  if (start.value > end.value) throw new Refusal(`Start the range with the lower number: ${first}-${second}`);
  return { family: start.family, span: { from: start.value, to: end.value } };
}

/** The ends of a range, or the single entry. An IPv6 zone may contain hyphens. Typographic dashes are refused with a hint to use a hyphen. */
function endsOf(entry: string): string[] {
  const plain = entry.replace(/\s*[\u2010-\u2015\u2212]\s*/gu, '-');
  if (plain !== entry) throw new Refusal(`Use a plain hyphen for the range: ${quoted(plain)}`);
  return entry.split('-').map((end) => end.trim());
}

function readEntry(entry: string): { family: Family; span: Span } {
  if (/%|\s(?:to|port)\s|^\[|:\/\/|^[0-9./]+-[0-9./]+:[0-9]|^[0-9./]+:[0-9]+-/iu.test(entry)) throw refusedAddress(entry);
  const ends = endsOf(entry);
  if (ends.length > 1) return readAddressRange(entry, ends);
  const slash = entry.indexOf('/');
  if (slash > 0) return readNetwork(entry, slash);
  const { family, value } = readAddress(entry);
  return { family, span: { from: value, to: value } };
}

const NAMES: Record<Family, string> = { 4: 'IPv4', 6: 'IPv6' };

/** Parses an address field. */
export function readAddresses(text: string): Reading<AddressSet> {
  return reading(() => {
    if (text.length > ADDRESS_TEXT_MAXIMUM) throw new Refusal(`Use at most ${ADDRESS_TEXT_MAXIMUM} characters.`);
    if (isEvery(text)) return { family: null, spans: [] };
    const entries = entriesOf(text, ADDRESSES_MAXIMUM, 'address').map((entry) => ({ entry, ...readEntry(entry) }));
    const family = entries[0]?.family ?? 4;
    const other = entries.find((entry) => entry.family !== family);
    if (other) {
      throw new Refusal(`A rule covers IPv4 or IPv6. Add a second rule for ${NAMES[other.family]}: ${quoted(other.entry)}`);
    }
    return { family, spans: joined(entries.map(({ span }) => span)) };
  });
}

function readPort(text: string): bigint {
  if (meansEvery(text)) throw new Refusal(`Use * for every port: ${EVERY}`);
  const number = SERVICES.get(text.toLowerCase());
  if (number !== undefined) throw new Refusal(`Enter the port number, not a service name: ${number}`);
  if (/^[a-z][a-z0-9_ -]*$/iu.test(text)) {
    throw new Refusal(`Enter a port number like 443, not a service name: ${quoted(text)}`);
  }
  if (/^0+[1-9][0-9]*$/u.test(text))
    throw new Refusal(`Remove the leading zeros from the port: ${quoted(text.replace(/^0+/u, ''))}`);
  if (!/^[1-9][0-9]*$/u.test(text) || text.length > 5 || Number(text) > PORT_MAXIMUM) {
    throw new Refusal(`A port is a whole number from 1 to ${PORT_MAXIMUM}: ${quoted(text)}`);
  }
  return BigInt(text);
}

function readPortEntry(entry: string): Span {
  const meant = portMeant(entry);
  if (meant !== undefined) {
    if (/^[0-9]+\s*(?::|\.\.|~|->|--|[a-z])/iu.test(entry)) throw new Refusal(`Use a plain hyphen for the range: ${meant}`);
    if (/[a-z]/iu.test(entry)) throw new Refusal(`Enter only the port number: ${meant}`);
    throw new Refusal(`Enter a port or a range of ports: ${meant}`);
  }
  const divided = dividedByOther(entry.replaceAll('/', ' '), (part) => readPorts(part).ok);
  if (divided !== undefined) throw new Refusal(`Separate ports with commas: ${quoted(divided)}`);
  // A name with hyphens or a negative number is not a range.
  if (/^(?:[a-z]|-[0-9]+$)/iu.test(entry)) return { from: readPort(entry), to: readPort(entry) };
  const ends = endsOf(entry);
  const [first = '', second = first] = ends;
  if (ends.length > 2 || first === '' || second === '') {
    throw new Refusal(`A range needs two ends, like 8000-8100: ${quoted(entry)}`);
  }
  const from = readPort(first);
  const to = readPort(second);
  if (from > to) throw new Refusal(`Start the range with the lower number: ${first}-${second}`);
  return { from, to };
}

/** Parses a port field. */
export function readPorts(text: string): Reading<PortSet> {
  return reading(() => {
    if (text.length > PORT_TEXT_MAXIMUM) throw new Refusal(`Use at most ${PORT_TEXT_MAXIMUM} characters.`);
    if (isEvery(text)) return null;
    const plain = plainForm(text);
    if (plain !== undefined) {
      const commas = /[\uff0c\u3001\u060c]/u.test(text);
      throw new Refusal(`${commas ? 'Separate ports with commas' : 'Use plain characters'}: ${quoted(plain)}`);
    }
    if (/^0\s*[-:]\s*65535$/u.test(text.trim())) throw new Refusal(`Use * for every port: ${EVERY}`);
    return joined(entriesOf(text, PORTS_MAXIMUM, 'port').map(readPortEntry));
  });
}

/** Parses a single address, as of one packet. */
export function readOneAddress(text: string): Reading<IpAddress> {
  return reading(() => {
    const trimmed = text.trim();
    if (isEvery(trimmed)) throw new Refusal('Enter one address, like 192.168.1.10.');
    if (/[,/]|.-/u.test(trimmed) && readAddresses(trimmed).ok) {
      throw new Refusal(`Enter only one address: ${quoted(trimmed)}`);
    }
    return readAddress(trimmed);
  });
}

/** Parses a single port, as of one packet. */
export function readOnePort(text: string): Reading<number> {
  return reading(() => {
    const trimmed = text.trim();
    if (isEvery(trimmed)) throw new Refusal('Enter one port, like 443.');
    if (/[,]|.-/u.test(trimmed) && readPorts(trimmed).ok) throw new Refusal(`Enter only one port: ${quoted(trimmed)}`);
    return Number(readPort(trimmed));
  });
}

/** Explains why two valid addresses cannot be in the same rule or packet; undefined if they can. */
export function familyConflict(source: Family | null, destination: Family | null): string | undefined {
  if (source === null || destination === null || source === destination) return undefined;
  return `The source is ${NAMES[source]}, so use ${NAMES[source]} or * for the destination instead of ${NAMES[destination]}.`;
}

/** The span of all addresses of a family. */
export function wholeFamily(family: Family): Span {
  return { from: 0n, to: lastAddress(family) };
}
