import { expect, type Page } from '@playwright/test';
import {
  expectAccessible,
  expectAccessibleOnPhone,
  expectNothingCutOff,
  givePremium,
  openSignedIn,
  signIn,
  test,
} from './palisade.ts';
import { eicarFile } from './samples.ts';

const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('the dashboard counts, marks what is simulated, and shows the plan', async ({ page }) => {
  await page.clock.install();
  await openSignedIn(page, 'maria');
  await expect(tile(page, 'Threats Neutralized')).toContainText('67');
  await expect(tile(page, 'Threats Neutralized')).toContainText('0 measured on this account');
  await expect(tile(page, 'Firewall Rules')).toContainText('8');
  await expect(tile(page, 'Security Score')).toContainText('100%');
  await expect(tile(page, 'Last Deep Scan')).toContainText('PENDING');
  await expect(page.getByText('BASIC NEURAL ACCESS')).toBeVisible();
  await expect(tile(page, 'System health')).toContainText('Sample');
  await expectAccessible(page);

  const before = await page.getByRole('timer').textContent();
  await page.clock.runFor(1_000);
  await expect(page.getByRole('timer')).not.toHaveText(before ?? '');
  await page.clock.runFor(10_000);
  const bumped = await tile(page, 'Threats Neutralized').textContent();
  expect(Number(/\d+/.exec(bumped ?? '')?.[0])).toBeGreaterThan(67);
  await page.getByRole('switch', { name: 'Real-time updates' }).uncheck();
  await page.clock.runFor(240_000);
  expect(await tile(page, 'Threats Neutralized').textContent()).toBe(bumped);
  await page.getByRole('switch', { name: 'Real-time updates' }).check();
  await page.clock.runFor(120_000);
  expect(await tile(page, 'Threats Neutralized').textContent()).not.toBe(bumped);

  await givePremium(page, 'maria');
  await page.reload();
  const plan = tile(page, 'Family Shield');
  await expect(plan).toContainText('PREMIUM');
  await expect(plan).toContainText('19.99 USD');
  await expect(plan.getByRole('listitem')).toHaveCount(4);
  await expect(plan).toContainText('+1 more');
  await expectAccessible(page);
});

test('the dashboard says that it cannot read, and leads on', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.route('**/api/dashboard/status', (route) => route.abort());
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Your security status could not be read.' })).toBeVisible();
  await expectAccessible(page);
  await page.unroute('**/api/dashboard/status');
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByRole('heading', { name: 'No file has been scanned yet.' })).toBeVisible();

  const popup = page.waitForEvent('popup');
  const alert = page.waitForEvent('dialog');
  const click = page.getByRole('button', { name: 'AI support' }).click();
  await (await alert).accept();
  await click;
  await expect(await popup).toHaveURL(/\/live-chat$/);

  await page.getByRole('link', { name: 'Scan files' }).click();
  await expect(page).toHaveURL(/\/antivirus$/);
});

test('without premium the monitor is locked, and leads to an upgrade', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Anti-Hacking' }).click();
  await expect(page.getByRole('heading', { name: 'Premium access required' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Upgrade' }).focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/subscription-manager$/);
});

test('an infected upload becomes an alert, a drill says that it is one, and a scan tells the truth', async ({ page }) => {
  await openSignedIn(page, 'maria');
  // No drill by chance among those that the journey counts.
  await page.addInitScript('Math.random = () => 0.9');
  const headers = await givePremium(page, 'maria');
  await page.goto('/antivirus');
  await page.getByLabel('Choose files to scan').setInputFiles(eicarFile);
  await expect(page.getByRole('region', { name: 'Scan history' }).getByRole('listitem')).toContainText('Infected');
  const rule = {
    rule_name: '<b>ssh</b>',
    direction: 'inbound',
    action: 'allow',
    protocol: 'tcp',
    source_ip: '*',
    destination_ip: '*',
    port: '22',
  };
  expect((await page.request.post('/api/firewall/rules', { headers, data: rule })).status()).toBe(201);

  await page.goto('/anti-hacking');
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await expect(alerts.getByRole('listitem')).toHaveCount(1);
  await expect(alerts).toContainText('We found EICAR-Test-File in eicar.com.');
  await expect(alerts).toContainText('NEUTRALIZED');
  await expect(tile(page, 'Total Threats Blocked')).toContainText('1');

  // By keyboard alone: a drill, a scan.
  await page.getByRole('button', { name: 'Simulate Threat' }).focus();
  await page.keyboard.press('Enter');
  const simulated = page.getByRole('list', { name: 'Simulated threats' });
  await expect(simulated.getByRole('listitem')).toHaveCount(1);
  await expect(simulated.getByRole('listitem').first()).toContainText('SIMULATED');
  await expect(alerts.getByRole('listitem')).toHaveCount(1);
  await expect(tile(page, 'Total Threats Blocked')).toContainText(/Simulated.* 1 simulated alert,/);

  // One day is no chart: it is said small, and the figures are there, those of the drill as well.
  const history = tile(page, 'Score and threats');
  await history.scrollIntoViewIfNeeded();
  await expect(history).toContainText('One threat in the last 30 days, and it was blocked.');
  await history.getByRole('button', { name: 'Show as table' }).press('Enter');
  await expect(history.getByRole('row')).toHaveCount(31);
  await expect(history.getByRole('row').nth(1)).toHaveText(/92111$/);
  await history.getByRole('button', { name: 'Show as chart' }).press('Enter');

  await page.getByRole('button', { name: 'Start Scan' }).focus();
  await page.keyboard.press('Enter');
  const scan = tile(page, 'Security check');
  await expect(scan).toContainText('Issues found');
  await expect(scan).toContainText('16 of 28 checks could run.');
  // The button had no focus to give while it was disabled.
  await expect(page.getByRole('button', { name: 'Start Scan' })).toBeFocused();
  await expect(scan.getByRole('region', { name: 'Vulnerabilities found' })).toContainText('Opened by "<b>ssh</b>".');
  await expect(scan).toContainText('Last checked');
  await expect(scan.getByRole('link', { name: /Fix .*port 22/ })).toHaveAttribute('href', '/firewall');
  await expect(scan.getByRole('link', { name: /Fix Only a password protects/ })).toHaveAttribute(
    'href',
    '/dashboard?open=security&tab=two-factor',
  );
  await page.getByRole('switch', { name: 'LIVE' }).check();
  await expect(page.getByRole('list', { name: 'Live feed' }).getByRole('listitem')).toHaveCount(2);
  await expectAccessible(page);

  await page.goto('/dashboard');
  await expect(tile(page, 'Security Score')).toContainText('92%');
  await expect(page.getByRole('link', { name: '−8 A rule opens port 22 (SSH) to the whole world +8 if fixed' })).toBeVisible();
  await expect(tile(page, 'Threats Neutralized')).toContainText('1 of them is a harmless test file');
});

// proves: product-3.3-1
test('live mode asks every 5 seconds, and a scan reloads the alerts a second later', async ({ page }) => {
  await page.clock.install();
  await openSignedIn(page, 'maria');
  await givePremium(page, 'maria');
  await page.goto('/anti-hacking');
  await expect(page.getByText('No active threats')).toBeVisible();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const count = (name: string) => asked.filter((path) => path.endsWith(name)).length;

  await page.getByRole('switch', { name: 'LIVE' }).check();
  await expect.poll(() => count('/live-feed')).toBe(1);
  await page.clock.runFor(5_000);
  await expect.poll(() => count('/live-feed')).toBe(2);
  await page.getByRole('switch', { name: 'LIVE' }).uncheck();

  await page.getByRole('button', { name: 'Start Scan' }).click();
  await expect(page.getByText('Issues found', { exact: true })).toBeVisible();
  const before = count('/alerts');
  await page.clock.runFor(1_000);
  await expect.poll(() => count('/alerts')).toBeGreaterThan(before);
});

test('faults are shown in the words of the specification', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await givePremium(page, 'maria');
  const refuse = (status: number, code: string) => ({
    status,
    contentType: 'application/problem+json; charset=utf-8',
    body: JSON.stringify({ type: 'about:blank', title: 'x', status, code, detail: 'Refused.' }),
  });
  await page.goto('/anti-hacking');
  await page.route('**/anti-hacking/scan', (route) => route.fulfill(refuse(403, 'premium_required')));
  await page.getByRole('button', { name: 'Start Scan' }).click();
  await expect(page.getByText('Premium subscription required for advanced anti-hacking features')).toBeVisible();
  await page.unroute('**/anti-hacking/scan');
  await page.route('**/anti-hacking/scan', (route) => route.abort());
  await page.getByRole('button', { name: 'Start Scan' }).click();
  await expect(page.getByText('Error performing anti-hacking scan')).toBeVisible();
  await page.route('**/anti-hacking/alerts*', (route) => route.fulfill(refuse(422, 'invalid_field')));
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByText('Error fetching anti-hacking alerts')).toBeVisible();
  await expectAccessible(page);
  await page.unroute('**/anti-hacking/alerts*');
  await page.route('**/anti-hacking/alerts*', (route) => route.fulfill(refuse(403, 'premium_required')));
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByRole('heading', { name: 'Premium access required' })).toBeVisible();
  await expect(page.getByText('Premium subscription required for anti-hacking features')).toBeVisible();
});

test.describe('in front of customers', () => {
  test.use({ environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'maria@example.com', RESET_DELIVERY: 'outbox' } });

  test('figures are measured alone', async ({ page }) => {
    await openSignedIn(page, 'maria');
    await expect(tile(page, 'Threats Neutralized')).toContainText('measured on this account');
    await expect(page.getByText('Simulated')).toHaveCount(0);
    await expect(page.getByText('System health')).toHaveCount(0);
    await page.getByRole('button', { name: /Security User/ }).click();
    await page.getByRole('menuitem', { name: 'Sign Out' }).click();
    await signIn(page, 'maria');
  });
});

test('every part of these screens is visible at any width', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.goto('/anti-hacking');
  await expect(page.getByRole('heading', { name: 'Premium access required' })).toBeVisible();
  await expectNothingCutOff(page);
  await givePremium(page, 'maria');
  await page.goto('/dashboard');
  await expect(tile(page, 'Family Shield')).toBeVisible();
  await expectNothingCutOff(page);
  await page.goto('/anti-hacking');
  await page.getByRole('switch', { name: 'LIVE' }).check();
  await page.getByRole('button', { name: 'Simulate Threat' }).click();
  await page.getByRole('button', { name: 'Start Scan' }).click();
  await expect(page.getByRole('list', { name: 'Live feed' })).toBeVisible();
  await page.getByText('All 28 checks').click();
  await expectNothingCutOff(page);
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
});
