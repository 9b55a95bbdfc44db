import type { ClamdPool } from './clamd-pool.ts';
import type { Engine } from './yara-pool.ts';

/** The embedded engine and clamd as one: both read every file, at the same time, and each says its own. */
export function createEnginePair(embedded: Engine, clamd: ClamdPool): Engine {
  return {
    async scan(job) {
      const [outcome, second] = await Promise.all([embedded.scan(job), clamd.scan({ path: job.path, size: job.size })]);
      return { ...outcome, second };
    },
    ready: embedded.ready,
    complete: () => embedded.complete() && clamd.ready(),
    pids: embedded.pids,
    async close() {
      await Promise.all([embedded.close(), clamd.close()]);
    },
  };
}
