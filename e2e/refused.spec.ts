import { expect } from '@playwright/test';
import { expectAccessible, expectNothingCutOff, givePremium, registerAndSignIn, signIn, test } from './palisade.ts';

test('six wrong passwords are counted down, while another browser stays signed in, works, and ends the block', async ({
  page,
  browser,
  server,
}) => {
  test.slow();
  await registerAndSignIn(page, 'maria');
  const guesser = await (await browser.newContext({ baseURL: server.url })).newPage();
  await guesser.goto('/');
  await guesser.getByLabel('Email').fill('maria@example.com');
  const button = guesser.getByRole('button', { name: 'Sign In' });
  const message = guesser.getByRole('status');
  for (let guess = 1; guess <= 6; guess += 1) {
    await guesser.getByLabel('Password', { exact: true }).fill(`guess ${guess}`);
    const answer = guesser.waitForResponse('**/api/auth/login');
    await button.click();
    expect((await answer).status()).toBe(guess <= 5 ? 401 : 429);
  }
  await expect(message).toContainText('Too many wrong passwords for this email.');
  await expect(message).toContainText(/Try again in (10:00|9:\d\d)\./);
  await expect(button).toBeDisabled();
  await expect(message).toContainText(/Try again in 9:5\d\./);
  await expectAccessible(guesser);
  await guesser.getByLabel('Email').fill('zoe@example.com');
  await expect(button).toBeEnabled();
  await expect(message).toBeEmpty();
  await guesser.getByLabel('Email').fill('maria@example.com');
  await expect(button).toBeDisabled();

  await givePremium(page, 'maria');
  await page.goto('/anti-hacking');
  const blocks = page.getByRole('list', { name: 'Active blocks' });
  await expect(blocks).toContainText('Sign-ins from 127.0.0.1 are refused');
  await expect(blocks).toContainText('Too many wrong passwords for your account');
  await expectAccessible(page);
  await expectNothingCutOff(page);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Undo the block of 127.0.0.1' }).click();
  await expect(page.getByText('No sign-ins are blocked')).toBeVisible();

  await guesser.reload();
  await signIn(guesser, 'maria');
});
