import { randomBytes, randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createConnection, isIP, isIPv6, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { isTruncated } from './records.ts';
import { FLAG, HEADER_BYTES, labelStarts, RCODE } from './wire.ts';

/** Sends a query to an upstream and returns its matching answer. Rejects when the signal aborts. */
export type Ask = (query: Buffer, signal: AbortSignal) => Promise<Buffer>;

export interface Address {
  host: string;
  port: number;
}

const IDLE_MS = 5_000;
const SECOND_MS = 150;
const AGAIN_MS = 750;
/** A connection counts as dead if no byte arrived since a query that was sent this long ago, in ms. */
const DEAD_MS = 1_000;

/** The query with a new id and random letter case (draft-vixie-dnsext-dns0x20), which a forged answer would have to match. */
export function disguise(query: Buffer): Buffer {
  const sent = Buffer.from(query);
  const random = randomBytes(34);
  sent.writeUInt16BE(random.readUInt16BE(32), 0);
  let bit = 0;
  for (const start of labelStarts(query.subarray(HEADER_BYTES))) {
    const from = HEADER_BYTES + start;
    for (let at = from + 1; at <= from + (query[from] ?? 0); at++, bit++) {
      const byte = query[at] ?? 0;
      if (byte >= 0x61 && byte <= 0x7a && (((random[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1) sent[at] = byte - 0x20;
    }
  }
  return sent;
}

/** Whether bytes answer this query: same id, question and letter case. `end` is the offset after the question. */
export function isAnswerTo(sent: Buffer, end: number, received: Buffer): boolean {
  if (received.length < end || received.readUInt16BE(0) !== sent.readUInt16BE(0)) return false;
  const flags = received.readUInt16BE(2);
  if ((flags & (FLAG.QR | 0x7800)) !== FLAG.QR || received.readUInt16BE(4) !== 1) return false;
  return received.compare(sent, HEADER_BYTES, end, HEADER_BYTES, end) === 0;
}

export function endOfQuestion(query: Buffer): number {
  let at = HEADER_BYTES;
  while ((query[at] ?? 0) !== 0) at += 1 + (query[at] ?? 0);
  return at + 5;
}

/** Sends a UDP query from a new port. Messages that do not answer it are ignored. */
function askUdp({ host, port }: Address, sent: Buffer, signal: AbortSignal): Promise<Buffer> {
  const end = endOfQuestion(sent);
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  return new Promise<Buffer>((resolve, reject) => {
    const leave = () => reject(new Error('no answer'));
    signal.addEventListener('abort', leave, { once: true });
    socket.once('error', reject);
    socket.on('message', (received) => {
      if (isAnswerTo(sent, end, received)) resolve(received);
    });
    // No callback, because `connect` would pass errors to it and not emit them.
    socket.once('connect', () => socket.send(sent));
    socket.connect(port, host);
    if (signal.aborted) leave();
  }).finally(() => {
    socket.removeAllListeners('message').on('error', () => {});
    socket.close();
  });
}

interface Waiting {
  socket: Socket;
  sent: Buffer;
  take: (answer: Buffer) => void;
  fail: (error: Error) => void;
}

/** A persistent connection for queries. It opens with the first query, and closes after an idle time. */
export class Stream {
  private readonly open: () => Socket;
  private readonly now: () => number;
  private socket: Socket | undefined;
  private heard_at = Number.NEGATIVE_INFINITY;
  private readonly waiting = new Map<number, Waiting>();

  constructor(open: () => Socket, now = () => performance.now()) {
    this.open = open;
    this.now = now;
  }

  private connection(): Socket {
    if (this.socket !== undefined) return this.socket;
    const socket = this.open();
    let held = Buffer.alloc(0);
    this.socket = socket;
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.unref();
    socket.on('data', (bytes: Buffer) => {
      this.heard_at = this.now();
      held = Buffer.concat([held, bytes]);
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const length = held.readUInt16BE(0);
        this.take(Buffer.from(held.subarray(2, 2 + length)));
        held = held.subarray(2 + length);
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.socket === socket) this.socket = undefined;
      for (const one of [...this.waiting.values()]) if (one.socket === socket) one.fail(new Error('the connection ended'));
    });
    return socket;
  }

  private take(answer: Buffer): void {
    if (answer.length < HEADER_BYTES) return;
    const asked = this.waiting.get(answer.readUInt16BE(0));
    if (asked !== undefined && isAnswerTo(asked.sent, endOfQuestion(asked.sent), answer)) asked.take(answer);
  }

  /** Closes a connection on which nothing was received; the next query opens a new one. */
  private endIfDead(asked_at: number): void {
    if (this.heard_at >= asked_at || this.now() - asked_at < DEAD_MS) return;
    this.socket?.destroy();
    this.socket = undefined;
  }

  ask(sent: Buffer, signal: AbortSignal): Promise<Buffer> {
    const asked_at = this.now();
    while (this.waiting.has(sent.readUInt16BE(0))) sent.writeUInt16BE(randomInt(0x1_0000), 0);
    const id = sent.readUInt16BE(0);
    return new Promise<Buffer>((take, fail) => {
      const socket = this.connection();
      this.waiting.set(id, { socket, sent, take, fail });
      const leave = () => {
        fail(new Error('no answer'));
        this.endIfDead(asked_at);
      };
      signal.addEventListener('abort', leave, { once: true });
      const length = Buffer.alloc(2);
      length.writeUInt16BE(sent.length);
      socket.write(Buffer.concat([length, sent]));
      if (signal.aborted) leave();
    }).finally(() => this.waiting.delete(id));
  }
}

/** An upstream over UDP, with a retry over TCP after a truncated answer. */
export function plainUpstream(address: Address): Ask {
  const stream = new Stream(() => createConnection(address));
  return async (query, signal) => {
    const answer = await askUdp(address, disguise(query), signal);
    return isTruncated(answer) ? await stream.ask(disguise(query), signal) : answer;
  };
}

/** An upstream over TLS (RFC 7858). Its certificate must match its host. */
export function tlsUpstream({ host, port }: Address): Ask {
  const stream = new Stream(() => connect({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) }));
  return (query, signal) => stream.ask(disguise(query), signal);
}

const isGood = (answer: Buffer) => ![RCODE.SERVFAIL, RCODE.REFUSED].some((bad) => (answer.readUInt16BE(2) & 0xf) === bad);

/**
 * Queries upstreams one after another: the second after 150 ms or when the first fails, and each a second time if none answers. Returns the first successful answer, or an error answer
 * (SERVFAIL, REFUSED) if there is no better one. Rejects when all have failed or none answers within `deadline_ms`.
 */
export async function forward(upstreams: readonly Ask[], query: Buffer, deadline_ms: number): Promise<Buffer> {
  const controller = new AbortController();
  const turns = [...upstreams, ...upstreams];
  let timer: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      let refusal: Buffer | undefined;
      let next = 0;
      let failed = 0;
      const end = () => (refusal === undefined ? reject(new Error('no upstream answers')) : resolve(refusal));
      const ask = () => {
        clearTimeout(timer);
        if (controller.signal.aborted) return;
        const upstream = turns[next];
        if (upstream === undefined) return;
        next++;
        timer = setTimeout(ask, next < upstreams.length ? SECOND_MS : AGAIN_MS);
        const fail = () => {
          if (controller.signal.aborted) return;
          failed++;
          if (failed >= upstreams.length) end();
          else if (next < upstreams.length) ask();
        };
        upstream(query, controller.signal)
          .then((answer) => {
            if (isGood(answer)) return resolve(answer);
            refusal = answer;
            fail();
          })
          .catch(fail);
      };
      deadline = setTimeout(end, deadline_ms);
      if (upstreams.length === 0) end();
      ask();
    });
  } finally {
    controller.abort();
    clearTimeout(timer);
    clearTimeout(deadline);
  }
}
