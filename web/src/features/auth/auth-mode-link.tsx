import type { MouseEvent, ReactNode } from 'react';
import { type AuthMode, addressOfMode } from './auth-modes.ts';

interface ModeLinkProps {
  mode: AuthMode;
  onChoose: (mode: AuthMode) => void;
  children: ReactNode;
}

/** A link to another mode: changes the form without a page load, but has a real address for a new tab. */
export function ModeLink({ mode, onChoose, children }: ModeLinkProps) {
  function choose(event: MouseEvent) {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onChoose(mode);
  }
  return (
    <a href={addressOfMode(mode)} onClick={choose}>
      {children}
    </a>
  );
}
