import { expect, type Page } from '@playwright/test';
import { expectAccessible, givePremium, registerAndSignIn, signIn, test } from './palisade.ts';
import { eicarFile } from './samples.ts';

const PASSWORD = 'a long enough password';
const NEW_PASSWORD = 'nobody else knows this one';
/** Somebody else's browser, somewhere else. */
const STRANGER = {
  userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0',
  extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' },
};

const menu = (page: Page) => page.getByRole('navigation', { name: 'Main' });
const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const preferences = (page: Page) => page.getByRole('dialog', { name: 'Security Preferences' });

/** Fails the journey when the page loads anew: changes must appear without that. */
function expectNoReload(page: Page): () => void {
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  return () => expect(loads).toBe(0);
}

test.describe('behind a proxy', () => {
  test.use({ environment: { TRUSTED_PROXIES: '127.0.0.1' } });

  // proves: product-1.8-2
  test('a stranger who knows the password is seen at once, put out, and kept out by a new one', async ({
    page,
    browser,
    server,
  }) => {
    test.slow();
    await registerAndSignIn(page, 'maria');
    await givePremium(page, 'maria');
    await page.goto('/anti-hacking');
    await expect(page.getByText('No active threats')).toBeVisible();
    const hasNotReloaded = expectNoReload(page);

    const stranger = await (await browser.newContext({ baseURL: server.url, ...STRANGER })).newPage();
    await stranger.goto('/');
    await signIn(stranger, 'maria');

    const alerts = page.getByRole('list', { name: 'Alerts' });
    const description = 'Someone signed in to your account with a new browser: Firefox on Windows, from 203.0.113.9.';
    await expect(alerts.getByRole('listitem')).toHaveCount(1);
    await expect(alerts).toContainText(description);
    await expect(alerts).not.toContainText('NEUTRALIZED');
    // From what a posture scan finds straight to the question.
    await page.getByRole('button', { name: 'Start Scan' }).click();
    await page.getByRole('link', { name: /^Fix A new browser signed in/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Security alert' });
    await dialog.getByRole('button', { name: 'It wasn’t me' }).click();
    await expect(dialog).toContainText('That session has ended. They’re signed out.');
    await expect(stranger.getByText(/^Your session ended/)).toBeVisible();
    await expectAccessible(page);

    await dialog.getByRole('button', { name: 'Choose a new password' }).click();
    await preferences(page).getByLabel('Current Password').fill(PASSWORD);
    await preferences(page).getByLabel('New Password').fill(NEW_PASSWORD);
    await preferences(page).getByRole('button', { name: 'Change Password' }).click();
    await expect(preferences(page).getByText('Password changed.')).toBeVisible();
    await preferences(page).getByRole('tab', { name: 'Sessions' }).click();
    await expect(preferences(page).getByRole('listitem').filter({ hasText: 'This session' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(alerts).toContainText('NEUTRALIZED');
    hasNotReloaded();

    await stranger.getByLabel('Email').fill('maria@example.com');
    await stranger.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await stranger.getByRole('button', { name: 'Sign In' }).click();
    await expect(stranger.getByText('The email or password is wrong. Try again.')).toBeVisible();
  });
});

// proves: product-1.3-4
test('a harmless test file costs no points, an open port some until it is closed', async ({ page }) => {
  test.slow();
  await registerAndSignIn(page, 'maria');
  await givePremium(page, 'maria');
  await page.reload();
  const score = tile(page, 'Security Score');
  await expect(score).toContainText('100%');
  await expect(tile(page, 'Threats Neutralized')).toContainText('0 measured on this account');

  // Another tab uploads; this one shows it without a reload.
  const hasNotReloaded = expectNoReload(page);
  const tab = await page.context().newPage();
  await tab.goto('/antivirus');
  await tab.getByLabel('Choose files to scan').setInputFiles(eicarFile);
  await expect(tile(tab, 'Scan history').getByRole('listitem')).toContainText('Infected');
  await tab.close();
  await expect(page.getByRole('heading', { name: '1 harmless test file was found and quarantined or removed.' })).toBeVisible();
  await expect(tile(page, 'Threats Neutralized')).toContainText('1 of them is a harmless test file');
  await expect(score).toContainText('100%');

  await menu(page).getByRole('link', { name: 'Anti-Hacking' }).click();
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await expect(alerts).toContainText('We found EICAR-Test-File in eicar.com.');
  await expect(alerts).toContainText('NEUTRALIZED');
  await expect(tile(page, 'Threats Blocked Today')).toContainText('1');

  await menu(page).getByRole('link', { name: 'Firewall' }).click();
  await page.getByRole('button', { name: 'Add First Rule' }).click();
  const form = page.getByRole('dialog', { name: 'Add Rule' });
  await form.getByLabel('Rule Name').fill('Remote work');
  await form.getByLabel('Port').fill('22');
  await form.getByRole('button', { name: 'Add Rule' }).click();
  await expect(form).toBeHidden();

  await page.getByRole('button', { name: 'Main Dashboard' }).click();
  await expect(score).toContainText('92%');
  const reasons = page.getByRole('list', { name: 'What would raise the score' });
  const reason = reasons.getByRole('link', { name: '−8 A rule opens port 22 (SSH) to the whole world +8 if fixed' });
  await expect(reason).toBeVisible();
  await expectAccessible(page);
  await reason.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/firewall$/);
  const status = page.getByRole('switch', { name: 'Status of Remote work' });
  // It follows the server's answer.
  await status.click();
  await expect(status).not.toBeChecked();
  await expect(tile(page, 'Active Rules')).toContainText('0');

  await page.getByRole('button', { name: 'Main Dashboard' }).click();
  await expect(score).toContainText('100%');
  await expect(reason).toHaveCount(0);

  hasNotReloaded();
});

test('the dashboard names a weak password, which is changed from there', async ({ page }) => {
  await registerAndSignIn(page, 'maria');
  await page.goto('/dashboard?open=security&tab=password');
  const changeTo = async (from: string, to: string) => {
    await preferences(page).getByLabel('Current Password').fill(from);
    await preferences(page).getByLabel('New Password').fill(to);
    await preferences(page).getByRole('button', { name: 'Change Password' }).click();
    await expect(preferences(page).getByText('Password changed. You’re signed out everywhere else.')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(preferences(page)).toBeHidden();
  };
  await changeTo(PASSWORD, 'password123');
  await expect(page).toHaveURL(/\/dashboard$/);
  await expect(tile(page, 'Security Score')).toContainText('85%');
  await page.getByRole('link', { name: '−15 The password is one of the common ones +15 if fixed' }).click();
  await expect(page).toHaveURL(/\/dashboard\?open=security&tab=password$/);
  await changeTo('password123', NEW_PASSWORD);
  await expect(tile(page, 'Security Score')).toContainText('100%');
});
