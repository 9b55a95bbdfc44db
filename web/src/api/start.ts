import { useSyncExternalStore } from 'react';

/** A start that no screen has ended is over after this time, in ms. */
const START_MAXIMUM = 10_000;

let isOver = true;
const listeners = new Set<() => void>();

function become(next: boolean): void {
  if (isOver === next) return;
  isOver = next;
  for (const listener of listeners) listener();
}

/** Answers whether the page’s address is that of the dashboard, or leads there. */
export function isAtStart(): boolean {
  return /^\/(dashboard)?$/u.test(location.pathname);
}

/** The application opens on a screen that ends the start itself: what that screen does not show waits for it. */
export function beginStart(): void {
  become(false);
  setTimeout(endStart, START_MAXIMUM);
}

/** The screen shows its figures. */
export function endStart(): void {
  become(true);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether what is beside the first screen may be asked for. */
export function useIsStartOver(): boolean {
  return useSyncExternalStore(subscribe, () => isOver);
}
