import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Passwords judged by a shorter list are judged anew at their next use.
  await sql`update users set common_password = null where common_password = 0`.execute(database);
}
