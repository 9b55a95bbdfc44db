import { readConfig } from '@palisade/contract/platform';
import { useEffect, useSyncExternalStore } from 'react';
import type { z } from 'zod';
import { call } from './call.ts';

export type Config = z.infer<Exclude<typeof readConfig.reply, undefined>>;

// Not a query: the sign-in screen needs it too, and does without the query library to stay small.
const listeners = new Set<() => void>();
let config: Config | undefined;
let asking: Promise<void> | undefined;
let asked = 0;
let isAnswered = false;

async function ask(): Promise<void> {
  asked += 1;
  const turn = asked;
  try {
    const answer = await call(readConfig);
    // An answer that was overtaken is of the time before a change.
    if (turn !== asked) return;
    config = answer;
    for (const listener of listeners) listener();
  } catch (error) {
    // The screens do without it; the next screen that wants it asks again.
    console.error(error);
    asking = undefined;
  }
  if (!isAnswered) {
    isAnswered = true;
    for (const listener of listeners) listener();
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The server's public settings, asked for once a page; `undefined` until they are there. */
export function useConfig(): Config | undefined {
  useEffect(() => {
    if (!asking) asking = ask();
  }, []);
  return useSyncExternalStore(subscribe, () => config);
}

/** Whether they were answered or refused: what is drawn from then on is not moved by them. */
export function useIsConfigAnswered(): boolean {
  return useSyncExternalStore(subscribe, () => isAnswered);
}

/** Asks anew, after an administrator has changed what the screens show. */
export function refreshConfig(): Promise<void> {
  asking = ask();
  return asking;
}
