import type { Budget } from '#scanner/reading/limits.ts';

// Extracts the bodies of consecutive HTTP/1.1 messages (RFC 9112) of a connection, with chunked encoding removed.

const FIRST_LINE = /^(?:HTTP\/1\.[01] \d{3}|[A-Z]{3,10} \S{1,8192} HTTP\/1\.[01]\r?\n)/;
const HEAD_BYTES_MAXIMUM = 64 * 1024;
/** Most headers are shorter. This length is tried first, so that not every short message is searched up to the maximum. Bytes. */
const HEAD_BYTES_USUAL = 4 * 1024;
const MESSAGES_MAXIMUM = 500;
/** Passes over a header: the first line, its end and its fields. Used to charge the budget. */
const HEAD_LOOKS = 4;
const BLANK = /\r?\n\r?\n/;
const CHUNK = /^([0-9a-f]{1,8})(?:;[^\r\n]{0,200})?[ \t]{0,8}\r?\n/i;
const CHUNK_LINE_BYTES = 256;
/** File extension for each content encoding. */
const PACKED: Readonly<Record<string, string>> = { br: '.br', zstd: '.zst', gzip: '.gz' };

/** Joins the chunks of a chunked body. `end` is the position after the last chunk. */
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

/** `ending` is the file extension for the content encoding; empty without one. */
interface Body {
  bytes: Buffer;
  ending: string;
}

/** The header of the message at `at`, if it has at most `most` bytes. `size` includes the blank line. */
function headAt(bytes: Buffer, at: number, most: number, budget: Budget): { fields: string; size: number } | undefined {
  budget.spend(HEAD_LOOKS * Math.min(most, bytes.length - at));
  const text = bytes.toString('latin1', at, at + most);
  const blank = FIRST_LINE.test(text) ? BLANK.exec(text) : null;
  return blank === null ? undefined : { fields: text.slice(0, blank.index), size: blank.index + blank[0].length };
}

const FIELD = /^(content-length|transfer-encoding|content-type|content-encoding):[ \t]{0,16}([^\r\n]{0,400})/gim;

/** The fields that describe the body. Of repeated fields, the first counts. */
function fieldsIn(head: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = '', value = ''] of head.matchAll(FIELD)) {
    const key = name.toLowerCase();
    if (!fields.has(key)) fields.set(key, value.trim());
  }
  return fields;
}

/** The bodies of all messages, and all other bytes, headers first; undefined if the data is not HTTP. */
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
    // Multipart bodies are given as a mail with the same type, so that the mail reader extracts their files.
    const whole = /^multipart\//i.test(type)
      ? Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n\r\n`, 'latin1'), body])
      : body;
    if (whole.length > 0) bodies.push({ bytes: whole, ending: PACKED[(field('content-encoding') ?? '').toLowerCase()] ?? '' });
    heads.push(bytes.subarray(at, start));
    at = end;
  }
  return bodies.length === 0 ? undefined : { bodies, others: Buffer.concat([...heads, bytes.subarray(at)]) };
}
