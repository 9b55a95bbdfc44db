import { useDeferredValue, useEffect, useState } from 'react';
import type { Estimate, estimate } from './password-estimate.ts';
import './password-strength.css';

const WORDS = [
  'Very weak: guessed at once.',
  'Weak: guessed within a day.',
  'Fair: add a word or two.',
  'Good.',
  'Strong.',
] as const;
const COMMON = 'Very weak: one of the passwords that attackers try first.';

interface PasswordStrengthProps {
  password: string;
  /** What an attacker knows of the person. */
  known?: readonly string[];
}

/** Says beneath a field for a new password how hard it is to guess. */
export function PasswordStrength({ password, known = [] }: PasswordStrengthProps) {
  const [judge, setJudge] = useState<{ estimate: typeof estimate }>();
  const isWanted = password !== '';
  const current = useDeferredValue(password);

  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    import('./password-estimate.ts').then(
      (loaded) => {
        if (!isGone) setJudge(loaded);
      },
      // The server decides what is taken; without the meter the form works all the same.
      (error: unknown) => console.error(error),
    );
    return () => {
      isGone = true;
    };
  }, [isWanted]);

  const result: Estimate | undefined = judge && current !== '' ? judge.estimate(current, known) : undefined;
  const level = result && (result.isCommon ? 0 : result.score);
  return (
    <div className="password-strength" data-level={level} hidden={result === undefined}>
      <div className="password-strength__bar" aria-hidden="true">
        {WORDS.slice(1).map((word, index) => (
          <span key={word} data-filled={level !== undefined && index < Math.max(1, level)} />
        ))}
      </div>
      <p role="status">{result && (result.isCommon ? COMMON : WORDS[result.score])}</p>
    </div>
  );
}
