import { createHash } from 'node:crypto';
import { SAID_BYTES_MAXIMUM, type Said, type Told, toldSchema } from '@palisade/contract/agent';

/** A frame of at most this many characters is checked faster than it is hashed. */
const SMALL = 2_000;
/**
 * A server that comes back hears this many events and scan reports at once, and then one in `EACH_MS`: it takes 60 that wait and 120 in 20 s from one agent, and
 * disconnects an agent that says more.
 */
const AT_ONCE = 30;
const EACH_MS = 400;

/** Whether a newer frame makes an older one needless. */
export function replaces(newer: Said, older: Said): boolean {
  if (newer.kind === 'report') return older.kind === 'report';
  if (newer.kind === 'event') return older.kind === 'event' && older.id === newer.id;
  if (newer.kind === 'ack') return older.kind === 'ack' && older.rev === newer.rev;
  return (
    newer.kind === 'scan_report' && older.kind === 'scan_report' && older.job_id === newer.job_id && older.found.length === 0
  );
}

/** Whether the sender repeats a frame until it is noted: such a frame need not wait here as well. */
export const isSaidAgain = (frame: Said): boolean =>
  frame.kind === 'event' || (frame.kind === 'scan_report' && frame.found.length > 0);

/** The text of a frame that a server takes. A report that is too large goes without its telemetry, which is measured again; any other frame is not sent (undefined). */
export function textOf(frame: Said): string | undefined {
  const text = JSON.stringify(frame);
  if (Buffer.byteLength(text) <= SAID_BYTES_MAXIMUM) return text;
  return frame.kind === 'report' && frame.telemetry !== null ? textOf({ ...frame, telemetry: null }) : undefined;
}

/** Parses frames of the server. After each loss of the connection, and with each answer by HTTP, it says the whole state again: an unchanged state is not checked again. */
export class ToldReader {
  /** The last state, and the hash of its text. */
  #last: { digest: string; told: Told } | undefined;

  /** Undefined for a frame that this agent does not understand. An unchanged state is the same object. */
  read(json: unknown): Told | undefined {
    const text = JSON.stringify(json) ?? '';
    const digest = text.length > SMALL ? createHash('sha256').update(text).digest('hex') : undefined;
    if (digest !== undefined && digest === this.#last?.digest) return this.#last.told;
    const told = toldSchema.safeParse(json).data;
    if (told?.kind === 'desired' && digest !== undefined) this.#last = { digest, told };
    return told;
  }
}

/** Events and scan reports for an open connection, at the pace that a server takes. */
export class Backlog {
  readonly #isOpen: () => boolean;
  readonly #send: (frame: Said) => void;
  #frames: Said[] = [];
  /** Frames that may be sent now. */
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

  /** A new connection hears `AT_ONCE` frames again. */
  refill(): void {
    this.#room = AT_ONCE;
  }

  /** Gives back the frames that were not sent. */
  takeAll(): Said[] {
    return this.#frames.splice(0);
  }

  /** Sends as many frames as may be sent now; a timer sends the others. */
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
