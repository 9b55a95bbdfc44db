import type { Selectable } from 'kysely';

export interface JobTables {
  jobs: {
    id: string;
    kind: string;
    /** At most one row of a kind has this value; null: any number. */
    once: string | null;
    /** JSON. Ids, never personal data. */
    payload: string;
    /** 0 goes first. */
    priority: number;
    /** By the clock of the database, as all times here. */
    run_at: string;
    attempts: number;
    /** The worker that has it, until `lease_until`; null while it waits. */
    claimed_by: string | null;
    lease_until: string | null;
    /** Number of claims: a worker's outcome counts only while this is the number that it claimed. */
    claims: number;
    /** 1: it was asked for once more while it was being done. */
    asked_again: number;
    /** 1: its worker is to stop. */
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
  /** There is one such job of its kind at most. Asking for one that waits brings it forward and replaces its payload; one that is being done is done once more. */
  once?: string;
  delay_ms?: number;
  priority?: number;
}

/** A row that was lost to another worker, or is gone: work in its name must not count. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}
