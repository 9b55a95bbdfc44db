import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { HeldJob } from '#platform/jobs/job.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

/**
 * A file in the store that servers share is to be read. Every reader of a file holds this job, so that two servers never read the same file. A reading counts as an attempt once an engine has
 * begun it; a file that ends its servers is given up before its job is, by the counts of its record.
 */
export const SCAN = jobKind({
  name: 'scan',
  payload: z.object({ scan_id: z.string() }),
  at_once: 3,
  attempts: { most: 8, most_ms: 600 * SECOND_MS, counted: 'told' },
});

/** Earlier scans are to be rechecked by the engine of an edition. While the store is away it is tried again and again. */
export const RECHECK = jobKind({
  name: 'recheck',
  payload: z.object({ edition: z.string() }),
  priority: 2,
  attempts: { most_ms: 600 * SECOND_MS, counted: 'told' },
});

/** Removes expired files, and those without a record, from the store that servers share. */
export const SWEEP = jobKind({ name: 'sweep', payload: z.object({}), every_ms: HOUR_MS, priority: 2 });

/** Finds waiting files in that store without a job: those of a server of an earlier version that was killed. */
export const LEFT_WAITING = jobKind({ name: 'left-waiting', payload: z.object({}), every_ms: 60 * SECOND_MS, priority: 2 });

/** The signatures of feeds are to be brought up to date, by one server for all. Once an update was tried it has been done, and says itself when the next one is due. */
export const UPDATE_SIGNATURES = jobKind({ name: 'update-signatures', payload: z.object({}), attempts: { most_ms: HOUR_MS } });

/** The right to read a file that servers share. */
export type ReadingLease = Pick<HeldJob, 'signal' | 'confirm' | 'countAttempt'>;

/** Another reading of the file is under way. */
export const BUSY = Symbol('busy');

/** Rights to read the files of the store that servers share: one server at a time has each. */
export interface ReadingLeases {
  /** Takes the right to read a file, as part of `transaction`. Undefined while another server reads it. */
  begin(transaction: Kysely<JobTables>, scan_id: string): Promise<HeldJob | undefined>;
  /** Does `work` with the right to read a file, which it then releases. */
  during<T>(scan_id: string, work: (lease: ReadingLease) => Promise<T>): Promise<T | typeof BUSY>;
  /** Has files read, by any server. Those that are read already are not read again. */
  ask(scan_ids: readonly string[]): Promise<void>;
  /** Ends all readings of a file: its record is gone. */
  cancel(scan_id: string): Promise<void>;
}

export function createReadingLeases(database: Kysely<JobTables>, jobs: Jobs): ReadingLeases {
  const begin: ReadingLeases['begin'] = (transaction, scan_id) => jobs.begin(transaction, SCAN, { scan_id }, scan_id);
  return {
    begin,
    async during(scan_id, work) {
      const held = await begin(database, scan_id);
      if (held === undefined) return BUSY;
      held.keep();
      try {
        return await work(held);
      } finally {
        await held.end();
      }
    },
    async ask(scan_ids) {
      if (scan_ids.length === 0) return;
      await jobs.enqueueAll(
        database,
        SCAN,
        scan_ids.map((scan_id) => ({ payload: { scan_id }, once: scan_id })),
      );
      jobs.wake(SCAN);
    },
    cancel: async (scan_id) => void (await jobs.cancel({ kind: SCAN.name, once: scan_id })),
  };
}
