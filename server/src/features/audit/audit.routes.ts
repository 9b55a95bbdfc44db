import { checkAudit, exportActivity, listActivity, listAudit } from '@palisade/contract/audit';
import { activityFile } from '#platform/activity-file.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { AuditLog } from './audit-log.ts';

const numbered = (rows: readonly { seq: number }[]) => rows.map(({ seq }) => ({ id: String(seq) }));

export function serveAudit(api: Api, log: AuditLog): void {
  serve(api, listActivity, 'customer', async ({ session, query, header, request }) => {
    const rows = await log.activity(session.user.id, query);
    nextPage({ query, request, header }, numbered(rows));
    return rows;
  });

  serve(api, exportActivity, 'customer', ({ session, query: { format }, header }) =>
    Promise.resolve(activityFile(log.allActivity(session.user.id), { name: 'palisade-activity', format, header })),
  );

  serve(api, listAudit, 'admin', async ({ query, header, request }) => {
    const rows = await log.list(query);
    nextPage({ query, request, header }, numbered(rows));
    return rows;
  });

  serve(api, checkAudit, 'admin', () => log.check());
}
