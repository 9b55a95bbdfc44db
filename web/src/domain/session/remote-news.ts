import { useSyncExternalStore } from 'react';

/** Whether this page has received an event of a remote session, so that every screen shows its notice. */
let isTold = false;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function noteRemoteNews(): void {
  isTold = true;
  for (const listener of listeners) listener();
}

/** True from the first event on. Ended sessions are shown on their own screen. */
export function useRemoteNews(): boolean {
  return useSyncExternalStore(subscribe, () => isTold);
}
