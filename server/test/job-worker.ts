import { pino } from 'pino';
import { z } from 'zod';
import { type DatabaseLocation, openDatabase } from '#platform/database.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import { createJobs } from '#platform/jobs/jobs.ts';

/** Work of the jobs of these tests: a row, in the transaction that ends the job. */
export interface EffectTables {
  effects: { job: string; worker: string };
}

/** A worker ends no job that is to be held by it. */
export const EFFECT = jobKind({ name: 'effect', payload: z.object({ held_by: z.string().nullable() }), at_once: 4 });

/** A worker as a server has it, with leases so short that a test can wait for their end. */
export function effectWorker(parts: { location: DatabaseLocation; name: string; lease_ms: number }) {
  const { location, name, lease_ms } = parts;
  const database = openDatabase<JobTables & EffectTables>(location);
  const jobs = createJobs({ database: database.$pickTables<'jobs'>(), logger: pino({ level: 'silent' }), look_ms: 50, lease_ms });
  jobs.handle(EFFECT, async (job) => {
    if (job.payload.held_by === name) {
      await new Promise(() => {});
    }
    await inTransaction(database, async (transaction) => {
      await transaction.insertInto('effects').values({ job: job.id, worker: name }).execute();
      await job.conclude(transaction.$pickTables<'jobs'>());
    });
  });
  return { database, jobs };
}

if (process.argv[1] === import.meta.filename) {
  const location = z
    .union([z.object({ sqlite: z.string() }), z.object({ postgres: z.string() })])
    .parse(JSON.parse(process.argv[2] ?? ''));
  const { jobs } = effectWorker({ location, name: process.argv[3] ?? '', lease_ms: Number(process.argv[4]) });
  await jobs.start();
  // The timers of jobs keep no process alive.
  setInterval(() => {}, 60_000);
}
