import { createHash } from 'node:crypto';
import { SAID_BYTES_MAXIMUM, type Said, type Told, toldSchema } from '@palisade/contract/agent';

/** Validating a frame of at most this many characters is faster than hashing it. */
const SMALL = 2_000;
/**
 * After a reconnect, this many events and scan reports are sent at once, and then one per `EACH_MS`. The server accepts 60 queued frames and 120 in 20 s from one agent, and
 * disconnects an agent that sends more.
 */
const AT_ONCE = 30;
const EACH_MS = 400;

/** Whether a newer frame makes an older one obsolete. */
export function replaces(newer: Said, older: Said): boolean {
  if (newer.kind === 'report') return older.kind === 'report';
  if (newer.kind === 'event') return older.kind === 'event' && older.id === newer.id;
  if (newer.kind === 'ack') return older.kind === 'ack' && older.rev === newer.rev;
  return (
    newer.kind === 'scan_report' && older.kind === 'scan_report' && older.job_id === newer.job_id && older.found.length === 0
  );
}

/** Whether the sender repeats a frame until the server confirms it. Such frames are not queued here. */
export const isSaidAgain = (frame: Said): boolean =>
  frame.kind === 'event' || (frame.kind === 'scan_report' && frame.found.length > 0);

/** Serializes a frame. A report above the size limit is sent without its telemetry, which is measured again; any other frame above the limit is not sent (undefined). */
export function textOf(frame: Said): string | undefined {
  const text = JSON.stringify(frame);
  if (Buffer.byteLength(text) <= SAID_BYTES_MAXIMUM) return text;
  return frame.kind === 'report' && frame.telemetry !== null ? textOf({ ...frame, telemetry: null }) : undefined;
}

/** Parses frames of the server. The server sends the whole state after each reconnect and in each HTTP response, so an unchanged state is not validated again. */
export class ToldReader {
  /** The last desired state, and the hash of its text. */
  #last: { digest: string; told: Told } | undefined;

  /** Undefined for a frame that this agent does not understand. An unchanged large state returns the same object. */
  read(json: unknown): Told | undefined {
    const text = JSON.stringify(json) ?? '';
    const digest = text.length > SMALL ? createHash('sha256').update(text).digest('hex') : undefined;
    if (digest !== undefined && digest === this.#last?.digest) return this.#last.told;
    const told = toldSchema.safeParse(json).data;
    if (told?.kind === 'desired' && digest !== undefined) this.#last = { digest, told };
    return told;
  }
}

/** Queue of events and scan reports for an open connection, sent within the server's rate limit. */
export class Backlog {
  readonly #isOpen: () => boolean;
  readonly #send: (frame: Said) => void;
  #frames: Said[] = [];
  /** Number of frames that may be sent now. */
  #room = AT_ONCE;
  #room_at = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(isOpen: () => boolean, send: (frame: Said) => void) {
    this.#isOpen = isOpen;
    this.#send = send;
  }

  add(frame: Said): void {
    this.#frames = [...this.#frames.filter((older) => !replaces(frame, older)), frame];
    this.#sendSome();
  }

  /** Allows `AT_ONCE` frames again, for a new connection. */
  refill(): void {
    this.#room = AT_ONCE;
  }

  /** Removes and returns the unsent frames. */
  takeAll(): Said[] {
    return this.#frames.splice(0);
  }

  /** Sends as many frames as the rate allows; a timer sends the rest. */
  #sendSome(): void {
    clearTimeout(this.#timer);
    const time = performance.now();
    this.#room = Math.min(AT_ONCE, this.#room + (time - this.#room_at) / EACH_MS);
    this.#room_at = time;
    while (this.#isOpen() && this.#room >= 1) {
      const frame = this.#frames.shift();
      if (frame === undefined) return;
      this.#room -= 1;
      this.#send(frame);
    }
    if (this.#frames.length > 0) this.#timer = setTimeout(() => this.#sendSome(), EACH_MS).unref();
  }
}
