import { expect, type Locator, type Page } from '@playwright/test';
import { test } from './palisade.ts';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Add Rule' });
const status = (page: Page, name: string) => page.getByRole('switch', { name: `Status of ${name}` });

/** Presses Tab until the control has the focus. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  const hasFocus = () => control.evaluate((element) => element.matches(':focus'));
  for (let presses = 0; presses < 20 && !(await hasFocus()); presses += 1) await page.keyboard.press('Tab');
  await expect(control).toBeFocused();
}

test('the keyboard alone adds a rule, disables it and deletes it', async ({ palisade }) => {
  const page = await palisade.open('maria', '/firewall');
  await page.getByRole('button', { name: 'Add Rule' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByLabel('Rule Name')).toBeFocused();
  await page.keyboard.type('Keys');
  await page.keyboard.press('Tab');
  await expect(dialog(page).getByLabel('Direction')).toBeFocused();
  await page.keyboard.type('Out');
  await expect(dialog(page).getByLabel('Direction')).toHaveValue('outbound');
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'hidden' });
  await expect(page.getByRole('button', { name: 'Add Rule' })).toBeFocused();

  // Escape keeps what was typed.
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByLabel('Rule Name')).toBeFocused();
  await expect(dialog(page).getByLabel('Rule Name')).toHaveValue('Keys');
  await page.keyboard.press('Enter');
  await expect(status(page, 'Keys')).toBeChecked();
  await dialog(page).waitFor({ state: 'hidden' });
  await expect(page.getByRole('button', { name: 'Add Rule' })).toBeFocused();
  await tabTo(page, status(page, 'Keys'));
  await page.keyboard.press('Space');
  await expect(status(page, 'Keys')).not.toBeChecked();
  await expect(status(page, 'Keys')).toBeFocused();
  await tabTo(page, page.getByRole('button', { name: 'Delete Keys' }));
  page.once('dialog', (question) => void question.accept());
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Add First Rule' })).toBeFocused();
});
