import { expect } from '@playwright/test';
import { expectAccessible, givePremium, openSignedIn, test } from './palisade.ts';
import { eicarFile } from './samples.ts';

test('a false positive is hidden with its like, and comes back when that is ended', async ({ page }) => {
  await openSignedIn(page, 'maria');
  const headers = await givePremium(page, 'maria');

  await page.goto('/anti-hacking');
  await expect(page.getByText('No active threats')).toBeVisible();
  // The empty list says what is watched.
  await expect(page.getByText(/^Nothing found\. Palisade watches uploaded files/)).toBeVisible();

  // The page shows it without a reload.
  const upload = () =>
    page.request.post('/api/antivirus/scan', {
      headers,
      multipart: { file: { name: eicarFile.name, mimeType: eicarFile.mimeType, buffer: eicarFile.buffer } },
    });
  expect((await upload()).status()).toBeLessThan(300);
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await expect(alerts.getByRole('listitem')).toHaveCount(1);
  await alerts.getByRole('link', { name: 'Malware Detected' }).focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/anti-hacking\?alert=/);
  const dialog = page.getByRole('dialog', { name: 'Security alert' });
  await expect(dialog).toContainText('Quarantined: the uploaded copy can’t do harm.');
  await expectAccessible(page);

  await page.reload();
  await dialog.getByRole('button', { name: 'Resolve', exact: true }).click();
  await dialog.getByRole('radio', { name: /^False positive/ }).check();
  await expect(dialog).toContainText('In the last 30 days it would have hidden this one alert.');
  await dialog.getByRole('checkbox', { name: /^Hide the same for 30 days/ }).check();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Resolve alert' }).click();
  await expect(dialog).toContainText('You resolved it: a false positive.');
  await page.keyboard.press('Escape');
  await expect(page.getByText('No active threats')).toBeVisible();

  expect((await upload()).status()).toBeLessThan(300);
  await expect(page.getByText('1 alert kept out by you.')).toBeVisible();
  await page.getByRole('button', { name: 'Show hidden' }).click();
  await expect(alerts.getByRole('listitem')).toContainText('Hidden');
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Show again' }).click();
  await expect(page.getByText('Nothing is hidden')).toBeVisible();
  await page.getByRole('radio', { name: /^Active/ }).check();
  await expect(alerts.getByRole('listitem')).toHaveCount(1);
});
