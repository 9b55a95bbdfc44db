import { setupPayloadSchema } from '@palisade/contract/setup';
import type { Kysely } from 'kysely';
import type { z } from 'zod';

/** Facts of which an installation has one each; the primary key decides who was first. */
export interface InstallationTables {
  installation: { name: string; value: string };
}

/** Who stands behind the screens and mails. Contacts that are not known are empty. */
export interface Provider {
  provider_name: string;
  support: { phone: string; email: string };
}

const SETUP = 'setup';
const UNCONFIGURED: Provider = { provider_name: 'Palisade', support: { phone: '', email: '' } };

/** Writes a fact unless it is there already; whether this call wrote it. Of several at once one does. */
export async function claimFact(database: Kysely<InstallationTables>, name: string, value: string): Promise<boolean> {
  const row = await database
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores what an administrator set up, in place of what was there. */
export async function writeSetup(
  database: Kysely<InstallationTables>,
  setup: z.output<typeof setupPayloadSchema>,
): Promise<void> {
  const value = JSON.stringify(setup);
  await database
    .insertInto('installation')
    .values({ name: SETUP, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** The provider as set up, or the product's own name. */
export async function readProvider(database: Kysely<InstallationTables>): Promise<Provider> {
  const row = await database.selectFrom('installation').select('value').where('name', '=', SETUP).executeTakeFirst();
  if (row === undefined) return UNCONFIGURED;
  const { client_info } = setupPayloadSchema.parse(JSON.parse(row.value));
  return {
    provider_name: client_info.company_name,
    support: { phone: client_info.support_phone, email: client_info.support_email },
  };
}
