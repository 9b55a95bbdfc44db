import { useEffect } from 'react';

/**
 * Sets `--seen-height` and `--seen-top` (px) to the part of the window that a phone's keyboard leaves visible. Most browsers shrink the page and `dvh`;
 * Safari lays the keyboard over the page, and only the visual viewport reports it.
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
