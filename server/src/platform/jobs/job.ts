import type { Kysely } from 'kysely';
import type { JobTables } from './job-tables.ts';

/** A job as passed to its handler. */
export interface Job<Payload> {
  id: string;
  payload: Payload;
  /** Number of attempts, including this one if its kind counts at the claim. */
  attempts: number;
  /** Aborted when the job is lost to another server, is cancelled, or this server stops: unfinished work is then repeated, or no longer wanted. */
  signal: AbortSignal;
  /**
   * Ends the job as part of `transaction`, so that it ends if and only if the transaction commits. @throws LeaseLost when another server has it; the transaction must then
   * be rolled back.
   */
  conclude(transaction: Kysely<JobTables>): Promise<void>;
  /**
   * Makes `transaction` depend on this server still having the job, which stays claimed. @throws LeaseLost when another server has it, or it was cancelled; the transaction
   * must then be rolled back.
   */
  confirm(transaction: Kysely<JobTables>): Promise<void>;
  /** Counts an attempt, for a kind with `told`. @throws LeaseLost */
  countAttempt(): Promise<void>;
}

/** A job that this server claimed directly, with its lease: no other server gets it meanwhile. */
export interface HeldJob extends Pick<Job<unknown>, 'signal' | 'confirm' | 'countAttempt'> {
  /** Starts renewing the lease. Call it once the claiming transaction has committed. */
  keep(): void;
  /** Ends the job as done. */
  end(): Promise<void>;
  /** Releases the job; a server claims it again after `wait_ms`. */
  letGo(wait_ms: number): Promise<void>;
}

/** Thrown by a job that cannot run now and did not fail: it is retried after so many ms, and no attempt is counted. */
export class Postponed extends Error {
  override name = 'Postponed';
  readonly wait_ms: number;

  constructor(wait_ms: number) {
    super('It will run later.');
    this.wait_ms = wait_ms;
  }
}
