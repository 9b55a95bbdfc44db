import { type Browser, expect, type Page } from '@playwright/test';
import {
  expectAccessible,
  expectAccessibleOnPhone,
  expectNothingCutOff,
  readOutbox,
  registerAndSignIn,
  signIn,
  test,
} from './palisade.ts';

const PASSWORD = 'a long enough password';
const NEW_PASSWORD = 'another long password';

async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Security User menu' }).click();
  await expect(page.getByRole('menuitem', { name: 'Sign Out' })).toBeVisible();
}

async function signOut(page: Page): Promise<void> {
  await openMenu(page);
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
}

/** Another person's browser. */
async function openWindow(browser: Browser, baseURL: string): Promise<Page> {
  const context = await browser.newContext({ baseURL });
  return await context.newPage();
}

/** Signs in beside the page, as another browser does. */
async function signInElsewhere(url: string, name: string, password = 'a long enough password'): Promise<number> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0',
    },
    body: JSON.stringify({ email: `${name}@example.com`, password }),
  });
  return response.status;
}

test('a forgotten password is replaced with the token that the screen shows', async ({ page }) => {
  await registerAndSignIn(page, 'maria');
  await signOut(page);
  await page.getByRole('link', { name: 'Forgot Password?' }).click();
  await expectAccessible(page);
  await page.getByLabel('Email').fill('nobody@example.com');
  await page.getByRole('button', { name: 'Send Reset Instructions' }).click();
  await expect(page.getByText('No account uses this email. Check it or create an account.')).toBeVisible();

  await page.getByLabel('Email').fill('maria@example.com');
  await page.getByRole('button', { name: 'Send Reset Instructions' }).click();
  const message = page.getByRole('status').filter({ hasText: 'valid for 15 minutes' });
  await expect(message).toBeVisible();
  const token = /token: (\S+)/.exec((await message.textContent()) ?? '')?.[1] ?? '';
  await expectAccessible(page);
  await page.getByLabel('Reset Token').fill('not the token');
  await page.getByLabel('New Password').fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Reset Password' }).click();
  await expect(page.getByText('This reset token is wrong').first()).toBeVisible();

  await page.getByLabel('Reset Token').fill(token);
  await page.getByRole('button', { name: 'Reset Password' }).click();
  await expect(page.getByText('Password reset successful! You can now login with your new password.')).toBeVisible();
  await expect(page.getByLabel('Email')).toHaveValue('maria@example.com');
  await page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Sign In' }).click();
  await expect(page.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
});

test('the keyboard alone recovers a username, and the failures are said', async ({ page }) => {
  await registerAndSignIn(page, 'maria');
  await signOut(page);
  await page.getByRole('link', { name: 'Forgot Username?' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Email')).toBeFocused();
  await page.route('**/api/auth/recover-username', (route) => route.abort());
  await page.keyboard.type('maria@example.com');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Network error. Please try again.')).toBeVisible();
  await expectAccessible(page);

  await page.unroute('**/api/auth/recover-username');
  await page.route('**/api/auth/recover-username', (route) => route.fulfill({ status: 500, body: 'a proxy' }));
  await page.getByRole('button', { name: 'Recover Username' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Failed to recover username')).toBeVisible();

  await page.unroute('**/api/auth/recover-username');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Username recovery successful! Your username is: maria')).toBeVisible();
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
  await page.goto('/?mode=nonsense');
  await expect(page.getByText('Invalid action')).toBeVisible();
  await expect(page).toHaveURL(/\/$/);
});

test.describe('in public exposure', () => {
  test.use({ environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' } });

  test('a token waits in the outbox of the administrator, and opens a new password', async ({ page, browser, server }) => {
    test.slow();
    await registerAndSignIn(page, 'maria');
    await signOut(page);
    await page.getByRole('link', { name: 'Forgot Password?' }).click();
    await page.getByLabel('Email').fill('maria@example.com');
    await page.getByRole('button', { name: 'Send Reset Instructions' }).click();
    await expect(
      page.getByText('Reset instructions sent successfully. Check your email for the reset token.', { exact: true }),
    ).toBeVisible();
    await expect(page.getByLabel('Reset Token')).toHaveValue('');

    const office = await openWindow(browser, server.url);
    await registerAndSignIn(office, 'boss');
    await openMenu(office);
    await expect(office.getByRole('menuitem', { name: 'Outbox' })).toHaveCount(0);
    const reloaded = office.waitForEvent('load');
    await office.getByRole('menuitem', { name: 'Sign Out' }).click();
    await reloaded;
    // The operator passes the code on; only then the address is an administrator's. It is in the address of the page that the mail names.
    const letters = readOutbox(server.data_dir).split(/^To: /m);
    const proof =
      /^((?:[2-9A-Z]{4}-){2}[2-9A-Z]{4})$/m.exec(
        letters.findLast((text) => /^boss@[\s\S]*confirm your email/i.test(text)) ?? '',
      )?.[1] ?? '';
    await office.goto(`/confirm-email#${proof}`);
    await office.getByLabel('Email').fill('boss@example.com');
    await office.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await office.getByRole('button', { name: 'Sign In' }).click();
    await expect(office.getByLabel('Confirmation code')).toHaveValue(proof);
    const banner = office.getByRole('region', { name: 'Confirm your email address' });
    await expect(banner).toBeVisible();
    await expectAccessible(office);
    await office.getByRole('button', { name: 'Confirm', exact: true }).click();
    await expect(office.getByText('Your email address is confirmed.')).toBeVisible();
    await expect(banner).toHaveCount(0);
    await openMenu(office);
    await office.getByRole('menuitem', { name: 'Outbox' }).click();
    await office.getByText('Palisade: Reset your password').click();
    const letter = office.getByText('Here is your password reset token.');
    await expect(letter).toBeVisible();
    await expectAccessible(office);
    const token = /^([\w-]{43})$/m.exec((await letter.textContent()) ?? '')?.[1] ?? '';
    await office.close();

    await page.getByLabel('Reset Token').fill(token);
    await page.getByLabel('New Password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Reset Password' }).click();
    await expect(page.getByText('Password reset successful! You can now login with your new password.')).toBeVisible();

    await page.getByRole('link', { name: 'Forgot Username?' }).click();
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Recover Username' }).click();
    await expect(page.getByText(/^Username recovery successful!/)).toBeVisible();
  });
});

test('an administrator sets up name and contact, and everybody sees them', async ({ page, browser, server }) => {
  test.slow();
  await registerAndSignIn(page, 'boss');
  await openMenu(page);
  await page.getByRole('menuitem', { name: 'Admin Setup' }).click();
  await expect(page).toHaveURL(/\/admin\/setup$/);
  const complete = page.getByRole('button', { name: 'Complete Setup' });
  await expect(complete).toBeDisabled();
  await expectAccessible(page);
  await page.getByLabel('Company Name').fill('<b>Harbour</b> IT');
  await page.getByLabel('Support Phone').fill('+1 800 555 0199');
  await page.getByLabel('Support Email').fill('help@harbour.example');

  const alerts: string[] = [];
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message());
    void dialog.accept();
  });
  await page.route('**/api/admin/setup-config', (route) => route.abort());
  await complete.click();
  await expect.poll(() => alerts).toEqual(['Error saving configuration. Please try again.']);
  await page.unroute('**/api/admin/setup-config');
  await complete.click();
  await expect(page.getByRole('heading', { name: 'Setup Complete' })).toBeVisible();
  expect(alerts[1]).toBe('Client setup completed successfully');
  await expectAccessible(page);
  await expect(page.getByRole('banner').getByText('<b>Harbour</b> IT')).toBeVisible();
  await expect(page).toHaveTitle('Admin Setup · <b>Harbour</b> IT');
  await openMenu(page);
  await expect(page.getByRole('menuitem', { name: 'Call support' })).toHaveAttribute('href', 'tel:+1 800 555 0199');

  const customer = await openWindow(browser, server.url);
  await customer.goto('/');
  await expect(customer.getByText('<b>Harbour</b> IT')).toBeVisible();
  await expect(customer.getByRole('link', { name: 'help@harbour.example' })).toBeVisible();
  await registerAndSignIn(customer, 'maria');
  await expect(customer.getByText('Response under 30 seconds')).toBeVisible();
  for (const path of ['/admin/setup', '/admin/outbox']) {
    await customer.goto(path);
    await expect(customer.getByText('Administrators only')).toBeVisible();
    await expectAccessible(customer);
  }
  await openMenu(customer);
  await expect(customer.getByRole('menuitem', { name: 'Admin Setup' })).toHaveCount(0);
});

test('the keyboard alone changes username and password, and ends a session elsewhere', async ({ page, server }) => {
  test.slow();
  await registerAndSignIn(page, 'maria');
  expect(await signInElsewhere(server.url, 'maria')).toBe(200);
  const menu = page.getByRole('button', { name: 'Security User menu' });
  await menu.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Profile Settings' })).toBeVisible();
  await expectAccessible(page);
  await expect(page.getByRole('menuitem', { name: 'Profile Settings' })).toBeFocused();
  await page.keyboard.press('Enter');
  const profile = page.getByRole('dialog', { name: 'Profile Settings' });
  await expect(profile.getByText('Administrator')).toBeVisible();
  await expect(page).toHaveURL(/\/dashboard$/);
  await expectAccessible(page);
  await profile.getByLabel('Username').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('zoe');
  await page.keyboard.press('Enter');
  await expect(profile.getByText('Username changed.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(profile).toBeHidden();
  await expect(menu).toBeFocused();

  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Profile Settings' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('menuitem', { name: 'Security Preferences' })).toBeFocused();
  await page.keyboard.press('Enter');
  const security = page.getByRole('dialog', { name: 'Security Preferences' });
  await security.getByRole('tab', { name: 'Two-factor' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const sessions = security.getByRole('region', { name: 'Signed-in sessions' }).getByRole('listitem');
  await expect(sessions).toHaveCount(2);
  await expect(sessions.filter({ hasText: 'This session' })).toContainText('Chrome on Linux');
  await expectAccessible(page);
  await security.getByRole('button', { name: 'Sign out Firefox on Windows' }).focus();
  await page.keyboard.press('Enter');
  await expect(security.getByLabel('Your password')).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.type('a long enough password');
  await page.keyboard.press('Enter');
  await expect(security.getByText('Firefox on Windows is signed out.')).toBeVisible();
  await expect(sessions).toHaveCount(1);

  await security.getByRole('tab', { name: 'Sessions' }).focus();
  await page.keyboard.press('ArrowUp');
  await security.getByLabel('Current Password').focus();
  await page.keyboard.type('not the password');
  await security.getByLabel('New Password').focus();
  await page.keyboard.type(NEW_PASSWORD);
  await page.keyboard.press('Enter');
  await expect(security.getByText('This isn’t your current password. Try again.')).toBeVisible();
  await expect(security.getByLabel('Current Password')).toBeFocused();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('a long enough password');
  await page.keyboard.press('Enter');
  await expect(security.getByText('Password changed. You’re signed out everywhere else.')).toBeVisible();
  expect(await signInElsewhere(server.url, 'maria')).toBe(401);
  expect(await signInElsewhere(server.url, 'maria', NEW_PASSWORD)).toBe(200);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
});

// proves: asvs-14.3.1
test('a session that was ended elsewhere is told at the sign-in screen at once', async ({ page, browser, server }) => {
  await registerAndSignIn(page, 'maria');
  const other = await openWindow(browser, server.url);
  await other.goto('/');
  await signIn(other, 'maria');
  await openMenu(page);
  await page.getByRole('menuitem', { name: 'Security Preferences' }).click();
  await page.getByRole('tab', { name: 'Sessions' }).click();
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.getByLabel('Your password').fill('a long enough password');
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await expect(page.getByText('You’re signed out everywhere else.')).toBeVisible();
  // Its socket is told, by whichever server has it: the page needs no request to find out, and asking for another page here would race with that.
  await expect(other.getByText(/Your session ended/)).toBeVisible();
});

test('every part of accounts is visible at any width', async ({ page }) => {
  await page.goto('/?mode=reset-password');
  await expect(page.getByRole('button', { name: 'Reset Password' })).toBeVisible();
  await expectNothingCutOff(page);
  await registerAndSignIn(page, 'boss');
  await page.goto('/admin/setup');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByLabel('Company Name').fill('W'.repeat(80));
  await page.getByRole('button', { name: 'Complete Setup' }).click();
  await expect(page.getByRole('heading', { name: 'Setup Complete' })).toBeVisible();
  await expectNothingCutOff(page);
  await page.goto('/admin/outbox');
  await expect(page.getByText('No emails yet')).toBeVisible();
  await expectNothingCutOff(page);
  await openMenu(page);
  await expectNothingCutOff(page);
  await page.getByRole('menuitem', { name: 'Security Preferences' }).click();
  await page.getByRole('tab', { name: 'Sessions' }).click();
  await expect(page.getByText('This session')).toBeVisible();
  await expectNothingCutOff(page);
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
});
