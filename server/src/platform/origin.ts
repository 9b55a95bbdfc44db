import { parseIp, printIp } from '@palisade/contract/ip-address';
import { describeUserAgent } from './user-agent.ts';

/** The origin of a request. */
export interface Origin {
  /** The peer's address, or the one from a trusted proxy. */
  address: string;
  /** The key for limits and rules: an IPv4 address (/32), or the /64 network of an IPv6 address, because one customer has at least a /64. */
  source: string;
  /** The value that the client sent. */
  user_agent: string | undefined;
  /** A short name from its user agent: "Firefox on Windows". */
  client: string;
}

const IPV6_HOST_BITS = 64n;
const IPV4_BITS = 32n;
/** The first 96 bits of IPv6 addresses that contain an IPv4 address: mapped ones (RFC 4291 section 2.5.5.2), and those of a translator (RFC 6052 section 2.1). */
const IPV4_PREFIXES: readonly bigint[] = [0xffffn, 0x64ff9bn << 64n];

/** Maximum number of cached sources: each request asks several times. */
const SOURCES_MAXIMUM = 1_000;
const sources = new Map<string, string>();

/** The source of an address. Text that is not an address, also the placeholder for a missing address, is its own source. */
export function sourceOf(address: string | undefined = GONE): string {
  let source = sources.get(address);
  if (source === undefined) {
    source = readSource(address);
    if (sources.size >= SOURCES_MAXIMUM) sources.clear();
    sources.set(address, source);
  }
  return source;
}

function readSource(address: string): string {
  const parsed = parseIp(address.replace(/^::ffff:(?=[\d.]+$)/i, ''));
  if (parsed === undefined) return address;
  if (parsed.family === 4) return printIp(parsed);
  if (IPV4_PREFIXES.includes(parsed.value >> IPV4_BITS)) return printIp({ family: 4, value: BigInt.asUintN(32, parsed.value) });
  return `${printIp({ family: 6, value: (parsed.value >> IPV6_HOST_BITS) << IPV6_HOST_BITS })}/64`;
}

/** Whether a source is the machine itself (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
export function isLoopbackSource(source: string): boolean {
  return source.startsWith('127.') || source === sourceOf('::1');
}

/** Whether a source is a whole private network: unique local or link-local IPv6 (RFC 4193, RFC 4291 section 2.5.6). */
export function isPrivateNetwork(source: string): boolean {
  return /^(f[cd][\da-f]{2}|fe[89ab][\da-f]):.*\/64$/.test(source);
}

/** Private networks, which are not reachable from the internet (RFC 1918, RFC 3927, RFC 6598). */
const PRIVATE_IPV4 = /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

/** Whether a source is the machine itself or in a private network, where a proxy of this server would be. */
export function isPrivateSource(source: string): boolean {
  return isLoopbackSource(source) || PRIVATE_IPV4.test(source) || isPrivateNetwork(source);
}

/** Placeholder for the address of a client that disconnected before it was read. */
const GONE = 'unknown';

/** The origin of a request, of Fastify or of the same shape. */
export function originOf(request: { ip: string | undefined; headers: { 'user-agent'?: string | undefined } }): Origin {
  const address = (request.ip ?? GONE).replace(/^::ffff:(?=[\d.]+$)/i, '');
  const user_agent = request.headers['user-agent'];
  return { address, source: sourceOf(address), user_agent, client: describeUserAgent(user_agent ?? null) };
}
