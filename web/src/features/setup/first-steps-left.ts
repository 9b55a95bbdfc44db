import type { Status } from '@palisade/contract/status';

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

/** First steps in order, and whether each one is done. */
export type FirstStepsDone = Partial<Record<'provider' | 'second_factor' | 'first_scan' | 'others' | 'device', boolean>>;

export function areStepsLeft(done: FirstStepsDone): boolean {
  return Object.values(done).includes(false);
}

/** The first steps of a customer, derived from their status. */
export function customerSteps({ looked_at, protected_by, next, others }: Status): FirstStepsDone {
  return {
    first_scan: looked_at.files_read + looked_at.files_unread > 0,
    second_factor: ![next, ...others].some((step) => step?.id === 'no_two_factor'),
    device: looked_at.devices > 0 || protected_by.includes('web_protection'),
  };
}
