import { useSyncExternalStore } from 'react';

/** The last word of the events socket, or of a later call, about the way to the server; `unknown` until one has. */
export type Connection = 'unknown' | 'online' | 'offline';

const listeners = new Set<() => void>();
let connection: Connection = 'unknown';

/** Answers within this time after the network went were under way before, in ms. */
const UNDER_WAY = 1_000;
let cut_at = 0;

export function reportConnection(next: Connection): void {
  if (next === connection || (next === 'online' && !navigator.onLine && Date.now() - cut_at < UNDER_WAY)) return;
  connection = next;
  for (const listener of listeners) listener();
}

window.addEventListener('offline', () => {
  cut_at = Date.now();
  reportConnection('offline');
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `listener` each time the way to the server is there again, until the answered function is called. */
export function onReconnected(listener: () => void): () => void {
  let before = connection;
  return subscribe(() => {
    const isBack = before !== 'online' && connection === 'online';
    before = connection;
    if (isBack) listener();
  });
}

let waits_until: number | undefined;

/** The server asked this page, whose person is signed in, to wait for so many seconds; undefined when that is over. */
export function reportWait(seconds: number | undefined): void {
  waits_until = seconds === undefined ? undefined : Math.max(waits_until ?? 0, Date.now() + seconds * 1_000);
  for (const listener of listeners) listener();
}

/** Until when this page was asked to wait, in ms since 1970. */
export function useWait(): number | undefined {
  return useSyncExternalStore(subscribe, () => waits_until);
}

/** The last state, for callers outside components. */
export function readConnection(): Connection {
  return connection;
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}
