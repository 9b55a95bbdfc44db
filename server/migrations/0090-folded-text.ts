import { type Kysely, PostgresAdapter } from 'kysely';
import { createTextFunctions, indexedWords } from '#platform/folded-text.ts';

const AT_ONCE = 500;

interface Tables {
  help_articles: { id: string; title: string; summary: string; words: string };
}

/** The functions that lists are searched and ordered by. SQLite gets them with each connection. */
export async function up(database: Kysely<Tables>): Promise<void> {
  if (database.getExecutor().adapter instanceof PostgresAdapter) await createTextFunctions(database);
  // The searched text of help pages is folded when it is written.
  for (let after = ''; ; ) {
    const rows = await database
      .selectFrom('help_articles')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(AT_ONCE)
      .execute();
    for (const { id, ...article } of rows) {
      await database
        .updateTable('help_articles')
        .set({ words: indexedWords(article) })
        .where('id', '=', id)
        .execute();
      after = id;
    }
    if (rows.length < AT_ONCE) return;
  }
}
