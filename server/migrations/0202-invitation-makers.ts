import type { Kysely } from 'kysely';

/** Adds the administrator who created an invitation, whose rights are checked when it is accepted. Earlier invitations have none, and become invalid. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('invitations')
    .addColumn('invited_by', 'text', (column) => column.references('users.id').onDelete('cascade'))
    .execute();
}
