import type { TwoFactor } from '@palisade/contract/two-factor';
import { useEffect, useRef, useState } from 'react';
import { DialogPart } from '#ui/dialog-part.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { ConfirmStep } from './confirm-step.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import type { AppSetup as Setup, TwoFactorTask } from './two-factor.queries.ts';

// Lazy because of its QR code encoder.
const AppSetup = lazyPart(async () => (await import('./app-setup.tsx')).AppSetup);

interface Words {
  title: string;
  sentence: string;
  action: string;
  done: string;
}

const WORDS: Record<TwoFactorTask['kind'], Words> = {
  app: {
    title: 'Set up an authenticator app',
    sentence: 'An app on your phone shows a new code every 30 seconds. You’ll sign in with your password and a code.',
    action: 'Continue',
    done: 'Your authenticator app is set up.',
  },
  new_app: {
    title: 'Change the authenticator app',
    sentence: 'Use this for a new phone or another app. Your current app works until the new one is set up.',
    action: 'Continue',
    done: 'Your new authenticator app is set up. The old one no longer works.',
  },
  passkey: {
    title: 'Add a passkey',
    sentence: 'A passkey on your device or security key signs you in with your fingerprint, face, or PIN.',
    action: 'Create Passkey',
    done: 'Your passkey is added.',
  },
  codes: {
    title: 'Make new recovery codes',
    sentence: 'You’ll get ten new codes. Your old codes will stop working.',
    action: 'Make New Codes',
    done: 'Your new recovery codes are ready.',
  },
  off: {
    title: 'Turn two-factor sign-in off',
    sentence: 'You’ll sign in with only your password. Your app, passkeys and recovery codes will be removed.',
    action: 'Turn Off',
    done: 'Two-factor sign-in is off.',
  },
  remove_app: {
    title: 'Remove the authenticator app',
    sentence: 'Its codes will stop working. Your passkeys stay.',
    action: 'Remove',
    done: 'The authenticator app is removed.',
  },
  remove_passkey: {
    title: 'Remove a passkey',
    sentence: 'It won’t sign you in anymore. Delete it from your device too.',
    action: 'Remove',
    done: 'The passkey is removed.',
  },
};

function wordsOf(task: TwoFactorTask): Words {
  const words = WORDS[task.kind];
  return task.kind === 'remove_passkey' ? { ...words, title: `Remove the passkey ${task.passkey.name}` } : words;
}

type Step = { step: 'confirm' } | { step: 'scan'; setup: Setup } | { step: 'codes'; codes: string[] };

interface TwoFactorStepsProps {
  task: TwoFactorTask;
  twoFactor: TwoFactor;
  isConfirmed: boolean;
  onConfirmed: (seconds: number) => void;
  /** Returns to the whole dialog; `sentence` describes the result. */
  onLeave: (sentence: string) => void;
  /** Heading level. */
  rank?: 'h1' | 'h3';
}

/** A task from its first to its last step. */
export function TwoFactorSteps({ task, twoFactor, isConfirmed, onConfirmed, onLeave, rank = 'h3' }: TwoFactorStepsProps) {
  const [now, setNow] = useState<Step>({ step: 'confirm' });
  // The factor before the task: one that the task adds must not be requested.
  const [before] = useState(twoFactor);
  const heading = useRef<HTMLHeadingElement>(null);
  const words = wordsOf(task);
  const done = () => onLeave(words.done);
  const leave = () => onLeave('');
  const showCodes = (codes: string[] | null) => (codes === null ? done() : setNow({ step: 'codes', codes }));

  // The focused element of the previous step is unmounted. A step with a field focuses the field instead.
  useEffect(() => {
    const form = heading.current?.closest('section');
    if (now.step !== 'scan' && form?.contains(document.activeElement) !== true) heading.current?.focus();
  }, [now.step]);

  return (
    <DialogPart title={now.step === 'codes' ? 'Save your recovery codes' : words.title} heading={heading} rank={rank}>
      {now.step === 'confirm' && (
        <ConfirmStep
          task={task}
          twoFactor={before}
          words={words}
          isConfirmed={isConfirmed}
          onConfirmed={onConfirmed}
          onBack={leave}
          onOutcome={(outcome) => {
            if (outcome.next === 'scan') setNow({ step: 'scan', setup: outcome.setup });
            else showCodes(outcome.next === 'codes' ? outcome.codes : null);
          }}
        />
      )}
      {now.step === 'scan' && (
        <AppSetup
          meanwhile={<LoadingRows label="Loading the QR code" />}
          setup={now.setup}
          onActivated={showCodes}
          onBack={leave}
        />
      )}
      {now.step === 'codes' && <RecoveryCodes codes={now.codes} onDone={done} />}
    </DialogPart>
  );
}
