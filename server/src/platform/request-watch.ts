import type { Endpoint } from '@palisade/contract/endpoint';
import { may } from '@palisade/contract/may';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pathOf } from './log.ts';
import { originOf } from './origin.ts';
import { exploitIn, isProbe } from './request-rules.ts';
import type { Observe } from './security-event.ts';
import type { Session } from './session.ts';

const isStaff = may.useDesk;

/** Reports requests to detection that this application's pages never make. Bodies are not examined: customers upload malware, and write arbitrary text. */
export interface RequestWatch {
  /** Observes every request of a server. Call this before its routes are added. */
  observeAll(fastify: FastifyInstance): void;
  /** Reports that a signed-in person called an endpoint that their role may not use. */
  forbidden(endpoint: Endpoint, request: FastifyRequest, session: Session): void;
}

type Refused = Extract<Parameters<Observe>[0], { kind: 'request_refused' }>['data'];

const PATH_LENGTH_MAXIMUM = 200;

/** `now` is in ms. */
export function createRequestWatch({ observe, now }: { observe: Observe; now: () => number }): RequestWatch {
  function tell(request: FastifyRequest, user_id: string | null, { reason, pattern, was_refused }: Omit<Refused, 'path'>): void {
    const { address, source, client } = originOf(request);
    // Without the query: it may hold private data.
    const path = pathOf(request.url).slice(0, PATH_LENGTH_MAXIMUM);
    const data = { reason, path, pattern, was_refused };
    void observe({ at: new Date(now()).toISOString(), user_id, source, address, client, kind: 'request_refused', data });
  }

  return {
    observeAll(fastify) {
      // Run when the status is known.
      fastify.addHook('onSend', (request, { statusCode }, _payload, done) => {
        const { url, method } = request;
        const pattern = exploitIn(url);
        const was_refused = statusCode >= 400 && statusCode < 500;
        if (pattern !== undefined) tell(request, null, { reason: 'exploit_string', pattern, was_refused });
        // A browser sends an OPTIONS preflight for another site's page (CORS).
        else if (request.is404 && method !== 'OPTIONS' && (/^\/api(\/|\?|$)/.test(url) || isProbe(url)))
          tell(request, null, { reason: 'unknown_path', pattern: null, was_refused: true });
        done();
      });
    },
    forbidden(endpoint, request, { user }) {
      if (endpoint.access === 'admin' && !isStaff(user))
        tell(request, user.id, { reason: 'admin_endpoint', pattern: null, was_refused: true });
    },
  };
}
