import { expect } from '@playwright/test';
import { test } from './palisade.ts';

// proves: product-2.8-4, product-2.8-5, product-3.4-1
test('without a connection a screen says so and opens when it is back, and over a slow network it says that it is coming', async ({
  palisade,
}) => {
  const page = await palisade.open('maria');
  await expect(page.getByText('Online', { exact: true })).toBeVisible();
  // A screen whose files have not been fetched yet.
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
