import { expect, type Page } from '@playwright/test';
import { codeOfApp } from './authenticator.ts';
import { expectAccessible, expectNothingCutOff, register, registerAndSignIn, test } from './palisade.ts';

const PASSWORD = 'a long enough password';

async function openSecurity(page: Page) {
  await page.getByRole('button', { name: 'Security User menu' }).click();
  await page.getByRole('menuitem', { name: 'Security Preferences' }).click();
  const dialog = page.getByRole('dialog', { name: 'Security Preferences' });
  await expect(dialog.getByText('Your password alone signs you in.')).toBeVisible();
  return dialog;
}

async function signOut(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Security User menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
}

async function givePassword(page: Page, name: string): Promise<void> {
  await page.getByLabel('Email').fill(`${name}@example.com`);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign In' }).click();
}

const dashboard = (page: Page) => page.getByRole('heading', { level: 1, name: /dashboard/i });

// proves: product-2.8-1
test('an authenticator app is set up, asked for at sign-in, and a recovery code stands in for it', async ({ page }) => {
  test.slow();
  await registerAndSignIn(page, 'maria');
  const dialog = await openSecurity(page);
  await dialog.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await expect(dialog.getByLabel('Your password')).toBeFocused();
  await dialog.getByLabel('Your password').fill('not my password');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await expect(dialog.getByText('This isn’t your current password. Try again.')).toBeVisible();
  await dialog.getByLabel('Your password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await expect(dialog.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible();
  await expectAccessible(page);
  const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '');
  // The sixth digit sends it.
  await dialog.getByLabel('Enter the code that the app shows').fill(codeOfApp(secret));
  const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await expect(codes).toHaveCount(10);
  await expectAccessible(page);
  const [recoveryCode = ''] = await codes.allTextContents();
  // They are shown this once: Escape asks before they are gone.
  const asked = page.waitForEvent('dialog');
  const press = page.keyboard.press('Escape');
  const question = await asked;
  expect(question.message()).toBe('Have you saved your recovery codes? We won’t show them again.');
  await question.dismiss();
  await press;
  await expect(codes).toHaveCount(10);
  await dialog.getByRole('button', { name: 'I’ve saved my codes' }).click();
  await expect(dialog.getByText('Your authenticator app is set up.')).toBeVisible();
  await expect(dialog.getByText('10 of 10 left')).toBeVisible();
  await expectAccessible(page);

  await signOut(page);
  await givePassword(page, 'maria');
  await expect(page.getByRole('heading', { name: 'One more step' })).toBeVisible();
  await expect(page.getByLabel('Code')).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.type('000000');
  await page.keyboard.press('Enter');
  await expect(page.getByText('This code is wrong or already used.')).toBeVisible();
  // The next one counts already, and however slow this is, it is none that was used.
  await page.keyboard.type(codeOfApp(secret, 1));
  await page.keyboard.press('Enter');
  await expect(dashboard(page)).toBeVisible();

  await signOut(page);
  await givePassword(page, 'maria');
  await page.getByRole('button', { name: 'Back to sign in' }).click();
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await expect(page.getByLabel('Recovery code')).toBeFocused();
  await page.keyboard.type(recoveryCode.toUpperCase());
  await page.keyboard.press('Enter');
  await expect(dashboard(page)).toBeVisible();
});

// proves: product-2.4-1
test('a passkey is added, signs in alone, from the email field, and is the second step after the password', async ({
  page,
  server,
}) => {
  test.slow();
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

  // Browsers bind passkeys to names: at the bare address nothing is offered that cannot work.
  await page.goto(server.url.replace('localhost', '127.0.0.1'));
  await expect(page.getByRole('button', { name: 'Create Account' })).toBeVisible();
  await page.getByRole('tab', { name: 'Login' }).click();
  await expect(page.getByRole('button', { name: 'Use a passkey' })).toHaveCount(0);

  await registerAndSignIn(page, 'maria', server.url);
  const dialog = await openSecurity(page);
  await dialog.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog.getByLabel('Name of the passkey').fill('My laptop');
  await dialog.getByLabel('Your password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Create Passkey' }).click();
  await expect(dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')).toHaveCount(10);
  await dialog.getByRole('button', { name: 'I’ve saved my codes' }).click();
  await dialog.getByRole('button', { name: 'Rename My laptop' }).click();
  await page.keyboard.type('Work laptop');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('button', { name: 'Rename Work laptop' })).toBeFocused();
  await expectAccessible(page);

  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(dashboard(page)).toBeVisible();

  // The browser offers it in the field as well: there a touch is enough.
  await signOut(page);
  await page.getByLabel('Email').focus();
  await expect(dashboard(page)).toBeVisible();

  // The device is not touched while the password is typed.
  const touch = (enabled: boolean) => devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  await signOut(page);
  await touch(false);
  await givePassword(page, 'maria');
  await expect(page.getByRole('button', { name: 'Use My Passkey' })).toBeVisible();
  await touch(true);
  await page.getByRole('button', { name: 'Use My Passkey' }).click();
  await expect(dashboard(page)).toBeVisible();
});

test.describe('where everyone must have a second step', () => {
  test.use({ environment: { REQUIRE_TWO_FACTOR: 'everyone' } });

  test('it is set up before anything else, and the wanted screen follows', async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 760 });
    await page.goto('/firewall');
    await register(page, 'maria');
    await givePassword(page, 'maria');
    const heading = page.getByRole('heading', { level: 1, name: 'Set up two-factor to continue' });
    await expect(heading).toBeFocused();
    await expectAccessible(page);
    await page.reload();
    await expect(heading).toBeVisible();
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    const key = page.locator('code');
    await expect(key).toBeVisible();
    await expectAccessible(page);
    await expectNothingCutOff(page);
    const secret = ((await key.textContent()) ?? '').replaceAll(' ', '');
    await page.getByLabel('Enter the code that the app shows').fill(codeOfApp(secret));
    await page.getByRole('button', { name: 'I’ve saved my codes' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Firewall' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Add First Rule' })).toBeVisible();
    await page.getByRole('button', { name: 'Security User menu' }).click();
    await page.getByRole('menuitem', { name: 'Security Preferences' }).click();
    await expect(page.getByText('Two-factor is required')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Turn two-factor sign-in off' })).toBeHidden();
  });
});
