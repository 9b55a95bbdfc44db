import type { RemoteSession } from '@palisade/contract/remote';
import { IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Grid, Stack } from '#ui/layout.tsx';
import './session-stepper.css';

const STEPS = ['Code', 'Approve', 'Share', 'Work', 'End'] as const;
type StepName = (typeof STEPS)[number];

const SENTENCES: Record<Exclude<StepName, 'End'>, string> = {
  Code: 'Give your code to the technician you contacted.',
  Approve: 'Check the name, then approve or decline.',
  Share: 'Choose what the technician sees.',
  Work: 'They point, you press. Pause whenever you like.',
};

/** The step of a customer's open session. */
export function stepOf(session: RemoteSession): keyof typeof SENTENCES {
  if (session.phase === 'waiting') return 'Code';
  if (session.phase === 'claimed') return 'Approve';
  return session.view === 'talk' || session.share === 'running' ? 'Work' : 'Share';
}

/** A remote session from code to end on one page: the present step, and its content below. */
export function SessionStepper({ session, children }: { session: RemoteSession; children: ReactNode }) {
  const step = stepOf(session);
  const current = STEPS.indexOf(step);
  return (
    <Stack lines className="session-flow">
      <Stack gap="3" className="pad-l">
        <Grid as="ol" className="stepper" aria-label="Steps of a session">
          {STEPS.map((name, index) => (
            <Stack
              as="li"
              gap="1"
              align="center"
              className="shrink medium centered muted small break"
              key={name}
              data-state={index < current ? 'done' : index === current ? 'current' : 'next'}
              aria-current={index === current ? 'step' : undefined}
            >
              <span className="stepper__sign center round bold" aria-hidden="true">
                {index < current ? <IconCheck size={16} stroke={2.4} /> : index + 1}
              </span>
              <span>{name}</span>
              {index < current && <span className="visually-hidden">, done</span>}
            </Stack>
          ))}
        </Grid>
        <p className="sub centered">{SENTENCES[step]}</p>
      </Stack>
      {children}
    </Stack>
  );
}
