import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { Brand } from '@palisade/contract/brand';
import type { FastifyInstance } from 'fastify';
import { BrandedPage } from './branded-page.ts';
import { refuse } from './platform.refusals.ts';
import { Problem } from './problem.ts';
import { isProbe } from './request-rules.ts';
import { SCREEN_FILES } from './screen-files.ts';

const YEAR_SECONDS = 31_536_000;

/** Paths that are never the application's page: a program that requests one would treat status 200 as success (W3C "A Well-Known URL for Changing Passwords", section 3). */
const NO_PAGE = /^\/(?:api|assets|dns|(?:\.|%2e)well-known)(?:[/?]|$)/iu;
/** The page where a signed-in person changes the password; others sign in first. */
const CHANGE_PASSWORD_PAGE = '/dashboard?open=security&tab=password';

/**
 * Serves the built web application: hashed assets, cached permanently, and its page for every unknown path that is not below `/api` or `/.well-known`. Unknown `/api` paths,
 * and those that vulnerability scanners request, get problem documents. Without a build only the API is served.
 */
export async function serveWeb(
  fastify: FastifyInstance,
  folder: string,
  { readBrand, serveIcons }: { readBrand: () => Promise<Brand>; serveIcons: () => void },
): Promise<void> {
  const built = existsSync(join(folder, 'index.html'));
  if (built) {
    await serveFiles(fastify, folder);
    serveIcons();
  }
  const page = built ? new BrandedPage(folder) : undefined;
  fastify.setNotFoundHandler(async (request, reply) => {
    const { url, method } = request;
    const forPage = (method === 'GET' || method === 'HEAD') && !NO_PAGE.test(url) && !isProbe(url);
    if (page === undefined || !forPage) throw url.startsWith('/api') ? refuse('address.unknown') : new Problem('not_found');
    // The page itself reports that the database is away.
    const brand = await readBrand().catch(() => undefined);
    if (page.send(brand, request, reply)) return reply;
    return reply.sendFile('index.html');
  });
}

async function serveFiles(fastify: FastifyInstance, folder: string): Promise<void> {
  fastify.get('/.well-known/change-password', { schema: { hide: true } }, (_request, reply) =>
    reply.redirect(CHANGE_PASSWORD_PAGE),
  );
  // Its `start_url` is relative, so that an installed household page opens its own address.
  fastify.get('/ask/:key/ask.webmanifest', { schema: { hide: true } }, (_request, reply) => reply.sendFile('ask.webmanifest'));
  // Only existing files of the build; any other path gets the application's page.
  const common = { wildcard: false, index: false, preCompressed: true, cacheControl: false } as const;
  await fastify.register(fastifyStatic, {
    ...common,
    root: join(folder, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    // Their names contain a hash of the content: no revalidation is needed.
    etag: false,
    lastModified: false,
    acceptRanges: false,
    setHeaders: (reply) => void reply.header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`),
  });
  await fastify.register(fastifyStatic, {
    ...common,
    root: folder,
    globIgnore: ['assets/**', 'icons/**', SCREEN_FILES],
    setHeaders: (reply, path) => {
      reply.header('cache-control', 'no-cache');
      // RFC 3023 section 8.5: the charset of XML is given as for text.
      if (path.endsWith('.svg')) reply.header('content-type', 'image/svg+xml; charset=utf-8');
    },
  });
}
