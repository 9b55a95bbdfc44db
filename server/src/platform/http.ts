import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { JSON_BODY_MAXIMUM, VERSION } from '@palisade/contract/constants';
import type { FieldError, ProblemCode } from '@palisade/contract/problem';
import {
  fastify as createFastify,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
} from 'fastify';
import {
  hasZodFastifySchemaValidationErrors,
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod';
import { Problem } from './problem.ts';

/** What a slow client may cost (slow-loris). Times in ms. */
export interface PatienceLimits {
  /** For the headers of a request, and how often that is looked after. */
  headers_ms: number;
  look_ms: number;
  /** A connection on which, while a body is awaited, fewer bytes arrive in a window is cut. Laxer than the bounds of uploads, which end with an answer. */
  body: { window_ms: number; bytes: number };
}

export const PATIENCE: PatienceLimits = { headers_ms: 30_000, look_ms: 10_000, body: { window_ms: 45_000, bytes: 20 * 1024 } };
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** The API answers nothing that a page may run, and the application loads everything from itself. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  // Mantine sets style attributes and inserts style elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  // The events socket as well (CSP 3, section 6.7.2.8).
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const SECURITY_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

function fieldErrors(error: FastifyError): FieldError[] {
  if (!hasZodFastifySchemaValidationErrors(error)) return [];
  return error.validation.map((issue) => ({
    field: issue.instancePath.split('/').filter(Boolean).join('.'),
    message: issue.message ?? 'This is not valid.',
  }));
}

/** A script, style or font is no document: the policies of a document would be 600 bytes on each for nothing. */
const ASSET_HEADERS = {
  'x-content-type-options': SECURITY_HEADERS['x-content-type-options'],
  'cross-origin-resource-policy': SECURITY_HEADERS['cross-origin-resource-policy'],
} as const;

/** Whoever is answered before their body has come, and whoever sends JSON byte by byte, may not keep the connection for ever. */
function watchBody(body: IncomingMessage, { window_ms, bytes }: PatienceLimits['body']): void {
  if (body.headers['content-length'] === undefined && body.headers['transfer-encoding'] === undefined) return;
  const { socket } = body;
  let before = socket.bytesRead;
  const watch = setInterval(() => {
    if (socket.bytesRead - before < bytes) socket.destroy();
    before = socket.bytesRead;
  }, window_ms);
  watch.unref();
  const stop = () => clearInterval(watch);
  body.once('end', stop);
  body.once('close', stop);
}

/** One sentence for a 422: that of its one field, else the names of all. */
function describeFields(errors: readonly FieldError[]): string {
  const [first] = errors;
  if (errors.length === 1 && first !== undefined) return first.message;
  return `Check these fields: ${[...new Set(errors.map((error) => error.field))].join(', ')}.`;
}

/** By the code of Node's error. */
const UNREAD = new Map<string, ProblemCode>([
  ['HPE_HEADER_OVERFLOW', 'too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'upload_stalled'],
]);
const UNREAD_DETAIL = 'The head of this request could not be read. Check its address and its headers.';

const OF_STATUS = new Map<number, ProblemCode>([
  [400, 'malformed'],
  [404, 'not_found'],
  [413, 'too_large'],
  [415, 'unsupported_media_type'],
]);

/** What Fastify itself refuses, in our codes. Undefined for what is our own fault. */
function fromFastify(error: FastifyError): Problem | undefined {
  if (error.validation) {
    // An id that is no id names nothing.
    if (error.validationContext === 'params') return new Problem('not_found');
    const errors = fieldErrors(error);
    return new Problem('invalid_field', { errors, detail: describeFields(errors) });
  }
  const code = OF_STATUS.get(error.statusCode ?? 0);
  return code === undefined ? undefined : new Problem(code, { cause: error });
}

function answer(reply: FastifyReply, problem: Problem, request_id: string): FastifyReply {
  if (problem.retry_after !== undefined) reply.header('retry-after', String(problem.retry_after));
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(problem.status)
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(problem.document(request_id)));
}

/** What was never read as a request has no reply object: its answer is written by hand, and the connection is done for. */
function refuseUnread(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const problem = new Problem(UNREAD.get(error.code ?? '') ?? 'malformed', { detail: UNREAD_DETAIL });
  const body = JSON.stringify(problem.document(randomUUID()));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * The HTTP server with everything that is the same for every endpoint: request ids, security headers, problem documents, zod validation, OpenAPI at
 * `/api/openapi.json` and its page at `/api/docs`.
 */
export async function createHttp(options: {
  logger: FastifyBaseLogger;
  trusted_proxies: readonly string[];
  patience: PatienceLimits;
}): Promise<FastifyInstance> {
  const fastify = createFastify({
    loggerInstance: options.logger,
    bodyLimit: JSON_BODY_MAXIMUM,
    genReqId: () => randomUUID(),
    trustProxy: options.trusted_proxies.length > 0 ? [...options.trusted_proxies] : false,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // A large upload may take long; bodies are watched for their rate.
    requestTimeout: 0,
    http: { headersTimeout: options.patience.headers_ms, connectionsCheckingInterval: options.patience.look_ms },
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 200 },
    // An address that cannot be one of ours, told before any hook has run.
    frameworkErrors: (_error, request, reply) => {
      reply.headers(SECURITY_HEADERS).header('cache-control', 'no-store');
      answer(reply, new Problem('not_found'), request.id);
    },
    clientErrorHandler: refuseUnread,
  });
  fastify.setValidatorCompiler(validatorCompiler);
  fastify.setSerializerCompiler(serializerCompiler);
  // Many clients name JSON in every request; where no body is asked for, an empty one is none.
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && !request.routeOptions.schema?.body) done(null, undefined);
    else void parseJson(request, body.toString(), done);
  });
  // The body of an upload is read by its handler, as it arrives.
  fastify.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));

  fastify.addHook('onRequest', async (request, reply) => {
    watchBody(request.raw, options.patience.body);
    if (/^\/(assets\/|[\w-]+\.(js|svg)$)/.test(request.url)) return void reply.headers(ASSET_HEADERS);
    reply.headers(SECURITY_HEADERS);
    reply.header('x-request-id', request.id);
    if (request.url.startsWith('/api')) reply.header('cache-control', 'no-store');
  });

  fastify.setErrorHandler<FastifyError>((error, request, reply) => {
    const problem = error instanceof Problem ? error : (fromFastify(error) ?? new Problem('internal', { cause: error }));
    if (problem.code === 'internal') request.log.error({ err: error }, 'request failed');
    return answer(reply, problem, request.id);
  });

  await fastify.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Palisade',
        version: VERSION,
        description:
          'Errors are RFC 9457 problem documents. Lists are newest first, the next page is in the `Link` header.\n\n' +
          'What happens is told on the WebSocket `/api/events` as JSON frames, told apart by `kind`. Say ' +
          '`{"kind":"hello","access_token":"..."}` first, with `"after"` and the last event id after a gap; answer each `ping` with `{"kind":"pong"}`.',
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transform: (document) => {
      const transformed = jsonSchemaTransform(document);
      if (!document.schema.consumes?.includes('multipart/form-data')) return transformed;
      const body = { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } };
      return { ...transformed, schema: { ...transformed.schema, body } };
    },
  });
  await fastify.register(swaggerUi, { routePrefix: '/api/docs', staticCSP: false });
  fastify.get('/api/openapi.json', { schema: { hide: true } }, () => fastify.swagger());
  return fastify;
}
