import { useDeferredValue, useEffect, useState } from 'react';
import { useConfig } from '#api/config.ts';
import type { Estimate, estimate, Known } from './password-estimate.ts';
import './password-strength.css';

const WORDS = [
  'Very weak: guessed in seconds.',
  'Weak: guessed in a day.',
  'Fair: add a word or two.',
  'Good.',
  'Strong.',
] as const;
const FAULTS = {
  common: 'Very weak: attackers try this password first.',
  only_names: 'Very weak: just your name, your email, or our name.',
} as const;

interface PasswordStrengthProps {
  password: string;
  /** The owner of the password, as far as known. */
  person?: Pick<Known, 'username' | 'email'> | undefined;
}

/** Shows the strength of a new password below its field. */
export function PasswordStrength({ password, person }: PasswordStrengthProps) {
  const [judge, setJudge] = useState<{ estimate: typeof estimate }>();
  const provider_name = useConfig()?.provider_name;
  const isWanted = password !== '';
  const current = useDeferredValue(password);

  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    import('./password-estimate.ts').then(
      (loaded) => {
        if (!isGone) setJudge(loaded);
      },
      // The form works without the meter, because the server decides.
      (error: unknown) => console.error(error),
    );
    return () => {
      isGone = true;
    };
  }, [isWanted]);

  const result: Estimate | undefined =
    judge && current !== '' ? judge.estimate(current, { provider_name, ...person }) : undefined;
  const level = result && (result.fault === undefined ? result.score : 0);
  return (
    <div className="password-strength" data-level={level} hidden={result === undefined}>
      <div className="password-strength__bar" aria-hidden="true">
        {WORDS.slice(1).map((word, index) => (
          <span key={word} data-filled={level !== undefined && index < Math.max(1, level)} />
        ))}
      </div>
      <p role="status">{result && (result.fault === undefined ? WORDS[result.score] : FAULTS[result.fault])}</p>
    </div>
  );
}
