import { setupConfig } from '@palisade/contract/setup';
import type { Kysely } from 'kysely';
import { type InstallationTables, writeSetup } from '#platform/installation.ts';
import { type Api, serve } from '#platform/serve.ts';

export function serveSetup(api: Api, database: Kysely<InstallationTables>): void {
  serve(api, setupConfig, 'admin', async ({ body }) => {
    await writeSetup(database, body);
    return { success: true as const };
  });
}
