import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { sourceOf } from './origin.ts';
import { refuse } from './platform.refusals.ts';
import type { Problem } from './problem.ts';

/** Limits on the number of connections. */
export interface ConnectionLimits {
  /** Without a request under way (silent ones, those that drip a header, those kept for a next request): of one source, and in all. */
  waiting_per_source: number;
  waiting: number;
  /** Requests under way of one source, and of one that many people share. Their bodies may be dripping. */
  requests_per_source: number;
  requests_per_shared_source: number;
  /** Connections of any kind. Beyond them newcomers are turned away. */
  open: number;
}

/** The share of files, the database, engines and other servers in the open files that the system allows. */
const OTHER_FILES = 512;
const LEAST_CONNECTIONS = 128;
/** The usual limit of open files, for a system that does not tell its own. */
const USUAL_FILES = 1_024;
/** More would be memory rather than files. */
const OPEN_MAXIMUM = 20_000;
const WAITING_PER_SOURCE = 500;
const REQUESTS_PER_SOURCE = 500;
/** A source that many people share may have this share of all connections. */
const SHARED_SHARE = 0.75;
const RETRY_AFTER_S = 5;
const TOLD_EVERY_MS = 60_000;

/**
 * Number of files this process may have open, by the kernel (proc(5), /proc/pid/limits); Node has raised it to the highest allowed value.
 * -
 */
function openFilesMaximum(): number {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return Number(limit ?? USUAL_FILES);
  } catch {
    return USUAL_FILES;
  }
}

/** Bounds that leave the rest of the server its open files: an accept that finds none left would keep the database from its own. */
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
 * Bounds the connections on which no request is under way. Where there are too many, of a source or in all, the one that has waited longest is closed: a new request
 * is let in, also behind a proxy that everybody shares. Sockets are bounded by `events.ts` once they are some.
 */
export function boundConnections(server: Server, { logger, ...limits }: ConnectionLimits & { logger: FastifyBaseLogger }): void {
  server.maxConnections = limits.open;
  /** Those that wait, the longest first, with their source; and those of each source alone. */
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
    // No answer is sent: it would only use more memory.
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
  /** Requests under way on a connection: one may be sent before the last is answered. */
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

/** Counts the requests of each source that are under way. For a server that knows already who is behind a proxy. */
export class RequestBounds {
  private readonly limits: Pick<ConnectionLimits, 'requests_per_source' | 'requests_per_shared_source'> & {
    isShared: (source: string) => boolean;
  };
  private readonly underWay = new Map<string, number>();

  constructor(limits: RequestBounds['limits']) {
    this.limits = limits;
  }

  /** Counts a request; false where its source has too many. */
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

/** Refuses a request of a source that has too many under way, before its body, and closes its connection. */
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
