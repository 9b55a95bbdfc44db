import { expect, type Page } from '@playwright/test';
import { z } from 'zod';
import { codeOfApp } from './authenticator.ts';
import { givePremium, headersOf, openSignedIn, test } from './palisade.ts';

const PASSWORD = 'a long enough password';

/** Counts what a person presses in the page; text that is typed is not counted. */
async function countPresses(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    Object.assign(window, { presses: 0 });
    window.addEventListener(
      'click',
      (event) => {
        // A press on a label is followed by one on its field.
        if (event.isTrusted && event.detail > 0) Object.assign(window, { presses: Number(Reflect.get(window, 'presses')) + 1 });
      },
      true,
    );
  });
  return () => page.evaluate(() => Number(Reflect.get(window, 'presses')));
}

test('a session code takes two presses', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Remote Access' }).click();
  await expect(page.getByText('No sessions yet')).toBeVisible();
  const presses = await countPresses(page);
  await page.getByRole('button', { name: 'New Session' }).click();
  await page.getByRole('button', { name: 'Create Session' }).click();
  await expect(page.getByText('Waiting for connection...')).toBeVisible();
  expect(await presses()).toBeLessThanOrEqual(2);
});

test('two-factor takes five presses', async ({ page }) => {
  await openSignedIn(page, 'maria');
  const presses = await countPresses(page);
  await page.getByRole('button', { name: 'Security User menu' }).click();
  await page.getByRole('menuitem', { name: 'Security Preferences' }).click();
  const dialog = page.getByRole('dialog', { name: 'Security Preferences' });
  await dialog.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await expect(dialog.getByLabel('Your password')).toBeFocused();
  await page.keyboard.type(PASSWORD);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  const field = dialog.getByLabel('Enter the code that the app shows');
  await expect(field).toBeFocused();
  const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '');
  await page.keyboard.type(codeOfApp(secret));
  await dialog.getByRole('button', { name: 'I’ve saved my codes' }).click();
  await expect(dialog.getByText('Your authenticator app is set up.')).toBeVisible();
  expect(await presses()).toBeLessThanOrEqual(5);
});

test('a requested plan is assigned in two presses, and a chat is answered in three', async ({ page, browser, server }) => {
  test.slow();
  await openSignedIn(page, 'ada');
  const headers = await givePremium(page, 'ada');
  const template = {
    ...{ template_name: 'Family Shield', base_price: 19.99, duration_months: 12, max_devices: 5, is_premium: true },
    features: ['Anti-hacking monitor'],
  };
  const created = await page.request.post('/api/admin/subscription-templates', { headers, data: template });
  const { template: plan } = z.object({ template: z.object({ id: z.string() }) }).parse(await created.json());
  const customer = await (await browser.newContext({ baseURL: server.url })).newPage();
  await openSignedIn(customer, 'maria');
  const hers = await headersOf(customer);
  expect(
    (await customer.request.post('/api/subscription/requests', { headers: hers, data: { template_id: plan.id } })).ok(),
  ).toBe(true);
  await customer.request.post('/api/chat/messages', { headers: hers, data: { message: 'Hello', sender: 'user' } });

  await page.goto('/subscription-manager?tab=manage');
  const review = page.getByRole('region', { name: 'Plan requests' }).getByRole('button', { name: 'Review and assign' });
  await expect(review).toBeVisible();
  const assigning = await countPresses(page);
  await review.click();
  await page.getByRole('button', { name: 'Assign Subscription' }).click();
  await expect(page.getByText('Subscription assigned successfully to maria@example.com')).toBeVisible();
  expect(await assigning()).toBeLessThanOrEqual(2);

  await page.goto('/support');
  const open = page.getByRole('region', { name: 'Inbox' }).getByRole('link', { name: /maria/ });
  await expect(open).toBeVisible();
  const answering = await countPresses(page);
  await open.click();
  await page.getByRole('textbox', { name: 'Answer', exact: true }).click();
  await page.keyboard.type('Good day. How can we help?');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('log').getByText('Good day. How can we help?')).toBeVisible();
  expect(await answering()).toBeLessThanOrEqual(3);
  await customer.context().close();
});
