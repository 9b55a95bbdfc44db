import { emptyAnswer, errorAnswer, ownAnswer, record } from '@palisade/names/answers';
import { homeAnswer } from '@palisade/names/home-names';
import { type Ask, endOfQuestion, forward, isAnswerTo } from '@palisade/names/upstream';
import { HEADER_BYTES, nameText, type Question, RCODE, readQuestion, TYPE } from '@palisade/names/wire';
import { failureOf } from '#link/call.ts';

/** The agent itself answers queries below this domain, which shows that queries reach the agent. */
export const PROBE_DOMAIN = 'palisade-agent.home.arpa';
/** Timeout of a query to the server, in ms. */
const SERVER_MS = 800;
const BEFORE_MS = 1_100;
/** Interval of attempts while the server does not answer, in ms. */
const AGAIN_MS = 2_000;
/** Maximum concurrent queries to the server. */
const WAITING_MAXIMUM = 200;
const ROOT_SERVERS = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, TYPE.NS, 0, 1]);

interface ForwarderParts {
  /** Sends a query to the Palisade server as this device. */
  server: Ask;
  /** The DNS servers that the computer used before web protection. */
  before: () => readonly Ask[];
  /** Search domains of the computer’s network. */
  domains: () => readonly string[];
  /** Host name of the Palisade server. It is not resolved by the server itself, because the agent needs it to connect. */
  host: string;
  /** The address on which the agent listens. */
  address: string;
  now?: () => number;
}

const isBelow = (name: string, domain: string) => name === domain || name.endsWith(`.${domain}`);

/** Forwards this computer’s DNS queries to the Palisade server, or to the previous DNS servers if it does not answer. */
export class Forwarder {
  private readonly parts: ForwarderParts;
  private readonly now: () => number;
  private waiting = 0;
  private asked_at = Number.NEGATIVE_INFINITY;
  /** Reason why the server does not answer; undefined while it answers. */
  private absence: string | undefined;

  constructor(parts: ForwarderParts) {
    this.parts = parts;
    this.now = parts.now ?? (() => performance.now());
  }

  /** Reason why the server does not answer; undefined while it answers. */
  absent(): string | undefined {
    return this.absence;
  }

  /** Answers a DNS message of a program on this computer. */
  readonly answer = async (message: Buffer): Promise<{ answer: Buffer | undefined; question?: Question }> => {
    const reading = readQuestion(message);
    if (reading.kind === 'silence') return { answer: undefined };
    if (reading.kind === 'error') return { answer: errorAnswer(message, reading) };
    const { question } = reading;
    const name = nameText(question.name);
    if (isBelow(name, PROBE_DOMAIN)) return { answer: this.probeAnswer(question), question };
    const found = this.staysHere(question, name) ? undefined : await this.askServer(message);
    const answer = found ?? (await this.askBefore(message)) ?? ownAnswer(question, { rcode: RCODE.SERVFAIL });
    return { answer, question };
  };

  /** Whether a query for the root servers succeeds now. */
  async works(): Promise<boolean> {
    const { answer } = await this.answer(Buffer.from(ROOT_SERVERS));
    return answer !== undefined && (answer.readUInt16BE(2) & 0xf) === RCODE.NOERROR;
  }

  /** Sends a test query if the server did not answer last time, or was not asked for `idle_ms`. */
  async lookAtServer(idle_ms: number): Promise<void> {
    if (this.absence === undefined && this.now() - this.asked_at < idle_ms) return;
    await this.tryServer(Buffer.from(ROOT_SERVERS));
  }

  private probeAnswer(question: Question): Buffer {
    if (question.type !== TYPE.A) return emptyAnswer(question, RCODE.NOERROR);
    const data = Buffer.from(this.parts.address.split('.').map(Number));
    return ownAnswer(question, { answers: [record({ type: TYPE.A, ttl: 0, data })] });
  }

  /** Whether the name belongs to the computer’s own network, or is the server’s host name; the previous DNS servers answer these. */
  private staysHere(question: Question, name: string): boolean {
    if (name === this.parts.host || this.parts.domains().some((domain) => isBelow(name, domain))) return true;
    return homeAnswer(question)?.is_local === true;
  }

  /** Undefined if the server does not answer in time. While it is unavailable, queries do not wait for it. */
  private async askServer(message: Buffer): Promise<Buffer | undefined> {
    if (this.waiting >= WAITING_MAXIMUM) return undefined;
    if (this.absence === undefined) return await this.tryServer(message);
    if (this.now() - this.asked_at >= AGAIN_MS) void this.tryServer(Buffer.from(message));
    return undefined;
  }

  private async tryServer(message: Buffer): Promise<Buffer | undefined> {
    this.asked_at = this.now();
    this.waiting += 1;
    try {
      const answer = await this.parts.server(message, AbortSignal.timeout(SERVER_MS));
      if (!isAnswerTo(message, endOfQuestion(message), answer)) throw new Error('it answered something else');
      if ((answer.readUInt16BE(2) & 0xf) === RCODE.SERVFAIL) throw new Error('it cannot resolve names now');
      this.absence = undefined;
      return answer;
    } catch (error) {
      this.absence = failureOf(error);
      return undefined;
    } finally {
      this.waiting -= 1;
    }
  }

  private async askBefore(message: Buffer): Promise<Buffer | undefined> {
    const before = this.parts.before();
    if (before.length === 0) return undefined;
    const found = await forward(before, message, BEFORE_MS).catch(() => undefined);
    if (found === undefined) return undefined;
    // The answer gets the id of this query, and its upper and lower case.
    const answer = Buffer.from(found);
    message.copy(answer, 0, 0, 2);
    message.copy(answer, HEADER_BYTES, HEADER_BYTES, endOfQuestion(message));
    return answer;
  }
}
