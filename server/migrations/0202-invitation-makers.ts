import type { Kysely } from 'kysely';

/** The administrator who made an invitation, whose rights count when it is accepted. Earlier invitations name none, and do not work any more. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('invitations')
    .addColumn('invited_by', 'text', (column) => column.references('users.id').onDelete('cascade'))
    .execute();
}
