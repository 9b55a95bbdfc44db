import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
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
  type FastifyRequest,
} from 'fastify';
import {
  hasZodFastifySchemaValidationErrors,
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod';
import { databaseProblem } from './database-errors.ts';
import { Problem } from './problem.ts';
import { securityHeaders } from './security-headers.ts';
import { storageProblem } from './storage-problem.ts';
import { refuseUnreadable } from './unreadable.ts';

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

function fieldErrors(error: FastifyError): FieldError[] {
  if (!hasZodFastifySchemaValidationErrors(error)) return [];
  return error.validation.map((issue) => ({
    field: issue.instancePath.split('/').filter(Boolean).join('.'),
    message: issue.message ?? 'This is not valid.',
  }));
}

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

function answer(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  const { code, status, cause } = problem;
  if (code === 'internal') request.log.error({ req: request, err: cause }, 'request failed');
  else if (code === 'forbidden') request.log.warn({ req: request }, 'somebody may not do this');
  else if (status >= 500 && cause !== undefined)
    request.log.warn({ req: request, err: cause, code }, 'request could not be served');
  if (problem.retry_after !== undefined) reply.header('retry-after', String(problem.retry_after));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  reply
    .code(status)
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(problem.document(request.id)));
}

/**
 * The HTTP server with everything that is the same for every endpoint: request ids, security headers, problem documents, zod validation, OpenAPI at
 * `/api/openapi.json` and its page at `/api/docs`.
 */
export async function createHttp(options: {
  logger: FastifyBaseLogger;
  trusted_proxies: readonly string[];
  patience: PatienceLimits;
  /** Where people open the application; undefined when it is not known. */
  public_url: string | undefined;
}): Promise<FastifyInstance> {
  const headers = securityHeaders(options.public_url);
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
    clientErrorHandler: refuseUnreadable({ logger: options.logger, headers: headers.document }),
    // What the router refuses runs no hook. An id that is too long names nothing.
    frameworkErrors: (error, request, reply) => {
      const code = error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'not_found' : (OF_STATUS.get(error.statusCode ?? 0) ?? 'internal');
      const detail = code === 'malformed' ? { detail: 'The address is not encoded as an address must be.' } : {};
      reply.headers(headers.document);
      answer(new Problem(code, { ...detail, cause: error }), request, reply);
    },
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
    // A file that is not there is answered with the application's page.
    if (!request.is404 && /^\/(assets\/|[\w-]+\.(js|svg)$)/.test(request.url)) {
      // HTTP/1.1 keeps the connection unless told otherwise (RFC 9112 section 9.3): the bytes go to the policy.
      reply.raw.removeHeader('connection');
      return void reply.headers(headers.asset);
    }
    reply.headers(headers.document);
    reply.header('x-request-id', request.id);
  });

  fastify.setErrorHandler<FastifyError>((error, request, reply) => {
    const known = error instanceof Problem ? error : (databaseProblem(error) ?? storageProblem(error));
    const problem = known instanceof Problem ? known : (fromFastify(error) ?? new Problem('internal', { cause: error }));
    answer(problem, request, reply);
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
