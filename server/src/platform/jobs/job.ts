import type { Kysely } from 'kysely';
import type { JobTables } from './job-tables.ts';

/** A job as its work gets it. */
export interface Job<Payload> {
  id: string;
  payload: Payload;
  /** Number of attempts, this one included where its kind counts at the claim. */
  attempts: number;
  /** Aborted when the job is lost to another server, is cancelled, or this server stops: unfinished work is then repeated, or not wanted any more. */
  signal: AbortSignal;
  /**
   * Ends the job as part of `transaction`, so that it has ended if and only if the transaction is committed.
   * @throws LeaseLost when it is another server's by now; the transaction must then not be committed.
   */
  conclude(transaction: Kysely<JobTables>): Promise<void>;
  /**
   * Makes `transaction` count only if this server still has the job, which stays claimed.
   * @throws LeaseLost when it is another server's by now, or was cancelled; the transaction must then not be committed.
   */
  confirm(transaction: Kysely<JobTables>): Promise<void>;
  /** Counts an attempt of a kind that counts when told. @throws LeaseLost */
  countAttempt(): Promise<void>;
}

/** A job that a server claimed directly, with its lease: no other server gets it meanwhile. */
export interface HeldJob extends Pick<Job<unknown>, 'signal' | 'confirm' | 'countAttempt'> {
  /** From here on the lease is renewed. Call it once the transaction is committed that took the job up. */
  keep(): void;
  /** The job is done. */
  end(): Promise<void>;
  /** Another server, or this one, takes it up after so long. */
  letGo(wait_ms: number): Promise<void>;
}

/** Thrown by a job that cannot run now and did not fail: it runs in so many ms, and no attempt is counted. */
export class Postponed extends Error {
  override name = 'Postponed';
  readonly wait_ms: number;

  constructor(wait_ms: number) {
    super('It will run later.');
    this.wait_ms = wait_ms;
  }
}
