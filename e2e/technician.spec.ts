import { expect } from '@playwright/test';
import { expectAccessible, expectAccessibleOnPhone, expectNothingCutOff, headersOf, openSignedIn, test } from './palisade.ts';

const PASSWORD = 'a long enough password';

test('an administrator makes somebody a technician, who helps with a code that the message brings along', async ({
  page,
  browser,
  server,
}) => {
  test.slow();
  await openSignedIn(page, 'ada');
  const contexts = await Promise.all([0, 1].map(() => browser.newContext({ baseURL: server.url })));
  const [tina, maria] = await Promise.all(contexts.map((context) => context.newPage()));
  if (!tina || !maria) throw new Error('no pages');
  await openSignedIn(tina, 'tina');
  await openSignedIn(maria, 'maria');

  // The page says how to get here and that the role counts.
  await page.goto('/admin/users');
  await expect(page.getByText(`${server.url}/?mode=register`)).toBeVisible();
  await page.getByRole('button', { name: /tina/ }).click();
  const dialog = page.getByRole('dialog', { name: 'tina' });
  await dialog.getByLabel('Role').selectOption('support');
  await dialog.getByRole('button', { name: 'Make Support' }).click();
  await expect(dialog.getByText('Done. From now on the Support Desk is in their menu, without signing in again.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('link', { name: 'Edit help pages' })).toHaveAttribute('href', '/admin/help');

  // A window with a number is no slow computer.
  await maria.goto('/chat');
  await maria.getByRole('textbox', { name: 'Message', exact: true }).fill('It is slow, and a window says I must call a number');
  await maria.keyboard.press('Enter');
  await expect(maria.getByText(/^Don’t call that number/)).toBeVisible();

  await tina.getByRole('link', { name: /^Support Desk/ }).click();
  const inbox = tina.getByRole('region', { name: 'Inbox' });
  await inbox.getByRole('link', { name: /maria/ }).click();
  const conversation = tina.getByRole('region', { name: 'Conversation with maria' });
  await conversation.getByRole('button', { name: 'Claim' }).click();
  await inbox.getByRole('button', { name: 'Show the one that is yours' }).click();
  await expect(inbox.getByRole('link', { name: /maria/ })).toBeVisible();
  await tina.getByRole('textbox', { name: 'Answer' }).pressSequentially('/he');
  await expect(tina.getByText(/^There are no saved replies yet\./)).toBeVisible();
  await tina.getByRole('textbox', { name: 'Answer' }).fill('');

  await conversation.getByRole('button', { name: 'Start a remote session' }).click();
  const code = (await tina.locator('.message-card code').last().textContent()) ?? '';
  await tina.getByRole('link', { name: 'Go to the portal with this code' }).click();
  await expect(tina.getByLabel('Session code')).toHaveValue(code);
  await tina.getByRole('button', { name: 'Join' }).click();
  await maria.goto('/remote');
  await maria.getByRole('button', { name: 'Approve without a screen' }).click();
  await expect(tina.getByText(/They chose to show no screen/)).toBeVisible();

  // On a phone the administrator reads first that nobody complains, then who helps whom.
  await page.goto('/admin/remote-sessions');
  await expect(page.getByRole('heading', { name: 'No customer has reported a session.' })).toBeVisible();
  await expect(page.getByText('One session runs right now.')).toBeVisible();
  const row = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: 'tina with maria' });
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(row).toHaveCSS('border-top-style', 'solid');
  await expectNothingCutOff(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
  await row.getByRole('button', { name: 'End the session of tina with maria' }).click();
  await expect(row).toContainText('Ended by an administrator');
  for (const context of contexts) await context.close();
});

test('a missing value is named at its field, at sign-in and in a dialog', async ({ page }) => {
  await page.goto('/?mode=login');
  await page.getByLabel('Email').fill('maria@example.com');
  await page.getByRole('button', { name: 'Sign In' }).click();
  await expect(page.getByLabel('Password', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('Password', { exact: true })).toHaveAccessibleDescription(/\S/);
  await expectAccessible(page);

  await openSignedIn(page, 'maria');
  await page.goto('/dashboard?open=security');
  const dialog = page.getByRole('dialog', { name: 'Security Preferences' });
  await dialog.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await dialog.getByRole('button', { name: 'Continue' }).click();
  const password = dialog.getByLabel('Your password');
  await expect(password).toBeFocused();
  await expect(password).toHaveAccessibleDescription('Enter your password to confirm it’s you. Fill in this field to continue.');
  await expectAccessible(page);
  await password.fill(PASSWORD);
  await expect(dialog.getByText('Fill in this field to continue.')).toHaveCount(0);
});

test('a plan that was asked for is said to be requested, and not offered again', async ({ page, browser, server }) => {
  await openSignedIn(page, 'ada');
  const template = {
    ...{ template_name: 'Family Shield', base_price: 19.99, duration_months: 12, max_devices: 5, is_premium: true },
    features: ['Anti-hacking monitor'],
  };
  const headers = await headersOf(page);
  expect((await page.request.post('/api/admin/subscription-templates', { headers, data: template })).status()).toBe(200);
  const context = await browser.newContext({ baseURL: server.url });
  const maria = await context.newPage();
  await openSignedIn(maria, 'maria');
  await maria.getByRole('button', { name: 'Upgrade' }).click();
  await maria.getByRole('button', { name: /^Request this plan/ }).click();
  await expect(maria.getByText(/^Requested on .*\. An administrator will answer\.$/)).toBeVisible();
  for (const path of ['/dashboard', '/anti-hacking']) {
    await maria.goto(path);
    await expect(maria.getByText(/^Requested on /)).toBeVisible();
    await expect(maria.getByRole('button', { name: 'Upgrade' })).toHaveCount(0);
    await maria.getByRole('button', { name: /^(Requested on |See your request)/ }).click();
    await expect(maria).toHaveURL(/subscription-manager$/);
  }
  await context.close();
});
