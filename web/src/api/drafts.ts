import { currentSession } from './session.ts';

/** An unsent text of a person, kept in this browser: for whom, and where it goes. */
function keyOf(place: string): string {
  return `palisade.draft.${currentSession()?.user_info.id ?? ''}.${place}`;
}

/** The draft of a place; empty where there is none, or storage is blocked. */
export function readDraft(place: string): string {
  try {
    return localStorage.getItem(keyOf(place)) ?? '';
  } catch {
    return '';
  }
}

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(place: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(keyOf(place));
    else localStorage.setItem(keyOf(place), text);
  } catch {
    // Without storage it lives as long as the page.
  }
}
