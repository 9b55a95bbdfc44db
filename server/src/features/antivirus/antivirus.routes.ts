import { listScans, scanFile } from '@palisade/contract/antivirus';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import { receiveUpload } from '#platform/upload.ts';
import type { Antivirus } from './antivirus.ts';
import type { Spool } from './spool.ts';

/** Largest upload in bytes, and how long one may pause, in ms. */
export interface UploadLimits {
  maximum: number;
  stall_ms: number;
}

export function serveAntivirus(api: Api, antivirus: Antivirus, spool: Spool, limits: UploadLimits): void {
  serve(api, listScans, 'customer', async ({ session, query, header, request }) => {
    const scans = await antivirus.list(session.user.id, query);
    nextPage({ rows: scans, query, url: request.url, header });
    return scans;
  });

  serve(api, scanFile, 'customer', async ({ session, request }) => {
    const id = antivirus.newScanId();
    const upload = await receiveUpload(request, { field: 'file', path: spool.arriving(id), ...limits });
    return await antivirus.scan({ id, user_id: session.user.id, ...upload });
  });
}
