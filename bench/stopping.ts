// Stops what a bench started, and waits for a state.
import { setTimeout as pause } from 'node:timers/promises';

/** Takes what was started, so that it is stopped. */
export type Stopped = <One extends { stop(): unknown }>(started: One) => One;

/** Runs what starts processes and stops them afterwards, the last one first, also where it fails in the middle: what is left running would be measured with the next. */
export async function stopping<Answer>(run: (stopped: Stopped) => Promise<Answer>): Promise<Answer> {
  const running: { stop(): unknown }[] = [];
  try {
    return await run((started) => {
      running.push(started);
      return started;
    });
  } finally {
    for (const one of running.toReversed()) await one.stop();
  }
}

const PATIENCE_MS = 60_000;

/** The first answer of `look` that is not undefined. @throws when it comes too late */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await pause(5)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`waited too long for ${what}`);
}
