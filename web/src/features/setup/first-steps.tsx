import type { Overview } from '@palisade/contract/overview';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { overviewQuery } from '#domain/overview/overview.ts';
import { Button } from '#ui/button.tsx';
import { rememberHidden } from './first-steps-left.ts';
import './first-steps.css';

type Step = keyof Overview['first_steps'];

const STEPS: readonly { step: Step; title: string; sentence: string; link?: { to: string; label: string } }[] = [
  {
    step: 'provider',
    title: 'Add your contact details',
    sentence: 'Your name, and the phone number and email where people get help.',
    link: { to: '/admin/setup', label: 'Set up' },
  },
  {
    step: 'second_factor',
    title: 'Protect your sign-in',
    sentence: 'Sign in with a code from your phone too. A stolen password is then not enough.',
    link: { to: '/dashboard?open=security', label: 'Turn on two-factor' },
  },
  {
    step: 'first_scan',
    title: 'Scan a first file',
    sentence: 'Any file will do. You’ll see what a result looks like.',
    link: { to: '/antivirus', label: 'Choose a file' },
  },
  { step: 'others', title: 'Invite other people', sentence: 'They register at this address:' },
];

/** First steps of a new installation, until all are done or dismissed. */
export function FirstSteps() {
  const { data: overview } = useQuery(overviewQuery);
  const [isHidden, setIsHidden] = useState(false);
  if (!overview || isHidden) return null;
  const { first_steps } = overview;
  const left = STEPS.filter(({ step }) => !first_steps[step]);
  if (left.length === 0) return null;
  const next = left[0]?.step;
  return (
    <section className="card first-steps" aria-labelledby="first-steps">
      <div className="card__head">
        <h2 id="first-steps">
          {left.length === STEPS.length ? 'Get started in four steps.' : `First steps: ${left.length} left`}
        </h2>
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
      <ol className="first-steps__list">
        {STEPS.map(({ step, title, sentence, link }, index) => (
          <li key={step} data-done={first_steps[step]}>
            <span className="first-steps__mark num" aria-hidden="true">
              {first_steps[step] ? <IconCheck size={16} stroke={2.2} /> : index + 1}
            </span>
            <div>
              <b>{title}</b>
              {first_steps[step] ? (
                <span className="visually-hidden"> (done)</span>
              ) : (
                <StepHelp sentence={sentence} link={link} isNext={step === next} />
              )}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function StepHelp({
  sentence,
  link,
  isNext,
}: {
  sentence: string;
  link: { to: string; label: string } | undefined;
  isNext: boolean;
}) {
  return (
    <>
      <p className="sub">{sentence}</p>
      {link ? (
        <Link to={link.to} className="first-steps__link" data-next={isNext} preventScrollReset={link.to.startsWith('/dashboard')}>
          {link.label}
        </Link>
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
      <code className="first-steps__address">{`${origin}/?mode=register`}</code>
      {OWN_MACHINE.test(hostname) && (
        <p className="sub">This link works only on this computer. Ask your server administrator to open access.</p>
      )}
    </>
  );
}
