import type { Selectable } from 'kysely';

export interface JobTables {
  jobs: {
    id: string;
    kind: string;
    /** Unique within the kind; null for any number of rows. */
    once: string | null;
    /** JSON. Ids, never personal data. */
    payload: string;
    /** 0 is the most urgent. */
    priority: number;
    /** By the clock of the database, like all times here. */
    run_at: string;
    attempts: number;
    /** The worker that claimed it, until `lease_until`; null while it waits. */
    claimed_by: string | null;
    lease_until: string | null;
    /** Number of claims: a worker's outcome counts only if this has not changed since its claim. */
    claims: number;
    /** 1: it was asked for again while it ran. */
    asked_again: number;
    /** 1: its worker must stop. */
    cancelled: number;
    last_error: string | null;
    created_at: string;
    /** When it was given up. */
    dead_at: string | null;
  };
}

export type JobRow = Selectable<JobTables['jobs']>;

/** One claim of a row. */
export type Claim = Pick<JobRow, 'id' | 'claims'>;

/** Options of a request for a job. */
export interface Asked {
  /** At most one job of the kind has this value. Asking for a waiting one makes it due and replaces its payload; a running one runs once more. */
  once?: string;
  delay_ms?: number;
  priority?: number;
}

/** The row was claimed by another worker or deleted: the outcome of this worker must not count. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
