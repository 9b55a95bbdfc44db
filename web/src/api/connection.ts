import { useSyncExternalStore } from 'react';

/** What the events socket, or a call since, told about the way to the server; `unknown` until one has. */
export type Connection = 'unknown' | 'online' | 'offline';

const listeners = new Set<() => void>();
let connection: Connection = 'unknown';

export function reportConnection(next: Connection): void {
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

window.addEventListener('offline', () => reportConnection('offline'));

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}
