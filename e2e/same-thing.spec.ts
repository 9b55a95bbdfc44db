import { expect, type Page } from '@playwright/test';
import { expectAccessible, givePremium, headersOf, openDeaf, openSignedIn, test, textOf } from './palisade.ts';
import { eicarFile } from './samples.ts';

const SOON = { timeout: 2_000 };
const PASSWORD = 'a long enough password';

test('an action on a record that another tab removed is refused with a reason', async ({ page }) => {
  await openSignedIn(page, 'maria');
  const headers = await headersOf(page);
  const rules: string[] = [];
  for (const rule_name of ['One', 'Two']) {
    const answer = await page.request.post('/api/firewall/rules', { headers, data: { rule_name } });
    rules.push(await textOf(answer, 'id'));
  }
  // A rule that is edited when it goes: told, and not told.
  await page.goto('/firewall');
  await page.getByRole('button', { name: 'Edit One' }).click();
  await page.getByRole('form', { name: 'Edit One' }).getByLabel('Rule Name').fill('One, mended');
  await page.request.delete(`/api/firewall/rules/${rules[0]}`, { headers });
  await expect(page.getByText('“One” was deleted in another window.')).toBeVisible(SOON);

  const deaf = await openDeaf(page, '/firewall');
  await deaf.getByRole('button', { name: 'Edit Two' }).click();
  await deaf.getByRole('form', { name: 'Edit Two' }).getByLabel('Rule Name').fill('Two, mended');
  await page.request.delete(`/api/firewall/rules/${rules[1]}`, { headers });
  await deaf.getByRole('button', { name: 'Save' }).click();
  await expect(deaf.getByText('“Two” was deleted in another window.')).toBeVisible();
});

test('of two administrators who decide the same thing the second is told, and its person sees what holds', async ({
  page,
  browser,
  server,
}) => {
  test.slow();
  await openSignedIn(page, 'boss');
  const boss = await headersOf(page);
  const maria = await (await browser.newContext({ baseURL: server.url })).newPage();
  await openSignedIn(maria, 'maria');
  const headers = await headersOf(maria);
  const file = { name: eicarFile.name, mimeType: eicarFile.mimeType, buffer: eicarFile.buffer };
  const scan = await maria.request.post('/api/antivirus/scan', { headers, multipart: { file } });
  const id = await textOf(scan, 'id');
  await maria.request.post(`/api/antivirus/scans/${id}/report`, { headers, data: { reason: 'It is mine.' } });

  await page.goto('/admin/false-alarms');
  const deaf = await openDeaf(page, '/admin/false-alarms');
  const right = (tab: Page) => tab.getByRole('button', { name: /^Confirm threat for/u });
  await expect(right(deaf)).toBeVisible();
  await maria.goto('/antivirus');
  await maria.getByRole('link', { name: eicarFile.name }).click();
  const details = maria.getByRole('dialog', { name: 'Scan details' });
  await page.getByRole('button', { name: /^Confirm false alarm for/u }).click();
  await expect(details).toContainText(/agrees|false alarm/iu, SOON);
  await right(deaf).click();
  await expect(deaf.getByRole('alert')).toContainText('This report already has a decision. Reload the list.');

  // Taken back, for everybody.
  await expectAccessible(page);
  await page.getByRole('button', { name: /^Undo the decision about/u }).click();
  await expect(right(page)).toBeVisible();
  const reports = await (await page.request.get('/api/admin/quarantine-reports', { headers: boss })).text();
  expect(reports).toContain('"status":"open"');

  // A plan that its person asked for, and takes back while an administrator has not heard of it.
  const template = { template_name: 'Solo', base_price: 5, duration_months: 12, max_devices: 1, is_premium: false, features: [] };
  await page.request.post('/api/admin/subscription-templates', { headers: boss, data: template });
  await maria.goto('/subscription-manager');
  await maria.getByRole('button', { name: /^Request this plan/u }).click();
  await deaf.goto('/subscription-manager');
  await deaf.getByRole('tab', { name: 'Manage Subscriptions' }).click();
  const requests = deaf.getByRole('region', { name: 'Plan requests' });
  await expect(requests).toContainText('maria@example.com');
  await maria.getByRole('button', { name: /^Withdraw/u }).click();
  await expect(maria.getByRole('button', { name: /^Request this plan/u })).toBeVisible();
  await requests.getByRole('button', { name: /^Decline/u }).click();
  await expect(deaf.getByText(/This request was already answered/u)).toBeVisible();
});

test('an account that an administrator deletes is signed out in every tab', async ({ page, browser, server }) => {
  test.slow();
  await openSignedIn(page, 'boss');
  await givePremium(page, 'boss');
  const context = await browser.newContext({ baseURL: server.url });
  const tabs = [await context.newPage(), await context.newPage()];
  const [first] = tabs;
  if (first === undefined) throw new Error('There is no tab.');
  await openSignedIn(first, 'maria');
  for (const tab of tabs) await tab.goto('/antivirus');

  await page.goto('/admin/users');
  await page.getByRole('button', { name: 'Manage boss@example.com' }).click();
  await expect(page.getByRole('dialog').getByText('Signed-in sessions')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Delete account' })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Manage maria@example.com' }).click();
  await page.getByRole('button', { name: 'Delete account' }).click();
  const form = page.getByRole('form', { name: 'Delete the account of maria@example.com' });
  await form.getByLabel('Type maria@example.com to confirm').fill('maria@example.com');
  await form.getByLabel('Your password').fill(PASSWORD);
  await expectAccessible(page);
  await form.getByRole('button', { name: 'Delete for good' }).click();
  for (const tab of tabs) {
    await expect(tab.getByRole('button', { name: 'Sign In' })).toBeVisible(SOON);
    await expect(tab.getByText('Your account and all its data are deleted.')).toBeVisible();
  }
  await expect(page.getByText('maria@example.com')).toHaveCount(0);
});
