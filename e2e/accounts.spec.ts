import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { PASSWORD } from './installation.ts';
import { chooseInMenu, givePassword, headersOf, signIn, signOut, test } from './palisade.ts';

const NEW_PASSWORD = 'another long password';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0';

/** Signs in as a second browser, without the page. */
async function signInElsewhere(page: Page, name: string, password = PASSWORD): Promise<number> {
  const data = { email: `${name}@example.com`, password };
  const answer = await page.request.post('/api/auth/login', { headers: { 'user-agent': FIREFOX }, data });
  return answer.status();
}

// proves: product-2.8-14
test('the keyboard alone changes username and password, and ends a session elsewhere', async ({ palisade }) => {
  const page = await palisade.open('maria');
  expect(await signInElsewhere(page, 'maria')).toBe(200);
  const menu = page.getByRole('button', { name: 'Security User menu' });
  await menu.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Profile Settings' })).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  const profile = page.getByRole('dialog', { name: 'Profile Settings' });
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
  await security.getByRole('button', { name: 'Sign out Firefox on Windows' }).focus();
  await page.keyboard.press('Enter');
  await expect(security.getByLabel('Your password')).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await expect(security.getByText('Firefox on Windows is signed out.')).toBeVisible();
  await expect(sessions).toHaveCount(1);

  await security.getByRole('tab', { name: 'Sessions' }).focus();
  await page.keyboard.press('ArrowUp');
  await security.getByLabel('Current Password').focus();
  await page.keyboard.type(PASSWORD);
  await security.getByLabel('New Password').focus();
  await page.keyboard.type(NEW_PASSWORD);
  await page.keyboard.press('Enter');
  await expect(security.getByText('Password changed. You’re signed out everywhere else.')).toBeVisible();
  // The next action removes a success message.
  await security.getByLabel('Current Password').fill('a');
  await expect(security.getByText('Password changed. You’re signed out everywhere else.')).toHaveCount(0);
  expect(await signInElsewhere(page, 'maria')).toBe(401);
  expect(await signInElsewhere(page, 'maria', NEW_PASSWORD)).toBe(200);
});

// proves: asvs-7.4.1, asvs-7.4.4, asvs-14.3.1
test('a session that ends is over at once: in another browser, in another tab and on the server', async ({ palisade }) => {
  const page = await palisade.open('maria');
  const other = await palisade.window();
  await other.goto('/?mode=login');
  await signIn(other, 'maria');
  await chooseInMenu(page, 'Security Preferences');
  await page.getByRole('tab', { name: 'Sessions' }).click();
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await expect(page.getByText('You’re signed out everywhere else.')).toBeVisible();
  // The socket reports the end of the session; the page needs no request.
  await expect(other.getByText(/Your session ended/)).toBeVisible();
  await page.keyboard.press('Escape');

  const tab = await page.context().newPage();
  const opened = tab.waitForEvent('websocket');
  await tab.goto('/antivirus');
  const socket = await opened;
  expect(new URL(socket.url()).search).toBe('');
  await expect(tab.getByText('No scans yet')).toBeVisible();
  await expect.poll(() => socket.isClosed()).toBe(false);
  const headers = await headersOf(page);
  const closed = socket.waitForEvent('close');
  await signOut(page);
  await closed;
  await expect(tab.getByRole('button', { name: 'Sign In' })).toBeVisible();
  // Signing out reloads the page, which can interrupt a running script.
  await expect.poll(() => page.evaluate(() => localStorage.getItem('palisade.access_token')).catch(() => 'loading')).toBeNull();
  expect((await page.request.get('/api/auth/me', { headers })).status()).toBe(401);
});

test('an administrator disables somebody, gives a role, and reads it all in the log', async ({ palisade }) => {
  const page = await palisade.open('boss', '/dashboard', { role: 'admin' });
  const maria = await palisade.open('maria');
  await chooseInMenu(page, 'Users');
  await expect(page.getByText('2 people')).toBeVisible();
  await page.getByRole('button', { name: 'maria', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'maria' });
  await dialog.getByRole('tab', { name: 'Account' }).click();
  await expect(dialog.getByRole('button', { name: /^Sign out / })).toHaveCount(1);
  await dialog.getByRole('button', { name: 'Disable account' }).click();
  // The focused button was removed.
  await expect(dialog.getByRole('button', { name: 'Keep it' })).toBeFocused();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Disable and sign out' }).click();
  await expect(dialog.getByText('Not signed in anywhere.')).toBeVisible();

  // The person's other browser is signed out at once and shows the reason at the next sign-in.
  await expect(maria.getByRole('button', { name: 'Sign In' })).toBeVisible();
  await givePassword(maria, 'maria');
  await expect(maria.getByText('This account is disabled. Ask an administrator.')).toBeVisible();

  await dialog.getByRole('button', { name: 'Enable account' }).click();
  await expect(dialog.getByRole('button', { name: 'Disable account' })).toBeVisible();
  await dialog.getByLabel('Role').selectOption('Support');
  await dialog.getByRole('button', { name: 'Make Support' }).click();
  await expect(dialog.getByText(/^Done\. From now on the Support Desk is in their menu/)).toBeVisible();
  await dialog.getByRole('link', { name: 'Activity in the audit log' }).click();
  await expect(page.getByText(/^\d+ entr(?:y|ies) verified$/)).toBeVisible();
  const entries = page.getByRole('list', { name: 'Entries' });
  await expect(entries.getByRole('listitem').first()).toContainText(
    'boss@example.com changed the role of maria@example.com from customer to support',
  );
  await expect(entries).toContainText('boss@example.com disabled the account of maria@example.com');

  await maria.getByRole('button', { name: 'Sign In' }).click();
  await expect(maria.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
  await chooseInMenu(maria, 'Security Preferences');
  await maria.getByRole('tab', { name: 'Activity' }).click();
  const activity = maria.getByRole('list', { name: 'Activity' });
  await expect(activity).toContainText('Account disabled');
  await expect(activity).toContainText('by an administrator');
  await expect(activity).toContainText(/Signed in with Chrome on Linux from 127\.0\.0\.1/);
});

test('somebody takes all their data along, and deletes the account', async ({ palisade }) => {
  const boss = await palisade.open('boss', '/dashboard', { role: 'admin' });
  const page = await palisade.open('maria');
  const tab = await page.context().newPage();
  await tab.goto('/firewall');
  await chooseInMenu(page, 'Profile Settings');
  const profile = page.getByRole('dialog', { name: 'Profile Settings' });
  await profile.getByRole('button', { name: 'Export my data' }).click();
  await profile.getByLabel('Your password').fill(PASSWORD);
  const saved = page.waitForEvent('download');
  await profile.getByRole('button', { name: 'Export', exact: true }).click();
  const file: unknown = JSON.parse(readFileSync(await (await saved).path(), 'utf8'));
  expect(file).toMatchObject({ users: [{ email: 'maria@example.com' }], activity: [{ kind: 'data_exported' }] });
  await profile.getByRole('button', { name: 'Done' }).click();

  await profile.getByRole('button', { name: 'Delete my account' }).click();
  await expectAccessible(page);
  await profile.getByLabel('Type maria@example.com to confirm').fill('maria@example.com');
  await profile.getByLabel('Your password').fill(PASSWORD);
  await profile.getByRole('button', { name: 'Delete for good' }).click();
  for (const one of [page, tab]) await expect(one.getByText('Your account and all its data are deleted.')).toBeVisible();
  await givePassword(page, 'maria');
  await expect(page.getByText('The email or password is wrong. Try again.')).toBeVisible();

  await chooseInMenu(boss, 'Audit log');
  await expect(boss.getByRole('list', { name: 'Entries' }).getByRole('listitem').first()).toContainText('deleted the account');
  await expect(boss.getByText('maria@example.com')).toHaveCount(0);
});
