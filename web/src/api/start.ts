import { useSyncExternalStore } from 'react';
import { createListeners } from './listeners.ts';

/** Time after which the start ends without a screen, in ms. */
const START_MAXIMUM = 10_000;

let isOver = true;
const listeners = createListeners();

function become(next: boolean): void {
  if (isOver === next) return;
  isOver = next;
  listeners.tell();
}

/** Starts the start phase of a first screen that ends it with `endStart`. Other fetches wait for the end. */
export function beginStart(): void {
  become(false);
  setTimeout(endStart, START_MAXIMUM);
}

/** Ends the start phase; the first screen shows its figures. */
export function endStart(): void {
  become(true);
}

/** Whether fetches beside the first screen may start. */
export function useIsStartOver(): boolean {
  return useSyncExternalStore(listeners.subscribe, () => isOver);
}
