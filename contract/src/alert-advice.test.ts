import { expect, test } from 'vitest';
import { alertAdvice } from './alert-advice.ts';

test.each([
  [false, 'If not, choose a new password and turn on two-factor.'],
  [true, 'If not, choose a new password.'],
])('with two-factor %s, the advice about guessed passwords is: %s', (has_two_factor, words) => {
  const alert = {
    threat_type: 'brute_force',
    severity: 'medium',
    outcome: 'blocked',
    simulated: false,
    rule: 'brute_force.pair',
  } as const;
  expect(alertAdvice(alert, has_two_factor)).toContain(words);
});
