import type { ReactNode } from 'react';
import { sentenceOf } from '#api/call.ts';
import './refusal.css';

/** Why something that was asked for was not done, beside what asked for it: in the server's words, or in `children`. Empty while there is no error. */
export function Refusal({ error, children }: { error: unknown; children?: ReactNode }) {
  if (!error) return null;
  return (
    <p role="alert" className="refusal">
      {children ?? sentenceOf(error)}
    </p>
  );
}
