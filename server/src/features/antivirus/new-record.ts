import type { Kysely } from 'kysely';
import { isForeignKeyViolation } from '#platform/database.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { HeldJob } from '#platform/jobs/job.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import { storageProblem } from '#platform/storage-problem.ts';
import { refuse } from './antivirus.refusals.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { RecordWriter } from './record-writer.ts';
import type { ReadingLeases } from './scan-jobs.ts';
import type { ScanRow, Verdict } from './scan-row.ts';
import type { ScanStore } from './scan-store.ts';
import type { Spool } from './spool.ts';

/**
 * The record of a file that was just received. It is stored either at once, after the bytes, so that the file is read now or after a restart; or once, with a verdict after
 * which the bytes are not needed.
 */
export interface NewRecord {
  /** Whether `store` was called. */
  is_stored(): boolean;
  /**
   * Stores the record without a verdict, once, at the first call. With a shared store it returns the right to read the file: if this server ends, another one reads it.
   * @throws Problem `unauthenticated` when its person was deleted, `storage_full`. The file is then removed.
   */
  store(): Promise<HeldJob | undefined>;
  /** Releases the right to read: the file was read, must be read after `again_ms`, or another server has it. */
  release(again_ms: number | undefined): void;
  /** Stores the record with its verdict, and removes the bytes. Do not call it after `store`. @throws like `store`. */
  finish(verdict: Partial<Verdict>, scanned_at?: string): Promise<ScanRow>;
}

export function createNewRecord(parts: {
  database: Kysely<AntivirusTables & JobTables>;
  writer: Pick<RecordWriter, 'store'>;
  /** Undefined without a store that servers share. */
  leases: Pick<ReadingLeases, 'begin'> | undefined;
  spool: Pick<Spool, 'store' | 'remove'>;
  scanStore: Pick<ScanStore, 'deposit' | 'letGo'>;
  row: ScanRow;
  news: { changed(row: ScanRow): void };
  meter: { verdict(status: ScanRow['scan_status']): void } | undefined;
}): NewRecord {
  const { database, writer, leases, spool, scanStore, row, news, meter } = parts;
  let storing: Promise<HeldJob | undefined> | undefined;
  let held: HeldJob | undefined;

  /** Inserts the record and the right to read its file in one transaction. */
  async function insertHeld(values: ScanRow, of: Pick<ReadingLeases, 'begin'>): Promise<HeldJob | undefined> {
    const begun = await inTransaction(database, async (transaction) => {
      await transaction.insertInto('scans').values(values).execute();
      return await of.begin(transaction.$pickTables<'jobs'>(), values.id);
    });
    begun?.keep();
    return begun;
  }

  async function insert(values: ScanRow): Promise<void> {
    try {
      if (values.spooled === 1) {
        await spool.store(row.id);
        // Deposit the bytes before the record exists, so that every recorded file survives this server.
        Object.assign(values, await scanStore.deposit(values));
      }
      if (values.spooled === 1 && leases !== undefined) held = await insertHeld(values, leases);
      else await writer.store(values);
    } catch (error) {
      await scanStore.letGo(values);
      if (isForeignKeyViolation(error)) throw refuse('upload.account_deleted', {}, { cause: error });
      throw storageProblem(error);
    }
    news.changed(values);
  }

  return {
    is_stored: () => storing !== undefined,
    store() {
      storing ??= insert(row).then(() => held);
      return storing;
    },
    release(again_ms) {
      // Neither is awaited: the verdict is stored, or dropped.
      void (again_ms === undefined ? held?.end() : held?.letGo(again_ms));
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
