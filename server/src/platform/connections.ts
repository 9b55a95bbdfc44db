import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { sourceOf } from './origin.ts';
import { refuse } from './platform.refusals.ts';
import type { Problem } from './problem.ts';

/** Limits on the number of connections. */
export interface ConnectionLimits {
  /** Connections without an open request (silent ones, those that send headers slowly, idle keep-alive ones): per source, and in all. */
  waiting_per_source: number;
  waiting: number;
  /** Open requests of one source, and of a source that many people share. Their bodies may arrive slowly. */
  requests_per_source: number;
  requests_per_shared_source: number;
  /** All connections. Beyond this number new ones are refused. */
  open: number;
}

/** Open files reserved for files, the database, engines and connections to other servers. */
const OTHER_FILES = 512;
const LEAST_CONNECTIONS = 128;
/** The usual limit of open files, for a system that does not report its own. */
const USUAL_FILES = 1_024;
/** Upper limit: more connections would exhaust memory before file descriptors. */
const OPEN_MAXIMUM = 20_000;
const WAITING_PER_SOURCE = 500;
const REQUESTS_PER_SOURCE = 500;
/** Share of all connections that a source shared by many people may have. */
const SHARED_SHARE = 0.75;
const RETRY_AFTER_S = 5;
const TOLD_EVERY_MS = 60_000;

/** Number of files that this process may have open, from the kernel (proc(5), /proc/pid/limits); Node has raised it to the hard limit. */
function openFilesMaximum(): number {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return Number(limit ?? USUAL_FILES);
  } catch {
    return USUAL_FILES;
  }
}

/** Limits that reserve open files for the rest of the server: connections must not take those that the database needs. */
export function connectionLimits(open_files = openFilesMaximum()): ConnectionLimits {
  const open = Math.max(LEAST_CONNECTIONS, Math.min(OPEN_MAXIMUM, open_files - OTHER_FILES));
  return {
    waiting_per_source: Math.min(WAITING_PER_SOURCE, Math.floor(open / 4)),
    waiting: Math.floor(open / 2),
    requests_per_source: Math.min(REQUESTS_PER_SOURCE, Math.floor(open / 4)),
    requests_per_shared_source: Math.floor(open * SHARED_SHARE),
    open,
  };
}

/**
 * Limits connections without an open request. If there are too many, of a source or in all, the one that has waited longest is closed, so that new requests are still
 * served, also behind a shared proxy. Sockets are limited by `events.ts` once they are open.
 */
export function boundConnections(server: Server, { logger, ...limits }: ConnectionLimits & { logger: FastifyBaseLogger }): void {
  server.maxConnections = limits.open;
  /** Waiting connections with their source, the longest wait first; and those of each source. */
  const all = new Map<Socket, string>();
  const bySource = new Map<string, Set<Socket>>();
  let told_at = Number.NEGATIVE_INFINITY;

  function leave(socket: Socket): void {
    const source = all.get(socket);
    if (source === undefined) return;
    all.delete(socket);
    const own = bySource.get(source);
    own?.delete(socket);
    if (own?.size === 0) bySource.delete(source);
  }

  function cut(longest: Socket | undefined): void {
    if (longest === undefined) return;
    leave(longest);
    // Reset instead of an answer, which would use more memory.
    longest.resetAndDestroy();
    // Once a minute: a flood must not fill the log as well.
    if (performance.now() - told_at < TOLD_EVERY_MS) return;
    told_at = performance.now();
    logger.warn(
      { waiting: all.size },
      'more connections wait without a request than may: those that have waited longest are cut',
    );
  }

  function wait(socket: Socket): void {
    if (socket.destroyed) return;
    const source = sourceOf(socket.remoteAddress);
    const own = bySource.get(source) ?? new Set();
    bySource.set(source, own.add(socket));
    all.set(socket, source);
    if (own.size > limits.waiting_per_source) cut(own.values().next().value);
    else if (all.size > limits.waiting) cut(all.keys().next().value);
  }

  server.on('connection', (socket: Socket) => {
    wait(socket);
    socket.once('close', () => leave(socket));
  });
  /** Number of open requests on a connection: HTTP pipelining allows several. */
  const underWay = new WeakMap<Socket, number>();
  server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    leave(socket);
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    answer.on('close', () => {
      const left = (underWay.get(socket) ?? 1) - 1;
      underWay.set(socket, left);
      if (left === 0) wait(socket);
    });
  });
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => void leave(socket));
}

/** Counts the open requests of each source. Use it after the address behind a proxy is known. */
export class RequestBounds {
  private readonly limits: Pick<ConnectionLimits, 'requests_per_source' | 'requests_per_shared_source'> & {
    isShared: (source: string) => boolean;
  };
  private readonly underWay = new Map<string, number>();

  constructor(limits: RequestBounds['limits']) {
    this.limits = limits;
  }

  /** Counts a request; false if its source has too many open. */
  enter(source: string): boolean {
    const { requests_per_source, requests_per_shared_source, isShared } = this.limits;
    const count = (this.underWay.get(source) ?? 0) + 1;
    if (count > requests_per_source && (count > requests_per_shared_source || !isShared(source))) return false;
    this.underWay.set(source, count);
    return true;
  }

  leave(source: string): void {
    const left = (this.underWay.get(source) ?? 1) - 1;
    if (left === 0) this.underWay.delete(source);
    else this.underWay.set(source, left);
  }

  refusal(): Problem {
    return refuse('requests.too_many_at_once', {}, { retry_after: RETRY_AFTER_S });
  }
}

/** Refuses a request of a source with too many open requests, before its body is read, and closes its connection. */
export function boundRequests(
  fastify: FastifyInstance,
  bounds: RequestBounds,
  isForSocket: (request: IncomingMessage) => boolean,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (isForSocket(request.raw)) {
      done();
      return;
    }
    const source = sourceOf(request.ip);
    if (!bounds.enter(source)) {
      reply.header('connection', 'close');
      done(bounds.refusal());
      return;
    }
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      bounds.leave(source);
    };
    reply.raw.once('finish', end).once('close', end);
    done();
  });
}
