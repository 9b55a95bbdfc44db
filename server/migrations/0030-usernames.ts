import { type Kysely, sql } from 'kysely';
import { lookAlikeKey } from '#platform/look-alikes.ts';

const AT_ONCE = 500;

interface Tables {
  users: { id: string; username: string; username_skeleton: string | null };
}

/** Two names that look alike cannot both exist. Of those that do already the older one keeps others from it; everybody keeps their name. */
export async function up(database: Kysely<Tables>): Promise<void> {
  // One form for all names that look alike; null for a name whose look-alike was there before this was asked.
  await database.schema.alterTable('users').addColumn('username_skeleton', 'text').execute();
  await database.schema.createIndex('users_username_skeleton_unique').on('users').column('username_skeleton').unique().execute();
  // Ids sort by creation.
  let after = '';
  for (;;) {
    const rows = await database
      .selectFrom('users')
      .select(['id', 'username'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(AT_ONCE)
      .execute();
    for (const { id, username } of rows) {
      const key = lookAlikeKey(username);
      await database
        .updateTable('users')
        .set({ username_skeleton: key })
        .where('id', '=', id)
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('users as older').select(sql`1`.as('one')).where('older.username_skeleton', '=', key))),
        )
        .execute();
      after = id;
    }
    if (rows.length < AT_ONCE) return;
  }
}
