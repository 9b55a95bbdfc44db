import { useSyncExternalStore } from 'react';
import { createListeners } from '#api/listeners.ts';

/** State of the banner that every screen shows while this page shares its screen with a technician or has its voice on. The remote feature updates it. */
export interface SharingNow {
  technician: string;
  is_shown: boolean;
  is_paused: boolean;
  voice: 'off' | 'muted' | 'open';
}

let now: SharingNow | undefined;
const listeners = createListeners();

/** Sets the state; undefined after sharing has ended. */
export function tellSharing(sharing: SharingNow | undefined): void {
  now = sharing;
  listeners.tell();
}

/** Undefined if this page shares nothing. */
export function useSharingNow(): SharingNow | undefined {
  return useSyncExternalStore(listeners.subscribe, () => now);
}
