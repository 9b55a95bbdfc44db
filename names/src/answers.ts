import { type Edns, FLAG, HEADER_BYTES, type Question, RCODE, TYPE } from './wire.ts';

/** Extended DNS error codes in these answers (RFC 8914). */
export const EXTENDED = { STALE: 3, FORGED: 4, BLOCKED: 15, FILTERED: 17 } as const;

/** Maximum bytes of a UDP answer: it fits into one packet without fragmentation on common networks. */
const UDP_MAXIMUM = 1232;
const UDP_PLAIN = 512;
/** Seconds for which clients cache a refusal. */
const REFUSED_SECONDS = 2;
/** Compression pointer to the name in the question section. */
const QUESTION_NAME = Buffer.from([0xc0, HEADER_BYTES]);

/** Encodes one resource record. `owner` is in wire format; the default is the name of the question. */
export function record(parts: { owner?: Buffer; type: number; ttl: number; data: Buffer }): Buffer {
  const owner = parts.owner ?? QUESTION_NAME;
  const head = Buffer.allocUnsafe(10);
  head.writeUInt16BE(parts.type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(parts.ttl, 4);
  head.writeUInt16BE(parts.data.length, 8);
  return Buffer.concat([owner, head, parts.data]);
}

/** The OPT record of an answer, with extended error codes. */
export function optRecord(edns: Pick<Edns, 'is_dnssec'>, rcode: number, extended: readonly number[] = []): Buffer {
  const opt = Buffer.alloc(11 + 6 * extended.length);
  opt.writeUInt16BE(TYPE.OPT, 1);
  opt.writeUInt16BE(UDP_MAXIMUM, 3);
  opt[5] = rcode >> 4;
  if (edns.is_dnssec) opt[7] = 0x80;
  opt.writeUInt16BE(6 * extended.length, 9);
  for (const [index, code] of extended.entries()) {
    const at = 11 + 6 * index;
    opt.writeUInt16BE(15, at);
    opt.writeUInt16BE(2, at + 2);
    opt.writeUInt16BE(code, at + 4);
  }
  return opt;
}

/** The error answer to an invalid query. It is never longer than the query. */
export function errorAnswer(bytes: Buffer, { rcode, end, edns }: { rcode: number; end: number; edns: Edns | undefined }): Buffer {
  const opt = rcode > 15 && edns !== undefined ? optRecord({ is_dnssec: false }, rcode) : Buffer.alloc(0);
  const answer = Buffer.concat([bytes.subarray(0, end), opt]);
  const sent = bytes.readUInt16BE(2);
  answer.writeUInt16BE(FLAG.QR | (sent & (0x7800 | FLAG.RD | FLAG.CD)) | FLAG.RA | (rcode & 0xf), 2);
  answer.writeUInt16BE(end > HEADER_BYTES ? 1 : 0, 4);
  answer.writeUInt32BE(0, 6);
  answer.writeUInt16BE(opt.length > 0 ? 1 : 0, 10);
  return answer;
}

/** Builds an answer to a query without asking an upstream. */
export function ownAnswer(
  question: Question,
  parts: {
    rcode?: number;
    answers?: readonly Buffer[];
    authority?: readonly Buffer[];
    extended?: readonly number[];
    flags?: number;
  },
): Buffer {
  const { rcode = RCODE.NOERROR, answers = [], authority = [], extended = [], flags = 0 } = parts;
  const opt = question.edns === undefined ? [] : [optRecord(question.edns, rcode, extended)];
  const answer = Buffer.concat([question.bytes.subarray(0, question.end), ...answers, ...authority, ...opt]);
  answer.writeUInt16BE(FLAG.QR | (question.flags & (FLAG.RD | FLAG.CD)) | FLAG.RA | flags | rcode, 2);
  answer.writeUInt16BE(answers.length, 6);
  answer.writeUInt16BE(authority.length, 8);
  answer.writeUInt16BE(opt.length, 10);
  return answer;
}

/** A SOA record with the seconds for which a negative answer may be cached (RFC 2308). */
function soa(seconds: number): Buffer {
  const data = Buffer.alloc(22);
  data.writeUInt32BE(1, 2);
  data.writeUInt32BE(3600, 6);
  data.writeUInt32BE(600, 10);
  data.writeUInt32BE(86_400, 14);
  data.writeUInt32BE(seconds, 18);
  return record({ type: TYPE.SOA, ttl: seconds, data });
}

/** Refuses a name with NXDOMAIN, cacheable for two seconds. `extended` is the code of the reason. */
export function refusedAnswer(question: Question, extended: number): Buffer {
  return ownAnswer(question, { rcode: RCODE.NXDOMAIN, authority: [soa(REFUSED_SECONDS)], extended: [extended] });
}

/** A negative answer, cacheable for an hour: NXDOMAIN, or NOERROR without a record. */
export function emptyAnswer(question: Question, rcode: number): Buffer {
  return ownAnswer(question, { rcode, authority: [soa(3600)] });
}

/** Answers an ANY query with a single HINFO record, as RFC 8482 recommends. */
export function anyAnswer(question: Question): Buffer {
  const data = Buffer.concat([Buffer.from([7]), Buffer.from('RFC8482'), Buffer.from([0])]);
  return ownAnswer(question, { answers: [record({ type: TYPE.HINFO, ttl: 3600, data })] });
}

/** Replaces an answer that is too long for UDP by a truncated one, so that the client retries over TCP. */
export function fitForUdp(question: Question, answer: Buffer): Buffer {
  const room = Math.min(Math.max(question.edns?.size ?? UDP_PLAIN, UDP_PLAIN), UDP_MAXIMUM);
  if (answer.length <= room) return answer;
  return ownAnswer(question, { rcode: answer.readUInt16BE(2) & 0xf, flags: FLAG.TC });
}
