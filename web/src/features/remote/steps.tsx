import type { ReactNode } from 'react';
import { Stack } from '#ui/layout.tsx';
import './steps.css';

export interface Step {
  title: string;
  sentence: ReactNode;
}

export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <Stack as="ol" className="steps">
      {steps.map(({ title, sentence }) => (
        <li key={title}>
          <h3 className="base bold">{title}</h3>
          <p className="sub">{sentence}</p>
        </li>
      ))}
    </Stack>
  );
}
