import { emptyAnswer, ownAnswer, record } from './answers.ts';
import { nameText, type Question, RCODE, TYPE } from './wire.ts';

/** Special-use domains that are never resolved on the internet: RFC 6761, 6762, 7686, 8375, 9462, and `.internal` (ICANN, 2024). */
const HOME = /(?:^|\.)(?:local|internal|onion|test|invalid|home\.arpa)$/u;
/** Record types that a top-level domain itself has: NS, SOA, DS, DNSKEY. */
const OF_TOP_LEVEL: ReadonlySet<number> = new Set([2, 6, 43, 48]);
/** Reverse zones of private address ranges: RFC 6303 and 7793. */
const PRIVATE_REVERSE =
  /(?:^|\.)(?:0|10|127|254\.169|168\.192|(?:1[6-9]|2\d|3[01])\.172|(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.100)\.in-addr\.arpa$|(?:^|\.)(?:[cd]\.f|[89ab]\.e\.f)\.ip6\.arpa$|^(?:[01]\.)(?:0\.){31}ip6\.arpa$/u;
const LOCALHOST = /(?:^|\.)localhost$/u;
const RESOLVER = /(?:^|\.)resolver\.arpa$/u;
const LOOPBACK = new Map<number, Buffer>([
  [TYPE.A, Buffer.from([127, 0, 0, 1])],
  [TYPE.AAAA, Buffer.from([...Buffer.alloc(15), 1])],
]);

/** The answer for a name of the local network or computer; undefined for other names. `is_local`: a local DNS server, if there is one, answers instead. */
export function homeAnswer(
  question: Question,
  name = nameText(question.name),
): { answer: Buffer; is_local: boolean } | undefined {
  if (LOCALHOST.test(name)) {
    const data = LOOPBACK.get(question.type);
    const answer = data ? ownAnswer(question, { answers: [record({ type: question.type, ttl: 3600, data })] }) : undefined;
    return { answer: answer ?? emptyAnswer(question, RCODE.NOERROR), is_local: false };
  }
  if (RESOLVER.test(name)) return { answer: emptyAnswer(question, RCODE.NOERROR), is_local: false };
  // Canary domain: it makes Firefox disable its default DNS over HTTPS, but not a resolver that the user has chosen.
  if (name === 'use-application-dns.net') return { answer: emptyAnswer(question, RCODE.NXDOMAIN), is_local: false };
  const isSingle = name !== '' && !name.includes('.') && !OF_TOP_LEVEL.has(question.type);
  if (isSingle || HOME.test(name) || (name.endsWith('.arpa') && PRIVATE_REVERSE.test(name)))
    return { answer: emptyAnswer(question, RCODE.NXDOMAIN), is_local: true };
  return undefined;
}
