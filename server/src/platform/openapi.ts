import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import swaggerUi from '@fastify/swagger-ui';
import type { Template } from '@palisade/contract/phrase';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding } from './accepted-encoding.ts';
import { shapeDescription } from './openapi-shape.ts';
import type { RateLimits } from './rate-limit.ts';

const PATH = '/api/openapi.json';
/** Takes half a second of one core; the maximum of 11 takes three. */
const BROTLI_QUALITY = 6;

/** Whether a client's copy is current (RFC 9110 section 13.1.2, weak comparison). */
function isKnown(request: FastifyRequest, etag: string): boolean {
  const known = String(request.headers['if-none-match'] ?? '');
  return known.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}

/** The catalogs as the description shows them: a sentence without parameters is given as its English text. */
export function shortPhrases(
  catalogs: Readonly<Record<string, Readonly<Record<string, Template>>>>,
): Record<string, Record<string, Template | string>> {
  const short = (template: Template) =>
    typeof template.english === 'string' && template.params === undefined ? template.english : template;
  return Object.fromEntries(
    Object.entries(catalogs).map(([name, catalog]) => [
      name,
      Object.fromEntries(Object.entries(catalog).map(([code, template]) => [code, short(template)])),
    ]),
  );
}

/**
 * Serves the API description: the document at `/api/openapi.json` and its page at `/api/docs`. The document is serialized and compressed at the first request, and cached.
 * It contains only routes that are added later.
 */
export async function serveOpenApi(
  fastify: FastifyInstance,
  parts: {
    limits: Pick<RateLimits, 'ofDocument'>;
    /** The sentences with a code, by the field that holds them. */
    phrases: Readonly<Record<string, Readonly<Record<string, Template>>>>;
    names: ReadonlyMap<string, string>;
    tags: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { limits, phrases, names, tags } = parts;
  const written = once(async () => {
    // `x-phrases`: each code of a phrase, with its English text and its parameters.
    const plain = Buffer.from(
      JSON.stringify({ ...shapeDescription(fastify.swagger(), { names, tags }), 'x-phrases': shortPhrases(phrases) }),
    );
    const params = { [zlib.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    const [br, gz] = await Promise.all([promisify(brotliCompress)(plain, { params }), promisify(gzip)(plain)]);
    return { plain, br, gzip: gz, etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"` };
  });

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { etag, ...forms } = await written();
    // Clients revalidate their copy: the description is public and the same for all.
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    if (isKnown(request, etag)) return reply.code(304).send();
    const encoding = acceptedEncoding(request);
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    return reply.type('application/json; charset=utf-8').send(encoding === undefined ? forms.plain : forms[encoding]);
  }

  const count = (request: FastifyRequest) => limits.ofDocument(request);
  /** Answers the page's request for the document, which the plugin would serialize again each time. Returns whether it did. */
  async function answerForPage(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    await count(request);
    const { url } = request.routeOptions;
    if (url === '/api/docs/json') await send(request, reply);
    else if (url === '/api/docs/yaml') await reply.redirect(PATH);
    else return false;
    return true;
  }

  await fastify.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: false,
    uiHooks: {
      onRequest(request, reply, next) {
        answerForPage(request, reply).then(
          (isAnswered) => isAnswered || next(),
          (error: Error) => next(error),
        );
      },
    },
  });
  fastify.get(PATH, { schema: { hide: true }, onRequest: count }, send);
}

/** Caches the result of the first call; a failure is retried at the next call. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
