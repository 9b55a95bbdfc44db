import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { afterFile } from './after-file.ts';

/** An SQLite file, for any database of the other tests: a second connection can then act at an exact moment of the server's work. */
export function ownDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-own-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const sqlite = join(folder, 'palisade.sqlite');
  return {
    folder,
    location: { sqlite },
    run(statement: string, ...values: unknown[]) {
      const connection = new SqliteDatabase(sqlite);
      connection.prepare(statement).run(...values);
      connection.close();
    },
  };
}
