import { formatNumber } from '@palisade/contract/intl';
import { IconCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid } from '#ui/layout.tsx';
import { areStepsLeft, type FirstStepsDone, rememberHidden } from './first-steps-left.ts';
import './first-steps.css';

type Step = keyof FirstStepsDone;

const STEPS: Record<Step, { title: string; sentence: string; link?: { to: string; label: string } }> = {
  provider: {
    title: 'Add your contact details',
    sentence: 'Your name, and the phone number and email where people get help.',
    link: { to: '/admin/setup', label: 'Set up' },
  },
  second_factor: {
    title: 'Protect your sign-in',
    sentence: 'Sign in with a code from your phone too. A stolen password is then not enough.',
    link: { to: '/dashboard?open=security&tab=two-factor', label: 'Turn on two-factor' },
  },
  first_scan: {
    title: 'Scan a first file',
    sentence: 'Any file will do. You’ll see what a result looks like.',
    link: { to: '/antivirus', label: 'Choose a file' },
  },
  others: { title: 'Invite other people', sentence: 'They register at this address:' },
  device: {
    title: 'Protect a device',
    sentence: 'See what Palisade can do on your phone, laptop, and other devices.',
    link: { to: '/devices', label: 'Add a device' },
  },
};

const STEP_NAMES: readonly Step[] = ['first_scan', 'provider', 'second_factor', 'others', 'device'];

const GET_STARTED = 'Get started';

interface FirstStepsProps {
  done: FirstStepsDone;
  /** The step that the status above already offers. */
  offered?: Step | undefined;
}

/** The steps in `done`, until all are completed or dismissed. */
export function FirstSteps({ done, offered }: FirstStepsProps) {
  const [isHidden, setIsHidden] = useState(false);
  if (isHidden || !areStepsLeft(done)) return null;
  const steps = STEP_NAMES.filter((step) => step in done && step !== offered).toSorted(
    (one, other) => Object.keys(done).indexOf(one) - Object.keys(done).indexOf(other),
  );
  const left = steps.filter((step) => done[step] !== true);
  if (left.length === 0) return null;
  return (
    <section className="card first-steps" aria-labelledby="first-steps">
      <div className="card__head below-2">
        <h2 id="first-steps">{left.length === steps.length ? GET_STARTED : `First steps: ${formatNumber(left.length)} left`}</h2>
        <Button
          variant="text"
          size="s"
          onClick={() => {
            rememberHidden();
            setIsHidden(true);
          }}
        >
          Hide
        </Button>
      </div>
      <Grid as="ol" columns="fit-m" gap="4">
        {steps.map((step, index) => (
          <Grid as="li" columns="lead" gap="3" align="start" key={step} data-done={done[step]}>
            <span className="first-steps__mark num center round small bold muted" aria-hidden="true">
              {done[step] ? <IconCheck size={16} stroke={2.2} /> : index + 1}
            </span>
            <div>
              <b className={done[step] ? 'muted' : undefined}>{STEPS[step].title}</b>
              {done[step] ? <span className="visually-hidden"> (done)</span> : <StepHelp {...STEPS[step]} />}
            </div>
          </Grid>
        ))}
      </Grid>
    </section>
  );
}

function StepHelp({ sentence, link }: { sentence: string; link?: { to: string; label: string } }) {
  return (
    <>
      <p className="sub">{sentence}</p>
      {link ? (
        <div className="above-2">
          <ScreenLink to={link.to} variant="quiet" size="s" preventScrollReset={link.to.startsWith('/dashboard')}>
            {link.label}
          </ScreenLink>
        </div>
      ) : (
        <Address />
      )}
    </>
  );
}

/** Local addresses, which do not work on other computers. */
const OWN_MACHINE = /^(?:localhost|127\.|\[::1\])/u;

function Address() {
  const { origin, hostname } = window.location;
  return (
    <>
      <code className="mono small block break above-1">{`${origin}/?mode=register`}</code>
      {OWN_MACHINE.test(hostname) && (
        <p className="sub">This link works only on this computer. Ask your server administrator to open access.</p>
      )}
    </>
  );
}
