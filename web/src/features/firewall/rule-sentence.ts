import type { NewRule, Protocol } from '@palisade/contract/firewall';
import { readAddresses, readPorts, type Span, wholeFamily } from '@palisade/contract/firewall-grammar';
import { refusalOf } from '@palisade/contract/firewall-shapes';
import { FAMILY_BITS, type Family, printIp } from '@palisade/contract/ip-address';

type Terms = Pick<NewRule, 'direction' | 'action' | 'protocol' | 'source_ip' | 'destination_ip' | 'port'>;

/** Names of the services behind ports, and their protocols (IANA service name registry; games by their makers' pages). */
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

/** Entries of a list that a sentence names; the others are counted. */
const NAMED = 3;

function listed(entries: readonly string[]): string {
  if (entries.length > NAMED + 1) return `${entries.slice(0, NAMED).join(', ')} and ${entries.length - NAMED} more`;
  return entries.length < 2 ? (entries[0] ?? '') : `${entries.slice(0, -1).join(', ')} and ${entries.at(-1)}`;
}

/** Ports one by one, as far as they are few. */
function portsIn(spans: readonly Span[]): number[] | undefined {
  const count = spans.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
  if (count > 10) return undefined;
  return spans.flatMap(({ from, to }) => Array.from({ length: Number(to - from) + 1 }, (_, index) => Number(from) + index));
}

const OVER: Record<Exclude<Protocol, 'icmp'>, string> = { tcp: ' over TCP', udp: ' over UDP', all: '' };

/** The target: "Remote Desktop", "port 8080 over TCP", "everything". */
function service({ protocol, port, action }: Terms): string {
  const over = protocol === 'icmp' ? '' : OVER[protocol];
  const read = readPorts(port);
  if (!read.ok || read.value === null) return `${action === 'allow' ? 'everything' : 'anything'}${over}`;
  const spans = read.value;
  const ports = portsIn(spans);
  const known = SERVICES.find((one) => one.protocols.includes(protocol) && ports?.every((number) => one.ports.includes(number)));
  if (known) return known.name;
  const entries = spans.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`));
  return `${spans.length === 1 && ports?.length === 1 ? 'port' : 'ports'} ${listed(entries)}${over}`;
}

/** A span as a network where it is one, else as a range or an address. */
function printSpan({ from, to }: Span, family: Family): string {
  const first = printIp({ family, value: from });
  if (from === to) return first;
  const size = to - from + 1n;
  const bits = size.toString(2).length - 1;
  if (1n << BigInt(bits) === size && from % size === 0n) return `${first}/${FAMILY_BITS[family] - bits}`;
  return `${first}-${printIp({ family, value: to })}`;
}

/** Spans of a family as a field of a rule has them. */
export function printSpans(spans: readonly Span[], family: Family): string[] {
  return spans.map((span) => printSpan(span, family));
}

/** Everything of a family that is in none of the spans, which are sorted and joined. */
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

/** The addresses of their family that are not among these: a field of a rule. Undefined for `*`, for what cannot be read, and where nothing is left. */
export function outside(addresses: string): string | undefined {
  const read = readAddresses(addresses);
  if (!read.ok || read.value.family === null) return undefined;
  const { family, spans } = read.value;
  const gaps = gapsOf(spans, family);
  return gaps.length === 0 ? undefined : printSpans(gaps, family).join(', ');
}

/** Addresses in words, and whether they are said by what they leave out. Undefined for `*`. */
function addressWords(text: string): { words: string; isOutside: boolean } | undefined {
  const read = readAddresses(text);
  if (!read.ok || read.value.family === null) return undefined;
  const { family, spans } = read.value;
  const [whole] = spans;
  if (spans.length === 1 && whole?.from === 0n && whole.to === wholeFamily(family).to)
    return { words: `any IPv${family} address`, isOutside: false };
  const gaps = gapsOf(spans, family);
  // A range that reaches both ends of all addresses is described by its gaps.
  const isOutside = gaps.length > 0 && spans[0]?.from === 0n && spans.at(-1)?.to === wholeFamily(family).to;
  return { words: listed(printSpans(isOutside ? gaps : spans, family)), isOutside };
}

function inbound(terms: Terms, computer: string): string {
  const { action, source_ip, destination_ip, protocol } = terms;
  const from = addressWords(source_ip);
  const to = addressWords(destination_ip);
  const at = to === undefined ? '' : to.isOutside ? ` at addresses outside ${to.words}` : ` at ${to.words}`;
  const what = protocol === 'icmp' ? `ping ${computer}${at}` : `reach ${service(terms)} on ${computer}${at}`;
  if (from === undefined) return `${action === 'allow' ? 'Anyone' : 'No one'} may ${what}.`;
  if (from.isOutside) return `${action === 'allow' ? 'Anyone' : 'No one'} outside ${from.words} may ${what}.`;
  const who = from.words.charAt(0).toUpperCase() + from.words.slice(1);
  return `${who} may ${action === 'allow' ? '' : 'not '}${what}.`;
}

function outbound(terms: Terms, computer: string): string {
  const { action, source_ip, destination_ip, protocol } = terms;
  const from = addressWords(source_ip);
  const to = addressWords(destination_ip);
  const target = to === undefined ? undefined : to.isOutside ? `addresses outside ${to.words}` : to.words;
  const what =
    protocol === 'icmp'
      ? `ping ${target ?? (action === 'allow' ? 'everyone' : 'anyone')}`
      : `reach ${service(terms)}${target === undefined ? ' anywhere' : ` at ${target}`}`;
  const own = from === undefined ? '' : `, from ${from.isOutside ? `addresses outside ${from.words}` : from.words},`;
  return `${computer.charAt(0).toUpperCase()}${computer.slice(1)}${own} may ${action === 'allow' ? '' : 'not '}${what}.`;
}

/** A rule in one plain sentence: "No one may reach Remote Desktop on this computer." `computer` names where, in the middle of a sentence. */
export function ruleSentence(terms: Terms, computer = 'this computer'): string {
  const refusal = refusalOf(terms);
  if (refusal !== undefined) return `This rule has no effect. ${refusal}`;
  return terms.direction === 'inbound' ? inbound(terms, computer) : outbound(terms, computer);
}
