import { expect, type Page } from '@playwright/test';
import { post, register, signIn, test } from './palisade.ts';
import { cleanPdf, eicarFile, nestedZip } from './samples.ts';
import { banner, drawClock, openSession, picture, readClock, SHARES, shareOwnTab, sharing, workspace } from './session.ts';

// The six journeys of the fast gate, one for each main task of the product. The other files cover details.

const history = (page: Page) => page.getByRole('region', { name: 'Scan history' });

test('a new person registers and has files scanned', { tag: '@core' }, async ({ palisade }) => {
  const page = await palisade.window();
  await page.goto('/');
  await register(page, 'maria');
  await signIn(page, 'maria');
  await page.getByRole('navigation').getByRole('link', { name: 'Antivirus' }).click();
  await page.getByLabel('Choose files to scan').setInputFiles([eicarFile, cleanPdf, nestedZip]);
  await expect(history(page).getByRole('listitem')).toHaveCount(3);
  const entry = (name: string) =>
    history(page)
      .getByRole('listitem')
      .filter({ has: page.getByText(name, { exact: true }) });
  await expect(entry(eicarFile.name)).toContainText('Infected');
  await expect(entry(cleanPdf.name)).toContainText('Clean');
  await expect(entry(nestedZip.name)).toContainText('EICAR-Test-File in the file inner.zip / eicar.com');
});

test('an infected file is locked away and comes back unchanged', { tag: '@core' }, async ({ palisade }) => {
  const page = await palisade.open('nora', '/antivirus');
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

test('a firewall rule is added, judges traffic, and is disabled and deleted', { tag: '@core' }, async ({ palisade }) => {
  const page = await palisade.open('otto', '/firewall');
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

test('a customer writes to support, and the answer comes back live', { tag: '@core' }, async ({ palisade }) => {
  const tina = await palisade.open('tina', '/support', { role: 'support' });
  const page = await palisade.open('karl', '/chat');
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('My printer prints nothing');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByText('Automatic reply')).toBeVisible();

  await tina.getByRole('region', { name: 'Inbox' }).getByRole('link', { name: /karl/ }).click();
  await tina.getByRole('region', { name: 'Conversation with karl' }).getByRole('button', { name: 'Claim' }).click();
  await tina.getByRole('textbox', { name: 'Answer', exact: true }).fill('Good day Karl. Which printer?');
  await tina.getByRole('textbox', { name: 'Answer', exact: true }).press('Enter');
  await expect(page.getByRole('log', { name: 'Messages' }).getByText('Good day Karl. Which printer?')).toBeVisible();
});

test('a technician joins by a code and sees the screen that its customer shows', { tag: '@core' }, async ({ palisade }) => {
  const { technician, customer, browser } = await openSession(palisade, { flags: SHARES });
  await shareOwnTab(customer);
  await customer.reload();
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(sharing(customer)).toContainText('tina sees what you share.');
  // The clock of the shared page is read from the pixels of the technician's picture.
  await expect(picture(technician)).toBeVisible();
  await expect.poll(() => readClock(picture(technician))).toEqual(expect.any(Number));
  await workspace(technician).getByRole('button', { name: 'End session' }).click();
  await expect(workspace(technician)).toHaveCount(0);
  await browser.close();
});

test('a requested plan is assigned and opens the premium page', { tag: '@core' }, async ({ palisade }) => {
  const admin = await palisade.open('ada', '/subscription-manager', { role: 'admin' });
  const template = { template_name: 'Family Shield', base_price: 19.99, duration_months: 12, max_devices: 5, is_premium: true };
  await post(admin, '/admin/subscription-templates', { ...template, features: ['Anti-hacking monitor'] });
  const page = await palisade.open('paul', '/anti-hacking');
  await expect(page.getByText('Premium access required')).toBeVisible();
  await page.goto('/subscription-manager');
  await page.getByRole('button', { name: 'Request this plan' }).click();
  await expect(page.getByText(/^Requested on /)).toBeVisible();

  await admin.getByRole('tab', { name: 'Manage Subscriptions' }).click();
  await admin.getByRole('region', { name: 'Plan requests' }).getByRole('button', { name: 'Assign plan' }).click();
  await expect(admin.getByText('Subscription assigned successfully to paul@example.com')).toBeVisible();
  await page.goto('/anti-hacking');
  await expect(page.getByRole('button', { name: 'Simulate Threat' })).toBeVisible();
});
