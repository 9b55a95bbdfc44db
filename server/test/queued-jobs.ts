import { Jobs } from '#platform/jobs/jobs.ts';
import { heldJobs } from './feature-database.ts';

/** As `heldJobs`, with a queue in a database whose jobs no server takes. */
export function queuedJobs(...[options]: ConstructorParameters<typeof Jobs>) {
  const jobs = new Jobs(options);
  return { ...heldJobs(), enqueue: jobs.enqueue.bind(jobs), enqueueAll: jobs.enqueueAll.bind(jobs), wake: () => {} };
}
