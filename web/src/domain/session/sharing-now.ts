import { useSyncExternalStore } from 'react';

/** The banner of every screen while this page shares the computer with a technician, or has its person's voice on; the screens of remote access keep it. */
export interface SharingNow {
  technician: string;
  is_shown: boolean;
  is_paused: boolean;
  voice: 'off' | 'muted' | 'open';
}

let now: SharingNow | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Undefined: nothing is shown any more. */
export function tellSharing(sharing: SharingNow | undefined): void {
  now = sharing;
  for (const listener of listeners) listener();
}

/** Undefined while this page shows nothing to anybody. */
export function useSharingNow(): SharingNow | undefined {
  return useSyncExternalStore(subscribe, () => now);
}
