import { createHash } from 'node:crypto';
import {
  AGENT_CLOSED,
  AGENT_HEARTBEAT_MS,
  AGENT_PATH,
  type Desired,
  type Hello,
  POLL_WAIT_MS,
  pollAgent,
  SAID_BYTES_MAXIMUM,
  type Said,
  TOLD_BYTES_MAXIMUM,
  type Told,
  toldSchema,
} from '@palisade/contract/agent';
import { problemSchema } from '@palisade/contract/problem';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { addressOf, failureOf, post } from './call.ts';
import type { Resolver } from './resolver.ts';
import { trustSystem } from './trust.ts';

/** How the way to the server stands. */
export type LinkState = 'connecting' | 'connected' | 'in_use' | 'revoked' | 'unreachable';

export interface LinkParts {
  server: URL;
  resolver: Resolver;
  hello: () => Hello;
  onDesired: (desired: Desired) => void;
  onNoted: (noted: Extract<Told, { kind: 'noted' }>) => void;
  /** The server's clock less this computer's, in ms. */
  onSkew: (ms: number) => void;
  onConnected: () => void;
  onState: (state: LinkState, reason: string) => void;
  /** Whether the server says over HTTP that this device is revoked. Undefined where it gave no answer, or another one than yes and no. */
  askRevoked: () => Promise<boolean | undefined>;
  wait: (ms: number) => Promise<void>;
  /** The longest wait between two tries, in ms. */
  back_off_most?: number | undefined;
}

export interface Link {
  /**
   * Says a frame now, or when the server can be reached again: of each kind of report the last one waits, and all acks. Events and reports of what was found are whoever's
   * who says them again until they are noted (`onConnected`): they do not wait here as well.
   */
  say(frame: Said): void;
  /** Runs until `stop`. */
  run(): Promise<void>;
  stop(): void;
}

const BACK_OFF = { least_ms: 1_000, most_ms: 60_000, in_use_ms: 60_000 };
/** A server that has said nothing for so long is gone, in ms. */
const SILENCE_MS = 2.5 * AGENT_HEARTBEAT_MS;
const HANDSHAKE_MS = 10_000;
/** Sockets that fail in a row before frames go by HTTP, and for how long they do, in ms. */
const FAILURES_BEFORE_POLLING = 3;
const POLLING_MS = 10 * 60_000;
const WAITING_MAXIMUM = 500;
const FRAMES_OF_A_POLL = 50;
/**
 * Of events and scans, a server that comes back hears so many at once, and then one in so many ms: it takes 60 that wait and 120 in 20 s of one agent, and puts out
 * whoever says more.
 */
const AT_ONCE = 30;
const EACH_MS = 400;
/** A frame of so many characters is checked sooner than it is hashed. */
const SMALL = 2_000;

/** Each of what is told is checked by itself. */
const pollReplySchema = z.object({ told: z.array(z.unknown()).max(FRAMES_OF_A_POLL + 2) });

/** How a session with the server ended. */
interface Ended {
  was_connected: boolean;
  code: number;
  reason: string;
}

/** From nothing to the bound that doubles with each failure, so that a thousand agents do not come back in one moment. */
export function backOff(failures: number, most_ms = BACK_OFF.most_ms, random: () => number = Math.random): number {
  const bound = Math.min(most_ms, BACK_OFF.least_ms * 2 ** Math.min(failures, 10));
  return Math.min(most_ms, BACK_OFF.least_ms / 2 + random() * bound);
}

export function createLink(parts: LinkParts): Link {
  let waiting: Said[] = [];
  let is_stopped = false;
  let open: WebSocket | undefined;
  let is_polling = false;
  let wake = () => {};
  /** What an open connection has not heard yet, and how many more it may hear at once. */
  let backlog: Said[] = [];
  let room = AT_ONCE;
  let room_at = performance.now();
  let pacing: NodeJS.Timeout | undefined;
  /** The state that was told last, and the hash of its text. */
  let last: { digest: string; told: Told } | undefined;

  /** What a newer frame of its kind makes needless. */
  function replaces(newer: Said, older: Said): boolean {
    if (newer.kind === 'report') return older.kind === 'report';
    if (newer.kind === 'event') return older.kind === 'event' && older.id === newer.id;
    if (newer.kind === 'ack') return older.kind === 'ack' && older.rev === newer.rev;
    return (
      newer.kind === 'scan_report' && older.kind === 'scan_report' && older.job_id === newer.job_id && older.found.length === 0
    );
  }

  function send(socket: WebSocket, frame: Said): void {
    const text = JSON.stringify(frame);
    if (Buffer.byteLength(text) <= SAID_BYTES_MAXIMUM) socket.send(text);
    // What must be known is counted; what is measured of the computer is measured again.
    else if (frame.kind === 'report' && frame.telemetry !== null) send(socket, { ...frame, telemetry: null });
  }

  /** As much of the backlog as may be said now; a timer has the rest said, as long as there is one. */
  function sayBacklog(): void {
    clearTimeout(pacing);
    const time = performance.now();
    room = Math.min(AT_ONCE, room + (time - room_at) / EACH_MS);
    room_at = time;
    while (open?.readyState === WebSocket.OPEN && room >= 1) {
      const frame = backlog.shift();
      if (frame === undefined) return;
      room -= 1;
      send(open, frame);
    }
    if (backlog.length > 0) pacing = setTimeout(sayBacklog, EACH_MS).unref();
  }

  const wait = (frame: Said) =>
    (waiting = [...waiting.filter((older) => !replaces(frame, older)), frame].slice(-WAITING_MAXIMUM));
  /** Whoever says it says it again. */
  const isSaidAgain = (frame: Said) => frame.kind === 'event' || (frame.kind === 'scan_report' && frame.found.length > 0);

  /** A server tells the whole state again after each loss of the connection, and with each answer by HTTP: what is as it was told last is not checked again. */
  function parse(json: unknown): Told | undefined {
    const text = JSON.stringify(json) ?? '';
    const digest = text.length > SMALL ? createHash('sha256').update(text).digest('hex') : undefined;
    if (digest !== undefined && digest === last?.digest) return last.told;
    const told = toldSchema.safeParse(json).data;
    if (told?.kind === 'desired' && digest !== undefined) last = { digest, told };
    return told;
  }

  function hear(json: unknown): Told | undefined {
    const told = parse(json);
    if (told === undefined) return undefined;
    if (told.kind === 'desired') parts.onDesired(told);
    else if (told.kind === 'noted') parts.onNoted(told);
    else if (told.kind === 'welcome') parts.onSkew(Date.parse(told.at) - Date.now());
    return told;
  }

  function socketSession(): Promise<Ended> {
    return new Promise((resolve) => {
      const url = addressOf(parts.server, AGENT_PATH);
      url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
      trustSystem(url);
      const socket = new WebSocket(url, {
        ...{ maxPayload: TOLD_BYTES_MAXIMUM, perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS },
        lookup: parts.resolver.lookup,
      });
      let was_connected = false;
      let failure = '';
      let silence: NodeJS.Timeout | undefined;
      const heard = () => {
        clearTimeout(silence);
        silence = setTimeout(() => {
          failure = 'the server fell silent';
          socket.terminate();
        }, SILENCE_MS);
      };
      wake = () => socket.terminate();
      socket.on('open', () => {
        heard();
        socket.send(JSON.stringify(parts.hello()));
      });
      socket.on('message', (bytes, is_binary) => {
        heard();
        let told: Told | undefined;
        try {
          told = is_binary ? undefined : hear(JSON.parse(bytes.toString()));
        } catch {
          told = undefined;
        }
        if (told === undefined) {
          failure = 'the server said something that this agent does not understand';
          socket.close(AGENT_CLOSED.malformed);
        } else if (told.kind === 'ping') {
          socket.send('{"kind":"pong"}');
        } else if (told.kind === 'welcome') {
          was_connected = true;
          open = socket;
          parts.onState('connected', '');
          for (const frame of waiting.splice(0)) send(socket, frame);
          room = AT_ONCE;
          parts.onConnected();
        }
      });
      socket.on('error', (error) => (failure ||= failureOf(error)));
      socket.on('close', (code, reason) => {
        clearTimeout(silence);
        if (open === socket) {
          open = undefined;
          for (const frame of backlog.splice(0)) if (!isSaidAgain(frame)) wait(frame);
        }
        resolve({ was_connected, code, reason: reason.toString() || failure || 'the connection ended' });
      });
    });
  }

  async function poll(said: readonly Said[]): Promise<{ ended: Ended | undefined }> {
    const hello = parts.hello();
    const { status, body } = await post(
      addressOf(parts.server, pollAgent.path),
      { hello, said },
      { proof: hello, timeout_ms: POLL_WAIT_MS + HANDSHAKE_MS, bytes_maximum: TOLD_BYTES_MAXIMUM, lookup: parts.resolver.lookup },
    );
    if (status === pollAgent.status) {
      for (const told of pollReplySchema.safeParse(body).data?.told ?? []) hear(told);
      return { ended: undefined };
    }
    const code = problemSchema.safeParse(body).data?.code;
    const closed = code === 'device_revoked' ? AGENT_CLOSED.revoked : code === 'device_in_use' ? AGENT_CLOSED.in_use : 0;
    return { ended: { was_connected: false, code: closed, reason: `the server answered ${status}` } };
  }

  /** For where no WebSocket passes: what is said and told goes by HTTP for a while. */
  async function pollSession(): Promise<Ended> {
    const until = Date.now() + POLLING_MS;
    let was_connected = false;
    while (!is_stopped && Date.now() < until) {
      const said = waiting.splice(0, FRAMES_OF_A_POLL);
      try {
        const { ended } = await poll(said);
        if (ended !== undefined) {
          waiting.unshift(...said);
          return { ...ended, was_connected };
        }
      } catch (error) {
        waiting.unshift(...said);
        return { was_connected, code: 0, reason: failureOf(error) };
      }
      if (!was_connected) {
        was_connected = true;
        is_polling = true;
        parts.onState('connected', 'by HTTP, because no WebSocket passes');
        parts.onConnected();
      }
    }
    return { was_connected, code: 0, reason: 'a WebSocket is tried again' };
  }

  return {
    say(frame) {
      if (open?.readyState === WebSocket.OPEN) {
        if (frame.kind === 'ack' || frame.kind === 'report') return send(open, frame);
        backlog = [...backlog.filter((older) => !replaces(frame, older)), frame];
        sayBacklog();
      } else if (is_polling || !isSaidAgain(frame)) {
        wait(frame);
      }
    },

    async run() {
      let failures = 0;
      while (!is_stopped) {
        const by_poll = failures >= FAILURES_BEFORE_POLLING && failures % 2 === 1;
        const { was_connected, code, reason } = by_poll ? await pollSession() : await socketSession();
        is_polling = false;
        if (is_stopped) return;
        failures = was_connected ? 0 : failures + 1;
        if (code === AGENT_CLOSED.in_use) {
          parts.onState('in_use', 'another agent with this identity is connected');
          await parts.wait((parts.back_off_most ?? BACK_OFF.in_use_ms) * (0.5 + Math.random()));
          continue;
        }
        if (code === AGENT_CLOSED.revoked || code === AGENT_CLOSED.unauthenticated) {
          parts.onState('revoked', reason);
          await parts.askRevoked();
        } else {
          parts.onState('unreachable', reason);
        }
        await parts.wait(backOff(failures, parts.back_off_most));
      }
    },

    stop() {
      is_stopped = true;
      wake();
    },
  };
}
