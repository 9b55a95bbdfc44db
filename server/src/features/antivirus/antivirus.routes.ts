import { cancelUpload, countScans, listScans, scanFile, UPLOAD_KEY_HEADER, uploadKeySchema } from '@palisade/contract/antivirus';
import type { FastifyRequest } from 'fastify';
import { nextPage } from '#platform/page.ts';
import { invalidField, Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import { receiveUpload } from '#platform/upload.ts';
import type { Antivirus } from './antivirus.ts';
import type { Arrivals } from './arrivals.ts';
import { HELD_BYTES_MAXIMUM, type Spool } from './spool.ts';

/** Largest upload in bytes, how long one may pause, in ms, how slow it may be, and how long it may take in all, in ms. */
export interface UploadLimits {
  maximum: number;
  stall_ms: number;
  slow: { window_ms: number; bytes: number };
  total_ms: number;
}

/** @throws Problem `invalid_field` for a key that is none. */
function uploadKeyOf(request: FastifyRequest): string | undefined {
  const sent = request.headers[UPLOAD_KEY_HEADER];
  if (sent === undefined) return undefined;
  const key = uploadKeySchema.safeParse(sent).data;
  if (key === undefined) throw invalidField(UPLOAD_KEY_HEADER, 'The upload key has 32 hexadecimal digits.');
  return key;
}

export function serveAntivirus(
  api: Api,
  { antivirus, spool, arrivals, limits }: { antivirus: Antivirus; spool: Spool; arrivals: Arrivals; limits: UploadLimits },
): void {
  serve(api, listScans, 'customer', async ({ session, query, header, request }) => {
    const scans = await antivirus.list(session.user.id, query);
    nextPage({ rows: scans, query, url: request.url, header });
    return scans;
  });

  serve(api, countScans, 'customer', ({ session, query }) => antivirus.totals(session.user.id, query.search));

  serve(api, scanFile, 'customer', ({ session, request }) => {
    const id = antivirus.newScanId();
    const user_id = session.user.id;
    const key = uploadKeyOf(request);
    return arrivals.during({ user_id, key }, async (signal) => {
      const take = (size: number) => spool.take({ id, user_id, size });
      // What has no room is refused before its body.
      take(0);
      const where = { path: spool.arriving(id), memory_bytes: HELD_BYTES_MAXIMUM };
      const upload = await receiveUpload(request, { field: 'file', ...where, signal, take, ...limits }).catch(
        async (error: unknown) => {
          await spool.remove(id);
          throw error;
        },
      );
      return await antivirus.scan({ id, user_id, key, signal, ...upload });
    });
  });

  serve(api, cancelUpload, { find: ({ key }: { key: string }) => arrivals.find(key) }, async ({ params }) => {
    if (!(await arrivals.cancel(params.key))) throw new Problem('not_found', { detail: 'The file has its verdict already.' });
  });
}
