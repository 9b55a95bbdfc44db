import { expect } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { test } from './palisade.ts';

test('the keyboard alone leads to a scan, a person, a screen and an action', async ({ palisade }) => {
  const page = await palisade.open('boss', '/dashboard', { role: 'admin' });
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: /skip/i })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
  await page.getByRole('main').getByRole('link', { name: 'Scan a file' }).focus();
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
  // Over another dialog it stays closed.
  await page.keyboard.press('Control+k');
  await expect(field).toHaveCount(0);
});

// proves: product-2.8-4, product-2.8-5, product-3.4-1
test('without a connection a screen says so and opens when it is back, and over a slow network it says that it is coming', async ({
  palisade,
}) => {
  const page = await palisade.open('maria');
  await expect(page.getByText('Online', { exact: true })).toBeVisible();
  // A screen of which nothing has been fetched yet.
  const held = Promise.withResolvers<void>();
  await page.route('**/assets/firewall-page*.js', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Firewall' }).click();
  await expect(page.getByRole('progressbar', { name: 'Loading the screen' })).toBeVisible();
  held.resolve();
  await expect(page.getByRole('heading', { level: 1, name: 'Firewall' })).toBeVisible();
  await expect(page.getByRole('progressbar', { name: 'Loading the screen' })).toHaveCount(0);

  await page.context().setOffline(true);
  await expect(page.getByText('Offline', { exact: true })).toBeVisible();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Antivirus' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'No connection' })).toBeVisible();
  await expect(page.getByText(/broke|tell support/)).toHaveCount(0);
  await page.context().setOffline(false);
  await expect(page.getByText('Online', { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Antivirus' })).toBeVisible();
});
