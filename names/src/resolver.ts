import { randomBytes } from 'node:crypto';
import { anyAnswer, EXTENDED, errorAnswer, optRecord, ownAnswer, record, refusedAnswer } from './answers.ts';
import { Cache, cacheKey, type Known, readAnswer } from './cache.ts';
import { type Decision, decide, isCleared, type Level, type Policy, withoutDanger } from './decide.ts';
import { homeAnswer } from './home-names.ts';
import { hashName, type NameList, newHashes } from './name-list.ts';
import { ageRecords } from './records.ts';
import { safeNameOf } from './safe-search.ts';
import { type Ask, forward } from './upstream.ts';
import { endingOf, FLAG, labelStarts, nameText, type Question, RCODE, readQuestion, TYPE, wireName } from './wire.ts';

const CACHE_BYTES = 32 * 1024 * 1024;
const DEADLINE_MS = 1_900;
const STALE_SECONDS = 30;
/** Maximum concurrent queries to upstream servers. */
const WAITING_MAXIMUM = 2_000;

/** A refused name. `rule` is the name in the rule: the refused name, or a parent of it or of its CNAME target. */
interface Refusal {
  name: string;
  rule: string;
  level: Level;
  category: string;
}

/** `answer` is undefined if no answer is sent. `question` and `refusal` are for statistics. */
export interface Resolved {
  answer: Buffer | undefined;
  question?: Question;
  refusal?: Refusal;
}

/** The query for upstream servers: the received question with a new OPT record. EDNS options of the client, such as client subnet, are not forwarded. */
function queryOf({ bytes, flags, end, name, edns }: Question): Buffer {
  const query = Buffer.concat([bytes.subarray(0, end), optRecord({ is_dnssec: edns?.is_dnssec ?? false }, 0)]);
  name.copy(query, 12);
  query.writeUInt16BE(0, 0);
  query.writeUInt16BE(FLAG.RD | (flags & (FLAG.CD | FLAG.AD)), 2);
  query.writeUInt32BE(0, 6);
  query.writeUInt16BE(1, 10);
  return query;
}

/** Answers DNS queries according to a device's policy. */
export class Resolver {
  private readonly upstreams: readonly Ask[];
  private readonly local: readonly Ask[];
  private readonly never: NameList;
  private readonly now: () => number;
  private readonly cache = new Cache(CACHE_BYTES);
  private readonly hashes = newHashes();
  /** Pending upstream queries by cache key. */
  private readonly asked = new Map<string, Promise<Known | undefined>>();
  /** Random name that only `findsLoop` queries. */
  private readonly probe = `loop-${randomBytes(10).toString('hex')}.example.com`;
  private isLooped = false;

  constructor(options: { upstreams: readonly Ask[]; local: readonly Ask[]; never: NameList; now: () => number }) {
    this.upstreams = options.upstreams;
    this.local = options.local;
    this.never = options.never;
    this.now = options.now;
  }

  /** Answers a message; synchronously if no upstream query is needed. */
  resolve(bytes: Buffer, policy: Policy): Resolved | Promise<Resolved> {
    const reading = readQuestion(bytes);
    if (reading.kind === 'silence') return { answer: undefined };
    if (reading.kind === 'error') return { answer: errorAnswer(bytes, reading) };
    const { question } = reading;
    if (question.type === TYPE.ANY) return { answer: anyAnswer(question), question };
    const name = nameText(question.name);
    const home = homeAnswer(question, name);
    if (home !== undefined) {
      if (!home.is_local || this.local.length === 0) return { answer: home.answer, question };
      return this.answer(question, policy, { upstreams: this.local, isFree: true });
    }
    hashName(question.name, this.hashes);
    for (let depth = 0; depth < this.hashes.depth; depth++)
      if (this.never.has(this.hashes, depth)) return this.answer(question, policy, { upstreams: this.upstreams, isFree: true });
    const decision = decide(policy, this.hashes);
    if (decision?.kind === 'refused') return this.refuse(question, question.name, decision);
    // Safe search also applies to a search engine that a guardian allows.
    const isOwn = decision !== undefined && decision.level !== 'guardian';
    const safe = isOwn ? undefined : safeNameOf(name, policy.safe_search);
    if (safe !== undefined) return this.answerSafely(question, policy, safe);
    return this.answer(question, policy, { upstreams: this.upstreams, allowed: decision?.level });
  }

  private refuse(question: Question, name: Buffer, { level, category, depth }: Decision & { kind: 'refused' }): Resolved {
    return {
      answer: refusedAnswer(question, level === 'dangerous' ? EXTENDED.BLOCKED : EXTENDED.FILTERED),
      question,
      refusal: { name: nameText(question.name), rule: endingOf(name, depth), level, category },
    };
  }

  /** Answers from the cache or an upstream, unless the policy refuses the answer. */
  private answer(
    question: Question,
    policy: Policy,
    to: { upstreams: readonly Ask[]; isFree?: boolean; allowed?: Level | undefined },
  ): Resolved | Promise<Resolved> {
    const key = cacheKey(question);
    const finish = (known: Known): Resolved => {
      const refused = to.isFree ? undefined : this.refusalIn(known, question, policy, to.allowed);
      return refused ?? { answer: this.finish(known, question, policy), question };
    };
    const known = this.cache.find(key, this.now());
    if (known !== undefined) return finish(known);
    return this.learn(key, question, to.upstreams).then((learned) => {
      const last = learned ?? this.cache.find(key, this.now(), true);
      return last === undefined ? { answer: ownAnswer(question, { rcode: RCODE.SERVFAIL }), question } : finish(last);
    });
  }

  /** Queries upstreams; concurrent callers with the same question share one query. Undefined if no upstream answers. */
  private learn(key: string, question: Question, upstreams: readonly Ask[]): Promise<Known | undefined> {
    if (nameText(question.name) === this.probe) this.isLooped = true;
    const waiting = this.asked.get(key);
    if (waiting !== undefined) return waiting;
    if (this.asked.size >= WAITING_MAXIMUM) return Promise.resolve(undefined);
    const asking = forward(upstreams, queryOf(question), DEADLINE_MS)
      .then((answer) => {
        const known = readAnswer(answer, this.now());
        if (known?.rcode === RCODE.SERVFAIL) return undefined;
        if (known !== undefined) this.cache.store(key, known);
        return known;
      })
      .catch(() => undefined)
      .finally(() => this.asked.delete(key));
    this.asked.set(key, asking);
    return asking;
  }

  /** The refusal of an answer with a refused CNAME target or a private address; undefined for other answers. */
  private refusalIn(known: Known, question: Question, policy: Policy, allowed: Level | undefined): Resolved | undefined {
    for (const alias of known.aliases) {
      let decision = decide(policy, hashName(alias, this.hashes), allowed);
      // A name that the provider marked as not dangerous may have a CNAME target on a list of dangerous names.
      if (decision?.level === 'dangerous' && isCleared(policy, hashName(question.name, this.hashes)))
        decision = decide(withoutDanger(policy), hashName(alias, this.hashes), allowed);
      if (decision?.kind === 'refused') return this.refuse(question, alias, decision);
    }
    if (!known.is_private || allowed !== undefined || isCleared(policy, hashName(question.name, this.hashes))) return undefined;
    const depth = labelStarts(question.name).length - 1;
    return this.refuse(question, question.name, { kind: 'refused', level: 'dangerous', category: 'private_address', depth });
  }

  private finish({ bytes, records, stored_at, seconds }: Known, question: Question, { seconds_maximum }: Policy): Buffer {
    const opt = question.edns === undefined ? undefined : optRecord(question.edns, 0);
    const answer = opt === undefined ? Buffer.from(bytes) : Buffer.concat([bytes, opt]);
    const age = Math.max(Math.floor((this.now() - stored_at) / 1000), 0);
    const maximum = age > seconds ? STALE_SECONDS : seconds_maximum;
    ageRecords(answer, records, { age: age > seconds ? -STALE_SECONDS : age, maximum });
    question.bytes.copy(answer, 12, 12, question.end);
    answer.writeUInt16BE(question.id, 0);
    const mayTrust = question.edns?.is_dnssec === true || (question.flags & FLAG.AD) !== 0;
    const kept = answer.readUInt16BE(2) & ~(FLAG.RD | FLAG.CD | FLAG.AA | FLAG.TC | (mayTrust ? 0 : FLAG.AD));
    answer.writeUInt16BE(kept | FLAG.RA | (question.flags & (FLAG.RD | FLAG.CD)), 2);
    if (opt !== undefined) answer.writeUInt16BE(answer.readUInt16BE(10) + 1, 10);
    return answer;
  }

  /** Answers with a CNAME to the search engine's safe host, and its addresses. Other types get only the CNAME, because address hints of an HTTPS record would bypass it. */
  private answerSafely(question: Question, policy: Policy, safe: string): Resolved | Promise<Resolved> {
    const target = wireName(safe) ?? Buffer.alloc(1);
    const ttl = Math.min(300, policy.seconds_maximum);
    const alias = record({ type: TYPE.CNAME, ttl, data: target });
    const extended = [EXTENDED.FORGED, EXTENDED.FILTERED];
    const own = (answers: Buffer[]): Resolved => ({ answer: ownAnswer(question, { answers, extended }), question });
    if (question.type !== TYPE.A && question.type !== TYPE.AAAA) return own([alias]);
    const bytes = Buffer.concat([
      question.bytes.subarray(0, 12),
      target,
      question.bytes.subarray(question.end - 4, question.end),
    ]);
    const asked: Question = { ...question, bytes, name: target, end: bytes.length };
    const key = cacheKey(asked);
    const known = this.cache.find(key, this.now());
    const withAddresses = (found: Known | undefined): Resolved => {
      if (found === undefined) return { answer: ownAnswer(question, { rcode: RCODE.SERVFAIL }), question };
      const addresses = found.records
        .filter(({ section, type }) => section === 'answer' && type === question.type)
        .map(({ data, end }) => record({ owner: target, type: question.type, ttl, data: found.bytes.subarray(data, end) }));
      return own([alias, ...addresses]);
    };
    return known === undefined ? this.learn(key, asked, this.upstreams).then(withAddresses) : withAddresses(known);
  }

  /** Whether the upstreams forward to this server: sends them a random name, and checks whether it arrives here. */
  async findsLoop(): Promise<boolean> {
    const name = wireName(this.probe) ?? Buffer.alloc(1);
    const head = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    const query = Buffer.concat([head, name, Buffer.from([0, TYPE.A, 0, 1])]);
    await forward(this.upstreams, query, DEADLINE_MS).catch(() => undefined);
    return this.isLooped;
  }
}
