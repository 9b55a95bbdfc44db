import { type Kysely, sql } from 'kysely';
import { isSqlite } from './database.ts';

async function linesOf<Tables>(database: Kysely<Tables>, query: string): Promise<string[]> {
  const { rows } = await sql.raw<{ line: string }>(query).execute(database);
  return rows.map(({ line }) => line);
}

/** Normalizes an SQLite statement: spaces, quotes and the order of defaults, which builders write differently. */
function plainStatement(statement: string): string {
  return statement
    .replaceAll('"', '')
    .toLowerCase()
    .replaceAll(/not null default ('[^']*'|\d+)/g, 'default $1 not null')
    .replaceAll(/\s+/g, '');
}

const POSTGRES_SCHEMA = [
  `select format('column %s.%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid)) as line
   from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where relnamespace = current_schema()::regnamespace and relkind in ('r', 'v') and attnum > 0 and not attisdropped`,
  `select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line
   from pg_constraint where connamespace = current_schema()::regnamespace and contype in ('p', 'u', 'f', 'c')`,
  `select format('index %s', indexdef) as line from pg_indexes where schemaname = current_schema()`,
  `select format('trigger %s', pg_get_triggerdef(pg_trigger.oid)) as line from pg_trigger
   join pg_class on pg_class.oid = tgrelid where relnamespace = current_schema()::regnamespace and not tgisinternal`,
  // The text of the functions that fold text depends on the version of Node.
  `select format('function %s %s', proname, case when proname not in ('fold_letters', 'fold_text', 'name_order') then prosrc end) as line
   from pg_proc where pronamespace = current_schema()::regnamespace`,
];

/** The schema of a database as lines: tables, columns, defaults, constraints, indexes, triggers and functions. */
export async function schemaOf<Tables>(database: Kysely<Tables>): Promise<string[]> {
  if (!isSqlite(database)) return (await Promise.all(POSTGRES_SCHEMA.map((query) => linesOf(database, query)))).flat().toSorted();
  const statements = await linesOf(database, 'select sql as line from sqlite_master where sql is not null');
  return statements.map(plainStatement).toSorted();
}

/** Database objects of PostgreSQL that contain statements, and the rights that functions run with. */
const POSTGRES_STATEMENTS = [
  `select format('view %s %s', viewname, definition) as line from pg_views where schemaname = current_schema()`,
  `select format('rule %s', definition) as line from pg_rules where schemaname = current_schema()`,
  `select format('policy %s %s', tablename, policyname) as line from pg_policies where schemaname = current_schema()`,
  `select format('function %s %s %s', proname, prosecdef, prolang) as line
   from pg_proc where pronamespace = current_schema()::regnamespace`,
];

/** Tables that an earlier version's migrator created differently, and SQLite's statistics. */
const LEFT_OUT = /^(?:createtable|column |constraint |index CREATE UNIQUE INDEX )(?:kysely_migration|sqlite_stat)/;

/** `schemaOf`, with all objects that can contain statements and without differences between databases of one version. */
async function partsOf<Tables>(database: Kysely<Tables>): Promise<string[]> {
  const statements = isSqlite(database)
    ? []
    : (await Promise.all(POSTGRES_STATEMENTS.map((query) => linesOf(database, query)))).flat();
  const { rows } = isSqlite(database)
    ? { rows: [{ schema: 'main' }] }
    : await sql<{ schema: string }>`select current_schema() as schema`.execute(database);
  const lines = [...(await schemaOf(database)), ...statements];
  return lines.map((line) => line.replaceAll(`${rows[0]?.schema ?? ''}.`, '')).filter((line) => !LEFT_OUT.test(line));
}

/** The first line that only one of two schemas has. Undefined if they are equal. */
export async function differingPart<Tables>(database: Kysely<Tables>, made: Kysely<Tables>): Promise<string | undefined> {
  const [found, wanted] = [await partsOf(database), await partsOf(made)];
  const added = found.find((line) => !wanted.includes(line));
  if (added !== undefined) return `has ${added}`;
  const missing = wanted.find((line) => !found.includes(line));
  return missing === undefined ? undefined : `lacks ${missing}`;
}
