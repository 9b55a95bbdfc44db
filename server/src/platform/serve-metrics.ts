import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isForLoopback } from './local-request.ts';
import { METRICS_CONTENT_TYPE, type Metrics } from './metrics.ts';
import { refuse } from './platform.refusals.ts';
import type { RateLimits } from './rate-limit.ts';

const PATH = '/metrics';
/** The caller is a program on the same machine or network, which sends and reads at once. In ms. */
const PATIENCE_MS = 10_000;
const CONNECTIONS_MAXIMUM = 32;

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Whether a request has the token, compared in constant time. */
function bears(authorization: string | undefined, token: string): boolean {
  const sent = /^Bearer (.{1,512})$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(sent), digest(token));
}

/**
 * A server for the metrics only, not yet listening. Without a `token` it serves only this machine: a request for a host other than a loopback name is refused, since a
 * website could point a domain at it (DNS rebinding).
 */
export function createMetricsServer(metrics: Metrics, token: string | undefined): Server {
  const server = createServer({ headersTimeout: PATIENCE_MS, requestTimeout: PATIENCE_MS }, (request, answer) => {
    const say = (status: number, text: string, headers: Record<string, string> = {}) =>
      answer
        .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers })
        .end(request.method === 'HEAD' ? undefined : text);
    request.resume();
    if (token === undefined && !isForLoopback(request)) return void say(421, 'Use the host localhost.\n');
    if (token !== undefined && !bears(request.headers.authorization, token))
      return void say(401, 'The token of METRICS_TOKEN is missing or wrong.\n', { 'www-authenticate': 'Bearer' });
    if (request.url?.split('?', 1)[0] !== PATH) return void say(404, `Only ${PATH} is available here.\n`);
    if (request.method !== 'GET' && request.method !== 'HEAD') return void say(405, 'Use GET.\n', { allow: 'GET, HEAD' });
    void metrics.text().then((text) => say(200, text, { 'content-type': METRICS_CONTENT_TYPE }));
  });
  server.maxConnections = CONNECTIONS_MAXIMUM;
  server.setTimeout(PATIENCE_MS);
  server.unref();
  return server;
}

/** Serves the metrics beside the API, to callers with the token. Wrong tokens share the limit of requests for the API's document. */
export function serveMetrics(
  fastify: FastifyInstance,
  parts: { metrics: Metrics; token: string; limits: Pick<RateLimits, 'ofDocument'> },
): void {
  const { metrics, token, limits } = parts;
  fastify.get(
    PATH,
    {
      schema: { hide: true },
      onRequest: async (request) => {
        if (bears(request.headers.authorization, token)) return;
        await limits.ofDocument(request);
        throw refuse('metrics.wrong_token');
      },
    },
    async (_request, reply) => reply.type(METRICS_CONTENT_TYPE).send(await metrics.text()),
  );
}
