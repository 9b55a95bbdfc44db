import type { Action, NewRule, Protocol } from '@palisade/contract/firewall';
import { readAddresses, readPorts, type Span, wholeFamily } from '@palisade/contract/firewall-grammar';
import { refusalOf } from '@palisade/contract/firewall-shapes';
import { capitalize, listFirst, plural } from '@palisade/contract/intl';
import { FAMILY_BITS, type Family, printIp } from '@palisade/contract/ip-address';

type Terms = Pick<NewRule, 'direction' | 'action' | 'protocol' | 'source_ip' | 'destination_ip' | 'port'>;

/** Service names by port and protocol (IANA service name registry; games from their makers' pages). */
const SERVICES: readonly { name: string; protocols: readonly Protocol[]; ports: readonly number[] }[] = [
  { name: 'Remote Desktop', protocols: ['tcp', 'udp', 'all'], ports: [3389] },
  { name: 'SSH', protocols: ['tcp', 'all'], ports: [22] },
  { name: 'Telnet', protocols: ['tcp', 'all'], ports: [23] },
  { name: 'shared folders', protocols: ['tcp', 'udp', 'all'], ports: [137, 138, 139, 445] },
  { name: 'printing', protocols: ['tcp', 'udp', 'all'], ports: [515, 631, 9100] },
  { name: 'screen sharing (VNC)', protocols: ['tcp', 'all'], ports: [5900, 5901] },
  { name: 'web pages', protocols: ['tcp', 'all'], ports: [80, 443] },
  { name: 'the name service (DNS)', protocols: ['tcp', 'udp', 'all'], ports: [53] },
  { name: 'the time service (NTP)', protocols: ['udp', 'all'], ports: [123] },
  { name: 'mail', protocols: ['tcp', 'all'], ports: [25, 110, 143, 465, 587, 993, 995] },
  { name: 'file transfer (FTP)', protocols: ['tcp', 'all'], ports: [20, 21] },
  { name: 'Minecraft', protocols: ['tcp', 'udp', 'all'], ports: [25_565] },
  { name: 'Valheim', protocols: ['udp', 'all'], ports: [2456, 2457, 2458] },
  { name: 'Terraria', protocols: ['tcp', 'udp', 'all'], ports: [7777] },
  { name: 'Factorio', protocols: ['udp', 'all'], ports: [34_197] },
  { name: 'Steam games', protocols: ['tcp', 'udp', 'all'], ports: [27_015] },
];

/** Number of list entries that a sentence names; the others are counted. */
const NAMED = 3;

/** Maximum number of ports that are compared with services. */
const PORTS_MAXIMUM = 10;

const countOf = (spans: readonly Span[]) => spans.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);

/** Single ports of the spans; undefined if there are too many. */
function portsIn(spans: readonly Span[]): number[] | undefined {
  if (countOf(spans) > PORTS_MAXIMUM) return undefined;
  return spans.flatMap(({ from, to }) => Array.from({ length: Number(to - from) + 1 }, (_, index) => Number(from) + index));
}

/** The target of a rule with its protocol. */
const OVER: Record<Protocol, (target: string) => string> = {
  tcp: (target) => `${target} over TCP`,
  udp: (target) => `${target} over UDP`,
  icmp: (target) => target,
  all: (target) => target,
};

/** The target: "Remote Desktop", "port 8080 over TCP", "everything". */
function service({ protocol, port, action }: Terms): string {
  const over = OVER[protocol];
  const read = readPorts(port);
  if (!read.ok || read.value === null) return over(action === 'allow' ? 'everything' : 'anything');
  const spans = read.value;
  const ports = portsIn(spans);
  const known = SERVICES.find((one) => one.protocols.includes(protocol) && ports?.every((number) => one.ports.includes(number)));
  if (known) return known.name;
  const entries = listFirst(
    spans.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)),
    NAMED,
  );
  return over(plural(countOf(spans), { one: `port ${entries}`, other: `ports ${entries}` }));
}

/** A span as a network in CIDR notation if possible, otherwise as a range or address. */
function printSpan({ from, to }: Span, family: Family): string {
  const first = printIp({ family, value: from });
  if (from === to) return first;
  const size = to - from + 1n;
  const bits = size.toString(2).length - 1;
  if (1n << BigInt(bits) === size && from % size === 0n) return `${first}/${FAMILY_BITS[family] - bits}`;
  return `${first}-${printIp({ family, value: to })}`;
}

/** Spans of one address family in the format of a rule's field. */
export function printSpans(spans: readonly Span[], family: Family): string[] {
  return spans.map((span) => printSpan(span, family));
}

/** All addresses of a family outside the spans, which must be sorted and merged. */
function gapsOf(spans: readonly Span[], family: Family): Span[] {
  const whole = wholeFamily(family);
  const gaps: Span[] = [];
  let next = whole.from;
  for (const { from, to } of spans) {
    if (from > next) gaps.push({ from: next, to: from - 1n });
    next = to + 1n;
  }
  if (next <= whole.to) gaps.push({ from: next, to: whole.to });
  return gaps;
}

/** The other addresses of the same family, in the format of a rule's field. Undefined for `*`, invalid text, and if no address is left. */
export function outside(addresses: string): string | undefined {
  const read = readAddresses(addresses);
  if (!read.ok || read.value.family === null) return undefined;
  const { family, spans } = read.value;
  const gaps = gapsOf(spans, family);
  return gaps.length === 0 ? undefined : printSpans(gaps, family).join(', ');
}

/** Addresses in words, and whether the words name the excluded addresses instead. Undefined for `*`. */
function addressWords(text: string): { words: string; isOutside: boolean } | undefined {
  const read = readAddresses(text);
  if (!read.ok || read.value.family === null) return undefined;
  const { family, spans } = read.value;
  const [whole] = spans;
  if (spans.length === 1 && whole?.from === 0n && whole.to === wholeFamily(family).to)
    return { words: `any IPv${family} address`, isOutside: false };
  const gaps = gapsOf(spans, family);
  // A list that includes both the first and the last address is described by its gaps.
  const isOutside = gaps.length > 0 && spans[0]?.from === 0n && spans.at(-1)?.to === wholeFamily(family).to;
  return { words: listFirst(printSpans(isOutside ? gaps : spans, family), NAMED), isOutside };
}

/** The parts of a rule's sentence. */
interface Named {
  /** Callers of an inbound rule, or the computer of an outbound one. */
  who: string;
  service: string;
  /** The computer of an inbound rule, or the reached addresses of an outbound one. */
  place: string;
}
type Sentences = Record<Action, (named: Named) => string>;

/** Sentences of inbound rules: for all callers, callers outside some addresses, and callers from some addresses. */
const INBOUND: Record<'reach' | 'ping', Record<'everyone' | 'outside' | 'named', Sentences>> = {
  reach: {
    everyone: {
      allow: ({ service, place }) => `Anyone may reach ${service} on ${place}.`,
      block: ({ service, place }) => `No one may reach ${service} on ${place}.`,
    },
    outside: {
      allow: ({ who, service, place }) => `Anyone outside ${who} may reach ${service} on ${place}.`,
      block: ({ who, service, place }) => `No one outside ${who} may reach ${service} on ${place}.`,
    },
    named: {
      allow: ({ who, service, place }) => `${capitalize(who)} may reach ${service} on ${place}.`,
      block: ({ who, service, place }) => `${capitalize(who)} may not reach ${service} on ${place}.`,
    },
  },
  ping: {
    everyone: {
      allow: ({ place }) => `Anyone may ping ${place}.`,
      block: ({ place }) => `No one may ping ${place}.`,
    },
    outside: {
      allow: ({ who, place }) => `Anyone outside ${who} may ping ${place}.`,
      block: ({ who, place }) => `No one outside ${who} may ping ${place}.`,
    },
    named: {
      allow: ({ who, place }) => `${capitalize(who)} may ping ${place}.`,
      block: ({ who, place }) => `${capitalize(who)} may not ping ${place}.`,
    },
  },
};

/** Sentences of outbound rules: to all addresses and to some. */
const OUTBOUND: Record<'reach' | 'ping', Record<'everywhere' | 'named', Sentences>> = {
  reach: {
    everywhere: {
      allow: ({ who, service }) => `${capitalize(who)} may reach ${service} anywhere.`,
      block: ({ who, service }) => `${capitalize(who)} may not reach ${service} anywhere.`,
    },
    named: {
      allow: ({ who, service, place }) => `${capitalize(who)} may reach ${service} at ${place}.`,
      block: ({ who, service, place }) => `${capitalize(who)} may not reach ${service} at ${place}.`,
    },
  },
  ping: {
    everywhere: {
      allow: ({ who }) => `${capitalize(who)} may ping everyone.`,
      block: ({ who }) => `${capitalize(who)} may not ping anyone.`,
    },
    named: {
      allow: ({ who, place }) => `${capitalize(who)} may ping ${place}.`,
      block: ({ who, place }) => `${capitalize(who)} may not ping ${place}.`,
    },
  },
};

const verbOf = (protocol: Protocol) => (protocol === 'icmp' ? 'ping' : 'reach');
const addresses = ({ words, isOutside }: { words: string; isOutside: boolean }) =>
  isOutside ? `addresses outside ${words}` : words;

function inbound(terms: Terms, computer: string): string {
  const { action, source_ip, destination_ip, protocol } = terms;
  const from = addressWords(source_ip);
  const to = addressWords(destination_ip);
  const place = to === undefined ? computer : `${computer} at ${addresses(to)}`;
  const callers = from === undefined ? 'everyone' : from.isOutside ? 'outside' : 'named';
  return INBOUND[verbOf(protocol)][callers][action]({ who: from?.words ?? '', service: service(terms), place });
}

function outbound(terms: Terms, computer: string): string {
  const { action, source_ip, destination_ip, protocol } = terms;
  const from = addressWords(source_ip);
  const to = addressWords(destination_ip);
  const who = from === undefined ? computer : `${computer}, from ${addresses(from)},`;
  const target = to === undefined ? 'everywhere' : 'named';
  return OUTBOUND[verbOf(protocol)][target][action]({ who, service: service(terms), place: to ? addresses(to) : '' });
}

/** A rule in one plain sentence: "No one may reach Remote Desktop on this computer." `computer` is the place, within the sentence. */
export function ruleSentence(terms: Terms, computer = 'this computer'): string {
  const refusal = refusalOf(terms);
  if (refusal !== undefined) return `This rule has no effect. ${refusal}`;
  return terms.direction === 'inbound' ? inbound(terms, computer) : outbound(terms, computer);
}
