import type { FastifyBaseLogger } from 'fastify';
import { logFailure } from '#platform/database-patience.ts';
import type { createJobStore } from './job-store.ts';
import { type Claim, LeaseLost } from './job-tables.ts';

/** Number of renewals within the time of a lease. */
const RENEWALS = 3;
/** Wait before a failed renewal is tried again, in ms. */
const RENEW_AGAIN_MS = 2_000;

/** A job that this server runs now. */
export interface Running {
  claim: Claim;
  counted: boolean;
  controller: AbortController;
  done: Promise<void>;
  /** The end of the lease unless renewed, by `performance.now()` of this machine. */
  held_until: number;
}

export interface Leases {
  start(): void;
  renewNow(): void;
  close(): Promise<void>;
}

/** Renews the leases of running jobs; tells a job to stop if another server has its lease, or it was cancelled. */
export function createLeases(parts: {
  store: Pick<ReturnType<typeof createJobStore>, 'renew'>;
  lease_ms: number;
  underWay: () => readonly Running[];
  logger: FastifyBaseLogger;
}): Leases {
  const { store, lease_ms, underWay, logger } = parts;
  let closed = false;
  let renewer: NodeJS.Timeout | undefined;
  let renewing: Promise<void> = Promise.resolve();

  async function renew(): Promise<void> {
    const all = underWay();
    if (all.length === 0) return;
    const asked_at = performance.now();
    const kept = new Map((await store.renew(all.map(({ claim }) => claim))).map((row) => [row.id, row]));
    for (const one of all) {
      const row = kept.get(one.claim.id);
      if (row?.claims !== one.claim.claims) one.controller.abort(new LeaseLost('The job was claimed again.'));
      else if (row.cancelled === 1) one.controller.abort(new Error('The job was cancelled.'));
      else one.held_until = asked_at + lease_ms;
    }
  }

  function renewSoon(wait_ms: number): void {
    clearTimeout(renewer);
    if (closed) return;
    renewer = setTimeout(() => {
      renewing = renew()
        .then(() => lease_ms / RENEWALS)
        .catch((error: unknown) => {
          logFailure(logger, error, 'could not renew the leases of running jobs');
          // Another server may have them by now; `conclude` checks with the database in any case.
          for (const one of underWay()) {
            if (performance.now() > one.held_until) one.controller.abort(new LeaseLost('We couldn’t renew the lease.'));
          }
          return Math.min(RENEW_AGAIN_MS, lease_ms / RENEWALS);
        })
        .then(renewSoon);
    }, wait_ms).unref();
  }

  return {
    start: () => renewSoon(lease_ms / RENEWALS),
    renewNow: () => renewSoon(0),
    async close() {
      closed = true;
      clearTimeout(renewer);
      await renewing;
    },
  };
}
