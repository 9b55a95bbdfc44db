import { randomUUID } from 'node:crypto';
import { expect, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { PASSWORD } from './installation.ts';
import { givePassword, signIn, test } from './palisade.ts';
import { eicarFile } from './samples.ts';

const NEW_PASSWORD = 'nobody else knows this one';
/** The browser of an attacker. */
const STRANGER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0';

const menu = (page: Page) => page.getByRole('navigation', { name: 'Main' });
const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const preferences = (page: Page) => page.getByRole('dialog', { name: 'Security Preferences' });

/** Returns a check that fails when the page has reloaded: changes must appear without a reload. */
function expectNoReload(page: Page): () => void {
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  return () => expect(loads).toBe(0);
}

// proves: product-1.8-2
test('a stranger who knows the password is seen at once, put out, and kept out by a new one', async ({ palisade }) => {
  const maria = await palisade.add('maria', { is_premium: true });
  const now = new Date().toISOString();
  await palisade.rows.insert('known_browsers', {
    id: randomUUID(),
    user_id: maria.id,
    browser_id: randomUUID(),
    client: 'Chrome on Linux',
    source: '198.51.100.7',
    first_seen: now,
    last_seen: now,
    trusted_at: now,
    reviewed: 0,
  });
  const page = await palisade.open(maria, '/anti-hacking');
  await expect(page.getByText('No active threats')).toBeVisible();
  const hasNotReloaded = expectNoReload(page);

  const stranger = await palisade.window({ userAgent: STRANGER });
  await stranger.goto('/?mode=login');
  await signIn(stranger, 'maria');
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await expect(alerts.getByRole('listitem')).toHaveCount(1);
  await expect(alerts).toContainText('Someone signed in to your account with a new browser: Firefox on Windows, from 127.0.0.1.');
  await expect(alerts).not.toContainText('NEUTRALIZED');
  // A finding of the security check links directly to the question.
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
  await page.keyboard.press('Escape');
  await expect(alerts).toContainText('NEUTRALIZED');
  hasNotReloaded();
  await givePassword(stranger, 'maria');
  await expect(stranger.getByText('The email or password is wrong. Try again.')).toBeVisible();
});

// proves: product-1.3-4, product-1.8-1, product-2.9-1
test('a harmless test file costs no points, an open port some until it is closed, and a drill says that it is one', async ({
  palisade,
}) => {
  const page = await palisade.open('maria', '/dashboard', { is_premium: true });
  const score = tile(page, 'Security Score');
  await expect(score).toContainText('100%');
  await expect(tile(page, 'Threats Neutralized')).toContainText('0 measured on this account');

  // A second tab uploads; the first must show it without a reload.
  const hasNotReloaded = expectNoReload(page);
  const tab = await page.context().newPage();
  await tab.goto('/antivirus');
  await tab.getByLabel('Choose files to scan').setInputFiles(eicarFile);
  await expect(tile(page, 'Threats Neutralized')).toContainText('1 harmless test file, not counted');
  await expect(score).toContainText('100%');

  await menu(page).getByRole('link', { name: 'Anti-Hacking' }).click();
  const alerts = page.getByRole('list', { name: 'Harmless test files' });
  await page.locator('summary').filter({ hasText: '1 harmless test file, not counted' }).click();
  await expect(alerts).toContainText('We found EICAR-Test-File in eicar.com.');
  await expect(alerts).toContainText('NEUTRALIZED');
  const uncounted = page.getByRole('note', { name: 'Not counted' });
  await expect(uncounted).toHaveText('Not counted: 1 harmless test file.');
  await page.getByRole('button', { name: 'Simulate Threat' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('list', { name: 'Simulated threats' })).toContainText('SIMULATED');
  await expect(alerts.getByRole('listitem')).toHaveCount(1);
  await expect(uncounted).toHaveText('Not counted: 1 harmless test file, 1 simulated alert.');
  // Order: the answer, then alerts, security check and blocks, then figures and the chart.
  const parts = [
    page.locator('section.lead'),
    alerts,
    tile(page, 'Security check'),
    tile(page, 'Threats Blocked Today'),
    tile(page, 'Score and threats'),
  ];
  const tops = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.y ?? Number.NaN));
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  await alerts.getByRole('link', { name: 'Test File', exact: true }).click();
  const alert = page.getByRole('dialog', { name: 'Security alert' });
  await expect(alert).toContainText('A harmless test file was found');
  await expect(alert).not.toContainText('dangerous');
  await page.keyboard.press('Escape');

  await menu(page).getByRole('link', { name: 'Firewall' }).click();
  await page.getByRole('button', { name: 'Add First Rule' }).click();
  const form = page.getByRole('dialog', { name: 'Add Rule' });
  await form.getByLabel('Rule Name').fill('Remote work');
  await form.getByLabel('Port').fill('22');
  await form.getByRole('button', { name: 'Add Rule' }).click();
  await expect(form).toBeHidden();

  await menu(page).getByRole('link', { name: 'Anti-Hacking' }).click();
  await page.getByRole('button', { name: 'Start Scan' }).click();
  const scan = tile(page, 'Security check');
  await expect(scan.getByRole('region', { name: 'Vulnerabilities found' })).toContainText('Opened by "Remote work".');
  await expect(scan.getByRole('link', { name: /Fix .*port 22/ })).toHaveAttribute('href', /^\/firewall\?rule=/u);

  await page.getByRole('button', { name: 'Main Dashboard' }).click();
  await expect(score).toContainText('92%');
  const answer = page.getByRole('region', { name: 'A rule opens port 22 (SSH) to the whole world' });
  const reason = answer.getByRole('link', { name: 'Open the rule' });
  await expect(reason).toBeVisible();
  await reason.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/firewall\?rule=/u);
  const status = page.getByRole('switch', { name: 'Status of Remote work' });
  await status.click();
  await expect(status).not.toBeChecked();
  await page.getByRole('button', { name: 'Main Dashboard' }).click();
  await expect(score).toContainText('100%');
  await expect(reason).toHaveCount(0);
  hasNotReloaded();
});
