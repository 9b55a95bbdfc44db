import { createHash } from 'node:crypto';
import { type Brand, brandSchema, type Logo } from '@palisade/contract/brand';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { dropFact, type InstallationTables, readFact, writeFact } from './installation.ts';
import { Problem } from './problem.ts';

/** The look; the logo's picture is stored separately, because the look is read for every page. */
const BRAND = 'brand';
const PICTURE = 'brand_logo';
const PRODUCT: Brand = { accent: null, logo: null };
const LOGO_PATH = '/api/logo/';
const KEY_LENGTH = 16;
const YEAR_SECONDS = 31_536_000;
const HOUR_SECONDS = 3_600;

/** Reads the provider's look of the installation. */
export async function readBrand(database: Kysely<InstallationTables>): Promise<Brand> {
  const brand = await readFact(database, BRAND);
  return brand === undefined ? PRODUCT : brandSchema.parse(JSON.parse(brand));
}

/** Changes the look; a field that is undefined stays as it is. */
export async function writeBrand(
  database: Kysely<InstallationTables>,
  change: { accent: Brand['accent'] | undefined; logo: (Omit<Logo, 'path'> & { png: Uint8Array }) | null | undefined },
): Promise<void> {
  const brand = { ...(await readBrand(database)) };
  if (change.accent !== undefined) brand.accent = change.accent;
  if (change.logo === null) {
    brand.logo = null;
    await dropFact(database, PICTURE);
  } else if (change.logo !== undefined) {
    const { png, ...size } = change.logo;
    const key = createHash('sha256').update(png).digest('hex').slice(0, KEY_LENGTH);
    brand.logo = { ...size, path: `${LOGO_PATH}${key}.png` };
    await writeFact(database, PICTURE, Buffer.from(png).toString('base64'));
  }
  await writeFact(database, BRAND, JSON.stringify(brand));
}

/** Draws a square PNG from the stored logo. `side`: in pixels. */
export type DrawIcon = (of: { logo: Logo; picture: Buffer; side: number; isMaskable: boolean }) => Buffer;

/** Icons of the application by file name: for the browser tab, the installed app, and notifications. */
const ICONS: Readonly<Record<string, { side: number; isMaskable: boolean }>> = {
  'icon-192.png': { side: 192, isMaskable: false },
  'icon-512.png': { side: 512, isMaskable: false },
  'icon-maskable-512.png': { side: 512, isMaskable: true },
};

/** Serves the icons: drawn from the provider's logo, or the ones of the build if there is no logo. */
export function serveIcons(fastify: FastifyInstance, database: Kysely<InstallationTables>, drawIcon: DrawIcon): void {
  const drawn = new Map<string, Buffer>();
  fastify.get<{ Params: { name: string } }>('/icons/:name', { schema: { hide: true } }, async (request, reply) => {
    const { name } = request.params;
    const icon = ICONS[name];
    if (icon === undefined) throw new Problem('not_found');
    const { logo } = await readBrand(database).catch(() => PRODUCT);
    if (logo === null) return reply.sendFile(`icons/${name}`);
    const etag = `"${logo.path.slice(LOGO_PATH.length)}-${name}"`;
    reply.headers({ 'cache-control': 'no-cache', etag });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    if (!drawn.has(etag)) {
      const picture = await readFact(database, PICTURE);
      if (picture === undefined) throw new Problem('not_found');
      if (drawn.size >= Object.keys(ICONS).length) drawn.clear();
      drawn.set(etag, drawIcon({ logo, picture: Buffer.from(picture, 'base64'), ...icon }));
    }
    return reply.type('image/png').send(drawn.get(etag));
  });
}

/**
 * Serves the logo, also to mail programs. Its address contains its version, so browsers cache it permanently; the address of an earlier version, from an old mail, returns
 * the current logo and may be cached for an hour.
 */
export function serveLogo(fastify: FastifyInstance, database: Kysely<InstallationTables>): void {
  fastify.get(`${LOGO_PATH}:name`, { schema: { hide: true } }, async (request, reply) => {
    const { logo } = await readBrand(database);
    if (logo === null || !/^[\da-f]+\.png$/u.test(request.url.slice(LOGO_PATH.length))) throw new Problem('not_found');
    const etag = `"${logo.path.slice(LOGO_PATH.length, -'.png'.length)}"`;
    reply
      .header('etag', etag)
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
      .header('cross-origin-resource-policy', 'cross-origin')
      .header(
        'cache-control',
        request.url === logo.path ? `public, max-age=${YEAR_SECONDS}, immutable` : `public, max-age=${HOUR_SECONDS}`,
      );
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    const picture = await readFact(database, PICTURE);
    if (picture === undefined) throw new Problem('not_found');
    return reply.type('image/png').send(Buffer.from(picture, 'base64'));
  });
}
