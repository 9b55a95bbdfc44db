import type { z } from 'zod';

/** Retry policy of a failed job: after `first_ms`, then twice as long each time, at most `most_ms`; after `most` attempts it is given up. */
interface Attempts {
  most: number;
  first_ms: number;
  most_ms: number;
  /**
   * `claimed`: at each claim, so that a job that crashes its server is given up, too. `told`: only at `countAttempt`, so that a server that stops before the actual work
   * does not use up an attempt.
   */
  counted: 'claimed' | 'told';
}

/** The definition of a kind of jobs. Declared beside the feature whose work it is. */
export interface JobKind<Payload> {
  /** Identifies its rows. If the payload changes so that earlier versions cannot read it, use a new name. */
  name: string;
  payload: z.ZodType<Payload>;
  /** Number of jobs of this kind that one server runs at once, independent of other kinds. */
  at_once: number;
  /** 0 is the most urgent. */
  priority: number;
  attempts: Attempts;
  /** For a recurring kind, of which one job exists in the installation: time between its end and its next start, in ms. */
  every_ms: number | undefined;
}

const SECOND_MS = 1_000;
const ATTEMPTS: Attempts = { most: 8, first_ms: 10 * SECOND_MS, most_ms: 3_600 * SECOND_MS, counted: 'claimed' };
const USUAL_PRIORITY = 1;

/** Declares a kind of job; omitted options have defaults. */
export function jobKind<Payload>(
  kind: Pick<JobKind<Payload>, 'name' | 'payload'> & {
    at_once?: number;
    priority?: number;
    attempts?: Partial<Attempts>;
    every_ms?: number;
  },
): JobKind<Payload> {
  const { at_once = 1, priority = USUAL_PRIORITY, every_ms, attempts, ...rest } = kind;
  return { ...rest, at_once, priority, every_ms, attempts: { ...ATTEMPTS, ...attempts } };
}

/** The wait after a number of attempts, in ms. */
export function backOff({ first_ms, most_ms }: Pick<Attempts, 'first_ms' | 'most_ms'>, attempts: number): number {
  return Math.min(most_ms, first_ms * 2 ** Math.max(0, attempts - 1));
}
