import { useEffect } from 'react';

/**
 * Tells the style sheets how much of the window the keyboard of a phone leaves: `--seen-height` and `--seen-top`, in px. Browsers that shrink the page for it have the same
 * in `dvh`; Safari lays the keyboard over the page, and only its visual viewport knows.
 */
export function useKeyboardRoom(): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return undefined;
    const { style } = document.documentElement;
    const measure = () => {
      style.setProperty('--seen-height', `${Math.round(viewport.height)}px`);
      style.setProperty('--seen-top', `${Math.round(viewport.offsetTop)}px`);
    };
    measure();
    viewport.addEventListener('resize', measure);
    viewport.addEventListener('scroll', measure);
    return () => {
      viewport.removeEventListener('resize', measure);
      viewport.removeEventListener('scroll', measure);
      style.removeProperty('--seen-height');
      style.removeProperty('--seen-top');
    };
  }, []);
}
