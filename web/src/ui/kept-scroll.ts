import { useEffect, useLayoutEffect } from 'react';
import type { Location } from 'react-router';

/** Scroll position of a screen in px: where it was left, `undefined` for its top, or `kept` for no change. */
export type KeptScroll = number | 'kept' | undefined;

const STORAGE_KEY = 'palisade.scroll';

/** Positions by the key of the history entry. */
let positions: Map<string, number> | undefined;

function readPositions(): Map<string, number> {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}');
    const entries = typeof stored === 'object' && stored !== null ? Object.entries(stored) : [];
    return new Map(entries.flatMap(([key, place]) => (typeof place === 'number' ? [[key, place]] : [])));
  } catch {
    return new Map();
  }
}

/** Notes the scroll position of the history entry that is left. */
export function keepScroll(key: string): void {
  positions ??= readPositions();
  positions.set(key, window.scrollY);
}

export function keptScrollAt(key: string): number | undefined {
  positions ??= readPositions();
  return positions.get(key);
}

function store(key: string): void {
  keepScroll(key);
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(positions ?? [])));
  } catch {
    // Without storage, positions last as long as the page.
  }
}

/** The element that an address names behind `#`. */
function namedBy(hash: string): HTMLElement | null {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    return null;
  }
}

/** Scrolls a new screen to its top, a screen of the history to where it was left, and an address with `#` to its element. */
export function useKeptScroll({ key, hash }: Location, scroll: KeptScroll): void {
  // The browser would scroll before the screen is there.
  useEffect(() => {
    const takeOver = () => {
      window.history.scrollRestoration = 'manual';
    };
    const leave = () => {
      store(key);
      window.history.scrollRestoration = 'auto';
    };
    takeOver();
    window.addEventListener('pageshow', takeOver);
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pageshow', takeOver);
      window.removeEventListener('pagehide', leave);
    };
  }, [key]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each history entry
  useLayoutEffect(() => {
    const named = hash === '' ? null : namedBy(hash);
    if (typeof scroll === 'number') window.scrollTo(0, scroll);
    else if (named !== null) named.scrollIntoView();
    else if (scroll !== 'kept') window.scrollTo(0, 0);
  }, [key, hash, scroll]);
}
