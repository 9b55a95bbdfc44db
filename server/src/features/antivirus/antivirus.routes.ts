import {
  cancelUpload,
  countScans,
  listScans,
  scanFile,
  settleInfections,
  UPLOAD_KEY_HEADER,
  uploadKeySchema,
} from '@palisade/contract/antivirus';
import type { FastifyRequest } from 'fastify';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import { refuse, refuseField } from './antivirus.refusals.ts';
import type { Antivirus } from './antivirus.ts';
import type { Receive } from './receive.ts';
import type { UploadAdmission } from './upload-admission.ts';

/** @throws Problem `invalid_field` for an invalid key. */
function uploadKeyOf(request: FastifyRequest): string | undefined {
  const sent = request.headers[UPLOAD_KEY_HEADER];
  if (sent === undefined) return undefined;
  const key = uploadKeySchema.safeParse(sent).data;
  if (key === undefined) throw refuseField(UPLOAD_KEY_HEADER, 'upload.key_form');
  return key;
}

export function serveAntivirus(
  api: Api,
  { antivirus, admission, receive }: { antivirus: Antivirus; admission: UploadAdmission; receive: Receive },
): void {
  serve(api, listScans, 'customer', async (call) => nextPage(call, await antivirus.list(call.session.user.id, call.query)));

  serve(api, countScans, 'customer', ({ session, query }) => antivirus.totals(session.user.id, query.search));

  serve(api, scanFile, 'customer', ({ session, request }) =>
    receive(request, { user_id: session.user.id, key: uploadKeyOf(request) }),
  );

  serve(api, settleInfections, 'customer', async ({ session, body }) => ({
    settled: await antivirus.settle(session.user.id, body),
  }));

  serve(api, cancelUpload, { find: ({ key }: { key: string }) => admission.find(key) }, async ({ params }) => {
    if (!(await admission.cancel(params.key))) throw refuse('scan.already_finished');
  });
}
