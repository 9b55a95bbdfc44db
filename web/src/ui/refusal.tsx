import type { ReactNode } from 'react';
import { sentenceOf } from '#api/call.ts';
import './refusal.css';

/** The reason of a refused action, next to its control: the server's sentence, or `children`. Renders nothing without an error. */
export function Refusal({ error, children }: { error: unknown; children?: ReactNode }) {
  if (!error) return null;
  return (
    <p role="alert" className="refusal">
      {children ?? sentenceOf(error)}
    </p>
  );
}
