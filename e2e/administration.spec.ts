import { readFileSync } from 'node:fs';
import { type Browser, expect, type Page } from '@playwright/test';
import { expectAccessible, openSignedIn, test } from './palisade.ts';

const PASSWORD = 'a long enough password';

async function openMenu(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Security User menu' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

async function openWindow(browser: Browser, url: string): Promise<Page> {
  return await (await browser.newContext({ baseURL: url })).newPage();
}

test('an administrator disables somebody, gives a role, and reads it all in the log', async ({ page, browser, server }) => {
  test.slow();
  await openSignedIn(page, 'boss');
  const maria = await openWindow(browser, server.url);
  await openSignedIn(maria, 'maria');

  await openMenu(page, 'Users');
  await expect(page.getByText('2 people')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Manage maria@example.com' }).click();
  const dialog = page.getByRole('dialog', { name: 'maria' });
  await expect(dialog.getByRole('button', { name: /^Sign out / })).toHaveCount(1);
  await dialog.getByRole('button', { name: 'Disable account' }).click();
  // The button that had the focus is gone.
  await expect(dialog.getByRole('button', { name: 'Keep it' })).toBeFocused();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Disable and sign out' }).click();
  await expect(dialog.getByText('Not signed in anywhere.')).toBeVisible();

  // Their other browser is out at once, and says why when they try again.
  await expect(maria.getByRole('button', { name: 'Sign In' })).toBeVisible();
  await maria.getByLabel('Email').fill('maria@example.com');
  await maria.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await maria.getByRole('button', { name: 'Sign In' }).click();
  await expect(maria.getByText('This account is disabled. Ask an administrator.')).toBeVisible();

  await dialog.getByRole('button', { name: 'Enable account' }).click();
  await expect(dialog.getByRole('button', { name: 'Disable account' })).toBeVisible();
  await dialog.getByLabel('Role').selectOption('Support');
  await dialog.getByRole('button', { name: 'Make Support' }).click();
  await expect(dialog.getByRole('button', { name: 'Make Support' })).toHaveCount(0);
  await dialog.getByRole('link', { name: 'Activity in the audit log' }).click();

  await expect(page.getByText(/^Verified up to entry \d+$/)).toBeVisible();
  const entries = page.getByRole('list', { name: 'Entries' });
  await expect(entries.getByRole('listitem').first()).toContainText('Role changed from customer to support');
  await expect(entries).toContainText('Account disabled');
  await expectAccessible(page);

  await maria.getByRole('button', { name: 'Sign In' }).click();
  await expect(maria.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
  await openMenu(maria, 'Security Preferences');
  await maria.getByRole('tab', { name: 'Activity' }).click();
  const activity = maria.getByRole('list', { name: 'Activity' });
  await expect(activity).toContainText('Account disabled');
  await expect(activity).toContainText('by an administrator');
  await expect(activity).toContainText(/Signed in with Chrome on Linux from 127\.0\.0\.1/);
  const saved = maria.waitForEvent('download');
  await maria.getByRole('button', { name: 'Save your activity as CSV' }).click();
  expect((await saved).suggestedFilename()).toBe('palisade-activity.csv');
});

test('somebody takes all their data along, and deletes the account', async ({ page, browser, server }) => {
  test.slow();
  const boss = await openWindow(browser, server.url);
  await openSignedIn(boss, 'boss');
  await openSignedIn(page, 'maria');
  await openMenu(page, 'Profile Settings');
  const profile = page.getByRole('dialog', { name: 'Profile Settings' });
  await profile.getByRole('button', { name: 'Export my data' }).click();
  await profile.getByLabel('Your password').fill(PASSWORD);
  const saved = page.waitForEvent('download');
  await profile.getByRole('button', { name: 'Export', exact: true }).click();
  const file: unknown = JSON.parse(readFileSync(await (await saved).path(), 'utf8'));
  expect(file).toMatchObject({ users: [{ email: 'maria@example.com' }], activity: [{ kind: 'data_exported' }, {}, {}] });
  await profile.getByRole('button', { name: 'Done' }).click();

  await profile.getByRole('button', { name: 'Delete my account' }).click();
  await expectAccessible(page);
  await profile.getByLabel('Type maria@example.com to confirm').fill('maria@example.com');
  await profile.getByLabel('Your password').fill(PASSWORD);
  await profile.getByRole('button', { name: 'Delete for good' }).click();
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
  await expect(page.getByText('Your account and all its data are deleted.')).toBeVisible();
  await page.getByLabel('Email').fill('maria@example.com');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign In' }).click();
  await expect(page.getByText('The email or password is wrong. Try again.')).toBeVisible();

  await openMenu(boss, 'Audit log');
  await expect(boss.getByRole('list', { name: 'Entries' }).getByRole('listitem').first()).toContainText('Account deleted');
  await expect(boss.getByText('maria@example.com')).toHaveCount(0);
});
