import { setTimeout as pause } from 'node:timers/promises';

type Dispose = () => unknown;

/** Longer is not waited for one. ms. */
const PATIENCE_MS = 20_000;

const left: Dispose[] = [];

/**
 * Done once the tests of the file have ended, the last one first, wherever it is asked for. Vitest takes an `afterAll` while it collects a file, and ignores one that is called in a test or in
 * another hook: servers that were started there lived, with their connections, until the worker ended.
 */
export function afterFile(dispose: Dispose): void {
  left.push(dispose);
}

/** Called by `file-end.ts` for each file. A server that cannot end, because a test removed its database, is reported and fails no test. */
export async function disposeLeft(): Promise<void> {
  for (const dispose of left.splice(0).toReversed()) {
    const given_up = new AbortController();
    const late = pause(PATIENCE_MS, 'late', { signal: given_up.signal, ref: false }).catch(() => undefined);
    try {
      if ((await Promise.race([dispose(), late])) === 'late') process.stderr.write('what a test started did not end in time\n');
    } catch (error) {
      process.stderr.write(`what a test started could not be ended: ${String(error)}\n`);
    }
    given_up.abort();
  }
}
