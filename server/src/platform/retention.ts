import { z } from 'zod';
import { isOutage, troubleOf } from './database-errors.ts';
import { jobKind } from './jobs/job-kind.ts';
import type { Jobs } from './jobs/jobs.ts';

const RETENTION = jobKind({ name: 'retention', payload: z.object({}), every_ms: 3_600_000 });

/** Deletes expired data every hour, on one of the servers that share a database. */
export function keepRetention({ jobs, tasks }: { jobs: Pick<Jobs, 'handle'>; tasks: readonly (() => Promise<void>)[] }): void {
  jobs.handle(RETENTION, async ({ signal }) => {
    const failed: unknown[] = [];
    for (const task of tasks) {
      signal.throwIfAborted();
      // A failed task does not stop the others.
      await task().catch((error: unknown) => void failed.push(error));
    }
    // An outage of the database affects all tasks alike and is logged once.
    const outages = failed.map(troubleOf).filter((trouble) => trouble !== undefined && isOutage(trouble));
    if (failed.length === 1 || (failed.length > 0 && outages.length === failed.length)) throw failed[0];
    if (failed.length > 1) throw new AggregateError(failed, 'We couldn’t remove some expired data.');
  });
}
