import { setupPayloadSchema } from '@palisade/contract/setup';
import type { Kysely } from 'kysely';
import type { z } from 'zod';

/** Facts of the installation, one row for each name; the primary key decides which of several writers was first. */
export interface InstallationTables {
  installation: { name: string; value: string };
}

/** The provider's name and contacts for screens and mails. Unknown contacts are empty. */
export interface Provider {
  provider_name: string;
  support: { phone: string; email: string; promise: string };
}

const SETUP = 'setup';
const UNCONFIGURED: Provider = { provider_name: 'Palisade', support: { phone: '', email: '', promise: '' } };

/** Writes a fact if it does not exist; returns whether this call wrote it. Of several concurrent calls, one does. */
export async function claimFact(database: Kysely<InstallationTables>, name: string, value: string): Promise<boolean> {
  const row = await database
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** A fact that the server keeps for itself; undefined if it was never written. */
export async function readFact(database: Kysely<InstallationTables>, name: string): Promise<string | undefined> {
  const row = await database.selectFrom('installation').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

/** Writes or replaces a fact. */
export async function writeFact(database: Kysely<InstallationTables>, name: string, value: string): Promise<void> {
  await database
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** The facts whose names begin with a prefix, keyed by the rest of their names. */
export async function readFacts(database: Kysely<InstallationTables>, prefix: string): Promise<Map<string, string>> {
  const rows = await database
    .selectFrom('installation')
    .selectAll()
    .where('name', 'like', `${prefix}%`)
    .orderBy('name')
    .execute();
  return new Map(rows.map(({ name, value }) => [name.slice(prefix.length), value]));
}

/** Deletes a fact. */
export async function dropFact(database: Kysely<InstallationTables>, name: string): Promise<void> {
  await database.deleteFrom('installation').where('name', '=', name).execute();
}

/** Whether an administrator has completed the setup. */
export async function isSetUp(database: Kysely<InstallationTables>): Promise<boolean> {
  return (await readFact(database, SETUP)) !== undefined;
}

/** Stores or replaces the setup by an administrator. */
export async function writeSetup(
  database: Kysely<InstallationTables>,
  setup: Omit<z.output<typeof setupPayloadSchema>, 'brand'>,
): Promise<void> {
  await writeFact(database, SETUP, JSON.stringify(setup));
}

/** The provider as set up, or the product's own name. */
export async function readProvider(database: Kysely<InstallationTables>): Promise<Provider> {
  const setup = await readFact(database, SETUP);
  if (setup === undefined) return UNCONFIGURED;
  const { client_info } = setupPayloadSchema.parse(JSON.parse(setup));
  return {
    provider_name: client_info.company_name,
    support: {
      phone: client_info.support_phone,
      email: client_info.support_email,
      promise: client_info.support_promise,
    },
  };
}
