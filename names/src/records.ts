import { FLAG, HEADER_BYTES, readName, TYPE } from './wire.ts';

/** A record of an answer. `start`, `head`, `data` and `end` are byte offsets in the answer. */
export interface WireRecord {
  section: 'answer' | 'authority' | 'additional';
  start: number;
  /** Offset of the fields type, class, TTL and data length. */
  head: number;
  type: number;
  ttl: number;
  data: number;
  end: number;
}

/** The offset after a name, which may be compressed; undefined if the name is malformed. */
function skipName(bytes: Buffer, start: number): number | undefined {
  for (let at = start; at < bytes.length; ) {
    const length = bytes[at] ?? 0;
    if (length >= 0xc0) return at + 2;
    if (length > 63) return undefined;
    at += 1 + length;
    if (length === 0) return at;
  }
  return undefined;
}

/** All records of an answer with one question. Undefined if a record is malformed. */
export function readRecords(bytes: Buffer): WireRecord[] | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(4) !== 1) return undefined;
  const question = skipName(bytes, HEADER_BYTES);
  if (question === undefined) return undefined;
  let at = question + 4;
  const records: WireRecord[] = [];
  for (const [index, section] of (['answer', 'authority', 'additional'] as const).entries()) {
    for (let count = bytes.readUInt16BE(6 + 2 * index); count > 0; count--) {
      const head = skipName(bytes, at);
      if (head === undefined || head + 10 > bytes.length) return undefined;
      const end = head + 10 + bytes.readUInt16BE(head + 8);
      if (end > bytes.length) return undefined;
      const type = bytes.readUInt16BE(head);
      records.push({ section, start: at, head, type, ttl: bytes.readUInt32BE(head + 4), data: head + 10, end });
      at = end;
    }
  }
  return records;
}

/** The CNAME targets in an answer, in order. */
export function aliasesOf(bytes: Buffer, records: readonly WireRecord[]): Buffer[] {
  return records
    .filter(({ section, type }) => section === 'answer' && type === TYPE.CNAME)
    .flatMap(({ data }) => readName(bytes, data)?.name ?? []);
}

/**
 * The seconds for which an answer may be cached: the minimum TTL of its records, or for a negative answer the value from its SOA record (RFC 2308 section 5). Zero if there is neither.
 */
export function secondsOf(bytes: Buffer, records: readonly WireRecord[]): number {
  const kept = records.filter(({ type, section }) => type !== TYPE.OPT && section !== 'additional');
  if (kept.some(({ section }) => section === 'answer')) return Math.min(...kept.map(({ ttl }) => ttl));
  const soa = kept.find(({ type, end, data }) => type === TYPE.SOA && end - data >= 22);
  return soa === undefined ? 0 : Math.min(soa.ttl, bytes.readUInt32BE(soa.end - 4));
}

/** Removes the OPT record and all records after it, whose compression pointers may depend on their offsets. */
export function withoutOpt(bytes: Buffer, records: readonly WireRecord[]): Buffer {
  const index = records.findIndex(({ type, section }) => type === TYPE.OPT && section === 'additional');
  const opt = records[index];
  if (opt === undefined) return Buffer.from(bytes);
  const rest = Buffer.from(bytes.subarray(0, opt.start));
  rest.writeUInt16BE(bytes.readUInt16BE(10) - (records.length - index), 10);
  return rest;
}

/** Reduces the TTLs of an answer by `age` seconds, to at most `maximum`. */
export function ageRecords(
  bytes: Buffer,
  records: readonly WireRecord[],
  { age, maximum }: { age: number; maximum: number },
): void {
  for (const { head, ttl } of records) bytes.writeUInt32BE(Math.min(Math.max(ttl - age, 0), maximum), head + 4);
}

export function isTruncated(bytes: Buffer): boolean {
  return bytes.length >= HEADER_BYTES && (bytes.readUInt16BE(2) & FLAG.TC) !== 0;
}

/** Seconds for which an answer may be cached. */
export function answerSeconds(bytes: Buffer): number {
  return secondsOf(bytes, readRecords(bytes) ?? []);
}
