import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, test as base, expect, type Page } from '@playwright/test';
import { headersOf, openSignedIn, registerAndSignIn, textOf } from './palisade.ts';
import { type Product, startProduct } from './product.ts';
import { cleanPdf, eicarFile } from './samples.ts';
import { banner, drawClock, readClock, SHARES, shareOwnTab, sharing, startCustomer, workspace } from './session.ts';

/** The six journeys of the fast gate, one for each main job of the product, on one server. Their details are in the other files. */
const test = base.extend<object, { server: Product }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needs of a fixture from this pattern.
    async ({}, use) => {
      const data_dir = mkdtempSync(join(tmpdir(), 'palisade-core-'));
      const server = await startProduct(data_dir);
      await use(server);
      await server.stop();
      rmSync(data_dir, { recursive: true, force: true });
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ server }, use) => {
    await use(server.url);
  },
});

test.describe.configure({ mode: 'default' });

let admin: Page;

test.beforeAll(async ({ browser, server }) => {
  admin = await newPage(browser, server);
  // The first account of an installation administers it.
  await openSignedIn(admin, 'ada');
});

test.afterAll(async () => {
  await admin.context().close();
});

async function newPage(browser: Browser, server: Product): Promise<Page> {
  const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  return await context.newPage();
}

const history = (page: Page) => page.getByRole('region', { name: 'Scan history' });

test('a new person registers and has files scanned', { tag: '@core' }, async ({ page }) => {
  await registerAndSignIn(page, 'maria');
  await page.getByRole('navigation').getByRole('link', { name: 'Antivirus' }).click();
  await page.getByLabel('Choose files to scan').setInputFiles([eicarFile, cleanPdf]);
  await expect(history(page).getByRole('listitem')).toHaveCount(2);
  const entry = (name: string) =>
    history(page)
      .getByRole('listitem')
      .filter({ has: page.getByText(name, { exact: true }) });
  await expect(entry(eicarFile.name)).toContainText('Infected');
  await expect(entry(eicarFile.name)).toContainText('EICAR-Test-File');
  await expect(entry(cleanPdf.name)).toContainText('Clean');
});

test('an infected file is locked away and comes back unchanged', { tag: '@core' }, async ({ page }) => {
  await openSignedIn(page, 'nora');
  await page.goto('/antivirus');
  await page.getByLabel('Choose files to scan').setInputFiles([eicarFile]);
  await page.getByRole('link', { name: eicarFile.name }).click();
  const dialog = page.getByRole('dialog', { name: 'Scan details' });
  await expect(dialog).toContainText('Our copy is quarantined until');
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download file' }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await download).createReadStream()) chunks.push(Buffer.from(chunk));
  expect(Buffer.concat(chunks).equals(eicarFile.buffer)).toBe(true);
});

test('a firewall rule is added, judges traffic, and is disabled and deleted', { tag: '@core' }, async ({ page }) => {
  await openSignedIn(page, 'otto');
  await page.goto('/firewall');
  await page.getByRole('button', { name: 'Add First Rule' }).click();
  const form = page.getByRole('dialog', { name: 'Add Rule' });
  await form.getByLabel('Rule Name').fill('Closed');
  await form.getByLabel('Action').selectOption('Block');
  await form.getByLabel('Port').fill('22');
  await page.keyboard.press('Enter');
  const row = page.getByRole('row').filter({ hasText: 'Closed' });
  await expect(row).toContainText('*:22');
  const tester = page.getByRole('region', { name: 'Would this pass?' });
  await tester.getByLabel('Source').fill('203.0.113.7');
  await tester.getByLabel('Destination').fill('192.168.1.10');
  await tester.getByLabel('Port').fill('22');
  await tester.getByRole('button', { name: 'Test connection' }).click();
  await expect(tester.getByRole('status')).toHaveText('Would be blocked by the rule “Closed”');
  await row.getByRole('switch').click();
  await expect(tester.getByRole('status')).not.toContainText('by the rule “Closed”');
  page.once('dialog', (question) => void question.accept());
  await page.getByRole('button', { name: 'Delete Closed' }).click();
  await expect(page.getByText('No firewall rules yet')).toBeVisible();
});

test('a customer writes to support, and the answer comes back live', { tag: '@core' }, async ({ page, browser, server }) => {
  const tina = await newPage(browser, server);
  await openSignedIn(tina, 'tina');
  const headers = await headersOf(admin);
  const user_id = await textOf(await admin.request.get('/api/admin/users?search=tina', { headers }), 'id');
  expect((await admin.request.patch('/api/admin/users', { headers, data: { user_id, role: 'support' } })).status()).toBe(200);
  await tina.goto('/support');
  await openSignedIn(page, 'karl');
  await page.goto('/chat');
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('My printer prints nothing');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByText('Automatic reply')).toBeVisible();

  await tina.getByRole('region', { name: 'Inbox' }).getByRole('link', { name: /karl/ }).click();
  await tina.getByRole('region', { name: 'Conversation with karl' }).getByRole('button', { name: 'Claim' }).click();
  await tina.getByRole('textbox', { name: 'Answer', exact: true }).fill('Good day Karl. Which printer?');
  await tina.getByRole('textbox', { name: 'Answer', exact: true }).press('Enter');
  await expect(page.getByRole('log', { name: 'Messages' }).getByText('Good day Karl. Which printer?')).toBeVisible();
  await tina.context().close();
});

test('a technician joins by a code and sees the screen that its customer shows', { tag: '@core' }, async ({ server }) => {
  const own = await startCustomer(SHARES);
  const customer = await newPage(own, server);
  await openSignedIn(customer, 'lena');
  await shareOwnTab(customer);
  const headers = await headersOf(customer);
  const code = await textOf(await customer.request.post('/api/remote/session', { headers }), 'session_code');
  await customer.goto('/remote');
  await expect(banner(customer).getByText(code)).toBeVisible();
  await admin.goto('/portal');
  await admin.getByLabel('Session code').fill(code);
  await admin.getByRole('button', { name: 'Join' }).click();
  await expect(customer.getByRole('heading', { name: 'ada has joined your session' })).toBeVisible();
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(sharing(customer)).toContainText('ada sees what you share.');
  // The clock that is drawn on the shared page is read from the pixels of the picture here.
  const picture = admin.getByLabel('The screen of lena');
  await expect(picture).toBeVisible();
  await expect.poll(() => readClock(picture)).toEqual(expect.any(Number));
  await workspace(admin).getByRole('button', { name: 'End session' }).click();
  await expect(workspace(admin)).toHaveCount(0);
  await own.close();
});

test('a requested plan is assigned and opens the premium page', { tag: '@core' }, async ({ page }) => {
  const headers = await headersOf(admin);
  const template = {
    template_name: 'Family Shield',
    base_price: 19.99,
    duration_months: 12,
    max_devices: 5,
    is_premium: true,
    features: ['Anti-hacking monitor'],
  };
  expect((await admin.request.post('/api/admin/subscription-templates', { headers, data: template })).ok()).toBe(true);
  await openSignedIn(page, 'paul');
  await page.goto('/anti-hacking');
  await expect(page.getByText('Premium access required')).toBeVisible();
  await page.goto('/subscription-manager');
  await page.getByRole('button', { name: 'Request this plan' }).click();
  await expect(page.getByText(/^Requested on /)).toBeVisible();

  await admin.goto('/subscription-manager');
  await admin.getByRole('tab', { name: 'Manage Subscriptions' }).click();
  await admin.getByRole('region', { name: 'Plan requests' }).getByRole('button', { name: 'Review and assign' }).click();
  await admin.getByRole('button', { name: 'Assign Subscription' }).click();
  await expect(admin.getByText('Subscription assigned successfully to paul@example.com')).toBeVisible();
  await page.goto('/anti-hacking');
  await expect(page.getByRole('button', { name: 'Simulate Threat' })).toBeVisible();
});
