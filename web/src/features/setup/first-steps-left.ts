import type { Overview } from '@palisade/contract/overview';

const HIDDEN_KEY = 'palisade.first_steps_hidden';

/** Whether the first steps were dismissed in this browser. */
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
    // Without storage they are hidden for the life of the page.
  }
}

export function areStepsLeft({ first_steps }: Overview): boolean {
  return Object.values(first_steps).includes(false);
}
