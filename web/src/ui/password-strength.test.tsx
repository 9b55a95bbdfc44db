import { screen, waitFor } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { estimate } from './password-estimate.ts';
import { PasswordStrength } from './password-strength.tsx';
import { renderForTest } from './render-for-test.tsx';

test('says nothing of an empty field', () => {
  renderForTest(<PasswordStrength password="" />);
  expect(screen.queryByRole('status')).toBeNull();
});

test.each([
  ['Password123', 'Very weak: one of the passwords that attackers try first.'],
  ['maria1990', 'Weak: guessed within a day.'],
  ['four words nobody says aloud', 'Strong.'],
])('says of %j: %s', async (password, sentence) => {
  renderForTest(<PasswordStrength password={password} known={['maria']} />);
  await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent(sentence));
});

describe('an estimate', () => {
  test('is lower for what an attacker knows of the person', () => {
    const password = 'northwindinternet';
    expect(estimate(password, [password]).score).toBeLessThan(estimate(password, []).score);
  });
});
