import { useEffect, useRef, useSyncExternalStore } from 'react';
import { createListeners } from '#api/listeners.ts';
import { isOfInputMethod } from '#ui/pressed.ts';

/** Action of each key, for the help dialog. */
export const KEYS = [
  { keys: ['j', 'k'], what: 'The next conversation of the inbox, and the one before.' },
  { keys: ['r'], what: 'Write an answer.' },
  { keys: ['e'], what: 'Close the conversation.' },
  { keys: ['/'], what: 'Search the inbox. At the beginning of an answer: choose a saved reply.' },
  { keys: ['?'], what: 'This list.' },
] as const;

export type Key = (typeof KEYS)[number]['keys'][number];

const STORED = 'palisade.desk_keys';
const listeners = createListeners();

function areOn(): boolean {
  try {
    return localStorage.getItem(STORED) !== 'off';
  } catch {
    return true;
  }
}

/** Turns single-key shortcuts on or off (WCAG 2.1.4): dictation software may type letters that are not meant as keys. */
export function turnKeys(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, 'off');
  } catch {
    // Without storage shortcuts stay on.
  }
  listeners.tell();
}

export function useAreKeysOn(): boolean {
  return useSyncExternalStore(listeners.subscribe, areOn);
}

const WRITES = 'input:not([type="radio"], [type="checkbox"]), textarea, select, [contenteditable="true"]';

/** Calls the action of a key, except while the person types, a dialog is open, or the key is part of a combination. */
export function useKeys(act: Record<Key, () => void>): void {
  const current = useRef(act);
  current.current = act;
  const isOn = useAreKeysOn();
  useEffect(() => {
    if (!isOn) return undefined;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isOfInputMethod(event)) return;
      if (event.target instanceof Element && event.target.matches(WRITES)) return;
      if (document.querySelector('[role="dialog"], dialog[open]') !== null) return;
      const key = KEYS.flatMap(({ keys }) => [...keys]).find((known) => known === event.key);
      if (key === undefined) return;
      event.preventDefault();
      current.current[key]();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [isOn]);
}
