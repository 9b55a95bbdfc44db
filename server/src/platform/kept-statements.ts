import type SqliteDatabase from 'better-sqlite3';
import { type FunctionNode, SqliteDialect, SqliteQueryCompiler } from 'kysely';

// Compiling a statement costs SQLite more than running a small one, and the server runs the same few hundred again and again: each is compiled once.

const STATEMENTS_MAXIMUM = 500;

/** Methods of an SQLite database that a dialect needs. */
interface KeptStatements {
  close(): void;
  prepare(sql: string): SqliteDatabase.Statement<unknown[]>;
}

/** Keeps compiled statements. A statement is run to its end at once, so that one may serve all; SQLite recompiles it when the schema has changed. */
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

/** The suffix that the functions of folded-text.ts add to an ASCII text in small letters. */
const ASCII_ENDS = new Map([
  ['fold_text', ''],
  ['name_order', ' || char(1)'],
]);

/**
 * Writes `+?` where a value comes. Of a bare `?` SQLite looks at the value when it makes its plan (partial indexes, LIMIT, how many rows an `=` leaves), and so compiles the statement again each time
 * the binding has changed, which better-sqlite3 does after each run (sqlite3_clear_bindings). The sign does not change a value of any type (sqlite.org/lang_expr.html, "Operators"). So a plan knows no
 * values: the condition of a partial index is written with `sql.lit`.
 */
export class KeptStatementCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }

  /** A call from SQLite to JavaScript costs more than folding does, and most texts are ASCII: of those `lower` is enough. */
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

/** Kysely's own dialect, for a database in memory, with statements compiled as those of a file are. */
export class MemoryDialect extends SqliteDialect {
  override createQueryCompiler(): SqliteQueryCompiler {
    return new KeptStatementCompiler();
  }
}
