import {
  decideFalseAlarm,
  deleteFile,
  deleteScan,
  listFalseAlarms,
  readScan,
  reopenFalseAlarm,
  reportFalseAlarm,
  restoreFile,
  unlockFile,
} from '@palisade/contract/quarantine';
import { attachmentHeader } from '#platform/file-name.ts';
import { type Origin, originOf } from '#platform/origin.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Antivirus } from './antivirus.ts';
import type { FalseAlarms } from './false-alarms.ts';
import type { ScanRow } from './scan-row.ts';

/** Records an owner's action on a kept file in the audit log. */
type RecordFile = (kind: 'file_restored' | 'file_deleted', row: ScanRow, origin: Origin) => Promise<void>;

export function serveQuarantine(api: Api, antivirus: Antivirus, falseAlarms: FalseAlarms, record: RecordFile): void {
  const own = { find: ({ id }: { id: string }) => antivirus.find(id) };

  serve(api, readScan, own, ({ row }) => antivirus.detail(row));
  serve(api, deleteScan, own, ({ row }) => antivirus.remove(row));

  serve(api, restoreFile, own, async ({ row, header, request }) => {
    const bytes = await antivirus.restore(row);
    await record('file_restored', row, originOf(request)).catch((error: unknown) => {
      bytes.destroy();
      throw error;
    });
    header('content-type', 'application/octet-stream');
    header('content-length', String(row.size));
    header('content-disposition', attachmentHeader(row.filename));
    return bytes;
  });
  serve(api, deleteFile, own, async ({ row, request }) => {
    if (await antivirus.removeFile(row)) await record('file_deleted', row, originOf(request));
  });
  serve(api, unlockFile, own, async ({ row, body }) => antivirus.detail(await antivirus.unlock(row, body.password)));
  serve(api, reportFalseAlarm, own, async ({ row, body }) => {
    await falseAlarms.report(row, body.reason);
    return antivirus.detail(row);
  });

  serve(api, listFalseAlarms, 'admin', async (call) => nextPage(call, await falseAlarms.list(call.query)));
  serve(api, decideFalseAlarm, 'admin', async ({ session, body, request }) => {
    const by = { actor_id: session.user.id, origin: originOf(request) };
    await falseAlarms.decide(body.report_id, body.decision, by);
    return { success: true as const };
  });
  serve(api, reopenFalseAlarm, 'admin', async ({ session, body, request }) => {
    await falseAlarms.reopen(body.report_id, body.decided_at, { actor_id: session.user.id, origin: originOf(request) });
    return { success: true as const };
  });
}
