import type { z } from 'zod';

/** When a job that failed is tried again: after `first_ms`, then twice as long each time, at most `most_ms`; after `most` attempts it is given up. */
interface Attempts {
  most: number;
  first_ms: number;
  most_ms: number;
  /**
   * `claimed`: each time that a server takes it up, so that one that ends its server is given up, too. `told`: only when its work says so (`countAttempt`), so that a
   * server that stops before it has begun in earnest costs nothing.
   */
  counted: 'claimed' | 'told';
}

/** The definition of a kind of jobs. Declared beside the feature whose work it is. */
export interface JobKind<Payload> {
  /** Under which its rows are found. A payload that an earlier version could not read is another kind. */
  name: string;
  payload: z.ZodType<Payload>;
  /** Number of jobs of this kind that one server runs at once. They take no turn from other kinds. */
  at_once: number;
  /** 0 goes first. */
  priority: number;
  attempts: Attempts;
  /** Set for one that exists once in the installation and is done again and again: so long after it was done. In ms. */
  every_ms: number | undefined;
}

const SECOND_MS = 1_000;
const ATTEMPTS: Attempts = { most: 8, first_ms: 10 * SECOND_MS, most_ms: 3_600 * SECOND_MS, counted: 'claimed' };
const USUAL_PRIORITY = 1;

/** Declares a kind of jobs; omitted options have their defaults. */
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

/** The wait after that many attempts, in ms. */
export function backOff({ first_ms, most_ms }: Pick<Attempts, 'first_ms' | 'most_ms'>, attempts: number): number {
  return Math.min(most_ms, first_ms * 2 ** Math.max(0, attempts - 1));
}
