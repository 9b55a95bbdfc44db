import { currentSession } from './session.ts';

/** Storage key of an unsent text, separate for each person and each field (`place`). */
function keyOf(place: string): string {
  return `palisade.draft.${currentSession()?.user_info.id ?? ''}.${place}`;
}

/** The draft of a field; empty if there is none or storage is blocked. */
export function readDraft(place: string): string {
  try {
    return localStorage.getItem(keyOf(place)) ?? '';
  } catch {
    return '';
  }
}

/** Stores a draft; an empty one is deleted. */
export function keepDraft(place: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(keyOf(place));
    else localStorage.setItem(keyOf(place), text);
  } catch {
    // Without storage the draft lives as long as the page.
  }
}
