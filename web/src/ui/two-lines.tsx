import type { ReactNode } from 'react';
import './two-lines.css';

/** A list item with its name and, beneath, a line that distinguishes it. */
export function TwoLines({ name, line }: { name: ReactNode; line: ReactNode }) {
  return (
    <span className="two-lines">
      <span>{name}</span>
      <span>{line}</span>
    </span>
  );
}
