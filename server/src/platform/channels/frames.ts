import type { WebSocket } from 'ws';
import { noteLarge, refuseStructure } from '#platform/json-body.ts';

/** The reason why a socket may not stay: a close code and a text for logs. */
export interface Refusal {
  code: number;
  reason: string;
}

/** Longest wait for the answer to a close frame, in ms: a peer that lost its access gets no more frames after a second. */
const CLOSE_GRACE_MS = 500;

/** Whether a frame is of this kind. */
export const isOfKind = (json: unknown, kind: string | undefined) =>
  typeof json === 'object' && json !== null && 'kind' in json && json.kind === kind;

/** A token bucket: whether so much may be taken now, with at most `at_once` at once and `per_second` on average. */
export function createBucket({ per_second, at_once }: { per_second: number; at_once: number }): (much: number) => boolean {
  let left = at_once;
  let filled_at = performance.now();
  return (much) => {
    const now = performance.now();
    left = Math.min(at_once, left + ((now - filled_at) / 1_000) * per_second);
    filled_at = now;
    if (much > left) return false;
    left -= much;
    return true;
  };
}

/** Undefined for invalid JSON, and for text longer than a frame, which no schema accepts. */
export function parseJson(text: string): unknown {
  try {
    if (refuseStructure(text) !== undefined) return undefined;
    const parsed: unknown = JSON.parse(text);
    noteLarge(text, parsed);
    return parsed;
  } catch {
    return undefined;
  }
}

/** Sends a serialized frame, unless the socket is closing. */
export function sayText(socket: WebSocket, text: string | Buffer): void {
  if (socket.readyState === socket.OPEN) socket.send(text, { binary: false });
}

/** Sends one frame. */
export function say(socket: WebSocket, frame: unknown): void {
  sayText(socket, JSON.stringify(frame));
}

/** Sends the close reason, stops reading, and waits only briefly for the answer. */
export function end(socket: WebSocket, { code, reason }: Refusal): void {
  for (const event of ['message', 'ping', 'pong']) socket.removeAllListeners(event);
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), CLOSE_GRACE_MS).unref();
}
