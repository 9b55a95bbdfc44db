import type { Kysely } from 'kysely';
import { isForeignKeyViolation } from '#platform/database.ts';
import { Problem } from '#platform/problem.ts';
import { storageProblem } from '#platform/storage-problem.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { ACCOUNT_GONE } from './arrivals.ts';
import type { RecordNews, ScanMeter } from './examination.ts';
import type { Keeping, ScanRow, Verdict } from './keeping.ts';
import type { Spool } from './spool.ts';

/**
 * The record of a file that has just arrived. Either it is stored as it is, with the bytes before it, and the file is read now or after a restart; or it is stored once,
 * with a verdict after which nothing of the bytes is needed.
 */
export interface NewRecord {
  /** Whether it was asked to be stored as it is. */
  is_stored(): boolean;
  /**
   * Stores it as it is, once, whoever asks.
   * @throws Problem `unauthenticated` when its person is gone, `storage_full`. Nothing of the file is left then.
   */
  store(): Promise<void>;
  /** Stores it with its verdict, and lets the bytes go. Not to be called once it is stored as it is. @throws as `store` does. */
  finish(verdict: Partial<Verdict>, scanned_at?: string): Promise<ScanRow>;
}

export function createNewRecord(parts: {
  database: Kysely<AntivirusTables>;
  spool: Pick<Spool, 'store' | 'remove'>;
  keeping: Pick<Keeping, 'deposit' | 'letGo'>;
  row: ScanRow;
  news: Pick<RecordNews, 'changed'>;
  meter: Pick<ScanMeter, 'verdict'> | undefined;
}): NewRecord {
  const { database, spool, keeping, row, news, meter } = parts;
  let storing: Promise<void> | undefined;

  async function insert(values: ScanRow): Promise<void> {
    try {
      if (values.spooled === 1) {
        await spool.store(row.id);
        // Before there is a record of it, so that from then on it survives this server.
        Object.assign(values, await keeping.deposit(values));
      }
      await database.insertInto('scans').values(values).execute();
    } catch (error) {
      await keeping.letGo(values);
      if (isForeignKeyViolation(error)) throw new Problem('unauthenticated', { detail: ACCOUNT_GONE, cause: error });
      throw storageProblem(error);
    }
    news.changed(values);
  }

  return {
    is_stored: () => storing !== undefined,
    store() {
      storing ??= insert(row);
      return storing;
    },
    async finish(verdict, scanned_at = row.scanned_at) {
      const finished: ScanRow = Object.assign({ ...row }, verdict, { scanned_at, spooled: 0, home: null, kept_until: null });
      await insert(finished);
      meter?.verdict(finished.scan_status);
      await spool.remove(row.id);
      return finished;
    },
  };
}
