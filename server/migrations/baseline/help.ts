const COLUMNS = `slug text not null unique,
  title text not null,
  summary text not null,
  body text not null,
  is_published integer not null,
  -- The searched words: the body without its marks.
  words text not null,
  updated_at text not null`;

/** An FTS5 external content table (sqlite.org/fts5.html section 4.4.3), which triggers keep up to date. */
function helpOnSqlite(): string[] {
  const added = 'insert into help_index(rowid, title, summary, words) values (new.number, new.title, new.summary, new.words);';
  const removed = `insert into help_index(help_index, rowid, title, summary, words) values ('delete', old.number, old.title, old.summary, old.words);`;
  return [
    // The index refers to rows by an integer primary key, because VACUUM can change implicit rowids (sqlite.org/lang_vacuum.html).
    `create table help_articles (number integer primary key, id text not null unique, ${COLUMNS})`,
    `create virtual table help_index using fts5(title, summary, words, content='help_articles', content_rowid='number', tokenize='porter unicode61')`,
    `create trigger help_articles_added after insert on help_articles begin ${added} end`,
    `create trigger help_articles_removed after delete on help_articles begin ${removed} end`,
    `create trigger help_articles_changed after update on help_articles begin ${removed} ${added} end`,
  ];
}

function helpOnPostgres(): string[] {
  const weighed = (column: string, weight: string) => `setweight(to_tsvector('english', ${column}), '${weight}')`;
  const found_by = `${weighed('title', 'A')} || ${weighed('summary', 'B')} || ${weighed('words', 'C')}`;
  return [
    `create table help_articles (id text primary key, ${COLUMNS}, found_by tsvector generated always as (${found_by}) stored)`,
    'create index help_articles_found_by on help_articles using gin (found_by)',
  ];
}

/** Statements that create the help pages and their full-text index. */
export function helpPages(isPostgres: boolean): string[] {
  return isPostgres ? helpOnPostgres() : helpOnSqlite();
}
