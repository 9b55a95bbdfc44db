import type { FastifyInstance } from 'fastify';
import { refuse } from './platform.refusals.ts';

/** Seconds after which another server, or this one started again, is worth asking. */
const RETRY_AFTER_S = 5;
/** Still answered while the server stops: whether the process runs. */
const HEALTH = '/api/health';

/** Lets a server stop without cutting requests under way. */
export interface Drain {
  /** Whether `/api/ready` is to say that this server takes no more. */
  isStopping(): boolean;
  /**
   * From now on answers end their connections, and `/api/ready` says 503, so that a load balancer sends no more requests here. Requests are still served.
   */
  announce(): void;
  /** From now on new requests are refused with 503. Ends when those under way have been answered, or after `most_ms`. Answers how many are left then. */
  finish(most_ms: number): Promise<number>;
}

/** To be created before any route, so that each request is counted. */
export function createDrain(fastify: FastifyInstance): Drain {
  let stopping = false;
  let closed = false;
  let under_way = 0;
  let done: (() => void) | undefined;

  fastify.addHook('onRequest', (request, reply, next) => {
    if (stopping) reply.header('connection', 'close');
    if (closed && request.url !== HEALTH) {
      next(refuse('server.stopping', {}, { retry_after: RETRY_AFTER_S }));
      return;
    }
    // A socket is told to reconnect; unlike a request, it does not end soon.
    if (!request.ws) {
      under_way += 1;
      reply.raw.once('close', () => {
        under_way -= 1;
        if (under_way === 0) done?.();
      });
    }
    next();
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    // It came before the server was told to stop, and its connection may not carry another.
    if (stopping) reply.header('connection', 'close');
    done();
  });

  return {
    isStopping: () => stopping,

    announce() {
      stopping = true;
      fastify.server.closeIdleConnections();
    },

    async finish(most_ms) {
      stopping = true;
      closed = true;
      fastify.server.closeIdleConnections();
      if (under_way === 0) return 0;
      const finished = Promise.withResolvers<void>();
      done = finished.resolve;
      const late = setTimeout(finished.resolve, most_ms);
      await finished.promise;
      clearTimeout(late);
      return under_way;
    },
  };
}
