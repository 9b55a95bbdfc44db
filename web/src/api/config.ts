import { readConfig } from '@palisade/contract/platform';
import { useEffect, useSyncExternalStore } from 'react';
import type { z } from 'zod';
import { showAccent } from './accent.ts';
import { call } from './call.ts';
import { createListeners } from './listeners.ts';

export type Config = z.infer<Exclude<typeof readConfig.reply, undefined>>;

// Not a query: the sign-in screen also needs it and does not load the query library.
const listeners = createListeners();
let config: Config | undefined;
let asking: Promise<void> | undefined;
let asked = 0;
let isAnswered = false;

async function ask(): Promise<void> {
  asked += 1;
  const turn = asked;
  try {
    const answer = await call(readConfig);
    // A newer request has started, so this reply may be from before a change.
    if (turn !== asked) return;
    config = answer;
    if (answer.brand) void showAccent(answer.brand.accent);
    listeners.tell();
  } catch (error) {
    // Screens work without it; the next screen that needs it asks again.
    console.error(error);
    asking = undefined;
  }
  if (!isAnswered) {
    isAnswered = true;
    listeners.tell();
  }
}

/** The server's public settings, requested once per page; `undefined` until they arrive. */
export function useConfig(): Config | undefined {
  useEffect(() => {
    if (!asking) asking = ask();
  }, []);
  return useSyncExternalStore(listeners.subscribe, () => config);
}

/** True if this server sends emails, according to its settings. */
export function useIsMailed(): boolean {
  return useConfig()?.reset_delivery === 'email';
}

/** True after the settings arrived or failed. Content drawn from then on does not move when they change. */
export function useIsConfigAnswered(): boolean {
  return useSyncExternalStore(listeners.subscribe, () => isAnswered);
}

/** Requests the settings again, after an administrator has changed them. */
export function refreshConfig(): Promise<void> {
  asking = ask();
  return asking;
}
