import type { Budget } from '#scanner/reading/limits.ts';

// Messages of HTTP/1.1 (RFC 9112) one behind the other, as a connection has them: their bodies, without the marks of chunks.

const FIRST_LINE = /^(?:HTTP\/1\.[01] \d{3}|[A-Z]{3,10} \S{1,8192} HTTP\/1\.[01]\r?\n)/;
const HEAD_BYTES_MAXIMUM = 64 * 1024;
/** Most heads are no longer: thousands of short messages do not each have the longest one looked through. */
const HEAD_BYTES_USUAL = 4 * 1024;
const MESSAGES_MAXIMUM = 500;
/** A head is looked at for its first line, its end and its fields. */
const HEAD_LOOKS = 4;
const BLANK = /\r?\n\r?\n/;
const CHUNK = /^([0-9a-f]{1,8})(?:;[^\r\n]{0,200})?[ \t]{0,8}\r?\n/i;
const CHUNK_LINE_BYTES = 256;
/** The packing of a body, as the file extension with the same meaning. */
const PACKED: Readonly<Record<string, string>> = { br: '.br', zstd: '.zst', gzip: '.gz' };

/** The bytes of chunks, and where they end. */
function fromChunks(bytes: Buffer, start: number, budget: Budget): { body: Buffer; end: number } {
  const pieces: Buffer[] = [];
  let at = start;
  for (;;) {
    budget.spend(CHUNK_LINE_BYTES);
    const [line, digits] = CHUNK.exec(bytes.toString('latin1', at, at + CHUNK_LINE_BYTES)) ?? [];
    if (line === undefined || digits === undefined) return { body: Buffer.concat(pieces), end: bytes.length };
    const from = at + line.length;
    const size = Number.parseInt(digits, 16);
    if (size === 0) return { body: Buffer.concat(pieces), end: from };
    pieces.push(bytes.subarray(from, from + size));
    at = from + size;
    if (bytes[at] === 0x0d) at += 1;
    if (bytes[at] === 0x0a) at += 1;
    if (at >= bytes.length) return { body: Buffer.concat(pieces), end: bytes.length };
  }
}

/** `ending`: the file extension for its packing. */
interface Body {
  bytes: Buffer;
  ending: string;
}

/** The head of a message, where it is no longer than `most`; `size` is with the blank line behind it. */
function headAt(bytes: Buffer, at: number, most: number, budget: Budget): { fields: string; size: number } | undefined {
  budget.spend(HEAD_LOOKS * Math.min(most, bytes.length - at));
  const text = bytes.toString('latin1', at, at + most);
  const blank = FIRST_LINE.test(text) ? BLANK.exec(text) : null;
  return blank === null ? undefined : { fields: text.slice(0, blank.index), size: blank.index + blank[0].length };
}

const FIELD = /^(content-length|transfer-encoding|content-type|content-encoding):[ \t]{0,16}([^\r\n]{0,400})/gim;

/** The fields that say how a message is carried, the first of each name. */
function fieldsIn(head: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = '', value = ''] of head.matchAll(FIELD)) {
    const key = name.toLowerCase();
    if (!fields.has(key)) fields.set(key, value.trim());
  }
  return fields;
}

/** The bodies of a connection's messages, and all other bytes, their heads first; undefined for other protocols. */
export function httpMessages(bytes: Buffer, budget: Budget): { bodies: Body[]; others: Buffer } | undefined {
  const bodies: Body[] = [];
  const heads: Buffer[] = [];
  let at = 0;
  for (let number = 0; number < MESSAGES_MAXIMUM && at < bytes.length; number += 1) {
    const head = headAt(bytes, at, HEAD_BYTES_USUAL, budget) ?? headAt(bytes, at, HEAD_BYTES_MAXIMUM, budget);
    if (head === undefined) break;
    const { fields } = head;
    const start = at + head.size;
    const known = fieldsIn(fields);
    const field = (key: string) => known.get(key);
    const length = field('content-length');
    const is_request = !fields.startsWith('HTTP/');
    // A request without a length has no body if another message follows.
    const is_bare = is_request && FIRST_LINE.test(bytes.toString('latin1', start, start + HEAD_BYTES_USUAL));
    const claimed = length === undefined ? (is_bare ? 0 : bytes.length - start) : Number(length);
    const size = claimed >= 0 ? Math.min(claimed, bytes.length - start) : 0;
    const { body, end } = /chunked/i.test(field('transfer-encoding') ?? '')
      ? fromChunks(bytes, start, budget)
      : { body: bytes.subarray(start, start + size), end: start + size };
    const type = field('content-type') ?? '';
    // Forms with files are read as the mails that they are made like.
    const whole = /^multipart\//i.test(type)
      ? Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n\r\n`, 'latin1'), body])
      : body;
    if (whole.length > 0) bodies.push({ bytes: whole, ending: PACKED[(field('content-encoding') ?? '').toLowerCase()] ?? '' });
    heads.push(bytes.subarray(at, start));
    at = end;
  }
  return bodies.length === 0 ? undefined : { bodies, others: Buffer.concat([...heads, bytes.subarray(at)]) };
}
