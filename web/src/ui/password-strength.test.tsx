import { readConfig } from '@palisade/contract/platform';
import { screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import { CONFIG } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { estimate } from './password-estimate.ts';
import { PasswordStrength } from './password-strength.tsx';
import { renderForTest } from './render-for-test.tsx';

beforeEach(() => {
  const server = new FakeServer();
  server.answer(readConfig, { ...CONFIG, provider_name: 'Northwind Internet' });
});

test('says nothing of an empty field', () => {
  renderForTest(<PasswordStrength password="" />);
  expect(screen.queryByRole('status')).toBeNull();
});

test.each([
  ['Password123', 'Very weak: attackers try this password first.'],
  ['maria-1990!', 'Very weak: just your name, your email, or our name.'],
  ['Palis4de2026', 'Very weak: just your name, your email, or our name.'],
  ['northwind 2026', 'Very weak: just your name, your email, or our name.'],
  ['pumpkin1990', 'Weak: guessed in a day.'],
  ['four words nobody says aloud', 'Strong.'],
])('says of %j: %s', async (password, sentence) => {
  renderForTest(<PasswordStrength password={password} person={{ username: 'maria' }} />);
  await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent(sentence));
});

describe('an estimate', () => {
  test('is lower for what an attacker knows of the person', () => {
    const password = 'northwindinternetwolf';
    expect(estimate(password, { username: 'northwindinternet' }).score).toBeLessThan(estimate(password, {}).score);
  });
});
