import { useSyncExternalStore } from 'react';
import { createListeners } from '#api/listeners.ts';

/** Whether this page has received an event of a remote session, so that every screen shows its notice. */
let isTold = false;
const listeners = createListeners();

export function noteRemoteNews(): void {
  isTold = true;
  listeners.tell();
}

/** True from the first event on. Ended sessions are shown on their own screen. */
export function useRemoteNews(): boolean {
  return useSyncExternalStore(listeners.subscribe, () => isTold);
}
