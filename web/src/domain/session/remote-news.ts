import { useSyncExternalStore } from 'react';

/** Whether this page received news of a remote session of its person, so that every screen shows a question or a running view. */
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

/** From the first word on: what is over is read where it is shown. */
export function useRemoteNews(): boolean {
  return useSyncExternalStore(subscribe, () => isTold);
}
