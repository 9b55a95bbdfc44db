import { type Kysely, PostgresAdapter, sql } from 'kysely';

/** Help pages, and an index of their words. */
export async function up(database: Kysely<unknown>): Promise<void> {
  const isPostgres = database.getExecutor().adapter instanceof PostgresAdapter;
  const table = database.schema.createTable('help_articles');
  // The key that an index of SQLite refers to must stay the same when the file is written anew (sqlite.org/lang_vacuum.html).
  const keyed = isPostgres
    ? table.addColumn('id', 'text', (column) => column.primaryKey())
    : table
        .addColumn('number', 'integer', (column) => column.primaryKey())
        .addColumn('id', 'text', (column) => column.notNull().unique());
  await keyed
    .addColumn('slug', 'text', (column) => column.notNull().unique())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('is_published', 'integer', (column) => column.notNull())
    // The searched words: the body without its marks.
    .addColumn('words', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  if (isPostgres) await indexInPostgres(database);
  else await indexInSqlite(database);
}

async function indexInPostgres(database: Kysely<unknown>): Promise<void> {
  await sql`alter table help_articles add column found_by tsvector generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', summary), 'B') ||
    setweight(to_tsvector('english', words), 'C')) stored`.execute(database);
  await sql`create index help_articles_found_by on help_articles using gin (found_by)`.execute(database);
}

/** FTS5 with its content in another table (sqlite.org/fts5.html section 4.4.3), kept by triggers. */
async function indexInSqlite(database: Kysely<unknown>): Promise<void> {
  await sql`create virtual table help_index using fts5(title, summary, words, content='help_articles', content_rowid='number', tokenize='porter unicode61')`.execute(
    database,
  );
  const added = `insert into help_index(rowid, title, summary, words) values (new.number, new.title, new.summary, new.words);`;
  const removed = `insert into help_index(help_index, rowid, title, summary, words) values ('delete', old.number, old.title, old.summary, old.words);`;
  await sql.raw(`create trigger help_articles_added after insert on help_articles begin ${added} end`).execute(database);
  await sql.raw(`create trigger help_articles_removed after delete on help_articles begin ${removed} end`).execute(database);
  await sql
    .raw(`create trigger help_articles_changed after update on help_articles begin ${removed} ${added} end`)
    .execute(database);
}
