import type SqliteDatabase from 'better-sqlite3';
import { type FunctionNode, SqliteDialect, SqliteQueryCompiler } from 'kysely';

// Compiling a statement costs SQLite more than running a small one, and the server runs the same few hundred repeatedly: each is compiled once.

const STATEMENTS_MAXIMUM = 500;

/** Methods of an SQLite database that a dialect needs. */
interface KeptStatements {
  close(): void;
  prepare(sql: string): SqliteDatabase.Statement<unknown[]>;
}

/** Caches compiled statements. Each run reads all rows at once, so one statement can serve all callers; SQLite recompiles it when the schema changes. */
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

/** The suffix of the functions that folded-text.ts registers for lower-case ASCII texts. */
const ASCII_ENDS = new Map([
  ['fold_text', ''],
  ['name_order', ' || char(1)'],
]);

/**
 * Writes `+?` for each parameter. SQLite uses the value of a bare `?` when it plans (partial indexes, LIMIT, row estimates for `=`), so it recompiles the statement whenever
 * the binding changes, which better-sqlite3 does after each run (sqlite3_clear_bindings). The unary plus does not change a value of any type (sqlite.org/lang_expr.html,
 * "Operators"). So plans know no values: write the condition of a partial index with `sql.lit`.
 */
export class KeptStatementCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }

  /** A call from SQLite to JavaScript costs more than folding itself, and most texts are ASCII, for which `lower` is enough. */
  protected override visitFunction(node: FunctionNode): void {
    const [text] = node.arguments;
    const end = ASCII_ENDS.get(node.func);
    if (end === undefined || text === undefined) super.visitFunction(node);
    else {
      const pieces = ['case when octet_length(', ') = length(', ') then lower(', `)${end} else ${node.func}(`, ') end'];
      for (const [place, piece] of pieces.entries()) {
        if (place > 0) this.visitNode(text);
        this.append(piece);
      }
    }
  }
}

/** Kysely's own dialect, for an in-memory database, with statements compiled as for a file. */
export class MemoryDialect extends SqliteDialect {
  override createQueryCompiler(): SqliteQueryCompiler {
    return new KeptStatementCompiler();
  }
}
