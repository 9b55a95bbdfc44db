import { type Kysely, sql } from 'kysely';
import { inPages } from './batches.ts';

/** The person that the data is about. */
export interface Subject {
  id: string;
  email: string;
}

/** A table with rows about a person, for the export of all their data. Each feature declares its own. */
export interface PersonalTable {
  table: string;
  /** The column that names the owner of a row, and its value; `user_id` and the account's id by default. */
  column?: string;
  holds?: keyof Subject;
  /** A column that is unique among a person's rows and defines their order; `id` by default. */
  key?: string;
  /** Columns left out: secrets, and values of use only to the server. */
  withheld?: readonly string[];
  /** Columns of JSON text. */
  json?: readonly string[];
  /** Additional condition on the person's rows. */
  where?: { column: string; is: number | null };
}

/** Named rows about a person, read on demand. */
export interface PersonalPart {
  name: string;
  rows(subject: Subject): AsyncIterable<Record<string, unknown>>;
}

const READ_AT_ONCE = 200;

/** The rows of a table, page by page. */
export function partOf<Tables>(database: Kysely<Tables>, personal: PersonalTable): PersonalPart {
  const { table, column = 'user_id', holds = 'id', key = 'id', withheld = [], json = [], where } = personal;

  function shown(row: Record<string, unknown>): Record<string, unknown> {
    const columns = Object.entries(row).filter(([name]) => !withheld.includes(name));
    return Object.fromEntries(
      columns.map(([name, value]) => [name, json.includes(name) && typeof value === 'string' ? JSON.parse(value) : value]),
    );
  }

  return {
    name: table,
    async *rows(subject) {
      const pages = inPages(READ_AT_ONCE, async (last?: Record<string, unknown>) => {
        const further = last === undefined ? sql`` : sql`and ${sql.ref(key)} > ${last[key]}`;
        const narrowed =
          where === undefined
            ? sql``
            : sql`and ${sql.ref(where.column)} ${where.is === null ? sql`is null` : sql`= ${where.is}`}`;
        const { rows } = await sql<Record<string, unknown>>`
          select * from ${sql.table(table)} where ${sql.ref(column)} = ${subject[holds]} ${narrowed} ${further}
          order by ${sql.ref(key)} limit ${READ_AT_ONCE}`.execute(database);
        return rows;
      });
      for await (const page of pages) for (const row of page) yield shown(row);
    },
  };
}
