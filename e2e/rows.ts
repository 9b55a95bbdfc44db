import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

type Row = Record<string, string | number | null>;

/** Direct access to the database of a running server: writes records in milliseconds. */
export interface Rows {
  insert(table: string, row: Row): Promise<void>;
  /** Deletes all people with their records, and the plans and saved replies of staff. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

const CLEARED = ['users', 'subscription_templates', 'canned_answers', 'mails'].map((table) => `delete from ${table}`).join('; ');

const insertion = (table: string, row: Row, mark: (index: number) => string) =>
  `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.keys(row)
    .map((_, index) => mark(index))
    .join(', ')})`;

function sqliteRows(data_dir: string): Rows {
  const database = new DatabaseSync(join(data_dir, 'palisade.sqlite'), { timeout: 10_000 });
  return {
    async insert(table, row) {
      database.prepare(insertion(table, row, () => '?')).run(...Object.values(row));
    },
    clear: async () => database.exec(CLEARED),
    close: async () => database.close(),
  };
}

async function postgresRows(connectionString: string): Promise<Rows> {
  const client = new Client({ connectionString });
  await client.connect();
  return {
    async insert(table, row) {
      await client.query(
        insertion(table, row, (index) => `$${index + 1}`),
        Object.values(row),
      );
    },
    clear: async () => void (await client.query(CLEARED)),
    close: async () => await client.end(),
  };
}

/** Opens the database of a server: the SQLite file in its folder, or the PostgreSQL of `database_url`. */
export async function openRows(server: { data_dir: string; database_url?: string | undefined }): Promise<Rows> {
  return server.database_url === undefined ? sqliteRows(server.data_dir) : await postgresRows(server.database_url);
}
