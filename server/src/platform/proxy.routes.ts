import { clearProxyFindings, readProxyFindings } from '@palisade/contract/proxy';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from './audit.ts';
import { inTransaction } from './in-transaction.ts';
import type { InstallationTables } from './installation.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { originOf } from './origin.ts';
import type { ProxyWatch } from './proxy-watch.ts';
import { type Api, serve } from './serve.ts';

/** Shows administrators the findings about proxies. */
export function serveProxyFindings(
  api: Api,
  parts: {
    database: Kysely<InstallationTables & AuditTables>;
    audit: Audit;
    proxies: ProxyWatch;
    keptAnswers: Pick<KeptAnswers, 'keepForAll' | 'toldAll'>;
  },
): void {
  const { database, audit, proxies, keptAnswers } = parts;

  const findings = keptAnswers.keepForAll(
    readProxyFindings,
    () => '',
    () => proxies.findings(),
  );
  serve(api, readProxyFindings, 'admin', () => findings(undefined));

  serve(api, clearProxyFindings, 'admin', async ({ session, request }) => {
    const { id } = session.user;
    await inTransaction(database, async (transaction) => {
      await proxies.clear(transaction.$pickTables<'installation'>());
      await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
        kind: 'proxy_findings_cleared',
        subject_id: id,
        actor_id: id,
        origin: originOf(request),
      });
    });
    keptAnswers.toldAll();
  });
}
