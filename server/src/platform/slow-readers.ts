import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';

/** Limits for clients that do not read their answers. Times in ms. */
export interface ReadingLimits {
  /** Interval between checks. */
  look_ms: number;
  /** A client that takes fewer bytes than this in a window, while more wait for it, is cut. */
  window_ms: number;
  bytes: number;
}

interface Behind {
  /** Time in which the server could have written more, in ms. */
  waited_ms: number;
  taken: number;
}

interface Queue {
  /** Bytes that were handed to the system, or wait to be. */
  written: number;
  /** Those of them that the system has no room for. */
  waiting: number;
}

/**
 * Node's own count of the bytes that a socket has written, and of those that the system has not taken (its time-out of idle sockets looks there as well,
 * lib/net.js).
 */
function queueOf(socket: Socket): Queue | undefined {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  const written: unknown = Reflect.get(handle, 'bytesWritten');
  const waiting: unknown = Reflect.get(handle, 'writeQueueSize');
  return typeof written === 'number' && typeof waiting === 'number' ? { written, waiting } : undefined;
}

const connectionOf = (own: number, other: number) => `${own}:${other}`;

/**
 * Bytes that the system holds for each connection because the other side has not taken them, by both ports (proc(5), /proc/net/tcp). The system makes room only once
 * a third of its megabytes is gone, so that a slow reader would seem to take nothing. Empty where the system does not say.
 */
async function unacknowledged(): Promise<Map<string, number>> {
  const files = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => '')));
  const held = new Map<string, number>();
  for (const [, own = '', other = '', bytes = ''] of files
    .join('\n')
    .matchAll(/^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm)) {
    held.set(connectionOf(Number.parseInt(own, 16), Number.parseInt(other, 16)), Number.parseInt(bytes, 16));
  }
  return held;
}

/**
 * Cuts every connection, of an answer, a file or a socket, whose other side does not read. The measure is the bytes taken, not the total time: a large
 * download over a slow network continues.
 */
export function cutSlowReaders(server: Server, { logger, ...limits }: ReadingLimits & { logger: FastifyBaseLogger }): void {
  const open = new Set<Socket>();
  const behind = new Map<Socket, Behind>();
  let isLooking = false;
  let lookedAt = performance.now();

  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      behind.delete(socket);
    });
  });

  async function look(): Promise<void> {
    // A server that stood still wrote nothing, so that its clients had nothing to take: such a pause counts as two checks at most.
    const passed_ms = Math.min(performance.now() - lookedAt, 2 * limits.look_ms);
    lookedAt = performance.now();
    const waiting: { socket: Socket; queue: Queue }[] = [];
    for (const socket of open) {
      const queue = queueOf(socket);
      if (queue !== undefined && queue.waiting > 0) waiting.push({ socket, queue });
      else behind.delete(socket);
    }
    if (waiting.length === 0) return;
    const held = await unacknowledged();
    for (const { socket, queue } of waiting) {
      if (socket.destroyed) continue;
      const taken = queue.written - queue.waiting - (held.get(connectionOf(socket.localPort ?? 0, socket.remotePort ?? 0)) ?? 0);
      const before = behind.get(socket);
      if (before !== undefined) before.waited_ms += passed_ms;
      if (before !== undefined && before.waited_ms < limits.window_ms) continue;
      if (before !== undefined && taken - before.taken < limits.bytes) {
        logger.info({ waiting: queue.waiting }, 'somebody does not read what is written to them, and is cut');
        // The connection is reset: otherwise the system would hold the unsent bytes for minutes.
        socket.resetAndDestroy();
      } else behind.set(socket, { waited_ms: 0, taken });
    }
  }

  const timer = setInterval(() => {
    if (isLooking || open.size === 0) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  }, limits.look_ms);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}
