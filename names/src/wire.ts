// DNS messages and names in wire format: RFC 1035 section 4, RFC 6891. A name is a sequence of length-prefixed labels that ends with the root, in lower case; a dot or any
// other byte is allowed inside a label.

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  AAAA: 28,
  DS: 43,
  OPT: 41,
  DNSKEY: 48,
  HTTPS: 65,
  TKEY: 249,
  ANY: 255,
} as const;
export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const;
export const FLAG = { QR: 0x8000, AA: 0x0400, TC: 0x0200, RD: 0x0100, RA: 0x0080, AD: 0x0020, CD: 0x0010 } as const;

export const HEADER_BYTES = 12;
const CLASS_IN = 1;
const NAME_MAXIMUM = 255;
const LABEL_MAXIMUM = 63;
/** EDNS flag: the client accepts DNSSEC records. */
const DNSSEC_OK = 0x8000;

export interface Edns {
  /** Maximum UDP answer that the client accepts, in bytes. */
  size: number;
  is_dnssec: boolean;
}

export interface Question {
  bytes: Buffer;
  id: number;
  flags: number;
  name: Buffer;
  type: number;
  /** The offset after the question. */
  end: number;
  edns: Edns | undefined;
}

/** `error`: `end` is the offset after the question, or after the header if the question is invalid. `silence`: the message gets no answer. */
export type Reading =
  | { kind: 'question'; question: Question }
  | { kind: 'error'; rcode: number; end: number; edns: Edns | undefined }
  | { kind: 'silence' };

/** A copy with ASCII letters in lower case. Length bytes are below 64, so they stay unchanged. */
function lowered(name: Uint8Array): Buffer {
  const copy = Buffer.from(name);
  for (let at = 0; at < copy.length; at++) {
    const byte = copy[at] ?? 0;
    if (byte >= 0x41 && byte <= 0x5a) copy[at] = byte + 0x20;
  }
  return copy;
}

/** The offset after an uncompressed name at `start`. */
function endOfName(bytes: Buffer, start: number): number | undefined {
  for (let at = start; at < bytes.length; ) {
    const length = bytes[at] ?? 0;
    if (length > LABEL_MAXIMUM) return undefined;
    at += 1 + length;
    if (at - start > NAME_MAXIMUM) return undefined;
    if (length === 0) return at;
  }
  return undefined;
}

/** Reads a name that may be compressed (RFC 1035 section 4.1.4), in lower case. Each pointer must point further back, so loops are impossible. */
export function readName(bytes: Buffer, start: number): { name: Buffer; end: number } | undefined {
  const name = Buffer.allocUnsafe(NAME_MAXIMUM);
  let length = 0;
  let end: number | undefined;
  let lowest = start;
  for (let at = start; at < bytes.length; ) {
    const label = bytes[at] ?? 0;
    if (label >= 0xc0) {
      if (at + 2 > bytes.length) return undefined;
      const target = bytes.readUInt16BE(at) & 0x3fff;
      if (target >= lowest || target < HEADER_BYTES) return undefined;
      end ??= at + 2;
      lowest = target;
      at = target;
      continue;
    }
    if (label > LABEL_MAXIMUM || at + 1 + label > bytes.length || length + 1 + label > NAME_MAXIMUM) return undefined;
    bytes.copy(name, length, at, at + 1 + label);
    length += 1 + label;
    at += 1 + label;
    if (label === 0) return { name: lowered(name.subarray(0, length)), end: end ?? at };
  }
  return undefined;
}

/** Reads the OPT record from the records after the question. Undefined if a record is malformed or OPT occurs twice. */
function readExtras(bytes: Buffer, start: number, count: number): { edns: Edns | undefined; version: number } | undefined {
  let at = start;
  let edns: Edns | undefined;
  let version = 0;
  for (let index = 0; index < count; index++) {
    const named = readName(bytes, at);
    if (named === undefined || named.end + 10 > bytes.length) return undefined;
    const type = bytes.readUInt16BE(named.end);
    const end = named.end + 10 + bytes.readUInt16BE(named.end + 8);
    if (end > bytes.length) return undefined;
    if (type === TYPE.OPT) {
      if (edns !== undefined || named.name.length !== 1) return undefined;
      const flags = bytes.readUInt16BE(named.end + 6);
      edns = { size: bytes.readUInt16BE(named.end + 2), is_dnssec: (flags & DNSSEC_OK) !== 0 };
      version = bytes[named.end + 5] ?? 0;
    }
    at = end;
  }
  return at === bytes.length ? { edns, version } : undefined;
}

/** Parses a message of a client. */
export function readQuestion(bytes: Buffer): Reading {
  if (bytes.length < HEADER_BYTES) return { kind: 'silence' };
  const flags = bytes.readUInt16BE(2);
  // Answering an answer could cause an endless loop.
  if ((flags & FLAG.QR) !== 0) return { kind: 'silence' };
  const error = (rcode: number, end = HEADER_BYTES, edns?: Edns): Reading => ({ kind: 'error', rcode, end, edns });
  if ((flags & 0x7800) !== 0) return error(RCODE.NOTIMP);
  if (bytes.readUInt16BE(4) !== 1) return error(RCODE.FORMERR);
  const name_end = endOfName(bytes, HEADER_BYTES);
  if (name_end === undefined || name_end + 4 > bytes.length) return error(RCODE.FORMERR);
  const end = name_end + 4;
  const type = bytes.readUInt16BE(name_end);
  // Checked before the record counts, because an IXFR query has a record in its authority section.
  if (type >= TYPE.TKEY && type < TYPE.ANY) return error(RCODE.REFUSED, end);
  if (bytes.readUInt32BE(6) !== 0) return error(RCODE.FORMERR);
  const extras = readExtras(bytes, end, bytes.readUInt16BE(10));
  if (extras === undefined) return error(RCODE.FORMERR);
  if (extras.version !== 0) return error(RCODE.BADVERS, end, extras.edns);
  if (bytes.readUInt16BE(name_end + 2) !== CLASS_IN || type === TYPE.OPT || type === 0) return error(RCODE.REFUSED, end);
  const name = lowered(bytes.subarray(HEADER_BYTES, name_end));
  return { kind: 'question', question: { bytes, id: bytes.readUInt16BE(0), flags, name, type, end, edns: extras.edns } };
}

/** Converts a textual name to wire format in lower case. Undefined if it is invalid. */
export function wireName(text: string): Buffer | undefined {
  const labels = text.replace(/\.$/u, '').split('.');
  const name = Buffer.allocUnsafe(text.length + 2);
  let at = 0;
  for (const label of labels) {
    if (label.length === 0 || label.length > LABEL_MAXIMUM) return undefined;
    name[at] = label.length;
    // One byte per character: callers convert non-ASCII names before.
    name.write(label, at + 1, 'latin1');
    at += 1 + label.length;
  }
  name[at] = 0;
  return at + 1 > NAME_MAXIMUM ? undefined : lowered(name.subarray(0, at + 1));
}

/** Labels of printable ASCII without spaces. */
const READABLE = /^[!-~]*$/u;
const escaped = (label: string) => label.replace(/[^!-~]|[.\\]/gu, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, '0')}`);

/** Converts a name to text. Bytes that are not printable ASCII, and dots inside a label, become `\ddd` (RFC 1035 section 5.1). */
export function nameText(name: Uint8Array): string {
  const text = Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString('latin1');
  let written = '';
  for (let at = 0; at < name.length; ) {
    const length = name[at] ?? 0;
    if (length === 0) break;
    const label = text.slice(at + 1, at + 1 + length);
    const isPlain = READABLE.test(label) && !label.includes('.') && !label.includes('\\');
    written += `${at === 0 ? '' : '.'}${isPlain ? label : escaped(label)}`;
    at += 1 + length;
  }
  return written;
}

/** Start offsets of the labels of a name, without the root. */
export function labelStarts(name: Uint8Array): number[] {
  const starts: number[] = [];
  for (let at = 0; (name[at] ?? 0) !== 0; at += 1 + (name[at] ?? 0)) starts.push(at);
  return starts;
}

/** The last labels of a name as text; depth 0 is the last label alone. */
export function endingOf(name: Uint8Array, depth: number): string {
  return nameText(name.subarray(labelStarts(name).at(-1 - depth) ?? 0));
}
