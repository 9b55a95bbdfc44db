import { type InsertQueryBuilder, type InsertResult, type Kysely, type Selectable, sql } from 'kysely';

// Rows that a test puts into a database, changes or looks up, where the statement is not the subject.

type Columns<DB, T extends keyof DB> = Partial<Selectable<DB[T]>>;
/** A row to insert, or several. */
export type RowOf<DB, T extends keyof DB> = Parameters<InsertQueryBuilder<DB, T, InsertResult>['values']>[0];

const equal = (columns: object, between: string) =>
  sql.join(
    Object.entries(columns).map(([name, value]) => sql`${sql.ref(name)} = ${value}`),
    sql.raw(between),
  );

export async function insertRow<DB, T extends keyof DB & string>(
  database: Kysely<DB>,
  table: T,
  row: RowOf<DB, T>,
): Promise<void> {
  await database.insertInto(table).values(row).execute();
}

/** The row with these values. @throws where there is none, or several */
export async function oneRow<DB, T extends keyof DB & string>(
  database: Kysely<DB>,
  table: T,
  columns: Columns<DB, T>,
): Promise<Selectable<DB[T]>> {
  const found = sql<Selectable<DB[T]>>`select * from ${sql.table(table)} where ${equal(columns, ' and ')}`;
  const [row, another] = (await found.execute(database)).rows;
  if (row === undefined || another !== undefined) throw new Error(`no single row of ${table} has ${JSON.stringify(columns)}`);
  return row;
}

/** Sets `values` in all rows with these values. */
export async function updateRows<DB, T extends keyof DB & string>(
  database: Kysely<DB>,
  table: T,
  columns: Columns<DB, T>,
  values: Columns<DB, T>,
): Promise<void> {
  await sql`update ${sql.table(table)} set ${equal(values, ', ')} where ${equal(columns, ' and ')}`.execute(database);
}
