import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // What was judged by a shorter list is judged anew when it is next seen.
  await sql`update users set common_password = null where common_password = 0`.execute(database);
}
