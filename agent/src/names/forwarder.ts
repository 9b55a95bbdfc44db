import { emptyAnswer, errorAnswer, ownAnswer, record } from '@palisade/names/answers';
import { homeAnswer } from '@palisade/names/home-names';
import { type Ask, endOfQuestion, forward, isAnswerTo } from '@palisade/names/upstream';
import { HEADER_BYTES, nameText, type Question, RCODE, readQuestion, TYPE } from '@palisade/names/wire';
import { failureOf } from '#link/call.ts';

/** The agent itself answers names below this one: whoever gets its answer has asked the agent. */
export const PROBE_DOMAIN = 'palisade-agent.home.arpa';
/** A server that answers later than this is away: whoever asks waits two seconds at most. ms. */
const SERVER_MS = 800;
const BEFORE_MS = 1_100;
/** While the server is away, it is asked again after this time. ms. */
const AGAIN_MS = 2_000;
/** Questions that wait for the server at once. */
const WAITING_MAXIMUM = 200;
const ROOT_SERVERS = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, TYPE.NS, 0, 1]);

interface ForwarderParts {
  /** Asks the server, as this device. */
  server: Ask;
  /** The servers that the computer asked before. */
  before: () => readonly Ask[];
  /** Domains of the computer’s network. */
  domains: () => readonly string[];
  /** The server’s own name: the way to it does not lead through it. */
  host: string;
  /** The address that the agent listens at. */
  address: string;
  now?: () => number;
}

const isBelow = (name: string, domain: string) => name === domain || name.endsWith(`.${domain}`);

/** Answers the names of this computer as its server decides. Without the server, the servers from before answer. */
export class Forwarder {
  private readonly parts: ForwarderParts;
  private readonly now: () => number;
  private waiting = 0;
  private asked_at = Number.NEGATIVE_INFINITY;
  /** Why the server does not answer; undefined while it does. */
  private absence: string | undefined;

  constructor(parts: ForwarderParts) {
    this.parts = parts;
    this.now = parts.now ?? (() => performance.now());
  }

  /** Why names are answered without the server; undefined where it answers. */
  absent(): string | undefined {
    return this.absence;
  }

  /** Answers a message of a program of this computer. */
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

  /** Asks for the servers of the root: true if anything answers names now. */
  async works(): Promise<boolean> {
    const { answer } = await this.answer(Buffer.from(ROOT_SERVERS));
    return answer !== undefined && (answer.readUInt16BE(2) & 0xf) === RCODE.NOERROR;
  }

  /** Asks a server that is away, or was not asked for so many ms. */
  async lookAtServer(idle_ms: number): Promise<void> {
    if (this.absence === undefined && this.now() - this.asked_at < idle_ms) return;
    await this.tryServer(Buffer.from(ROOT_SERVERS));
  }

  private probeAnswer(question: Question): Buffer {
    if (question.type !== TYPE.A) return emptyAnswer(question, RCODE.NOERROR);
    const data = Buffer.from(this.parts.address.split('.').map(Number));
    return ownAnswer(question, { answers: [record({ type: TYPE.A, ttl: 0, data })] });
  }

  /** Names of the computer’s own network, and the server’s. */
  private staysHere(question: Question, name: string): boolean {
    if (name === this.parts.host || this.parts.domains().some((domain) => isBelow(name, domain))) return true;
    return homeAnswer(question)?.is_local === true;
  }

  /** Undefined where the server does not answer in time. While it is away nobody waits for it. */
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
    // The id and letters of whoever asked here.
    const answer = Buffer.from(found);
    message.copy(answer, 0, 0, 2);
    message.copy(answer, HEADER_BYTES, HEADER_BYTES, endOfQuestion(message));
    return answer;
  }
}
