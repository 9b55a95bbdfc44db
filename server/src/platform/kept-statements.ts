import type SqliteDatabase from 'better-sqlite3';
import { SqliteDialect, SqliteQueryCompiler } from 'kysely';

// Compiling a statement costs SQLite more than running a small one, and the server runs the same few hundred again and again: each is compiled once.

const STATEMENTS_MAXIMUM = 500;

/** What a dialect needs of a database in SQLite. */
interface KeptStatements {
  close(): void;
  prepare(sql: string): SqliteDatabase.Statement<unknown[]>;
}

/**
 * Keeps compiled statements. A statement is run to its end at once, so that one may serve all; SQLite compiles it anew by itself when the schema has changed.
 */
export function keepStatements(database: SqliteDatabase.Database): KeptStatements {
  const statements = new Map<string, SqliteDatabase.Statement<unknown[]>>();
  return {
    close: () => void database.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = database.prepare<unknown[]>(sql);
      if (statements.size >= STATEMENTS_MAXIMUM) statements.clear();
      statements.set(sql, statement);
      return statement;
    },
  };
}

/**
 * Writes `+?` where a value comes. Of a bare `?` SQLite looks at the value when it makes its plan (partial indexes, LIMIT, how many rows an `=` leaves), and so compiles the statement anew each time the
 * binding has changed, which better-sqlite3 does after each run (sqlite3_clear_bindings). The sign changes no value, whatever its type (sqlite.org/lang_expr.html, "Operators"). So a plan
 * knows no values: what a partial index asks for is written with `sql.lit`.
 */
export class KeptStatementCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}

/** Kysely's own dialect, for a database in memory, with statements compiled as those of a file are. */
export class MemoryDialect extends SqliteDialect {
  override createQueryCompiler(): SqliteQueryCompiler {
    return new KeptStatementCompiler();
  }
}
