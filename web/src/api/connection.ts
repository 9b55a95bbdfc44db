import { useSyncExternalStore } from 'react';
import { createListeners } from './listeners.ts';

/** State of the connection according to the events socket or the latest call; `unknown` at first. */
export type Connection = 'unknown' | 'online' | 'offline';

const listeners = createListeners();
let connection: Connection = 'unknown';

/** Replies within this time after the loss of the network were sent before it, in ms. */
const UNDER_WAY = 1_000;
let cut_at = 0;

export function reportConnection(next: Connection): void {
  if (next === connection || (next === 'online' && !navigator.onLine && Date.now() - cut_at < UNDER_WAY)) return;
  connection = next;
  listeners.tell();
}

window.addEventListener('offline', () => {
  cut_at = Date.now();
  reportConnection('offline');
});

/** Calls `listener` each time the connection to the server returns. Returns a function that unsubscribes. */
export function onReconnected(listener: () => void): () => void {
  let before = connection;
  return listeners.subscribe(() => {
    const isBack = before !== 'online' && connection === 'online';
    before = connection;
    if (isBack) listener();
  });
}

let waits_until: number | undefined;

/** Stores the wait that the server has requested, in seconds; undefined ends it. */
export function reportWait(seconds: number | undefined): void {
  waits_until = seconds === undefined ? undefined : Math.max(waits_until ?? 0, Date.now() + seconds * 1_000);
  listeners.tell();
}

/** End of the requested wait, in ms since 1970. */
export function useWait(): number | undefined {
  return useSyncExternalStore(listeners.subscribe, () => waits_until);
}

/** The present state, for callers outside components. */
export function readConnection(): Connection {
  return connection;
}

export function useConnection(): Connection {
  return useSyncExternalStore(listeners.subscribe, () => connection);
}
