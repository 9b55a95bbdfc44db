import { ABSENT_AFTER, setPresence } from '@palisade/contract/desk-team';
import { useEffect } from 'react';
import { call } from './call.ts';

const MOVES = ['keydown', 'pointermove', 'pointerdown', 'wheel', 'touchstart'] as const;
/** Storage keys: time of the last activity in any tab, and whether a tab has reported the person as away. */
const ACTIVE_AT = 'palisade.active_at';
const IS_ABSENT = 'palisade.is_absent';
/** Shortest interval between two writes to storage, in ms. */
const WRITTEN_EVERY = 10_000;

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Without storage each tab knows only its own activity.
  }
}

function say(presence: 'here' | 'away'): void {
  call(setPresence, { body: { presence, by_hand: false } }).catch((error: unknown) => console.error(error));
}

/** Reports a staff member as away after a time without activity in any tab, and as back at the next activity. A presence set by hand stays. */
export function useAbsence(isMeant: boolean): void {
  useEffect(() => {
    if (!isMeant) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    let active_at = 0;
    const look = () => {
      const last = Math.max(active_at, Number(read(ACTIVE_AT) ?? 0));
      const left = last + ABSENT_AFTER - Date.now();
      if (left > 0) timer = setTimeout(look, left);
      else if (read(IS_ABSENT) !== 'yes') {
        write(IS_ABSENT, 'yes');
        say('away');
      }
    };
    const move = () => {
      const now = Date.now();
      if (now - active_at < WRITTEN_EVERY) return;
      active_at = now;
      write(ACTIVE_AT, String(now));
      if (read(IS_ABSENT) === 'yes') {
        write(IS_ABSENT, 'no');
        say('here');
      }
      clearTimeout(timer);
      timer = setTimeout(look, ABSENT_AFTER);
    };
    move();
    for (const kind of MOVES) window.addEventListener(kind, move, { passive: true });
    return () => {
      clearTimeout(timer);
      for (const kind of MOVES) window.removeEventListener(kind, move);
    };
  }, [isMeant]);
}
