import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { accentRules } from '@palisade/contract/accent';
import type { Brand } from '@palisade/contract/brand';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding } from './accepted-encoding.ts';
import { readScreenTags } from './screen-files.ts';

interface Page {
  etag: string;
  identity: Buffer;
  br: Buffer;
  gzip: Buffer;
}

/** The provider's look as tags for a page's head, for its first paint. `brandSchema` has checked the values. */
function headOf({ accent, logo }: Brand): string {
  const rules = accent === null ? '' : `<style id="accent" data-color="${accent}">${accentRules(accent)}</style>`;
  if (logo === null) return rules;
  const { path, width, height, on } = logo;
  const data = `data-width="${width}" data-height="${height}" data-on="${on}"`;
  const icon = `<link rel="icon" type="image/png" sizes="192x192" href="/icons/icon-192.png?${path.slice(-8, -4)}">`;
  return `${rules}<link id="logo" rel="preload" as="image" href="${path}" ${data}>${icon}`;
}

/** The product's icon, which a provider's logo replaces. */
const OWN_ICON = /<link rel="icon"[^>]*>/u;

/** The page of the application with the provider's look and the files of its screen in its head. */
export class BrandedPage {
  private readonly text: string;
  private readonly tagsFor: (url: string) => string;
  private look = '';
  /** Pages of one look, by the tags of their screen. */
  private readonly pages = new Map<string, Page>();

  constructor(folder: string) {
    this.text = readFileSync(join(folder, 'index.html'), 'utf8');
    this.tagsFor = readScreenTags(folder);
  }

  private pageWith(look: string, tags: string): Page {
    if (look !== this.look) this.pages.clear();
    this.look = look;
    const kept = this.pages.get(tags);
    if (kept !== undefined) return kept;
    const head = `${look}${tags}`;
    const identity = Buffer.from(
      (head.includes('<link rel="icon"') ? this.text.replace(OWN_ICON, '') : this.text).replace(
        '</head>',
        () => `${head}</head>`,
      ),
    );
    const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`;
    const page = { etag, identity, br: brotliCompressSync(identity), gzip: gzipSync(identity) };
    this.pages.set(tags, page);
    return page;
  }

  /** Sends the page; false if the page of the build is unchanged: the look is the product's, and no screen has the path. */
  send(brand: Brand | undefined, request: FastifyRequest, reply: FastifyReply): boolean {
    const look = brand === undefined ? '' : headOf(brand);
    const tags = this.tagsFor(request.url);
    if (look === '' && tags === '') return false;
    const page = this.pageWith(look, tags);
    const encoding = acceptedEncoding(request);
    reply.headers({ 'cache-control': 'no-cache', etag: page.etag, vary: 'accept-encoding' });
    if (request.headers['if-none-match'] === page.etag) reply.code(304).send();
    else {
      if (encoding !== undefined) reply.header('content-encoding', encoding);
      reply.type('text/html; charset=utf-8').send(page[encoding ?? 'identity']);
    }
    return true;
  }
}
