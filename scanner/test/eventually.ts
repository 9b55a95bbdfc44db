import { setTimeout as sleep } from 'node:timers/promises';

/** Looks before a condition counts as never true, and the time between two of them: 20 s on an idle machine. On a busy one a look comes later, so that the wait is as much longer. */
const LOOKS = 1_000;
const PAUSE_MS = 20;

/** Waits until a condition no longer throws, for what another process, a socket or a queue does in its own time. Answers its value, or throws its last error. */
export async function eventually<T>(condition: () => T | Promise<T>): Promise<T> {
  for (let look = 1; look < LOOKS; look += 1) {
    try {
      return await condition();
    } catch {
      await sleep(PAUSE_MS);
    }
  }
  return await condition();
}
