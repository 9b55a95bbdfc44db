import { expect } from '@playwright/test';
import { expectAccessible, expectAccessibleOnPhone, expectNothingCutOff, openSignedIn, test } from './palisade.ts';
import { SCREENS } from './screens.ts';

test('every page leads back to the dashboard', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await expect(page).toHaveURL(/\/dashboard$/);
  await expect(
    page.getByRole('button', { name: 'Back to Dashboard' }).or(page.getByRole('link', { name: 'Back to Dashboard' })),
  ).toHaveCount(0);
  await expectAccessible(page);
  await expect(page.getByText('v3.7.9')).toBeVisible();

  await page.goto('/antivirus');
  await expect(page.getByRole('navigation', { name: /breadcrumb/i })).toContainText('Antivirus');
  await page
    .getByRole('button', { name: 'Back to Dashboard' })
    .or(page.getByRole('link', { name: 'Back to Dashboard' }))
    .last()
    .click();
  await expect(page).toHaveURL(/\/dashboard$/);

  await page.goto('/nowhere/at/all');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expectAccessible(page);
});

test('the keyboard alone leads from sign-in to a scan', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
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
});

test('every part is visible at any width', async ({ page }) => {
  await openSignedIn(page, 'maria');
  for (const path of ['/dashboard', '/antivirus']) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expectNothingCutOff(page);
  }
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
});

// proves: asvs-1.3.2, asvs-3.4.3, asvs-14.2.3
test('no screen breaks the Content-Security-Policy', async ({ page }) => {
  const broken: string[] = [];
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) broken.push(message.text());
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => console.error(`content security policy: ${event.violatedDirective}`));
  });
  await openSignedIn(page, 'maria');
  for (const path of SCREENS) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  }
  expect(broken).toEqual([]);
});
