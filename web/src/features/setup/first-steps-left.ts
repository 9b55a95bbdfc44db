import type { Overview } from '@palisade/contract/overview';

const HIDDEN_KEY = 'palisade.first_steps_hidden';

/** Whether this browser has put the first steps away. */
export function wasHidden(): boolean {
  try {
    return localStorage.getItem(HIDDEN_KEY) !== null;
  } catch {
    return false;
  }
}

export function rememberHidden(): void {
  try {
    localStorage.setItem(HIDDEN_KEY, 'yes');
  } catch {
    // Without storage it is hidden as long as the page lives.
  }
}

export function areStepsLeft({ first_steps }: Overview): boolean {
  return Object.values(first_steps).includes(false);
}
