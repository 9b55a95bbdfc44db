import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // 1 when the password is on the lists that attackers try first, 0 when not, null until it is next seen: a hash does not tell.
  await database.schema.alterTable('users').addColumn('common_password', 'integer').execute();
}
