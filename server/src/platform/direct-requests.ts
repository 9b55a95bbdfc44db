import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { RequestBounds } from './connections.ts';
import type { Drain } from './drain.ts';
import { addressBehind } from './forwarded.ts';
import type { Incoming } from './local-request.ts';
import { sourceOf } from './origin.ts';
import { Problem } from './problem.ts';
import { expectedProblem, logProblem, PROBLEM_TYPE } from './problem-answer.ts';
import { requestIdOf, traceOf } from './request-context.ts';
import type { MeasureRequest } from './request-metrics.ts';
import { answerBeforeRest } from './rest-of-body.ts';

/** Requests to one path that bypass Fastify, whose steps would cost more than a small answer. */
export interface DirectRoute {
  /** Matches the whole address: path and query. */
  address: RegExp;
  /** The route's name in metrics. */
  name: string;
  /** The accepted content type of bodies, and their maximum size in bytes. */
  body: { type: string; maximum: number };
  /** @throws Problem */
  answer(request: DirectRequest): Promise<DirectAnswer>;
}

export interface DirectRequest {
  url: string;
  headers: IncomingHttpHeaders;
  /** The peer's address, or the one that a trusted proxy reports. */
  ip: string;
  /** Undefined for a method that has none. */
  body: Buffer | undefined;
}

interface DirectAnswer {
  /** Alternating names and values. */
  headers: readonly string[];
  body: Buffer;
}

/** Steps that are created after the server. */
export interface LaterSteps {
  drain: Pick<Drain, 'isStopping' | 'enter' | 'leave'>;
  measure: MeasureRequest | undefined;
  /** Called with the error of a request that failed. */
  onError(error: unknown): void;
}

const METHODS = new Set(['GET', 'HEAD', 'POST']);

/** Cuts connections whose body is late. One timer for all: a timer for each request would cost as much as its answer. */
class LateBodies {
  private readonly begun = new Map<IncomingMessage, number>();
  private readonly most_ms: number;

  constructor(server: Server, most_ms: number) {
    this.most_ms = most_ms;
    const timer = setInterval(() => this.look(), most_ms / 4).unref();
    server.once('close', () => clearInterval(timer));
  }

  watch(request: IncomingMessage): void {
    this.begun.set(request, performance.now());
    request.on('close', () => this.begun.delete(request));
  }

  private look(): void {
    const before = performance.now() - this.most_ms;
    for (const [request, begun_at] of this.begun) {
      if (begun_at > before) return;
      request.socket.destroy();
    }
  }
}

/** The body of a request. @throws Problem `too_large`, `unsupported_media_type` */
function bodyOf(request: IncomingMessage, { type, maximum }: DirectRoute['body']): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const sent_type = request.headers['content-type'] ?? '';
  if (sent_type !== type && sent_type.split(';', 1)[0]?.trim().toLowerCase() !== type)
    reject(new Problem('unsupported_media_type'));
  else if (Number(request.headers['content-length'] ?? 0) > maximum) reject(new Problem('too_large'));
  else {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maximum) reject(new Problem('too_large'));
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  }
  return promise;
}

/** Answers requests before Fastify sees them, with the same limits and refusals. */
export class DirectRequests {
  private readonly parts: {
    logger: FastifyBaseLogger;
    headers: Readonly<Record<string, string>>;
    bounds: RequestBounds;
    /** The refusal of a request by its headers; undefined if it is accepted. */
    refusal: (request: IncomingMessage) => Problem | undefined;
    onArrival: (request: Incoming) => void;
    isTrusted: ((address: string) => boolean) | undefined;
  };
  private readonly headers: readonly string[];
  private readonly late: LateBodies;
  private steps: LaterSteps | undefined;
  private route: DirectRoute | undefined;

  constructor(server: Server, small_body_ms: number, parts: DirectRequests['parts']) {
    this.parts = parts;
    this.headers = Object.entries(parts.headers).flat();
    this.late = new LateBodies(server, small_body_ms);
  }

  /** Starts serving a route, now that the later steps exist. */
  serve(route: DirectRoute, steps: LaterSteps): void {
    this.route = route;
    this.steps = steps;
  }

  /** Answers a request whose address matches the route; returns false for others. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const { route, steps } = this;
    if (route === undefined || steps === undefined) return false;
    if (!METHODS.has(request.method ?? '') || !route.address.test(request.url ?? '')) return false;
    // Node knows the address of a connected peer, so a missing one means that the peer is gone.
    if (request.socket.remoteAddress === undefined) request.destroy();
    else void this.handle(request, response, route, steps);
    return true;
  }

  private async handle(request: IncomingMessage, response: ServerResponse, route: DirectRoute, steps: LaterSteps): Promise<void> {
    const { isTrusted, bounds } = this.parts;
    const peer = request.socket.remoteAddress ?? '';
    const ip = isTrusted === undefined ? peer : addressBehind(peer, request.headers, isTrusted);
    const source = sourceOf(ip);
    const begun_at = performance.now();
    let isDrained = false;
    let isBounded = false;
    response.on('close', () => {
      if (isDrained) steps.drain.leave();
      if (isBounded) bounds.leave(source);
      steps.measure?.(
        { method: request.method ?? '', route: route.name, status: response.statusCode, isSent: response.writableFinished },
        performance.now() - begun_at,
      );
    });
    try {
      steps.drain.enter();
      isDrained = true;
      this.parts.onArrival({ raw: request, headers: request.headers });
      const refusal = this.parts.refusal(request);
      if (refusal !== undefined) throw refusal;
      isBounded = bounds.enter(source);
      if (!isBounded) {
        response.shouldKeepAlive = false;
        throw bounds.refusal();
      }
      if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined)
        this.late.watch(request);
      const body = request.method === 'POST' ? await bodyOf(request, route.body) : undefined;
      const answer = await route.answer({ url: request.url ?? '', headers: request.headers, ip, body });
      this.send(response, 200, answer.headers, answer.body);
    } catch (error) {
      steps.onError(error);
      this.refuse(request, response, ip, expectedProblem(error) ?? new Problem('internal', { cause: error }));
    }
  }

  private head(response: ServerResponse, status: number, headers: readonly string[], length: number): void {
    // While the server stops, the connection carries no further request.
    if (this.steps?.drain.isStopping()) response.shouldKeepAlive = false;
    response.writeHead(status, [...this.headers, ...headers, 'content-length', String(length)]);
  }

  private send(response: ServerResponse, status: number, headers: readonly string[], body: Buffer): void {
    this.head(response, status, headers, body.length);
    // As text, so that Node writes head and body in one system call.
    response.end(body.toString('latin1'), 'latin1');
  }

  private refuse(request: IncomingMessage, response: ServerResponse, ip: string, problem: Problem): void {
    const { logger } = this.parts;
    const reqId = requestIdOf(request);
    const log = logger.child({ reqId, ...traceOf(request.headers) });
    logProblem(problem, { method: request.method, url: request.url, ip }, log, logger);
    const body = Buffer.from(JSON.stringify(problem.document(reqId)));
    const headers = ['content-type', PROBLEM_TYPE, 'cache-control', 'no-store'];
    if (problem.retry_after !== undefined) headers.push('retry-after', String(problem.retry_after));
    if (problem.code !== 'too_large' || request.complete) {
      this.send(response, problem.status, headers, body);
      return;
    }
    response.shouldKeepAlive = false;
    this.head(response, problem.status, headers, body.length);
    answerBeforeRest(request, body).pipe(response);
  }
}
