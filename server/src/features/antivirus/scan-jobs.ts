import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { HeldJob } from '#platform/jobs/job.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

/**
 * Reads a file in the shared store. Every reader of a file holds this job, so that two servers never read the same file. A reading counts as an attempt once an engine has
 * started it; a file that crashes its servers is given up by the counts of its record before the job's attempts are used up.
 */
export const SCAN = jobKind({
  name: 'scan',
  payload: z.object({ scan_id: z.string() }),
  at_once: 3,
  attempts: { most: 8, most_ms: 600 * SECOND_MS, counted: 'told' },
});

/** Rechecks earlier scans with the engine of an edition. Retried while the store is away. */
export const RECHECK = jobKind({
  name: 'recheck',
  payload: z.object({ edition: z.string() }),
  priority: 2,
  attempts: { most_ms: 600 * SECOND_MS, counted: 'told' },
});

/** Removes expired files, and those without a record, from the shared store. */
export const SWEEP = jobKind({ name: 'sweep', payload: z.object({}), every_ms: HOUR_MS, priority: 2 });

/** Finds waiting files in the shared store without a job: those of a killed server of an earlier version. */
export const LEFT_WAITING = jobKind({ name: 'left-waiting', payload: z.object({}), every_ms: 60 * SECOND_MS, priority: 2 });

/** Updates the signatures of feeds, by one server for all. An attempted update counts as done, and plans the next one itself. */
export const UPDATE_SIGNATURES = jobKind({ name: 'update-signatures', payload: z.object({}), attempts: { most_ms: HOUR_MS } });

/** The right to read a shared file. */
export type ReadingLease = Pick<HeldJob, 'signal' | 'confirm' | 'countAttempt'>;

/** Another server is reading the file. */
export const BUSY = Symbol('busy');

/** Rights to read the files of the shared store: each is held by one server at a time. */
export interface ReadingLeases {
  /** Claims the right to read a file, as part of `transaction`. Undefined while another server reads it. */
  begin(transaction: Kysely<JobTables>, scan_id: string): Promise<HeldJob | undefined>;
  /** Runs `work` with the right to read a file, and then releases it. */
  during<T>(scan_id: string, work: (lease: ReadingLease) => Promise<T>): Promise<T | typeof BUSY>;
  /** Has files read by any server. Those being read are not read again. */
  ask(scan_ids: readonly string[]): Promise<void>;
  /** Ends all readings of a file whose record was deleted. */
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
