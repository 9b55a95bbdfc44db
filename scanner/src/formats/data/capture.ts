import { scanPhrase } from '@palisade/contract/scan-phrases';
import { format, withBits } from '#scanner/formats/format.ts';
import { type Content, joined, openSource } from '#scanner/reading/content.ts';
import { JoinedPieces, SEPARATOR } from '#scanner/reading/joined-pieces.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { httpMessages } from './http-messages.ts';

// Captures of network packets: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng). Streams of TCP are put together again, in whatever order their parts were sent; other packets are
// read one behind the other.

/** As pcap writes it in either order of bytes: microseconds, nanoseconds, and with longer heads of packets (Kuznetzov). */
const PCAP: readonly number[] = [0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34];
const LONGER_HEADS = 0xa1b2cd34;
const PCAPNG = 0x0a0d0d0a;
const PCAPNG_ORDER = 0x1a2b3c4d;

export function isCapture(head: Buffer): boolean {
  if (head.length < 24) return false;
  const [little, big] = [head.readUInt32LE(0), head.readUInt32BE(0)];
  if (big === PCAPNG) return [head.readUInt32LE(8), head.readUInt32BE(8)].includes(PCAPNG_ORDER);
  // Version 2.4, and before it 2.3 and 2.2.
  const version = PCAP.includes(little) ? head.readUInt16LE(4) : head.readUInt16BE(4);
  return (PCAP.includes(little) || PCAP.includes(big)) && version === 2;
}

/** The most streams that are kept apart. */
const STREAMS_KEPT_MAXIMUM = 20_000;
/** More of them are not taken into memory. */
const PACKETS_MAXIMUM = 500_000;
/** Longer packets than any network has; what claims more ends the walk. Bytes. */
const PACKET_BYTES_MAXIMUM = 16 * 1024 ** 2;
/** The part of a packet that is searched for heads. Bytes. */
const HEADS_BYTES = 512;
const HEADS_MAXIMUM = 12;

interface Packet {
  start: number;
  end: number;
  /** The kind of the network (https://www.tcpdump.org/linktypes.html). */
  link: number;
  /** Bytes of it that were not captured. */
  missing: number;
}

function* pcapPackets(reader: Reader): Generator<Packet> {
  const head = reader.at(0, 24);
  const is_little = PCAP.includes(head.readUInt32LE(0));
  const word = (bytes: Buffer, at: number) => (is_little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const link = word(head, 20) & 0xffff;
  const head_bytes = word(head, 0) === LONGER_HEADS ? 24 : 16;
  for (let at = 24; at + head_bytes <= reader.size; ) {
    const record = reader.at(at, head_bytes);
    const size = word(record, 8);
    if (size > PACKET_BYTES_MAXIMUM) return;
    const start = at + head_bytes;
    at = start + size;
    yield { start, end: Math.min(at, reader.size), link, missing: Math.max(0, word(record, 12) - size) };
  }
}

const LINKS_MAXIMUM = 1000;

function* pcapngPackets(reader: Reader): Generator<Packet> {
  let is_little = true;
  let links: number[] = [];
  const word = (bytes: Buffer, at: number) => (is_little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  for (let at = 0; at + 12 <= reader.size; ) {
    const block = reader.at(at, 28);
    if (block.readUInt32BE(0) === PCAPNG) {
      is_little = block.readUInt32LE(8) === PCAPNG_ORDER;
      links = [];
    }
    const kind = word(block, 0);
    const size = word(block, 4);
    if (size < 12 || size % 4 !== 0) return;
    const end = Math.min(at + size - 4, reader.size);
    // An interface, a packet by its interface, one of the first interface, and one as older programs write it.
    if (kind === 1 && block.length >= 10 && links.length < LINKS_MAXIMUM)
      links.push(is_little ? block.readUInt16LE(8) : block.readUInt16BE(8));
    else if ((kind === 6 || kind === 2) && block.length >= 28) {
      const number = kind === 6 ? word(block, 8) : is_little ? block.readUInt16LE(8) : block.readUInt16BE(8);
      const start = at + 28;
      const bytes = word(block, 20);
      yield {
        start,
        end: Math.min(start + bytes, end),
        link: links[number] ?? 1,
        missing: Math.max(0, word(block, 24) - bytes),
      };
    } else if (kind === 3 && block.length >= 12) {
      const whole = word(block, 8);
      yield { start: at + 12, end: Math.min(at + 12 + whole, end), link: links[0] ?? 1, missing: Math.max(0, whole - size + 16) };
    }
    at += size;
  }
}

/** The next head of a packet: its kind, and its place. */
interface Next {
  kind: 'ethernet' | 'type' | 'ip' | 'segment' | 'udp' | 'ppp' | 'radio' | 'air' | 'labels';
  at: number;
  /** What follows: an EtherType, or a protocol of IP. */
  type?: number;
  /** The addresses on the way. */
  ends?: string;
  end?: number;
}

/** The first head of a packet, by the kind of network. */
function firstHead(link: number, bytes: Buffer): Next | undefined {
  const type = (at: number): Next => ({ kind: 'type', at: at + 2, type: bytes.length >= at + 2 ? bytes.readUInt16BE(at) : 0 });
  if (link === 1) return { kind: 'ethernet', at: 0 };
  if (link === 0 || link === 108) return { kind: 'ip', at: 4 };
  if ([12, 14, 101, 228, 229].includes(link)) return { kind: 'ip', at: 0 };
  if (link === 113) return type(14);
  if (link === 276) return { kind: 'type', at: 20, type: bytes.length >= 2 ? bytes.readUInt16BE(0) : 0 };
  if (link === 9 || link === 50) return { kind: 'ppp', at: bytes[0] === 0xff ? 2 : 0 };
  if (link === 51) return { kind: 'ppp', at: 6 };
  if (link === 105) return { kind: 'air', at: 0 };
  if (link === 127 || link === 192) return { kind: 'radio', at: 0 };
  return undefined;
}

/** The content of a packet: a piece of a stream, a datagram, or part of a packet that came in several. */
type Found =
  | { kind: 'tcp'; key: string; sequence: number; is_first: boolean; at: number; end: number }
  | { kind: 'part'; key: string; offset: number; is_last: boolean; protocol: number; ends: string; at: number; end: number }
  | { kind: 'other'; at: number };

const VLAN: readonly number[] = [0x8100, 0x88a8, 0x9100, 0x9200];

function afterType(bytes: Buffer, type: number, at: number): Next | undefined {
  if (VLAN.includes(type))
    return bytes.length < at + 4 ? undefined : { kind: 'type', at: at + 4, type: bytes.readUInt16BE(at + 2) };
  if (type === 0x0800 || type === 0x86dd) return { kind: 'ip', at };
  if (type === 0x8847 || type === 0x8848) return { kind: 'labels', at };
  if (type === 0x8864) return { kind: 'ppp', at: at + 6 };
  return type === 0x6558 ? { kind: 'ethernet', at } : undefined;
}

/** Behind the addresses of IP: streams, datagrams, and packets that carry others. */
function afterProtocol(bytes: Buffer, protocol: number, at: number, ends: string, end: number): Next | undefined {
  if (protocol === 6) return { kind: 'segment', at, ends, end };
  if (protocol === 17) return { kind: 'udp', at, ends, end };
  if (protocol === 4 || protocol === 41) return { kind: 'ip', at };
  // Generic routing (RFC 2784, 2890): words for a sum, a key and a number where it has them.
  if (protocol === 47 && bytes.length >= at + 4) {
    const flags = bytes[at] ?? 0;
    const words = [0x80, 0x20, 0x10].filter((flag) => (flags & flag) !== 0).length;
    return { kind: 'type', at: at + 4 + 4 * words, type: bytes.readUInt16BE(at + 2) };
  }
  return undefined;
}

/** Heads of IPv6 before the payload (RFC 8200, 4): by hops, routing, for the end, authentication. */
const EXTENSIONS: readonly number[] = [0, 43, 60, 51];

function ofIp(bytes: Buffer, at: number, packet_end: number): Next | Found | undefined {
  const version = (bytes[at] ?? 0) >> 4;
  if (version === 4) {
    const head_bytes = ((bytes[at] ?? 0) & 15) * 4;
    if (head_bytes < 20 || bytes.length < at + head_bytes) return undefined;
    const total = bytes.readUInt16BE(at + 2);
    // A card that cuts packets itself writes no length.
    const end = total < head_bytes ? packet_end : Math.min(packet_end, at + total);
    const ends = bytes.toString('hex', at + 12, at + 20);
    const protocol = bytes[at + 9] ?? 0;
    const flags = bytes.readUInt16BE(at + 6);
    if ((flags & 0x3fff) !== 0) {
      const key = `${ends} ${protocol} ${bytes.readUInt16BE(at + 4)}`;
      const offset = (flags & 0x1fff) * 8;
      return { kind: 'part', key, offset, is_last: (flags & 0x2000) === 0, protocol, ends, at: at + head_bytes, end };
    }
    return afterProtocol(bytes, protocol, at + head_bytes, ends, end);
  }
  if (version !== 6 || bytes.length < at + 40) return undefined;
  const length = bytes.readUInt16BE(at + 4);
  const end = length === 0 ? packet_end : Math.min(packet_end, at + 40 + length);
  const ends = bytes.toString('hex', at + 8, at + 40);
  let protocol = bytes[at + 6] ?? 0;
  let next = at + 40;
  for (let heads = 0; EXTENSIONS.includes(protocol) && heads < HEADS_MAXIMUM && next + 8 <= bytes.length; heads += 1) {
    const words = bytes[next + 1] ?? 0;
    const size = protocol === 51 ? (words + 2) * 4 : (words + 1) * 8;
    protocol = bytes[next] ?? 0;
    next += size;
  }
  if (protocol === 44 && next + 8 <= bytes.length) {
    const flags = bytes.readUInt16BE(next + 2);
    const key = `${ends} ${bytes.readUInt32BE(next + 4)}`;
    protocol = bytes[next] ?? 0;
    return { kind: 'part', key, offset: flags & 0xfff8, is_last: (flags & 1) === 0, protocol, ends, at: next + 8, end };
  }
  return afterProtocol(bytes, protocol, next, ends, end);
}

const VXLAN: readonly number[] = [4789, 8472];

/** One step into a packet: what follows a head. */
function step(bytes: Buffer, next: Next, packet_end: number): Next | Found | undefined {
  const { at } = next;
  const need = (count: number) => bytes.length >= at + count;
  if (next.kind === 'ethernet') return need(14) ? { kind: 'type', at: at + 14, type: bytes.readUInt16BE(at + 12) } : undefined;
  if (next.kind === 'type') return afterType(bytes, next.type ?? 0, at);
  if (next.kind === 'ip') return ofIp(bytes, at, packet_end);
  if (next.kind === 'ppp') {
    if (!need(2)) return undefined;
    const is_short = ((bytes[at] ?? 0) & 1) === 1;
    const protocol = is_short ? (bytes[at] ?? 0) : bytes.readUInt16BE(at);
    return protocol === 0x21 || protocol === 0x57 ? { kind: 'ip', at: at + (is_short ? 1 : 2) } : undefined;
  }
  if (next.kind === 'labels') {
    // The last label has a mark (RFC 3032); whether IP or a frame follows shows at its first four bits.
    const is_last = ((bytes[at + 2] ?? 1) & 1) === 1;
    if (!is_last) return { kind: 'labels', at: at + 4 };
    const version = (bytes[at + 4] ?? 0) >> 4;
    return version === 4 || version === 6 ? { kind: 'ip', at: at + 4 } : { kind: 'ethernet', at: at + (version === 0 ? 8 : 4) };
  }
  if (next.kind === 'radio') return need(4) ? { kind: 'air', at: at + bytes.readUInt16LE(at + 2) } : undefined;
  if (next.kind === 'air') {
    // IEEE 802.11: data that are not protected, behind LLC and SNAP.
    const [first = 0, flags = 0] = bytes.subarray(at, at + 2);
    if ((first & 0x0c) !== 0x08 || (flags & 0x40) !== 0) return undefined;
    const body = at + 24 + ((flags & 3) === 3 ? 6 : 0) + ((first & 0x80) !== 0 ? 2 : 0);
    if (bytes.length < body + 8 || bytes.readUIntBE(body, 3) !== 0xaaaa03) return undefined;
    return { kind: 'type', at: body + 8, type: bytes.readUInt16BE(body + 6) };
  }
  const { ends = '', end = packet_end } = next;
  if (!need(8)) return undefined;
  const ports = bytes.toString('hex', at, at + 4);
  if (next.kind === 'udp') {
    const is_tunnel = VXLAN.includes(bytes.readUInt16BE(at + 2));
    return is_tunnel ? { kind: 'ethernet', at: at + 16 } : { kind: 'other', at: at + 8 };
  }
  if (!need(20)) return undefined;
  const from = at + ((bytes[at + 12] ?? 0) >> 4) * 4;
  const is_first = ((bytes[at + 13] ?? 0) & 2) !== 0;
  const sequence = (bytes.readUInt32BE(at + 4) + (is_first ? 1 : 0)) >>> 0;
  return { kind: 'tcp', key: `${ends} ${ports}`, sequence, is_first, at: Math.max(from, at + 20), end };
}

function isFound(one: Next | Found): one is Found {
  return one.kind === 'tcp' || one.kind === 'part' || one.kind === 'other';
}

/** Parses a packet. `bytes` are its first ones, `size` is its length. */
function foundIn(bytes: Buffer, size: number, first: Next | undefined): Found {
  let next = first;
  for (let heads = 0; next !== undefined && heads < HEADS_MAXIMUM; heads += 1) {
    const one = step(bytes, next, size);
    if (one === undefined) break;
    if (isFound(one)) return one;
    next = one;
  }
  return { kind: 'other', at: 0 };
}

interface Piece {
  start: number;
  size: number;
}
interface Segment extends Piece {
  sequence: number;
}

/** One direction of a connection. */
interface Stream {
  segments: Segment[];
  bytes: number;
}

const HALF = 2 ** 31;

/** The distance from one sequence number to another, across the wrap-around. */
const distance = (from: number, to: number) => ((to - from + HALF * 3) % (2 * HALF)) - HALF;

/**
 * The pieces of a stream in their order, each byte once, in runs without a gap. Of bytes that were sent twice the first ones count, or the last: programs differ, and so may
 * the bytes.
 */
function runsOf(segments: readonly Segment[], is_last_first: boolean): Piece[][] {
  const [first] = segments;
  if (first === undefined) return [];
  const placed = segments.map(({ start, size, sequence }, index) => ({
    start,
    size,
    place: distance(first.sequence, sequence),
    rank: is_last_first ? -index : index,
  }));
  placed.sort((one, other) => one.place - other.place || one.rank - other.rank);
  const runs: Piece[][] = [];
  let run: Piece[] = [];
  let next = Number.NEGATIVE_INFINITY;
  for (const { start, size, place } of placed) {
    const seen = Math.max(0, next - place);
    if (seen >= size) continue;
    if (place > next) {
      run = [];
      runs.push(run);
    }
    // Where they overlap in part, the earlier bytes stay.
    run.push({ start: start + seen, size: size - seen });
    next = place + size;
  }
  return runs;
}

/** Streams that are members of their own, and runs of one stream; further ones are read together. */
const STREAMS_MAXIMUM = 3000;
const RUNS_MAXIMUM = 20;
const RUN_BYTES_LEAST = 33;
/** The size of one chunk of output. Bytes. */
const CHUNK_BYTES = 256 * 1024;
/** Messages of HTTP are looked for in runs of this size. Bytes. */
const MESSAGES_BYTES_MAXIMUM = 16 * 1024 ** 2;

/** Whether a run in one order of repeated bytes is another one than in the other. */
function differs(one: readonly Piece[], other: readonly Piece[] | undefined): boolean {
  return (
    other === undefined ||
    one.length !== other.length ||
    one.some(({ start, size }, index) => start !== other[index]?.start || size !== other[index]?.size)
  );
}

/** The streams and other packets of a capture. */
class Flows {
  readonly streams = new Map<string, Stream>();
  readonly others: Piece[] = [];
  private readonly parts = new Map<string, Segment[]>();
  private readonly ends = new Map<string, { protocol: number; ends: string }>();

  add(found: Found, packet: Packet): void {
    const start = packet.start + found.at;
    if (found.kind === 'other') {
      this.addOther(start, packet.end - start);
      return;
    }
    const size = Math.min(packet.end, packet.start + found.end) - start;
    if (size <= 0 && found.kind === 'part') return;
    if (found.kind === 'part') {
      const known = this.parts.get(found.key);
      if (known === undefined) this.parts.set(found.key, [{ start, size, sequence: found.offset }]);
      else known.push({ start, size, sequence: found.offset });
      this.ends.set(found.key, found);
      return;
    }
    // The same two ports may be used again: a new beginning that is not among the numbers of the one before is another stream.
    const known = this.streams.get(found.key);
    // Each takes some memory, however short it is: the packets of further ones are read with the others.
    if (known === undefined && this.streams.size >= STREAMS_KEPT_MAXIMUM) {
      this.addOther(start, size);
      return;
    }
    const [first] = known?.segments ?? [];
    const is_new = found.is_first && first !== undefined && first.sequence !== found.sequence;
    if (known !== undefined && is_new && this.streams.size < STREAMS_KEPT_MAXIMUM)
      this.streams.set(`${found.key} until ${packet.start}`, known);
    const stream: Stream = known === undefined || is_new ? { segments: [], bytes: 0 } : known;
    this.streams.set(found.key, stream);
    if (size <= 0) return;
    stream.segments.push({ start, size, sequence: found.sequence });
    stream.bytes += size;
  }

  private addOther(start: number, size: number): void {
    if (size > 0) this.others.push({ start, size });
  }

  /** Packets that came in parts are put together, and their streams with them. */
  end(reader: Reader): void {
    for (const [key, segments] of this.parts) {
      const { protocol, ends } = this.ends.get(key) ?? { protocol: 0, ends: '' };
      segments.sort((one, other) => one.sequence - other.sequence);
      const [first] = segments;
      if (first === undefined) continue;
      const head = reader.at(first.start, Math.min(first.size, HEADS_BYTES));
      const next = first.sequence === 0 ? afterProtocol(head, protocol, 0, ends, Number.POSITIVE_INFINITY) : undefined;
      const found = next?.kind === 'segment' ? step(head, next, Number.POSITIVE_INFINITY) : undefined;
      if (found === undefined || !isFound(found) || found.kind !== 'tcp') {
        // One datagram: its parts stand side by side.
        for (const { start, size } of segments) this.others.push({ start, size });
        continue;
      }
      for (const { start, size, sequence } of segments) {
        const skipped = sequence === 0 ? found.at : 0;
        this.add(
          { ...found, sequence: (found.sequence + Math.max(0, sequence - found.at)) >>> 0, at: skipped, end: size },
          { start, end: start + size, link: 0, missing: 0 },
        );
      }
    }
  }
}

/**
 * The streams of a capture as members, each direction of a connection alone, the files in its messages of HTTP, and all other packets together. Where packets are missing, the bytes before and behind
 * them are a member each.
 */
async function* captureMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const { budget } = context;
  const reader = openReader(content, budget);
  const source = openSource(content);
  const flows = new Flows();
  let packets = 0;
  let end = 0;
  let missing = 0;
  try {
    const is_new = reader.at(0, 4).readUInt32BE(0) === PCAPNG;
    for (const packet of is_new ? pcapngPackets(reader) : pcapPackets(reader)) {
      packets += 1;
      if (packets > PACKETS_MAXIMUM) break;
      const size = packet.end - packet.start;
      const bytes = reader.at(packet.start, Math.min(size, HEADS_BYTES));
      flows.add(foundIn(bytes, size, firstHead(packet.link, bytes)), packet);
      missing += packet.missing > 0 ? 1 : 0;
      end = packet.end;
    }
    flows.end(reader);
    if (missing > 0) context.note(scanPhrase('capture.cut_packets', { count: missing }));
    const member = (name: string, pieces: readonly Piece[]): Member => {
      const whole = joined(
        source,
        pieces.map(({ start, size }) => ({ start, size })),
      );
      async function* stream(): AsyncGenerator<Buffer> {
        for (let at = 0; at < whole.size; ) {
          const bytes = whole.read(at, CHUNK_BYTES);
          if (bytes.length === 0) return;
          at += bytes.length;
          yield bytes;
        }
      }
      return { name, read: () => ({ stream: stream(), packed_bytes: whole.size }) };
    };
    let number = 0;
    const together: Piece[] = [];
    for (const { segments } of flows.streams.values()) {
      const firsts = runsOf(segments, false);
      const lasts = runsOf(segments, true);
      const runs = [...firsts, ...lasts.filter((run, index) => differs(run, firsts[index]))];
      for (const [index, run] of runs.entries()) {
        const size = run.reduce((sum, piece) => sum + piece.size, 0);
        if (size < RUN_BYTES_LEAST || number === STREAMS_MAXIMUM || index >= RUNS_MAXIMUM) {
          for (const piece of run) together.push(piece);
          continue;
        }
        number += 1;
        const name = `stream ${number}`;
        budget.spend(size);
        const messages = size > MESSAGES_BYTES_MAXIMUM ? undefined : httpMessages(joined(source, run).read(0, size), budget);
        if (messages === undefined) {
          yield member(name, run);
          continue;
        }
        for (const [index, { bytes, ending }] of messages.bodies.entries()) {
          budget.addUnpacked(bytes.length, bytes.length, bytes.length);
          yield { name: `${name}, message ${index + 1}${ending}`, read: () => ({ content: { size: bytes.length, bytes } }) };
        }
        const { others: bytes } = messages;
        yield { name, read: () => ({ content: { size: bytes.length, bytes } }) };
      }
    }
    const others = [...together, ...flows.others];
    if (others.length > 0) {
      async function* stream(): AsyncGenerator<Buffer> {
        const held = new JoinedPieces(Buffer.alloc(0));
        for (const { start, size } of others) {
          for (let at = start; at < start + size; ) {
            const piece = source.read(at, Math.min(CHUNK_BYTES, start + size - at));
            if (piece.length === 0) break;
            held.add(piece);
            at += piece.length;
            if (held.length >= CHUNK_BYTES) yield held.take();
          }
          held.add(SEPARATOR);
        }
        yield held.take();
      }
      yield { name: 'other packets', read: () => ({ stream: stream(), packed_bytes: content.size }) };
    }
    context.claim(0, Math.max(24, Math.min(reader.size, end)));
    if (packets > PACKETS_MAXIMUM) throw new Unreadable('too_large');
  } finally {
    reader.close();
    source.close();
  }
}

export const capture = format({
  id: 'capture',
  media_type: 'application/vnd.tcpdump.pcap',
  recognise: withBits(48, isCapture),
  limits: 'What is sent in several packets of UDP is not put together.',
  open: (content, context) => captureMembers(content, context),
});
