import {
  AGENT_CLOSED,
  type Desired,
  type Hello,
  POLL_WAIT_MS,
  pollAgent,
  type Said,
  TOLD_BYTES_MAXIMUM,
  type Told,
} from '@palisade/contract/agent';
import { problemSchema } from '@palisade/contract/problem';
import { z } from 'zod';
import { addressOf, failureOf, post } from './call.ts';
import { Backlog, isSaidAgain, replaces, ToldReader } from './frames.ts';
import type { Resolver } from './resolver.ts';
import { type Ended, HANDSHAKE_MS, SocketSession } from './socket-session.ts';

/** The state of the connection to the server. */
export type LinkState = 'connecting' | 'connected' | 'in_use' | 'revoked' | 'unreachable';

export interface LinkParts {
  server: URL;
  resolver: Resolver;
  hello: () => Hello;
  onDesired: (desired: Desired) => void;
  onNoted: (noted: Extract<Told, { kind: 'noted' }>) => void;
  /** Called with the server's time minus this computer's time, in ms. */
  onSkew: (ms: number) => void;
  onConnected: () => void;
  onState: (state: LinkState, reason: string) => void;
  /** Asks the server over HTTP whether this device is revoked. Undefined without a definite answer. */
  askRevoked: () => Promise<boolean | undefined>;
  wait: (ms: number) => Promise<void>;
  /** Longest delay between two connection attempts, in ms. */
  back_off_most?: number | undefined;
}

const BACK_OFF = { least_ms: 1_000, most_ms: 60_000, in_use_ms: 60_000 };
/** Consecutive WebSocket failures before the link uses HTTP polling for `POLLING_MS`. */
const FAILURES_BEFORE_POLLING = 3;
const POLLING_MS = 10 * 60_000;
const WAITING_MAXIMUM = 500;
const FRAMES_OF_A_POLL = 50;

/** Each frame is validated separately later. */
const pollReplySchema = z.object({ told: z.array(z.unknown()).max(FRAMES_OF_A_POLL + 2) });

/** Exponential backoff with full jitter, in ms, so that many agents do not reconnect at the same moment. */
export function backOff(failures: number, most_ms = BACK_OFF.most_ms, random: () => number = Math.random): number {
  const bound = Math.min(most_ms, BACK_OFF.least_ms * 2 ** Math.min(failures, 10));
  return Math.min(most_ms, BACK_OFF.least_ms / 2 + random() * bound);
}

/** The connection to the server: a WebSocket, or temporarily HTTP polling if WebSockets fail. It reconnects after each loss. */
export class Link {
  readonly #parts: LinkParts;
  readonly #reader = new ToldReader();
  readonly #backlog: Backlog;
  /** Frames that wait for the next connection. */
  #waiting: Said[] = [];
  /** The current session, and the same session after the server's welcome. */
  #session: SocketSession | undefined;
  #welcomed: SocketSession | undefined;
  #is_polling = false;
  #is_stopped = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#backlog = new Backlog(
      () => this.#welcomed?.isOpen === true,
      (frame) => this.#welcomed?.send(frame),
    );
  }

  /**
   * Sends a frame now or after the next reconnect. Queued are the last report of each kind and the acks. Events and reports with findings are not queued: their
   * senders repeat them until the server confirms them (`onConnected`).
   */
  say(frame: Said): void {
    if (this.#welcomed?.isOpen === true) {
      if (frame.kind === 'ack' || frame.kind === 'report') this.#welcomed.send(frame);
      else this.#backlog.add(frame);
    } else if (this.#is_polling || !isSaidAgain(frame)) {
      this.#keepWaiting(frame);
    }
  }

  /** Runs until `stop`. */
  async run(): Promise<void> {
    let failures = 0;
    while (!this.#is_stopped) {
      const by_poll = failures >= FAILURES_BEFORE_POLLING && failures % 2 === 1;
      const ended = by_poll ? await this.#pollSession() : await this.#socketSession();
      this.#is_polling = false;
      if (this.#is_stopped) return;
      failures = ended.was_connected ? 0 : failures + 1;
      await this.#waitAfter(ended, failures);
    }
  }

  stop(): void {
    this.#is_stopped = true;
    this.#session?.terminate();
  }

  /** Reports the reason of a lost connection, and waits before the next attempt. */
  async #waitAfter({ code, reason }: Ended, failures: number): Promise<void> {
    const { onState, askRevoked, wait, back_off_most } = this.#parts;
    if (code === AGENT_CLOSED.in_use) {
      onState('in_use', 'another agent with this identity is connected');
      await wait((back_off_most ?? BACK_OFF.in_use_ms) * (0.5 + Math.random()));
      return;
    }
    if (code === AGENT_CLOSED.revoked || code === AGENT_CLOSED.unauthenticated) {
      onState('revoked', reason);
      await askRevoked();
    } else {
      onState('unreachable', reason);
    }
    await wait(backOff(failures, back_off_most));
  }

  #keepWaiting(frame: Said): void {
    this.#waiting = [...this.#waiting.filter((older) => !replaces(frame, older)), frame].slice(-WAITING_MAXIMUM);
  }

  #hear(json: unknown): Told | undefined {
    const told = this.#reader.read(json);
    if (told === undefined) return undefined;
    if (told.kind === 'desired') this.#parts.onDesired(told);
    else if (told.kind === 'noted') this.#parts.onNoted(told);
    else if (told.kind === 'welcome') this.#parts.onSkew(Date.parse(told.at) - Date.now());
    return told;
  }

  #socketSession(): Promise<Ended> {
    const { server, resolver, hello } = this.#parts;
    const session = new SocketSession({
      server,
      lookup: resolver.lookup,
      hello,
      hear: (json) => this.#hear(json),
      onWelcome: (welcomed) => this.#onWelcome(welcomed),
      onClosed: (closed) => this.#onClosed(closed),
    });
    this.#session = session;
    return session.ended;
  }

  #onWelcome(session: SocketSession): void {
    this.#welcomed = session;
    this.#parts.onState('connected', '');
    for (const frame of this.#waiting.splice(0)) session.send(frame);
    this.#backlog.refill();
    this.#parts.onConnected();
  }

  #onClosed(session: SocketSession): void {
    if (this.#welcomed !== session) return;
    this.#welcomed = undefined;
    for (const frame of this.#backlog.takeAll()) if (!isSaidAgain(frame)) this.#keepWaiting(frame);
  }

  /** Exchanges frames by HTTP polling for `POLLING_MS`. */
  async #pollSession(): Promise<Ended> {
    const until = Date.now() + POLLING_MS;
    let was_connected = false;
    while (!this.#is_stopped && Date.now() < until) {
      const said = this.#waiting.splice(0, FRAMES_OF_A_POLL);
      try {
        const ended = await this.#poll(said);
        if (ended !== undefined) {
          this.#waiting.unshift(...said);
          return { ...ended, was_connected };
        }
      } catch (error) {
        this.#waiting.unshift(...said);
        return { was_connected, code: 0, reason: failureOf(error) };
      }
      if (!was_connected) {
        was_connected = true;
        this.#is_polling = true;
        this.#parts.onState('connected', 'by HTTP, because no WebSocket passes');
        this.#parts.onConnected();
      }
    }
    return { was_connected, code: 0, reason: 'a WebSocket is tried again' };
  }

  /** @returns how the session ended; undefined while it continues */
  async #poll(said: readonly Said[]): Promise<Pick<Ended, 'code' | 'reason'> | undefined> {
    const { server, resolver } = this.#parts;
    const hello = this.#parts.hello();
    const { status, body } = await post(
      addressOf(server, pollAgent.path),
      { hello, said },
      {
        proof: hello,
        timeout_ms: POLL_WAIT_MS + HANDSHAKE_MS,
        bytes_maximum: TOLD_BYTES_MAXIMUM,
        lookup: resolver.lookup,
      },
    );
    if (status === pollAgent.status) {
      for (const told of pollReplySchema.safeParse(body).data?.told ?? []) this.#hear(told);
      return undefined;
    }
    const refusal = problemSchema.safeParse(body).data?.code;
    const code = refusal === 'device_revoked' ? AGENT_CLOSED.revoked : refusal === 'device_in_use' ? AGENT_CLOSED.in_use : 0;
    return { code, reason: `the server answered ${status}` };
  }
}
