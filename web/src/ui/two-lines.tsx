import type { ReactNode } from 'react';
import './two-lines.css';

/** Somebody or something in a list: what it is called, and beneath it what tells it from others. */
export function TwoLines({ name, line }: { name: ReactNode; line: ReactNode }) {
  return (
    <span className="two-lines">
      <span>{name}</span>
      <span>{line}</span>
    </span>
  );
}
