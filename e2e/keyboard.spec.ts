import { expect, type Locator, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { test } from './palisade.ts';
import { banner } from './session.ts';

// Uses only the keyboard; accounts.spec.ts covers the dialogs of the account.

/** Presses Tab until the control has the focus. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  const hasFocus = () => control.evaluate((element) => element.matches(':focus'));
  for (let presses = 0; presses < 20 && !(await hasFocus()); presses += 1) await page.keyboard.press('Tab');
  await expect(control).toBeFocused();
}

test('the keyboard alone leads to a scan, a person, a screen and an action', async ({ palisade }) => {
  const page = await palisade.open('boss', '/dashboard', { role: 'admin' });
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: /skip/i })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
  await page.getByRole('main').getByRole('link', { name: 'Choose a file' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Antivirus' })).toBeFocused();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose files', exact: true }).focus();
  await page.keyboard.press('Enter');
  expect((await chooser).isMultiple()).toBe(true);

  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search everything' });
  await expect(field).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.type('boss');
  await expect(page.getByRole('group', { name: 'People' }).getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/admin\/users\?search=boss%40example\.com$/);
  await expect(page.getByText('1 person')).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('two-factor');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Security Preferences' })).toBeVisible();
  // The palette stays closed over another dialog.
  await page.keyboard.press('Control+k');
  await expect(field).toHaveCount(0);
});

test('the keyboard alone adds a rule, disables it and deletes it', async ({ palisade }) => {
  const page = await palisade.open('maria', '/firewall');
  const dialog = page.getByRole('dialog', { name: 'Add Rule' });
  const status = page.getByRole('switch', { name: 'Status of Keys' });
  await page.getByRole('button', { name: 'Add Rule' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog.getByLabel('Rule Name')).toBeFocused();
  await page.keyboard.type('Keys');
  // The way out of the warning comes first.
  await tabTo(page, dialog.getByLabel('Direction'));
  await page.keyboard.type('Out');
  await expect(dialog.getByLabel('Direction')).toHaveValue('outbound');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await expect(page.getByRole('button', { name: 'Add Rule' })).toBeFocused();

  // Escape keeps what was typed.
  await page.keyboard.press('Enter');
  await expect(dialog.getByLabel('Rule Name')).toBeFocused();
  await expect(dialog.getByLabel('Rule Name')).toHaveValue('Keys');
  await page.keyboard.press('Enter');
  await expect(status).toBeChecked();
  await dialog.waitFor({ state: 'hidden' });
  await expect(page.getByRole('button', { name: 'Add Rule' })).toBeFocused();
  await tabTo(page, status);
  await page.keyboard.press('Space');
  await expect(status).not.toBeChecked();
  await expect(status).toBeFocused();
  await tabTo(page, page.getByRole('button', { name: 'Delete Keys' }));
  page.once('dialog', (question) => void question.accept());
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Add First Rule' })).toBeFocused();
});

test('the keyboard alone writes to support, starts a session and ends it', async ({ palisade }) => {
  const page = await palisade.open('maria', '/chat');
  const field = page.getByRole('textbox', { name: 'Message' });
  await page.getByRole('button', { name: 'Firewall help' }).focus();
  await page.keyboard.press('Enter');
  await expect(field).toBeFocused();
  await page.keyboard.type('my printer');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('log', { name: 'Messages' }).getByText(/my printer/)).toBeVisible();
  await expect(field).toBeFocused();

  await page.goto('/remote');
  await page.getByRole('button', { name: 'New Session' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New Session' });
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeFocused();
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Create Session' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Waiting for connection...')).toBeVisible();
  await banner(page).getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Session history' }).getByText('You cancelled it')).toBeVisible();
});
