import { expect, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { codeOfApp } from './authenticator.ts';
import { PASSWORD } from './installation.ts';
import { chooseInMenu, givePassword, signOut, test } from './palisade.ts';

const securityOf = (page: Page) => page.getByRole('dialog', { name: 'Security Preferences' });
const dashboard = (page: Page) => page.getByRole('heading', { level: 1, name: /dashboard/i });

async function closeAndSignOut(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await signOut(page);
}

// proves: product-2.8-1
test('an authenticator app is set up, asked for at sign-in, and a recovery code stands in for it', async ({ palisade }) => {
  const page = await palisade.open('maria');
  const other = await page.context().newPage();
  await other.goto('/dashboard?open=security');
  await chooseInMenu(page, 'Security Preferences');
  const dialog = securityOf(page);
  await expect(dialog.getByText('Your password alone signs you in.')).toBeVisible();
  await dialog.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await expect(dialog.getByLabel('Your password')).toBeFocused();
  await dialog.getByLabel('Your password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await expect(dialog.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible();
  await expectAccessible(page);
  const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '');
  // The sixth digit submits the code.
  await dialog.getByLabel('Enter the code that the app shows').fill(codeOfApp(secret));
  const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await expect(codes).toHaveCount(10);
  await expectAccessible(page);
  await expect(securityOf(other).getByRole('button', { name: 'Change the authenticator app' })).toBeVisible();
  await other.close();
  const [recoveryCode = ''] = await codes.allTextContents();
  // The codes are shown only once, so Escape asks before closing.
  const asked = page.waitForEvent('dialog');
  const press = page.keyboard.press('Escape');
  const question = await asked;
  expect(question.message()).toBe('Have you saved your recovery codes? We won’t show them again.');
  await question.dismiss();
  await press;
  await expect(codes).toHaveCount(10);
  await dialog.getByRole('button', { name: 'I’ve saved my codes' }).click();
  await expect(dialog.getByText('10 of 10 left')).toBeVisible();

  await closeAndSignOut(page);
  await givePassword(page, 'maria');
  await expect(page.getByRole('heading', { name: 'One more step' })).toBeVisible();
  await expect(page.getByLabel('Code')).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.type('000000');
  await page.keyboard.press('Enter');
  await expect(page.getByText('This code is wrong or already used.')).toBeVisible();
  // The code of the next time step is already valid, and has never been used.
  await page.keyboard.type(codeOfApp(secret, 1));
  await page.keyboard.press('Enter');
  await expect(dashboard(page)).toBeVisible();

  await closeAndSignOut(page);
  await givePassword(page, 'maria');
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await expect(page.getByLabel('Recovery code')).toBeFocused();
  await page.keyboard.type(recoveryCode.toUpperCase());
  await page.keyboard.press('Enter');
  await expect(dashboard(page)).toBeVisible();
});

// proves: product-2.4-1
test('a passkey is added, signs in alone, from the email field, and is the second step after the password', async ({
  palisade,
}) => {
  // Browsers bind passkeys to domain names, so the page at the IP address does not offer them.
  const stranger = await palisade.window();
  await stranger.goto(`${palisade.url.replace('localhost', '127.0.0.1')}/?mode=login`);
  await expect(stranger.getByRole('button', { name: 'Sign In' })).toBeVisible();
  await expect(stranger.getByRole('button', { name: 'Use a passkey' })).toHaveCount(0);

  const page = await palisade.open('maria');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await chooseInMenu(page, 'Security Preferences');
  const dialog = securityOf(page);
  await dialog.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog.getByLabel('Name of the passkey').fill('My laptop');
  await dialog.getByLabel('Your password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Create Passkey' }).click();
  await dialog.getByRole('button', { name: 'I’ve saved my codes' }).click();
  await expect(dialog.getByRole('button', { name: 'Rename My laptop' })).toBeVisible();

  await closeAndSignOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(dashboard(page)).toBeVisible();

  // Passkey autofill: a touch in the email field is enough.
  await closeAndSignOut(page);
  await page.getByLabel('Email').focus();
  await expect(dashboard(page)).toBeVisible();

  // The device is not touched while the password is typed.
  const touch = (enabled: boolean) => devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  await closeAndSignOut(page);
  await touch(false);
  await givePassword(page, 'maria');
  await expect(page.getByRole('button', { name: 'Use My Passkey' })).toBeVisible();
  await touch(true);
  await page.getByRole('button', { name: 'Use My Passkey' }).click();
  await expect(dashboard(page)).toBeVisible();
});
