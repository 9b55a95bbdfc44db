import { randomUUID } from 'node:crypto';
import { expect, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { PASSWORD } from './installation.ts';
import { headersOf, post, scanBeside, test } from './palisade.ts';
import { eicarFile } from './samples.ts';

/** Without an event a list refetches after five seconds at the earliest, so a change within two seconds proves the event. */
const SOON = { timeout: 2_000 };
const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

// proves: product-2.8-7, product-2.8-12, product-3.1-1
test('a change in one tab shows in the other within two seconds', async ({ palisade }) => {
  const page = await palisade.open('maria', '/dashboard', { is_premium: true });
  const headers = await headersOf(page);
  const other = await page.context().newPage();
  const open = async (path: string) => {
    await other.goto(path);
    await page.goto(path);
  };

  await other.goto('/firewall');
  await expect(other.getByText('No firewall rules yet')).toBeVisible();
  await page.goto('/firewall');
  await page.getByRole('button', { name: 'Add First Rule' }).click();
  await page.getByRole('dialog').getByLabel('Rule Name').fill('From the first tab');
  await page.getByRole('dialog').getByRole('button', { name: 'Add Rule' }).click();
  await expect(page.getByRole('switch', { name: 'Status of From the first tab' })).toBeVisible();
  await expect(other.getByRole('switch', { name: 'Status of From the first tab' })).toBeVisible(SOON);
  await other.getByText('On', { exact: true }).click();
  await expect(page.getByRole('switch', { name: 'Status of From the first tab' })).not.toBeChecked(SOON);

  await other.goto('/chat');
  await expect(other.getByText('What can we help with?')).toBeVisible();
  await page.goto('/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('Is my computer slow?');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByRole('log').getByText('Is my computer slow?')).toBeVisible();
  await expect(other.getByRole('log').getByText('Is my computer slow?')).toBeVisible(SOON);

  await other.goto('/remote');
  await expect(other.getByText('No session is open. No one can join you.')).toBeVisible();
  await post(page, '/remote/session');
  await expect(other.getByText('Waiting for connection...')).toBeVisible(SOON);

  // The profile: the name in the corner. The sessions: one begins and one ends.
  await other.goto('/dashboard');
  await expect(other.getByRole('heading', { level: 1 })).toBeVisible();
  await page.request.patch('/api/auth/me', { headers, data: { username: 'zoe' } });
  await other.getByRole('button', { name: 'Security User menu' }).click();
  await other.getByRole('menuitem', { name: 'Profile Settings' }).click();
  await expect(other.getByRole('dialog').getByLabel('Username')).toHaveValue('zoe', SOON);
  await other.goto('/dashboard?open=security&tab=sessions');
  const sessions = other.getByRole('region', { name: 'Signed-in sessions' }).getByRole('listitem');
  await expect(sessions).toHaveCount(1);
  const account = { email: 'maria@example.com', password: PASSWORD, browser_id: randomUUID() };
  const elsewhere = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0' };
  const signedIn = await page.request.post('/api/auth/login', { headers: elsewhere, data: account });
  await expect(sessions).toHaveCount(2, SOON);
  const token = /"access_token":"([^"]+)"/.exec(await signedIn.text())?.[1] ?? '';
  await page.request.post('/api/auth/logout', { headers: { authorization: `Bearer ${token}` } });
  await expect(sessions).toHaveCount(1, SOON);

  // Files: the copy in quarantine, and deletion from the history.
  await scanBeside(page, eicarFile);
  await open('/antivirus');
  for (const tab of [page, other]) await tab.getByRole('link', { name: eicarFile.name }).click();
  const details = (tab: Page) => tab.getByRole('dialog', { name: 'Scan details' });
  await expect(details(other).getByRole('button', { name: 'Download file' })).toBeVisible();
  page.on('dialog', (question) => void question.accept());
  await details(page).getByRole('button', { name: 'Delete our copy' }).click();
  await expect(details(other).getByRole('button', { name: 'Download file' })).toHaveCount(0, SOON);
  await other.keyboard.press('Escape');
  await details(page).getByRole('button', { name: 'Remove from history' }).click();
  await expect(other.getByText('No scans yet')).toBeVisible(SOON);
  await expect(tile(other, 'Threats Detected').locator('.num')).toHaveText('0', SOON);

  // The dialog's entry in the history is removed after the dialog, which would stop the next navigation.
  await expect.poll(() => page.evaluate('history.state.layers')).toBe(0);

  // A simulated alert: the list, the figures and the history of days.
  await open('/anti-hacking');
  const days = tile(other, 'Score and threats');
  await days.scrollIntoViewIfNeeded();
  await days.getByRole('button', { name: 'Show as table' }).click();
  const today = days.getByRole('row').nth(1);
  const before = (await today.textContent()) ?? '';
  await page.getByRole('button', { name: 'Simulate Threat' }).click();
  await expect(other.getByRole('list', { name: 'Simulated threats' })).toContainText('SIMULATED', SOON);
  await expect(other.getByRole('note', { name: 'Not counted' })).toContainText('1 simulated alert', SOON);
  await expect(today).not.toHaveText(before, SOON);
});

// proves: product-2.10-1, product-3.1-2, product-3.1-3, product-3.4-1
test('shows changes for administrators and customers in their tabs, and refetches everything after a gap', async ({
  startOwn,
}) => {
  const palisade = await startOwn();
  await palisade.addTemplate('Family Shield');
  const person = await palisade.add('maria');
  const page = await palisade.open('boss', '/admin/users', { role: 'admin' });
  const maria = await palisade.open(person);
  let cut = async () => {};
  let isReachable = true;
  await maria.routeWebSocket('**/api/events', async (client) => {
    if (!isReachable) return await client.close();
    const wire = client.connectToServer();
    cut = async () => {
      await client.close();
      await wire.close();
    };
  });
  await maria.reload();

  // The administrator's screens: plan requests, counts and people.
  await expect(page.getByText('maria@example.com').first()).toBeVisible();
  const account = { email: 'omar@example.com', username: 'omar', password: PASSWORD };
  expect((await page.request.post('/api/auth/register', { data: account })).status()).toBe(201);
  await expect(page.getByText('omar@example.com').first()).toBeVisible(SOON);
  await page.goto('/subscription-manager');
  await page.getByRole('tab', { name: 'Manage Subscriptions' }).click();
  await expect(page.getByRole('region', { name: 'Plan requests' })).toHaveCount(0);
  await maria.goto('/subscription-manager');
  await maria.getByRole('button', { name: /^Request this plan/ }).click();
  await expect(page.getByRole('region', { name: 'Plan requests' })).toContainText('maria@example.com', SOON);
  await expect(page.getByRole('navigation', { name: 'People' })).toContainText('1 plan request waits', SOON);

  // The customer's screens: the answer, the plan, the plans on offer and the provider's name.
  const plan = { duration_months: 12, max_devices: 1, is_premium: true, features: [] };
  await post(page, '/admin/subscription-templates', { ...plan, template_name: 'Solo', base_price: 5 });
  await expect(maria.getByRole('heading', { name: 'Solo' })).toBeVisible(SOON);
  await post(page, '/admin/assign-subscription', { ...plan, user_email: person.email, plan_name: 'Family Shield', price: 5 });
  await expect(maria.getByRole('region', { name: 'Your plan' })).toContainText('Family Shield', SOON);
  const client_info = { company_name: 'Harbour IT', support_phone: '', support_email: 'help@harbour.example' };
  const setup = { client_info, setup_type: 'basic_installation', timestamp: new Date().toISOString() };
  await post(page, '/admin/setup-config', setup);
  await expect(maria.getByRole('banner').getByText('Harbour IT')).toBeVisible(SOON);
  await expect(page.getByRole('banner').getByText('Harbour IT')).toBeVisible(SOON);

  // A page without a connection says so, and is up to date within three seconds after the connection returns.
  await maria.goto('/firewall');
  await expect(maria.getByText('No firewall rules yet')).toBeVisible();
  await expect(maria.getByText('Online', { exact: true })).toBeVisible();
  isReachable = false;
  await maria.route('**/api/**', (route) => route.abort());
  await cut();
  await expect(maria.getByText('Offline', { exact: true })).toBeVisible();
  const rule = await page.request.post('/api/firewall/rules', { headers: person.headers, data: { rule_name: 'While away' } });
  expect(rule.status()).toBe(201);
  await post(page, '/admin/setup-config', { ...setup, client_info: { ...client_info, company_name: 'Harbour Two' } });
  // Calls first: what the page asks for as soon as it is told again must not fail.
  await maria.unroute('**/api/**');
  isReachable = true;
  await expect(maria.getByText('Online', { exact: true })).toBeVisible(SOON);
  await expect(maria.getByRole('switch', { name: 'Status of While away' })).toBeVisible(SOON);
  await expect(maria.getByRole('banner').getByText('Harbour Two')).toBeVisible(SOON);
  await expectAccessible(maria);
});
