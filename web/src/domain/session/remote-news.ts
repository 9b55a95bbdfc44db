import { useSyncExternalStore } from 'react';

/** Whether this page was told of a remote session of its person, so that every screen looks whether somebody asks to see theirs, or does. */
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
