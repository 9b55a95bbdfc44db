import type { Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance, onRequestHookHandler, onSendHookHandler } from 'fastify';
import { refuse } from './platform.refusals.ts';

/** Seconds after which another server, or this one started again, is worth asking. */
const RETRY_AFTER_S = 5;
/**
 * Time after the announcement for which idle connections stay open, in ms. A proxy may send a request on a connection that is being closed; it then answers 502 and does not
 * retry a write. Under load each connection carries one more request, whose answer closes it.
 */
const IDLE_GRACE_MS = 1_000;
/** Still answered while the server stops: it only reports that the process runs. */
const HEALTH = '/api/health';

/** Stops a server without cutting open requests. */
export interface Drain {
  /** Whether `/api/ready` reports that this server takes no more requests. */
  isStopping(): boolean;
  /** From now on each answer closes its connection and `/api/ready` returns 503, so that a load balancer sends no more requests. Requests are still served. */
  announce(): void;
  /**
   * From now on new requests are refused with 503, also those on idle connections, which are closed after the grace time. Resolves when they are closed and open requests
   * have been answered, or after `most_ms`. Returns the number of requests left.
   */
  finish(most_ms: number): Promise<number>;
  /** Counts a request that bypasses Fastify as open. @throws Problem once the server takes no more */
  enter(): void;
  /** Its answer is complete. */
  leave(): void;
}

/** Create this before any route, so that each request is counted. */
export function createDrain(fastify: FastifyInstance, idle_grace_ms: number = IDLE_GRACE_MS): Drain {
  let stopping = false;
  let closed = false;
  let under_way = 0;
  let open = 0;
  /** Ends `idle_grace_ms` after the announcement. */
  let grace: Promise<void> | undefined;
  let done: (() => void) | undefined;
  const none_open = Promise.withResolvers<void>();

  const refusal = () => refuse('server.stopping', {}, { retry_after: RETRY_AFTER_S });
  const leave = () => {
    under_way -= 1;
    if (under_way === 0) done?.();
  };
  const count: onRequestHookHandler = (request, reply, next) => {
    if (stopping) reply.header('connection', 'close');
    if (closed && request.url !== HEALTH) {
      next(refusal());
      return;
    }
    // A socket is told to reconnect; unlike a request, it does not end soon.
    if (!request.ws) {
      under_way += 1;
      reply.raw.once('close', leave);
    }
    next();
  };
  const end: onSendHookHandler = (_request, reply, _payload, done) => {
    // The request arrived before the stop, and its connection must not carry another.
    if (stopping) reply.header('connection', 'close');
    done();
  };
  fastify.addHook('onRequest', count).addHook('onSend', end);
  fastify.server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
      if (closed && open === 0) none_open.resolve();
    });
  });

  function announce(): void {
    stopping = true;
    grace ??= pause(idle_grace_ms, undefined, { ref: false });
  }

  /** Waits two turns of the event loop first, which read the requests that the kernel has buffered. */
  async function closeIdleConnections(): Promise<void> {
    if (open > 0) await Promise.race([grace, none_open.promise]);
    await turn();
    await turn();
    fastify.server.closeIdleConnections();
  }

  async function endRequests(): Promise<void> {
    await closeIdleConnections();
    if (under_way === 0) return;
    const finished = Promise.withResolvers<void>();
    done = finished.resolve;
    await finished.promise;
  }

  return {
    isStopping: () => stopping,
    leave,
    announce,

    enter() {
      if (closed) throw refusal();
      under_way += 1;
    },

    async finish(most_ms) {
      announce();
      closed = true;
      await Promise.race([endRequests(), pause(most_ms, undefined, { ref: false })]);
      return under_way;
    },
  };
}
