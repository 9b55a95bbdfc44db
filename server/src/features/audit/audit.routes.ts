import { Readable } from 'node:stream';
import { checkAudit, exportActivity, listActivity, listAudit } from '@palisade/contract/audit';
import { BYTE_ORDER_MARK, csvLine } from '#platform/csv.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { AuditLog } from './audit-log.ts';

const numbered = (rows: readonly { seq: number }[]) => rows.map(({ seq }) => ({ id: String(seq) }));

async function* csvOf(log: AuditLog, user_id: string) {
  yield BYTE_ORDER_MARK + csvLine(['Number', 'Time (UTC)', 'What', 'By', 'Address', 'Client', 'Details']);
  for await (const { seq, at, kind, by, address, client, details } of log.allActivity(user_id)) {
    const facts = Object.entries(details).map(([name, value]) => `${name}: ${value}`);
    yield csvLine([String(seq), at, kind, by, address ?? '', client ?? '', facts.join('; ')]);
  }
}

async function* jsonOf(log: AuditLog, user_id: string) {
  let separator = '[\n';
  for await (const entry of log.allActivity(user_id)) {
    yield separator + JSON.stringify(entry);
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

export function serveAudit(api: Api, log: AuditLog): void {
  serve(api, listActivity, 'customer', async ({ session, query, header, request }) => {
    const rows = await log.activity(session.user.id, query);
    nextPage({ rows: numbered(rows), query, url: request.url, header });
    return rows;
  });

  serve(api, exportActivity, 'customer', ({ session, query: { format }, header }) => {
    header('content-type', format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8');
    header('content-disposition', `attachment; filename="palisade-activity.${format}"`);
    return Promise.resolve(Readable.from((format === 'csv' ? csvOf : jsonOf)(log, session.user.id)));
  });

  serve(api, listAudit, 'admin', async ({ query, header, request }) => {
    const rows = await log.list(query);
    nextPage({ rows: numbered(rows), query, url: request.url, header });
    return rows;
  });

  serve(api, checkAudit, 'admin', () => log.check());
}
