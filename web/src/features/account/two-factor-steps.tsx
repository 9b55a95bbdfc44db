import type { TwoFactor } from '@palisade/contract/two-factor';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { DialogPart } from '#ui/dialog-part.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { ConfirmStep } from './confirm-step.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import type { AppSetup as Setup, TwoFactorTask } from './two-factor.queries.ts';

// With the maker of QR codes.
const AppSetup = lazy(async () => ({ default: (await import('./app-setup.tsx')).AppSetup }));

interface Words {
  title: string;
  sentence: string;
  action: string;
  done: string;
}

const WORDS: Record<TwoFactorTask['kind'], Words> = {
  app: {
    title: 'Set up an authenticator app',
    sentence:
      'An authenticator app on your phone shows a new code every 30 seconds. Signing in then takes your password and a code, so a stolen password alone is worth nothing.',
    action: 'Continue',
    done: 'Your authenticator app is set up.',
  },
  new_app: {
    title: 'Change the authenticator app',
    sentence: 'For a new phone, or another app. The app that you have now goes on until the new one has shown its first code.',
    action: 'Continue',
    done: 'Your new authenticator app is set up. The one before it no longer works.',
  },
  passkey: {
    title: 'Add a passkey',
    sentence:
      'A passkey lives on your device or security key and opens with your fingerprint, your face or a PIN. It cannot be guessed or tricked out of you, and it signs you in without a password.',
    action: 'Create Passkey',
    done: 'Your passkey is added.',
  },
  codes: {
    title: 'Make new recovery codes',
    sentence: 'You get ten new codes. Those that you have now are worth nothing from then on.',
    action: 'Make New Codes',
    done: 'Your new recovery codes are valid from now on.',
  },
  off: {
    title: 'Turn two-factor sign-in off',
    sentence:
      'Your password alone signs you in then, and whoever has it is in. Your authenticator app, passkeys and recovery codes are taken back.',
    action: 'Turn Off',
    done: 'Two-factor sign-in is off.',
  },
  remove_app: {
    title: 'Remove the authenticator app',
    sentence: 'Its codes no longer work then. Your passkeys go on.',
    action: 'Remove',
    done: 'The authenticator app is removed.',
  },
  remove_passkey: {
    title: 'Remove a passkey',
    sentence: 'It does not sign you in any more. Delete it from your device as well, so that it is not offered there.',
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
  /** Back to the whole dialog; `sentence` says what was done. */
  onLeave: (sentence: string) => void;
  /** The rank of its heading where it stands. */
  rank?: 'h1' | 'h3';
}

/** A task from its first step to its last. */
export function TwoFactorSteps({ task, twoFactor, isConfirmed, onConfirmed, onLeave, rank = 'h3' }: TwoFactorStepsProps) {
  const [now, setNow] = useState<Step>({ step: 'confirm' });
  // The factor at the beginning of the task: one that the task has added is not asked for.
  const [before] = useState(twoFactor);
  const heading = useRef<HTMLHeadingElement>(null);
  const words = wordsOf(task);
  const done = () => onLeave(words.done);
  const leave = () => onLeave('');
  const showCodes = (codes: string[] | null) => (codes === null ? done() : setNow({ step: 'codes', codes }));

  // The focused element went with the step before.
  useEffect(() => {
    if (now.step) heading.current?.focus();
  }, [now.step]);

  return (
    <DialogPart title={now.step === 'codes' ? 'Keep your recovery codes' : words.title} heading={heading} rank={rank}>
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
        <Suspense fallback={<LoadingRows label="Loading the QR code" />}>
          <AppSetup setup={now.setup} onActivated={showCodes} onBack={leave} />
        </Suspense>
      )}
      {now.step === 'codes' && <RecoveryCodes codes={now.codes} onDone={done} />}
    </DialogPart>
  );
}
