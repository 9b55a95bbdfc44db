import { useSyncExternalStore } from 'react';

/** State of the banner that every screen has while this page shares its screen with a technician or the voice is on. Remote access updates it. */
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

/** Sets the state; undefined when sharing has ended. */
export function tellSharing(sharing: SharingNow | undefined): void {
  now = sharing;
  for (const listener of listeners) listener();
}

/** Undefined while this page shares nothing. */
export function useSharingNow(): SharingNow | undefined {
  return useSyncExternalStore(subscribe, () => now);
}
