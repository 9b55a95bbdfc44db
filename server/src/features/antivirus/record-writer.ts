import type { CompiledQuery, Kysely } from 'kysely';
import { isOutage, troubleOf } from '#platform/database-errors.ts';
import { newWait, waitingAs } from '#platform/database-patience.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { ScanRow } from './scan-row.ts';

/** The most records of one statement. */
const TOGETHER_MAXIMUM = 8;

interface Waiting {
  row: ScanRow;
  stored: PromiseWithResolvers<void>;
}

/** PostgreSQL locks each person's counts in turn: with a fixed order two servers cannot deadlock. */
function byPerson({ row: one }: Waiting, { row: other }: Waiting): number {
  return one.user_id < other.user_id ? -1 : one.user_id > other.user_id ? 1 : 0;
}

/** Stores new records: those of the same turn of the event loop with one statement, and so in one transaction. A record that fails does not affect the others. */
export class RecordWriter {
  private readonly database: Kysely<Pick<AntivirusTables, 'scans'>>;
  private waiting: Waiting[] = [];
  /** Compiled statements by number of records, with the order of their values: compiling one takes longer than running it. */
  private readonly statements = new Map<number, { compiled: CompiledQuery; columns: string[] }>();

  constructor(database: Kysely<Pick<AntivirusTables, 'scans'>>) {
    this.database = database;
  }

  private statementFor(rows: readonly ScanRow[]): CompiledQuery {
    const known = this.statements.get(rows.length);
    if (known !== undefined)
      return {
        ...known.compiled,
        parameters: rows.flatMap((row) => known.columns.map((column): unknown => Reflect.get(row, column))),
      };
    const compiled = this.database.insertInto('scans').values(rows).compile();
    // Kysely takes the order of the columns from the first row.
    this.statements.set(rows.length, { compiled, columns: Object.keys(rows[0] ?? {}) });
    return compiled;
  }

  private async insert(some: readonly Waiting[]): Promise<void> {
    try {
      await this.database.executeQuery(this.statementFor(some.map(({ row }) => row)));
      for (const { stored } of some) stored.resolve();
    } catch (error) {
      const trouble = troubleOf(error);
      // The statement has stored none of them.
      if (some.length === 1 || (trouble !== undefined && isOutage(trouble))) for (const { stored } of some) stored.reject(error);
      else await Promise.all(some.map((one) => this.insert([one])));
    }
  }

  private flush(): void {
    const waiting = this.waiting.sort(byPerson);
    this.waiting = [];
    for (let at = 0; at < waiting.length; at += TOGETHER_MAXIMUM)
      // Several requests wait for this insert, so its time is charged to none of them.
      void waitingAs(newWait(), () => this.insert(waiting.slice(at, at + TOGETHER_MAXIMUM)));
  }

  /** Resolves once the record is stored. @throws the database's error about this record */
  store(row: ScanRow): Promise<void> {
    if (this.waiting.length === 0) setImmediate(() => this.flush());
    const stored = Promise.withResolvers<void>();
    this.waiting.push({ row, stored });
    return stored.promise;
  }
}
