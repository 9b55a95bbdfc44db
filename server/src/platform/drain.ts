import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance, onRequestHookHandler, onSendHookHandler } from 'fastify';
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
  /**
   * From now on new requests are refused with 503, also those that came on idle connections and are still unread. Ends when those under way have been answered, or after `most_ms`.
   * Answers how many are left then.
   */
  finish(most_ms: number): Promise<number>;
  /** Counts a request as under way, for one that Fastify does not see. @throws Problem once the server takes no more */
  enter(): void;
  /** The answer to it is over. */
  leave(): void;
}

/** To be created before any route, so that each request is counted. */
export function createDrain(fastify: FastifyInstance): Drain {
  let stopping = false;
  let closed = false;
  let under_way = 0;
  let done: (() => void) | undefined;

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
    // It came before the server was told to stop, and its connection may not carry another.
    if (stopping) reply.header('connection', 'close');
    done();
  };
  fastify.addHook('onRequest', count).addHook('onSend', end);
  /** Two turns of the event loop read the requests that the kernel holds: a proxy does not send a cut write again, and answers 502. */
  async function closeIdleConnections(): Promise<void> {
    await turn();
    await turn();
    fastify.server.closeIdleConnections();
  }

  return {
    isStopping: () => stopping,
    leave,

    enter() {
      if (closed) throw refusal();
      under_way += 1;
    },

    announce() {
      stopping = true;
      void closeIdleConnections();
    },

    async finish(most_ms) {
      stopping = true;
      closed = true;
      await closeIdleConnections();
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
