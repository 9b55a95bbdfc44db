import { expect, type Locator, type Page } from '@playwright/test';
import { expectAccessible, expectAccessibleOnPhone, expectNothingCutOff, openSignedIn, test } from './palisade.ts';

const RULES = '**/api/firewall/rules*';
const ONE_RULE = '**/api/firewall/rules/*';

async function openFirewall(page: Page): Promise<void> {
  await openSignedIn(page, 'maria');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Firewall' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Firewall' })).toBeVisible();
}

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Add Rule' });
const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
const status = (page: Page, name: string) => page.getByRole('switch', { name: `Status of ${name}` });

async function addRule(page: Page, name: string, fill: (form: Locator) => Promise<void> = async () => {}): Promise<void> {
  await page.getByRole('button', { name: 'Add Rule' }).click();
  await dialog(page).getByLabel('Rule Name').fill(name);
  await fill(dialog(page));
  await dialog(page).getByRole('button', { name: 'Add Rule' }).click();
  await expect(dialog(page)).toBeHidden();
}

/** Does what opens a dialog of the browser, answers it, and tells what it said. */
async function answerTo(page: Page, act: () => Promise<void>, accept = true): Promise<string> {
  const opened = page.waitForEvent('dialog');
  const acting = act();
  const box = await opened;
  const message = box.message();
  await (accept ? box.accept() : box.dismiss());
  await acting;
  return message;
}

test('a person adds, tries, disables and deletes rules', async ({ page }) => {
  // Many looks by axe, on a machine that may be busy.
  test.slow();
  await openFirewall(page);
  await expect(page.getByText('No firewall rules yet')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Status' })).toContainText('ACTIVE');
  await expect(page.getByRole('region', { name: 'Blocked Attempts' })).toContainText('247');
  await expect(page.getByRole('region', { name: 'Data Protected' })).toContainText('2.4GB');
  await expect(page.getByText('Sample', { exact: true })).toHaveCount(3);
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Add First Rule' }).click();
  await expect(dialog(page).getByLabel('Rule Name')).toBeFocused();
  for (const [label, value] of [
    ['Direction', 'inbound'],
    ['Action', 'allow'],
    ['Protocol', 'tcp'],
    ['Source IP', '*'],
    ['Destination IP', '*'],
    ['Port', '*'],
  ] as const) {
    await expect(dialog(page).getByLabel(label)).toHaveValue(value);
  }
  await dialog(page).getByLabel('Port').fill('8100-8000');
  await expect(dialog(page).getByText('Start the range with the lower number: 8100-8000')).toBeVisible();
  await dialog(page).getByLabel('Rule Name').focus();
  await expectAccessible(page);
  await dialog(page).getByLabel('Port').fill('22, 8000-8100');
  await dialog(page).getByLabel('Source IP').fill(' 203.0.113.0/24 ');
  await dialog(page).getByLabel('Rule Name').fill('Office');
  await page.keyboard.press('Enter');
  await expect(row(page, 'Office')).toContainText('203.0.113.0/24:22, 8000-8100');
  await expect(row(page, 'Office')).toContainText('Inbound');
  await expect(page.getByRole('region', { name: 'Active Rules' })).toContainText('1');

  const tester = page.getByRole('region', { name: 'Would this pass?' });
  await tester.getByLabel('Source').fill('203.0.113.7');
  await tester.getByLabel('Destination').fill('192.168.1.10');
  await tester.getByLabel('Port').fill('22');
  await tester.getByRole('button', { name: 'Test connection' }).click();
  await expect(tester.getByRole('status')).toHaveText('Would be allowed by the rule “Office”');

  await addRule(page, 'Closed', async (form) => {
    await form.getByLabel('Action').selectOption('Block');
    await form.getByLabel('Protocol').selectOption('All');
  });
  await expect(tester.getByRole('status')).toHaveText('Would be blocked by the rule “Closed”');
  await row(page, 'Office').getByRole('button', { name: 'No effect' }).click();
  await expect(row(page, 'Office')).toContainText('Another rule blocks all of this traffic.');
  await expectAccessible(page);

  await status(page, 'Closed').click();
  await expect(status(page, 'Closed')).not.toBeChecked();
  await expect(row(page, 'Office')).not.toContainText('No effect');
  await expect(tester.getByRole('status')).toHaveText('Would be allowed by the rule “Office”');
  await expectAccessible(page);
  await page.reload();
  await expect(status(page, 'Closed')).not.toBeChecked();

  const remove = () => page.getByRole('button', { name: 'Delete Closed' }).click();
  expect(await answerTo(page, remove, false)).toBe('Are you sure you want to delete this rule?');
  await expect(row(page, 'Closed')).toBeVisible();
  await answerTo(page, remove);
  await expect(row(page, 'Closed')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Delete Office' })).toBeFocused();
  await page.reload();
  await expect(row(page, 'Office')).toBeVisible();
  await expect(row(page, 'Closed')).toHaveCount(0);
});

test('a rule is edited where it stands, a preset brings two, and what was done is undone', async ({ page }) => {
  test.slow();
  await openFirewall(page);
  await addRule(page, 'Office');
  await page.getByRole('button', { name: 'Edit Office' }).click();
  const editor = page.getByRole('form', { name: 'Edit Office' });
  await editor.getByLabel('Port').fill('3389');
  await editor.getByLabel('Action').selectOption('Block');
  await expect(editor.getByText('No one may reach Remote Desktop on this computer.')).toBeVisible();
  await expectAccessible(page);
  await editor.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, 'Office')).toContainText('*:3389');
  await expect(page.getByRole('button', { name: 'Edit Office' })).toBeFocused();

  await page.getByRole('button', { name: 'Add Rule' }).click();
  await dialog(page)
    .getByRole('button', { name: /^Only my network may print/u })
    .click();
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Add 2 rules' }).click();
  await expect(row(page, 'Only my network may print (IPv4)')).toContainText('No one outside 10.0.0.0/8');
  await page.getByRole('button', { name: 'History' }).click();
  const history = page.getByRole('dialog', { name: 'Rule history' });
  await expect(history).toContainText('Imported 2 rules');
  await expectAccessible(page);
  await history.getByRole('button', { name: 'Undo: Imported 2 rules' }).click();
  await expect(history).toContainText('Undid a change to 2 rules');
  await page.keyboard.press('Escape');
  await expect(row(page, 'Only my network may print (IPv4)')).toHaveCount(0);

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const file = await (await saved).path();
  await page.getByRole('button', { name: 'Import' }).click();
  const importing = page.getByRole('dialog', { name: 'Import rules' });
  await importing.getByLabel(/^Exported rules file/u).setInputFiles(file);
  await expect(importing).toContainText('No one may reach Remote Desktop on this computer.');
  await importing.getByRole('checkbox').check();
  await expectAccessible(page);
  await importing.getByRole('button', { name: 'Import 1 rule' }).click();
  await expect(importing).toBeHidden();
  await expect(row(page, 'Office')).toContainText('*:3389');
});

test('a refusal of the server is alerted and shown at the field', async ({ page }) => {
  // Many looks by axe, on a machine that may be busy.
  test.slow();
  await openFirewall(page);
  await page.getByRole('button', { name: 'Add Rule' }).click();
  await dialog(page).getByLabel('Rule Name').fill('By name');
  await dialog(page).getByLabel('Source IP').fill('example.com');
  const submit = () => dialog(page).getByRole('button', { name: 'Add Rule' }).click();
  expect(await answerTo(page, submit)).toBe('Error adding firewall rule');
  await expect(dialog(page).getByLabel('Source IP')).toHaveAccessibleDescription(
    'Enter an IP address like 192.168.1.10, not a host name: example.com',
  );
  await expect(dialog(page).getByLabel('Source IP')).toBeFocused();
  await expectAccessible(page);

  await dialog(page).getByLabel('Source IP').fill('192.0.2.1');
  for (const fail of ['cut', '403', '500'] as const) {
    await page.route(RULES, async (route) => {
      if (route.request().method() !== 'POST') await route.fallback();
      else if (fail === 'cut') await route.abort();
      else await route.fulfill({ status: Number(fail), body: 'no' });
    });
    expect(await answerTo(page, submit)).toBe('Error adding firewall rule');
    await expect(dialog(page).getByRole('alert')).toBeVisible();
    await page.unroute(RULES);
  }
  await submit();
  await expect(row(page, 'By name')).toContainText('192.0.2.1:*');
});

test('failures of the list, the status and the deletion are logged and said, with Retry', async ({ page }) => {
  const logged: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') logged.push(message.text());
  });
  await openFirewall(page);
  await addRule(page, 'Office');

  await page.route(ONE_RULE, (route) => route.abort());
  await status(page, 'Office').click();
  await expect(page.getByRole('alert')).toContainText('We couldn’t change “Office”');
  await expect(status(page, 'Office')).toBeChecked();
  expect(logged.some((text) => text.includes('CallError'))).toBe(true);
  await page.unroute(ONE_RULE);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(status(page, 'Office')).not.toBeChecked();
  await expect(page.getByRole('alert')).toHaveCount(0);

  await page.route(ONE_RULE, (route) => route.fulfill({ status: 500, body: 'no' }));
  await answerTo(page, () => page.getByRole('button', { name: 'Delete Office' }).click());
  await expect(page.getByRole('alert')).toContainText('We couldn’t delete “Office”');
  await expectAccessible(page);
  await page.unroute(ONE_RULE);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByText('No firewall rules yet')).toBeVisible();

  await page.route(RULES, (route) => route.fulfill({ status: 403, body: 'no' }));
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByRole('alert')).toContainText('We couldn’t load the rules');
  await page.unroute(RULES);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('a rule that another window deleted goes without a fuss', async ({ page, context }) => {
  await openFirewall(page);
  await addRule(page, 'Office');
  await addRule(page, 'Home');
  const other = await context.newPage();
  await other.goto('/firewall');
  // The page receives the event, and would read the list anew.
  await page.route(RULES, (route) => (route.request().method() === 'GET' ? route.abort() : route.fallback()));
  for (const name of ['Office', 'Home']) {
    await answerTo(other, () => other.getByRole('button', { name: `Delete ${name}` }).click());
    await expect(row(other, name)).toHaveCount(0);
  }
  await status(page, 'Home').click();
  await expect(page.getByText('“Home” was already deleted.')).toBeAttached();
  await answerTo(page, () => page.getByRole('button', { name: 'Delete Office' }).click());
  await expect(page.getByText('“Office” was already deleted.')).toBeAttached();
  await expect(page.getByText('No firewall rules yet')).toBeVisible();
});

test('two clicks at once send one request', async ({ page }) => {
  await openFirewall(page);
  await addRule(page, 'Office');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (/\/firewall\/rules\/./u.test(request.url())) sent.push(request.method());
  });
  await status(page, 'Office').dblclick();
  await expect(status(page, 'Office')).not.toBeChecked();
  expect(sent).toEqual(['PUT']);
});

test('the keyboard alone adds a rule, disables it and deletes it', async ({ page }) => {
  await openFirewall(page);
  await page.getByRole('button', { name: 'Add Rule' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByLabel('Rule Name')).toBeFocused();
  await page.keyboard.type('Keys');
  await page.keyboard.press('Tab');
  await expect(dialog(page).getByLabel('Direction')).toBeFocused();
  await page.keyboard.type('Out');
  await expect(dialog(page).getByLabel('Direction')).toHaveValue('outbound');
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'hidden' });
  await expect(page.getByRole('button', { name: 'Add Rule' })).toBeFocused();

  // Escape keeps what was typed.
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByLabel('Rule Name')).toBeFocused();
  await expect(dialog(page).getByLabel('Rule Name')).toHaveValue('Keys');
  await expect(dialog(page).getByLabel('Direction')).toHaveValue('outbound');
  await page.keyboard.press('Enter');
  await expect(status(page, 'Keys')).toBeChecked();
  await dialog(page).waitFor({ state: 'hidden' });
  await expect(page.getByRole('button', { name: 'Add Rule' })).toBeFocused();
  for (
    let presses = 0;
    presses < 20 && !(await status(page, 'Keys').evaluate((element) => element.matches(':focus')));
    presses += 1
  ) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Space');
  await expect(status(page, 'Keys')).not.toBeChecked();
  await expect(status(page, 'Keys')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Show Keys to support' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Edit Keys' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Delete Keys' })).toBeFocused();
  await answerTo(page, () => page.keyboard.press('Enter'));
  await expect(page.getByRole('button', { name: 'Add First Rule' })).toBeFocused();
});

test.describe('public exposure', () => {
  test.use({ environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' } });

  test('shows no figure that nothing measured', async ({ page }) => {
    await openFirewall(page);
    await expect(page.getByRole('region', { name: 'Blocked Attempts' })).toContainText('No device connected');
    await expect(page.getByRole('region', { name: 'Status' })).toContainText('NOT APPLIED');
    await expect(page.getByText('247')).toHaveCount(0);
    await expect(page.getByText('2.4GB')).toHaveCount(0);
    await expect(page.getByText('Sample', { exact: true })).toHaveCount(0);
  });
});

test('every part of the firewall is visible at any width', async ({ page }) => {
  // Many looks by axe, on a machine that may be busy.
  test.slow();
  await openFirewall(page);
  await addRule(page, 'A'.repeat(100), async (form) => {
    await form.getByLabel('Source IP').fill(Array(20).fill('2001:db8:1234:5678:9abc:def0:1234:5678').join(','));
    await form.getByLabel('Port').fill('1-65535');
  });
  await addRule(page, 'Everything');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('Sample', { exact: true }).last().focus();
  await expect(page.getByRole('tooltip')).toBeVisible();
  await expectNothingCutOff(page);
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
  await page.getByRole('button', { name: 'Add Rule' }).click();
  await expectNothingCutOff(page);
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
});
