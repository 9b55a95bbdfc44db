import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';

/** Limits for clients that do not read their answers. Times in ms. */
export interface ReadingLimits {
  /** Interval between checks. */
  look_ms: number;
  /** A client is cut if it reads fewer bytes than this in a window while more are waiting. */
  window_ms: number;
  bytes: number;
}

interface Behind {
  /** Time in which unsent data was waiting, in ms. */
  waited_ms: number;
  taken: number;
}

interface Queue {
  /** Bytes written to the socket, including those still in Node's queue. */
  written: number;
  /** The part of them that the kernel has not accepted yet. */
  waiting: number;
}

/** Node's own count of bytes that a socket has written, and of those that the kernel has not accepted (its idle time-out uses the same, lib/net.js). */
function queueOf(socket: Socket): Queue | undefined {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  const written: unknown = Reflect.get(handle, 'bytesWritten');
  const waiting: unknown = Reflect.get(handle, 'writeQueueSize');
  return typeof written === 'number' && typeof waiting === 'number' ? { written, waiting } : undefined;
}

const connectionOf = (own: number, other: number) => `${own}:${other}`;

/**
 * Bytes that the kernel holds for each connection because the peer has not acknowledged them, by both ports (proc(5), /proc/net/tcp). The kernel accepts more only after a
 * third of its megabytes is free, so a slow reader would otherwise seem to read nothing. Empty if the system does not report this.
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

/** Cuts every connection (of an answer, a file or a socket) whose peer does not read. The measure is the bytes read, not the total time: a large download over a slow network continues. */
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
    // A suspended server wrote nothing for its clients to read, so a pause counts as two checks at most.
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
        // Reset the connection: otherwise the kernel would hold the unsent bytes for minutes.
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
