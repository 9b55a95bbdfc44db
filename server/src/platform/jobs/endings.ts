import type { Kysely } from 'kysely';
import type { createJobStore } from './job-store.ts';
import type { Claim, JobTables } from './job-tables.ts';

/** Number of jobs that one statement ends. */
const ENDED_AT_ONCE = 100;

/** Ends jobs outside of a transaction, batching those that end at the same time. */
export function createEndings(
  store: Pick<ReturnType<typeof createJobStore>, 'finish' | 'finishAll'>,
  database: Kysely<JobTables>,
): (claim: Claim) => Promise<void> {
  const waiting: { claim: Claim; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let isEnding = false;

  async function endAll(): Promise<void> {
    while (waiting.length > 0) {
      // Include the jobs that end in this turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      const all = waiting.splice(0, ENDED_AT_ONCE);
      try {
        const left = new Set((await store.finishAll(all.map(({ claim }) => claim))).map(({ id }) => id));
        for (const { claim, resolve, reject } of all) {
          if (left.has(claim.id)) store.finish(database, claim, undefined).then(() => resolve(), reject);
          else resolve();
        }
      } catch (error) {
        for (const { reject } of all) reject(error);
      }
    }
  }

  return (claim) => {
    const mine = Promise.withResolvers<void>();
    waiting.push({ claim, ...mine });
    if (!isEnding) {
      isEnding = true;
      void endAll().finally(() => {
        isEnding = false;
      });
    }
    return mine.promise;
  };
}
