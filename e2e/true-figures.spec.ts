import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { expect, type Page } from '@playwright/test';
import { expectAccessible, givePremium, openSignedIn, test } from './palisade.ts';
import { eicarFile } from './samples.ts';

// Figures and sentences of the screens are true of the whole account, and equal everywhere.

const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const showMore = (page: Page) => page.getByRole('button', { name: /^Show more/ });

/** Copies the newest row of a table, so often: what would take a person years. Ids sort by their number, before what is there. */
function fill(data_dir: string, table: string, count: number, vary: (index: number) => Record<string, SQLInputValue>): void {
  const database = new DatabaseSync(join(data_dir, 'palisade.sqlite'));
  database.exec('pragma busy_timeout = 5000');
  const model = database.prepare(`select * from ${table} order by id desc limit 1`).get();
  if (model === undefined) throw new Error(`There is no row in ${table} to make others of.`);
  const columns = Object.keys(model);
  const insert = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`);
  for (let index = 0; index < count; index += 1) {
    const id = `01890a5d-ac96-7000-8000-${index.toString(16).padStart(12, '0')}`;
    const row: Record<string, SQLInputValue> = { ...model, id, ...vary(index) };
    insert.run(...columns.map((column) => row[column] ?? null));
  }
  database.close();
}

// proves: product-1.1-1, product-1.1-2, product-1.1-3, product-1.1-4
test('figures are of the account and lists show all of it, by mouse and by keyboard', async ({ page, server }) => {
  test.slow();
  await openSignedIn(page, 'maria');
  const headers = await givePremium(page, 'maria');
  const upload = async (name: string, content: Buffer | string) => {
    const file = { name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) };
    const answer = await page.request.post('/api/antivirus/scan', { headers, multipart: { file } });
    expect(answer.status()).toBe(201);
  };
  await upload(eicarFile.name, eicarFile.buffer);
  for (let index = 0; index < 210; index += 6)
    await Promise.all([0, 1, 2, 3, 4, 5].map((more) => upload(`letter ${index + more}.txt`, 'A letter.')));

  await page.goto('/antivirus');
  await expect(tile(page, 'Threats Detected').locator('.num')).toHaveText('1');
  await expect(tile(page, 'Threats Detected')).toContainText('1 of them is a harmless test file');
  await expect(tile(page, 'Files Scanned').locator('.num')).toHaveText('211');
  const scans = page.getByRole('list', { name: 'Scans' }).getByRole('listitem');
  await expect(scans).toHaveCount(50);
  for (const shown of [100, 150, 200, 211]) {
    await showMore(page).focus();
    await page.keyboard.press('Enter');
    await expect(scans).toHaveCount(shown);
  }
  await expect(showMore(page)).toHaveCount(0);
  expect(await page.evaluate(() => document.scrollingElement?.scrollHeight ?? 0)).toBeLessThan(20_000);
  await page.getByRole('radio', { name: 'Infected 1' }).check();
  await expect(scans).toHaveCount(1);
  await expect(scans).toContainText('EICAR-Test-File');
  await page.getByRole('radio', { name: 'All 211' }).check();
  await page.getByLabel('Order').selectOption('Oldest first');
  await expect(scans.first()).toContainText(eicarFile.name);
  await page.getByLabel('Search the scan history').fill('letter 117');
  await expect(scans).toHaveCount(1);

  // The same of rules, alerts, remote sessions, people and sessions.
  for (const [path, body] of [
    ['/firewall/rules', { rule_name: 'Web' }],
    ['/remote/session', undefined],
    ['/premium/anti-hacking/simulate-threat', undefined],
  ] as const) {
    expect((await page.request.post(`/api${path}`, { headers, ...(body && { data: body }) })).ok()).toBe(true);
  }
  fill(server.data_dir, 'firewall_rules', 60, (index) => ({ rule_name: `Rule ${index}`, port: `${2_000 + index}` }));
  fill(server.data_dir, 'alerts', 60, (index) => ({
    last_id: `01890a5d-ac96-7000-8000-${index.toString(16).padStart(12, '0')}`,
    dedupe_key: `made ${index}`,
    simulated: 0,
  }));
  fill(server.data_dir, 'remote_sessions', 60, (index) => ({
    session_code: `AAA-AAA-${index.toString(36).toUpperCase().padStart(3, '0')}`,
    status: 'completed',
    ended_at: new Date().toISOString(),
  }));
  fill(server.data_dir, 'users', 60, (index) => {
    const name = `person-${index}`;
    return { username: name, username_key: name, username_skeleton: name, email: `${name}@example.com`, role: 'customer' };
  });
  await page.goto('/firewall');
  await expect(tile(page, 'Active Rules').locator('.num')).toHaveText('61');
  // A filter searches all records, not only those that were read.
  await page.getByLabel('Search the rules').fill('Rule 7');
  const rules = page.getByRole('switch', { name: /^Status of / });
  await expect(rules).toHaveCount(1);
  const people = page
    .getByRole('main')
    .getByRole('row')
    .filter({ has: page.getByRole('cell') });
  for (const [path, rows, all, search, words, found] of [
    ['/anti-hacking', page.getByRole('list', { name: 'Alerts' }).getByRole('listitem'), 61, 'Search the alerts', 'eicar', 1],
    [
      '/remote',
      page.getByRole('region', { name: 'Session history' }).getByRole('listitem'),
      61,
      'Search the sessions',
      'AAA-AAA-003',
      1,
    ],
    ['/admin/users', people, 61, 'Search the people', 'person-3@', 1],
  ] as const) {
    await page.goto(path);
    await expect(rows).toHaveCount(50);
    await expect(showMore(page)).toHaveText(`Show more (${all - 50} left)`);
    await showMore(page).press('Enter');
    await expect(rows).toHaveCount(all);
    await expect(showMore(page)).toHaveCount(0);
    await page.getByLabel(search).fill(words);
    await expect(rows).toHaveCount(found);
  }
  await page.goto('/remote');
  await page.getByRole('radio', { name: 'Pending' }).check();
  await expect(page.getByRole('region', { name: 'Session history' }).getByRole('listitem')).toHaveCount(1);
});

// proves: product-1.3-1, product-1.3-2, product-1.3-3, product-1.3-5, product-1.4-1, product-1.5-1, product-1.6-2, product-1.7-1, product-1.8-1, product-1.9-1, product-2.8-10, product-2.9-1, product-2.11-1
test('score, colour, words and posture scan agree, and nothing is claimed that nobody does', async ({ page }) => {
  test.slow();
  await openSignedIn(page, 'maria');
  // No drill by chance.
  await page.addInitScript('Math.random = () => 0.9');
  const headers = await givePremium(page, 'maria');
  await page.goto('/dashboard');
  // An account in which nothing was looked at yet: the specification's figure, the truth next to it, and not teal.
  await expect(tile(page, 'Security Score')).toContainText('100%');
  await expect(tile(page, 'Security Score')).toContainText('Not scored yet.');
  await expect(page.locator('.score-ring')).not.toHaveAttribute('data-level', 'good');
  await expect(page.getByRole('list', { name: 'What would raise the score' })).toContainText('Only a password protects');
  await expect(page.getByText('no known weakness')).toHaveCount(0);

  await page.goto('/anti-hacking');
  await page.getByRole('button', { name: 'Start Scan' }).click();
  const posture = tile(page, 'Security check');
  await expect(posture).toContainText('Issues found');
  await posture.getByText(/^All \d+ checks/).click();
  const remoteDesktop = posture.getByRole('listitem').filter({ hasText: '3389' });
  await expect(remoteDesktop).toHaveAttribute('data-state', 'unknown');
  await expect(remoteDesktop).toContainText('we can’t tell whether it is closed');
  // A harmless test file is called one, in every place that counts it.
  const file = { name: eicarFile.name, mimeType: eicarFile.mimeType, buffer: eicarFile.buffer };
  expect((await page.request.post('/api/antivirus/scan', { headers, multipart: { file } })).status()).toBe(201);
  await expect(tile(page, 'Threats Blocked Today')).toContainText('1 of them is a harmless test file');
  // The answer comes first, then alerts, security check and blocks; figures and chart after them.
  const parts = [
    page.locator('section.lead'),
    page.getByRole('list', { name: 'Alerts' }),
    tile(page, 'Security check'),
    tile(page, 'Threats Blocked Today'),
    tile(page, 'Score and threats'),
  ];
  const tops = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.y ?? Number.NaN));
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  await page.getByRole('list', { name: 'Alerts' }).getByRole('link', { name: 'Malware Detected' }).click();
  const alert = page.getByRole('dialog', { name: 'Security alert' });
  await expect(alert).toContainText('A harmless test file was found');
  await expect(alert).not.toContainText('dangerous');
  await page.goto('/dashboard');
  await expect(page.getByRole('heading', { name: '1 harmless test file was found and quarantined or removed.' })).toBeVisible();

  // Without a device no rule is enforced: the first line says so, and is not teal.
  const added = await page.request.post('/api/firewall/rules', { headers, data: { rule_name: 'By its name alone' } });
  expect(await added.json()).toMatchObject({
    ...{ direction: 'inbound', action: 'allow', protocol: 'tcp', source_ip: '*', destination_ip: '*', port: '*' },
  });
  await page.goto('/firewall');
  const summary = page.getByRole('main').locator('section').first();
  await expect(summary.getByRole('heading')).toHaveText('Your rules aren’t active.');
  await expect(summary).not.toHaveAttribute('data-tone', 'good');
  await expect(page.getByText(/inbound is blocked/i)).toHaveCount(0);

  // The specification's promise of support is marked, until the provider's own takes its place.
  const client_info = { company_name: 'Harbour IT', support_phone: '+1 800 555 0199', support_email: 'help@harbour.example' };
  const setup = { client_info, setup_type: 'basic_installation', timestamp: new Date().toISOString() };
  expect((await page.request.post('/api/admin/setup-config', { headers, data: setup })).ok()).toBe(true);
  const promise = page.getByRole('complementary', { name: 'Palisade' }).locator('footer');
  await expect(promise).toContainText(/available 24\/7.*under 30 seconds.*Example/u);
  const own = { ...setup, client_info: { ...client_info, support_promise: 'Answers within a day' } };
  expect((await page.request.post('/api/admin/setup-config', { headers, data: own })).ok()).toBe(true);
  await expect(promise).toContainText('Answers within a day');
  await expect(promise).not.toContainText(/24\/7|Example/u);

  // Whether somebody of support is there is said apart, and Online is about the page.
  await page.goto('/chat');
  await expect(page.getByText(/We’re away\./)).toBeVisible();
  await expect(page.getByText('this page is connected')).toBeVisible();
  await page.getByRole('textbox', { name: 'Message' }).fill('a man on the phone wants my card number');
  await page.getByRole('button', { name: 'Send' }).click();
  const log = page.getByRole('log');
  await expect(log).toContainText('Hang up. We never call first');
  await expect(log).not.toContainText('Don’t open the file');
  await page.reload();
  await expect(log).toContainText('Hang up. We never call first');
  await expect(log.getByText('Automatic reply')).toBeVisible();
  await expectAccessible(page);
});

// proves: product-1.2-1, product-1.2-2
test('words that a newer server says are shown as what is known of them', async ({ page }) => {
  await openSignedIn(page, 'maria');
  const headers = await givePremium(page, 'maria');
  const file = { name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from('A letter.') };
  await page.request.post('/api/antivirus/scan', { headers, multipart: { file } });
  await page.request.post('/api/firewall/rules', { headers, data: { rule_name: 'Web' } });
  await page.request.post('/api/remote/session', { headers });
  await page.request.post('/api/premium/anti-hacking/simulate-threat', { headers });
  const say = (path: string, from: RegExp, to: string) =>
    page.route(path, async (route) => {
      if (route.request().method() !== 'GET') return await route.fallback();
      const response = await route.fetch();
      const text = await response.text();
      // Real alerts, of which there are none, are asked for apart from simulated ones.
      if (text !== '[]') expect(text).toMatch(from);
      await route.fulfill({ response, body: text.replaceAll(new RegExp(from, 'gu'), to) });
    });
  await say('**/api/antivirus/scans?*', /"scan_status":"clean"/, '"scan_status":"quarantined"');
  await say('**/api/firewall/rules*', /"protocol":"tcp"/, '"protocol":"sctp"');
  await say('**/api/remote/sessions*', /"status":"pending"/, '"status":"on_hold"');
  await say('**/api/premium/anti-hacking/alerts*', /"threat_type":"[a-z_]+"/, '"threat_type":"quantum_attempt"');

  for (const reads of ['first', 'again']) {
    await test.step(reads, async () => {
      await page.goto('/antivirus');
      await expect(page.getByRole('list', { name: 'Scans' }).getByRole('listitem')).toContainText('Pending');
    });
  }
  await page.goto('/firewall');
  await expect(page.getByRole('switch', { name: 'Status of Web' })).toBeVisible();
  await page.goto('/remote');
  await expect(page.getByRole('region', { name: 'Session history' }).getByRole('listitem')).toHaveCount(1);
  await page.goto('/anti-hacking');
  await expect(page.getByRole('list', { name: 'Simulated threats' }).getByRole('listitem')).toContainText(/quantum attempt/i);
  await expect(page.getByText(/couldn’t load|could not be read/)).toHaveCount(0);
});

test.describe('in front of customers', () => {
  test.use({ environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'maria@example.com', RESET_DELIVERY: 'outbox' } });

  // proves: product-1.6-1, product-2.3-1
  test('only existing offers are promised, and a future administrator reads how to become one', async ({ page }) => {
    await page.goto('/');
    await page.getByRole('tab', { name: 'Register' }).click();
    await expect(page.getByText(/After you sign in, enter the code we email you/)).toBeVisible();
    await openSignedIn(page, 'maria');
    for (const path of ['/dashboard', '/firewall', '/chat', '/remote', '/antivirus']) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      // The claim of the specification stands with the example contact alone, which says that it is one.
      const claim = page.getByText(/available 24\/7|under 30 seconds/);
      await expect(claim.and(page.locator(':not(.support-block *)'))).toHaveCount(0);
      await expect(page.locator('.support-block')).toContainText('Example');
      if (path === '/firewall') await expect(tile(page, 'Status')).toContainText('NOT APPLIED');
    }
    await page.goto('/admin/setup');
    await expect(page.getByText(/enter the code we emailed you to become an administrator/)).toBeVisible();
  });
});
