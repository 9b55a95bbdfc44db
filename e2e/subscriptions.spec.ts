import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { expectAccessible, expectAccessibleOnPhone, expectNothingCutOff, openSignedIn, signIn, test } from './palisade.ts';

const HOSTILE = "<img src=x onerror=alert(1)> '; drop table users; --";

/** From the dashboard, because signing in leaves the address alone. */
async function signOut(page: Page): Promise<void> {
  await page.goto('/dashboard');
  await page.getByRole('button', { name: /Security User/ }).click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
}

/** Registers a customer beside the admin (the first account), who stays signed in. */
async function openAsAdmin(page: Page): Promise<void> {
  await openSignedIn(page, 'boss');
  const customer = { email: 'maria@example.com', username: 'maria', password: 'a long enough password' };
  expect((await page.request.post('/api/auth/register', { data: customer })).status()).toBe(201);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Subscriptions Admin Only' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Subscription Manager' })).toBeVisible();
}

async function fillAssignment(page: Page, email = 'maria@example.com'): Promise<void> {
  await page.getByLabel('User Email').fill(email);
  await page.getByLabel('Plan Name').fill('Family Shield');
  await page.getByLabel('Custom Price').fill('19.99');
}

const message = (page: Page, text: string, tone: 'good' | 'bad') =>
  expect(page.locator(`[role="status"][data-tone="${tone}"]`)).toHaveText(text);

test('from template to request to plan', async ({ page }) => {
  // Two people take turns three times, and each of their screens is examined.
  test.slow();
  await openAsAdmin(page);

  await page.getByRole('tab', { name: 'Templates' }).click();
  await expect(page.getByText('No templates yet')).toBeVisible();
  await page.getByLabel('Template Name').fill(HOSTILE);
  await page.getByLabel('Base Price').fill('1249.5');
  await page.getByLabel('Duration').selectOption('24 months');
  await page.getByLabel('Max Devices').selectOption('Unlimited');
  await page.getByLabel('Premium (Anti-Hacking Tools)').check();
  await page.getByLabel('Features', { exact: true }).fill('  Anti-hacking monitor  ');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('button', { name: 'Create Template' }).dblclick();
  await message(page, `Template "${HOSTILE}" created successfully`, 'good');
  await expect(page.getByLabel('Template Name')).toHaveValue('');
  const card = page.getByRole('article', { name: HOSTILE });
  await expect(card).toHaveCount(1);
  await expect(card).toContainText('$1,249.50 for 24 months');
  await expect(card).toContainText('Unlimited devices');
  await expect(card).toContainText('Premium');
  await expect(card).toContainText('Anti-hacking monitor');
  await expectAccessible(page);

  await signOut(page);
  await signIn(page, 'maria');
  const adminCalls: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/admin/')) adminCalls.push(request.url());
  });
  await page.goto('/subscription-manager');
  await expect(page.getByRole('heading', { name: 'Administrators only' })).toBeVisible();
  await expect(page.getByText('You don’t have a plan')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Request this plan' }).click();
  await expect(page.getByText(/^Requested on /)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/^Requested on /)).toBeVisible();
  await expectAccessible(page);
  expect(adminCalls).toEqual([]);

  await signOut(page);
  await signIn(page, 'boss');
  await page.goto('/subscription-manager');
  await page.getByRole('tab', { name: 'Manage Subscriptions' }).click();
  const requests = page.getByRole('region', { name: 'Plan requests' });
  await expect(requests).toContainText('maria@example.com');
  await expectAccessible(page);
  await requests.getByRole('button', { name: 'Review and assign' }).click();
  await expect(page.getByText('Template loaded for assignment')).toBeVisible();
  await expect(page.getByLabel('User Email')).toHaveValue('maria@example.com');
  await expect(page.getByLabel('Plan Name')).toHaveValue(HOSTILE);
  await page.getByRole('button', { name: 'Assign Subscription' }).dblclick();
  await message(page, 'Subscription assigned successfully to maria@example.com', 'good');
  await page.getByRole('tab', { name: 'Manage Subscriptions' }).click();
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('row').last()).toContainText('$1,249.50 USD');
  await expect(requests).toHaveCount(0);

  await signOut(page);
  await signIn(page, 'maria');
  await page.goto('/subscription-manager');
  const plan = page.getByRole('region', { name: 'Your plan' });
  await expect(plan).toContainText(HOSTILE);
  await expect(plan).toContainText('Premium');
  await expect(page.getByText('This is your plan. Request it again to extend it.')).toBeVisible();
  await expectAccessible(page);
});

test('every refusal is said in the words of the specification', async ({ page }) => {
  test.slow();
  await openAsAdmin(page);
  await expect(page.getByLabel('Duration')).toHaveValue('12');
  await expect(page.getByLabel('Max Devices')).toHaveValue('1');
  await expectAccessible(page);

  await fillAssignment(page, 'nobody@example.com');
  await page.getByRole('button', { name: 'Assign Subscription' }).click();
  await message(
    page,
    'Error: No account uses the email nobody@example.com. Check it, or ask the person to register first.',
    'bad',
  );
  await expectAccessible(page);

  const assign = '**/api/admin/assign-subscription';
  await page.route(assign, (route) => route.abort());
  await page.getByRole('button', { name: 'Assign Subscription' }).click();
  await message(page, 'Failed to assign subscription', 'bad');
  await page.unroute(assign);
  await page.route(assign, (route) =>
    route.fulfill({
      status: 422,
      contentType: 'application/problem+json',
      json: { type: 'about:blank', title: 'Check your entries', status: 422, code: 'invalid_field', detail: 'Not this one.' },
    }),
  );
  await page.getByRole('button', { name: 'Assign Subscription' }).click();
  await message(page, 'Error: Not this one.', 'bad');
  await page.unroute(assign);
  await page.route(assign, (route) => route.fulfill({ status: 500, body: '<h1>Oops</h1>' }));
  await page.getByRole('button', { name: 'Assign Subscription' }).click();
  await message(page, 'Failed to assign subscription', 'bad');
  await page.unroute(assign);

  await page.getByLabel('Custom Price').fill('9.999');
  await page.getByRole('button', { name: 'Assign Subscription' }).click();
  await expect(page.getByLabel('Custom Price')).toBeFocused();

  await page.getByRole('tab', { name: 'Templates' }).click();
  await page.route('**/api/admin/subscription-templates', (route) => route.abort());
  await page.getByLabel('Template Name').fill('Solo');
  await page.getByLabel('Base Price').fill('0');
  await page.getByRole('button', { name: 'Create Template' }).click();
  await message(page, 'Failed to create template', 'bad');
  await page.unroute('**/api/admin/subscription-templates');
  await page.getByRole('button', { name: 'Create Template' }).click();
  await message(page, 'Template "Solo" created successfully', 'good');
  await page.getByLabel('Template Name').fill('SOLO');
  await page.getByLabel('Base Price').fill('0');
  await page.getByRole('button', { name: 'Create Template' }).click();
  await message(page, 'Error: A template named “SOLO” already exists. Choose another name.', 'bad');
});

test('a list that cannot be read says so, and is read again on Retry', async ({ page }) => {
  await openAsAdmin(page);
  for (const path of ['subscriptions', 'subscription-templates']) {
    await page.route(`**/api/admin/${path}`, (route) => route.fulfill({ status: 403, body: 'no' }));
  }
  await page.reload();
  await expect(page.getByText('Error fetching subscriptions')).toBeVisible();
  await expect(page.getByText('Error fetching templates')).toBeVisible();
  await expectAccessible(page);
  await page.unroute('**/api/admin/subscriptions');
  await page.getByRole('alert').filter({ hasText: 'subscriptions' }).getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByText('Error fetching subscriptions')).toBeHidden();
});

test('the submit button reads Assigning... until the server has answered', async ({ page }) => {
  await openAsAdmin(page);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  await page.route('**/api/admin/assign-subscription', async (route) => {
    calls += 1;
    await held;
    await route.continue();
  });
  await fillAssignment(page);
  await page.getByRole('button', { name: 'Assign Subscription' }).dblclick();
  const busy = page.getByRole('button', { name: 'Assigning...' });
  await expect(busy).toBeDisabled();
  await expect(busy).toBeFocused();
  await expectAccessible(page);
  release();
  await message(page, 'Subscription assigned successfully to maria@example.com', 'good');
  expect(calls).toBe(1);
});

test('the list is searched, filtered, sorted, exported and cancelled in', async ({ page }) => {
  await openAsAdmin(page);
  for (const plan of ['=1+1', 'Solo']) {
    await fillAssignment(page);
    await page.getByLabel('Plan Name').fill(plan);
    await page.getByRole('button', { name: 'Assign Subscription' }).click();
    await expect(page.getByLabel('Plan Name')).toHaveValue('');
  }
  await page.getByRole('tab', { name: 'Manage Subscriptions' }).click();
  await expect(page.getByText('1 active of 2 assigned in total')).toBeVisible();
  const row = (plan: string) => page.getByRole('row').filter({ has: page.getByRole('cell', { name: plan, exact: true }) });
  await expect(row('Solo')).toContainText('Active');
  await expect(row('=1+1')).toContainText('Replaced');
  await expectAccessible(page);

  await page.getByRole('columnheader', { name: 'Plan' }).getByRole('button').click();
  await expect(page.getByRole('row').nth(1)).toContainText('=1+1');
  await page.getByLabel('Status').selectOption('Replaced');
  await expect(page.getByRole('row')).toHaveCount(2);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const csv = readFileSync(await (await download).path(), 'utf8');
  expect(csv).toContain(`"maria@example.com","maria","'=1+1","19.99","USD"`);
  expect(csv).not.toContain('Solo');

  await page.getByLabel('Status').selectOption('Any status');
  await page.getByLabel('Search').fill('solo');
  await expect(page.getByRole('row')).toHaveCount(2);
  const question = page.waitForEvent('dialog');
  const press = row('Solo').getByRole('button', { name: 'Cancel' }).click();
  const dialog = await question;
  expect(dialog.message()).toBe('End the plan “Solo” of maria@example.com now?');
  await dialog.accept();
  await press;
  await expect(row('Solo')).toContainText('Cancelled');
});

test('the keyboard alone makes a template and assigns it', async ({ page }) => {
  await openAsAdmin(page);
  await page.getByRole('tab', { name: 'Assign Subscription' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Templates' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('tabpanel')).toBeVisible();
  while (!(await page.getByLabel('Template Name').evaluate((input) => input === document.activeElement)))
    await page.keyboard.press('Tab');
  await page.keyboard.type('Solo');
  await page.keyboard.press('Tab');
  await page.keyboard.type('4.99');
  for (const name of ['Duration', 'Max Devices', 'Premium (Anti-Hacking Tools)', 'Features']) {
    await page.keyboard.press('Tab');
    await expect(page.getByLabel(name, { exact: true })).toBeFocused();
  }
  await page.keyboard.type('Two engines');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Remove Two engines' })).toBeVisible();
  for (const name of ['Add', 'Remove Two engines', 'Create Template']) {
    await page.keyboard.press('Tab');
    await expect(page.getByRole('button', { name, exact: true })).toBeFocused();
  }
  await page.keyboard.press('Enter');
  await message(page, 'Template "Solo" created successfully', 'good');
  await page.getByRole('button', { name: 'Use Template' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('User Email')).toBeFocused();
  await page.keyboard.type('maria@example.com');
  await page.keyboard.press('Enter');
  await message(page, 'Subscription assigned successfully to maria@example.com', 'good');
});

test('every part of the subscriptions is visible at any width', async ({ page }) => {
  await openAsAdmin(page);
  await fillAssignment(page);
  await page.getByLabel('Plan Name').fill('A plan of the longest name that anybody would think of, and then some more');
  await page.getByRole('button', { name: 'Assign Subscription' }).click();
  await expect(page.getByLabel('Plan Name')).toHaveValue('');
  for (const tab of ['Assign Subscription', 'Templates', 'Manage Subscriptions']) {
    await page.getByRole('tab', { name: tab }).click();
    await expect(page.getByRole('tabpanel', { name: tab })).toBeVisible();
    await expectNothingCutOff(page);
  }
  await expect(page.getByText('maria@example.com', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
});
