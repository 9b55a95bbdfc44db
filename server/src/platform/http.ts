import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import swagger from '@fastify/swagger';
import type { Channel } from '@palisade/contract/channel';
import { JSON_BODY_MAXIMUM, VERSION } from '@palisade/contract/constants';
import { formatList } from '@palisade/contract/intl';
import type { Exposure } from '@palisade/contract/platform';
import type { FieldError, ProblemCode } from '@palisade/contract/problem';
import {
  fastify as createFastify,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject, serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { admissionOf } from './body-admission.ts';
import { tellFormsApart } from './body-form.ts';
import { boundConnections, boundRequests, type ConnectionLimits, RequestBounds } from './connections.ts';
import { DirectRequests } from './direct-requests.ts';
import { forwardedFor } from './forwarded.ts';
import { examineLarge, type Fault, isLarge, noteLarge, readBounded, refuseStructure } from './json-body.ts';
import { hostOf, type Incoming, isForLoopback } from './local-request.ts';
import { sourceOf } from './origin.ts';
import { refuse, refuseField, sentence } from './platform.refusals.ts';
import { Problem } from './problem.ts';
import { expectedProblem, logProblem, PROBLEM_TYPE } from './problem-answer.ts';
import { isTrustedBy } from './proxy-watch.ts';
import { refusalsOf, shareRefusals } from './refusal-log.ts';
import { requestIdOf, traceOf, within } from './request-context.ts';
import { answerBeforeRest } from './rest-of-body.ts';
import { securityHeaders } from './security-headers.ts';
import { asWritten, type Sentence } from './sentence.ts';
import { cutSlowReaders, type ReadingLimits } from './slow-readers.ts';
import { refuseUnreadable } from './unreadable.ts';
import { wrongHostPage } from './wrong-host.ts';

/** Limits for slow clients (slow-loris). Times in ms. */
export interface PatienceLimits {
  /** Time for the headers of a request, and the interval of checks, in ms. */
  headers_ms: number;
  look_ms: number;
  /** A connection is cut if fewer than `bytes` of a body arrive within a window. Laxer than the limits of uploads, which end with an answer. */
  body: { window_ms: number; bytes: number };
  /** Total time for the body of a request other than an upload, in ms: such a body has at most 256 KiB. */
  small_body_ms: number;
  /** Limits for a client that does not read its answer: below 1 KiB/s it is cut within 30 s (one window and two checks). */
  reading: ReadingLimits;
}

export const PATIENCE: PatienceLimits = {
  headers_ms: 30_000,
  look_ms: 10_000,
  body: { window_ms: 45_000, bytes: 20 * 1024 },
  small_body_ms: 60_000,
  reading: { look_ms: 4_000, window_ms: 20_000, bytes: 20 * 1024 },
};
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** A request refused by the schema of its endpoint. Fastify records on it which part of the request is invalid. */
class InvalidRequest extends Error {
  override name = 'InvalidRequest';
  readonly faults: readonly Fault[];
  validationContext: string | undefined;

  constructor(faults: readonly Fault[]) {
    super('The request doesn’t match its schema.');
    this.faults = faults;
  }
}

/** Limits the time of a connection that was answered before its body arrived, or that sends JSON byte by byte. */
function watchBody(body: IncomingMessage, { body: { window_ms, bytes }, small_body_ms }: PatienceLimits): void {
  if (body.headers['content-length'] === undefined && body.headers['transfer-encoding'] === undefined) return;
  const { socket } = body;
  const isUpload = /^multipart\/form-data\b/i.test(body.headers['content-type'] ?? '');
  let before = socket.bytesRead;
  const watch = setInterval(() => {
    if (socket.bytesRead - before < bytes) socket.destroy();
    before = socket.bytesRead;
  }, window_ms);
  watch.unref();
  const late = isUpload ? undefined : setTimeout(() => socket.destroy(), small_body_ms).unref();
  const stop = () => {
    clearInterval(watch);
    clearTimeout(late);
  };
  body.once('end', stop);
  body.once('close', stop);
}

/** One sentence for a 422: the contract's sentence for a single invalid field, otherwise the names of all. */
function sayFields(errors: readonly FieldError[]): Sentence {
  const [first] = errors;
  if (errors.length === 1 && first !== undefined) return asWritten(first.message);
  return sentence('request.fields', { fields: formatList(new Set(errors.map((error) => error.field)), 'plain') });
}

/** Path of a text in a body that no database stores unchanged: PostgreSQL fails on U+0000, and a lone surrogate becomes another character. Undefined if there is none. */
function notText(body: unknown): string | undefined {
  if (ArrayBuffer.isView(body)) return undefined;
  // Without recursion: a body may be nested as deep as its bytes allow.
  const left: { value: unknown; field: string }[] = [{ value: body, field: '' }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, field } = next;
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed()) return field;
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, part] of Object.entries(value))
        left.push({ value: part, field: field === '' ? name : `${field}.${name}` });
    }
  }
  return undefined;
}

const OF_STATUS = new Map<number, ProblemCode>([
  [400, 'malformed'],
  // A path outside the folder of files is not found.
  [403, 'not_found'],
  [404, 'not_found'],
  [413, 'too_large'],
  [415, 'unsupported_media_type'],
]);

/** The problem for an error of Fastify itself. Undefined for internal errors. */
function fromFastify(error: FastifyError | InvalidRequest): Problem | undefined {
  if (error instanceof InvalidRequest) {
    // An invalid id is not found.
    if (error.validationContext === 'params') return new Problem('not_found');
    const errors = error.faults.map(({ path, message }) => ({ field: path.map(String).join('.'), message }));
    return new Problem('invalid_field', { errors, says: sayFields(errors) });
  }
  const status = error.statusCode ?? 0;
  const code = OF_STATUS.get(status);
  if (code !== undefined) return new Problem(code, { cause: error });
  // A range, version or date that the file does not have.
  const isTheirs = status > 400 && status < 500;
  return isTheirs ? refuse('request.nothing_there', {}, { cause: error }) : undefined;
}

function answer(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  const { status } = problem;
  logProblem(problem, request, request.log, request.server.log);
  if (problem.retry_after !== undefined) reply.header('retry-after', String(problem.retry_after));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  const body = JSON.stringify(problem.document(request.id));
  const isArriving = status === 413 && !request.raw.complete;
  if (isArriving) reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(body) });
  reply
    .code(status)
    .type(PROBLEM_TYPE)
    .send(isArriving ? answerBeforeRest(request.raw, body) : body);
}

/** Whether an upgrade request is for a socket of this server: the plugin would otherwise open a socket for any request, and close it again. */
function isForSocket(
  { headers, url }: Pick<IncomingMessage, 'headers' | 'url'>,
  channels: readonly Pick<Channel, 'path'>[],
): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && channels.some(({ path }) => url?.split('?', 1)[0] === `/api${path}`);
}

/** Whether a request names two hosts. A proxy may read the other one (RFC 9112 section 3.2); Node keeps the first without an error. */
function hasTwoHosts(names: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < names.length; index += 2) {
    const name = names[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** Normalizes the addresses from a trusted proxy to the form that Fastify reads; limits would count each invalid one as a person of its own. */
function readForwarded({ raw }: FastifyRequest): void {
  const { 'x-forwarded-for': forwarded_for, forwarded } = raw.headers;
  if (forwarded_for === undefined && forwarded === undefined) return;
  const addresses = forwardedFor({ 'x-forwarded-for': String(forwarded_for ?? '') || undefined, forwarded });
  if (addresses === undefined) delete raw.headers['x-forwarded-for'];
  else raw.headers['x-forwarded-for'] = addresses;
}

/** Ends a request whose peer has disconnected. If the peer is connected at this moment, its address stays readable for as long as the request is handled. */
function isGone({ raw }: FastifyRequest, reply: FastifyReply): boolean {
  if (raw.socket.remoteAddress !== undefined) return false;
  reply.hijack();
  raw.destroy();
  return true;
}

interface HttpOptions {
  logger: FastifyBaseLogger;
  trusted_proxies: readonly string[];
  patience: PatienceLimits;
  /** The address at which people open the application; undefined when it is not known. */
  public_url: string | undefined;
  /** The paths at which sockets may be opened. */
  channels: readonly Pick<Channel, 'path'>[];
  exposure: Exposure;
  connections: ConnectionLimits;
  /** Whether a source is shared by many people. */
  isShared: (source: string) => boolean;
  /** Called for every request before it is answered. */
  onArrival: (request: Incoming) => void;
  /** Receives the fast path for small answers to frequent requests. */
  onDirect?: (direct: DirectRequests) => void;
}

/** Reads JSON bodies within their limits; the body of an upload is read by its handler. */
function parseBodies(fastify: FastifyInstance): void {
  // Many clients send a JSON content type with every request; where no body is expected, an empty one is accepted.
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // Invalid UTF-8 would be decoded to replacement characters, so that different passwords would be equal.
    if (Buffer.isBuffer(body) && !isUtf8(body)) {
      done(refuse('request.not_utf8'), undefined);
      return;
    }
    const text = body.toString();
    if (text === '' && !request.routeOptions.schema?.body) {
      done(null, undefined);
      return;
    }
    const read = () => {
      const refusal = refuseStructure(text);
      if (refusal !== undefined) done(refusal, undefined);
      else
        void parseJson(request, text, (error: Error | null, parsed: unknown) => {
          noteLarge(text, parsed);
          done(error, parsed);
        });
    };
    const admission = admissionOf(request);
    if (admission === undefined) read();
    else admission(text).then(read, done);
  });
  // The body of an upload is read by its handler, as it arrives.
  fastify.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
}

/** Collects the API description from the routes that are added later. */
async function describeApi(fastify: FastifyInstance): Promise<void> {
  await fastify.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Palisade',
        version: VERSION,
        license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
        description:
          'Errors are RFC 9457 problem documents. Lists are newest first, the next page is in the `Link` header.\n\n' +
          'A `phrase` beside a sentence says the same as data: the code of a template in `x-phrases`, and a value for each of its parameters; a template without any is its English alone. A parameter is a ' +
          '`text`, a `number`, a `grouped` number (1,200), a `wait` in seconds, a size in `bytes`, `names` (one a line), or a choice of listed values.\n\n' +
          'What happens is told on the WebSocket `/api/events` as JSON frames, told apart by `kind`. Say ' +
          '`{"kind":"hello","access_token":"..."}` first, with `"after"` and the last event id after a gap; answer each `ping` with `{"kind":"pong"}`.',
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transformObject: jsonSchemaTransformObject,
    transform: (document) => {
      const transformed = jsonSchemaTransform(document);
      if (!document.schema.consumes?.includes('multipart/form-data')) return transformed;
      const body = { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } };
      return { ...transformed, schema: { ...transformed.schema, body } };
    },
  });
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  answer(expectedProblem(error) ?? fromFastify(error) ?? new Problem('internal', { cause: error }), request, reply);
}

/** Installs the fast path before Fastify's listener. */
function putInFront(
  fastify: FastifyInstance,
  { logger, patience, trusted_proxies, onArrival, onDirect }: HttpOptions,
  parts: {
    headers: Readonly<Record<string, string>>;
    isOwnHost: (request: Pick<IncomingMessage, 'headers'>) => boolean;
    bounds: RequestBounds;
  },
): void {
  const { headers, isOwnHost, bounds } = parts;
  const direct = new DirectRequests(fastify.server, patience.small_body_ms, {
    ...{ logger, headers, bounds, onArrival },
    refusal(request) {
      if (hasTwoHosts(request.rawHeaders)) return refuse('request.two_hosts');
      return isOwnHost(request) ? undefined : new Problem('wrong_host');
    },
    isTrusted: trusted_proxies.length > 0 ? isTrustedBy(trusted_proxies) : undefined,
  });
  fastify.server.removeAllListeners('request').on('request', (request, response) => {
    if (!direct.take(request, response)) fastify.routing(request, response);
  });
  // The second server that Fastify opens for HOST=localhost, and calls without a port, bypass that listener.
  fastify.addHook('onRequest', (request, reply, next) => {
    if (direct.take(request.raw, reply.raw)) reply.hijack();
    else next();
  });
  onDirect?.(direct);
}

/** The HTTP server with everything that all endpoints share: request ids, security headers, problem documents, zod validation, and the source of the API description in `openapi.ts`. */
export async function createHttp(options: HttpOptions): Promise<FastifyInstance> {
  const isProxied = options.trusted_proxies.length > 0;
  const forSocket = (request: Pick<IncomingMessage, 'headers' | 'url'>) => isForSocket(request, options.channels);
  const public_host = options.public_url === undefined ? undefined : new URL(options.public_url).hostname;
  /** In local exposure any website could point a domain at this address and send requests as this origin (DNS rebinding), and a proxy could let strangers in. */
  const isOwnHost = (request: Pick<IncomingMessage, 'headers'>) =>
    options.exposure === 'public' || isForLoopback(request) || hostOf(request.headers.host).toLowerCase() === public_host;
  const headers = securityHeaders(options.public_url);
  const fastify = createFastify({
    loggerInstance: options.logger,
    bodyLimit: JSON_BODY_MAXIMUM,
    genReqId: requestIdOf,
    childLoggerFactory: (logger, bindings, opts, { headers: sent }) => logger.child({ ...bindings, ...traceOf(sent) }, opts),
    trustProxy: isProxied ? [...options.trusted_proxies] : false,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // A large upload may take long; bodies are limited by their rate instead.
    requestTimeout: 0,
    http: {
      headersTimeout: options.patience.headers_ms,
      connectionsCheckingInterval: options.patience.look_ms,
      // Other upgrades, such as to HTTP/2, are handled as ordinary requests: Node would not read their body.
      shouldUpgradeCallback: forSocket,
    },
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 200 },
    clientErrorHandler: refuseUnreadable({ logger: options.logger, headers: headers.document }),
    // Errors of the router run no hooks. An id that is too long is not found.
    frameworkErrors: (error, request, reply) => {
      const code = error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'not_found' : (OF_STATUS.get(error.statusCode ?? 0) ?? 'internal');
      const problem =
        code === 'malformed' ? refuse('request.address_encoding', {}, { cause: error }) : new Problem(code, { cause: error });
      reply.headers(headers.document);
      answer(problem, request, reply);
    },
  });
  shareRefusals(fastify.log, options.logger);
  fastify.setValidatorCompiler(({ schema }) => {
    const reader = z.instanceof(z.core.$ZodType).parse(schema);
    return (value: unknown) => {
      const read = readBounded(reader, value);
      return read.ok ? { value: read.value } : { error: new InvalidRequest(read.faults) };
    };
  });
  fastify.setSerializerCompiler(serializerCompiler);
  parseBodies(fastify);

  const bounds = new RequestBounds({ ...options.connections, isShared: options.isShared });
  putInFront(fastify, options, { headers: headers.asset, isOwnHost, bounds });
  boundConnections(fastify.server, { ...options.connections, logger: options.logger });
  cutSlowReaders(fastify.server, { ...options.patience.reading, logger: options.logger });

  const inContext = (request: FastifyRequest, next: () => void) =>
    within({ reqId: request.id, ...traceOf(request.headers) }, next);
  fastify.addHook('onRequest', (request, _reply, next) => inContext(request, next));
  // Set the context again: a body is read in the context of its connection.
  fastify.addHook('preHandler', (request, _reply, next) => inContext(request, next));

  // A large body is examined, validated and handled in three turns of the event loop, so that other requests run between them.
  fastify.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.body;
    if (!isLarge(request.body) || !(schema instanceof z.core.$ZodType)) return;
    examineLarge(schema, request.body);
    await nextTurn();
  });
  fastify.addHook('preHandler', async (request) => {
    if (isLarge(request.body)) await nextTurn();
  });

  // After the schema of the endpoint, whose errors are more specific.
  fastify.addHook('preHandler', (request, _reply, next) => {
    const field = notText(request.body);
    next(field === undefined ? undefined : refuseField(field, 'request.not_text'));
  });

  fastify.addHook('onRequest', async (request, reply) => {
    if (isGone(request, reply)) return;
    if (isProxied) readForwarded(request);
    watchBody(request.raw, options.patience);
    // If an upgrade was answered as a request, its connection has no reader any more and would stay open after its client has left.
    if (forSocket(request.raw)) reply.raw.once('finish', () => request.raw.socket.destroySoon());
    // A missing file is answered with the application's page.
    if (!request.is404 && /^\/(assets\/|[\w-]+\.(js|svg)$)/.test(request.url)) {
      // HTTP/1.1 keeps connections open by default (RFC 9112 section 9.3); the saved bytes make room for the policy.
      reply.raw.removeHeader('connection');
      reply.headers(request.url === '/service-worker.js' ? headers.worker : headers.asset);
      if (request.headers['x-request-id'] === request.id) reply.header('x-request-id', request.id);
    } else {
      reply.headers(headers.document);
      reply.header('x-request-id', request.id);
    }
    if (hasTwoHosts(request.raw.rawHeaders)) throw refuse('request.two_hosts');
    // A request target has no fragment (RFC 9112 section 3.2): the router would cut it off, while a proxy or cache in front may not.
    if (request.url.includes('#')) throw refuse('request.address_fragment');
    // No stored text contains U+0000, and PostgreSQL fails on it.
    if (/\?.*%00/.test(request.url)) throw refuse('request.address_not_text');
    options.onArrival(request);
    if (isOwnHost(request)) return;
    if (refusalsOf(fastify.log).mayTell(sourceOf(request.ip)))
      request.log.info({ req: request }, 'a request named a host that is not this machine');
    if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw new Problem('wrong_host');
    return reply.headers(headers.document).code(421).type('text/html; charset=utf-8').send(wrongHostPage(request));
  });

  boundRequests(fastify, bounds, forSocket);
  fastify.setErrorHandler<FastifyError>(answerError);

  tellFormsApart(fastify);
  await describeApi(fastify);
  return fastify;
}
