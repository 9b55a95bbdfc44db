import { setupConfig } from '@palisade/contract/setup';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { type InstallationTables, writeSetup } from '#platform/installation.ts';
import { originOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';

export function serveSetup(api: Api, database: Kysely<InstallationTables & AuditTables>, audit: Audit): void {
  serve(api, setupConfig, 'admin', async ({ session, body, request }) => {
    const { id } = session.user;
    await inTransaction(database, async (transaction) => {
      await writeSetup(transaction.$pickTables<'installation'>(), body);
      await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
        kind: 'setup_changed',
        subject_id: id,
        actor_id: id,
        origin: originOf(request),
        details: { company_name: body.client_info.company_name },
      });
    });
    return { success: true as const };
  });
}
