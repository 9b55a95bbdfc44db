import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics } from './metrics.ts';

/** Histogram bounds in seconds: from an answer out of memory to a slow upload. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
/** Node accepts about 35 methods; those that no endpoint has share one label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Status when the client disconnected before the whole answer was sent: nginx's number, not an HTTP status. */
const CLIENT_GONE = '499';
const SECOND_MS = 1_000;

/** The template of the route, never the address, which contains ids. `page` is the application's page, `file` one of its files, `unknown` a path that does not exist. */
function routeOf(request: FastifyRequest, status: number): string {
  const { url } = request.routeOptions;
  if (request.is404 || url === undefined) return status < 400 ? 'page' : 'unknown';
  return url === '/metrics' || url.startsWith('/api/') ? url : 'file';
}

/** Counts and times an answered request. */
export type MeasureRequest = (of: { method: string; route: string; status: number; isSent: boolean }, ms: number) => void;

/**
 * Counts and times every request by its route template. Call this before the routes are added. Sockets are left out: they end only when a side closes them. Returns the
 * function that measures a request that bypasses Fastify.
 */
export function measureRequests(fastify: FastifyInstance, metrics: Metrics): MeasureRequest {
  const requests = metrics.counter('palisade_http_requests_total', 'Requests by method, route, and status.');
  const durations = metrics.histogram(
    'palisade_http_request_duration_seconds',
    'Seconds from request to end of response, by method and route.',
    BOUNDS,
  );
  const measure: MeasureRequest = ({ method: sent, route, status, isSent }, ms) => {
    const method = METHODS.has(sent) ? sent : 'other';
    requests.add({ method, route, status: isSent ? String(status) : CLIENT_GONE });
    durations.observe({ method, route }, ms / SECOND_MS);
  };
  fastify.addHook('onResponse', (request, reply, done) => {
    done();
    if (request.ws) return;
    const { statusCode: status, elapsedTime, raw } = reply;
    measure({ method: request.method, route: routeOf(request, status), status, isSent: raw.writableFinished }, elapsedTime);
  });
  return measure;
}
