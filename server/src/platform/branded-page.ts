import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { accentRules } from '@palisade/contract/accent';
import type { Brand } from '@palisade/contract/brand';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding } from './accepted-encoding.ts';

interface Page {
  etag: string;
  identity: Buffer;
  br: Buffer;
  gzip: Buffer;
}

/** The provider's look as tags of a page's head, for its first paint. `brandSchema` has checked the values. */
function headOf({ accent, logo }: Brand): string {
  const rules = accent === null ? '' : `<style id="accent" data-color="${accent}">${accentRules(accent)}</style>`;
  if (logo === null) return rules;
  const { path, width, height, on } = logo;
  const data = `data-width="${width}" data-height="${height}" data-on="${on}"`;
  return `${rules}<link id="logo" rel="preload" as="image" href="${path}" ${data}>`;
}

/** The page of the application with the provider's look in its head. */
export class BrandedPage {
  private readonly text: string;
  private page: Page | undefined;
  private head: string | undefined;

  constructor(folder: string) {
    this.text = readFileSync(join(folder, 'index.html'), 'utf8');
  }

  private pageWith(head: string): Page {
    if (this.page !== undefined && this.head === head) return this.page;
    const identity = Buffer.from(this.text.replace('</head>', () => `${head}</head>`));
    const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`;
    this.head = head;
    this.page = { etag, identity, br: brotliCompressSync(identity), gzip: gzipSync(identity) };
    return this.page;
  }

  /** Answers the page; false where the look is the product's, and the page of the build stands. */
  send(brand: Brand, request: FastifyRequest, reply: FastifyReply): boolean {
    const head = headOf(brand);
    if (head === '') return false;
    const page = this.pageWith(head);
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
