// Stops the processes of a benchmark, and waits for a state.
import { setTimeout as pause } from 'node:timers/promises';

/** Registers a started process to be stopped later, and returns it. */
export type Stopped = <One extends { stop(): unknown }>(started: One) => One;

/** Calls `run` and then stops all registered processes in reverse order, also after an error: processes left running would affect the next measurement. */
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

/** Calls `look` until it returns a value other than undefined. @throws Error after the time limit */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await pause(5)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`waited too long for ${what}`);
}
