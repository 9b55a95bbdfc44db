import { expect, type Locator, type Page } from '@playwright/test';
import { expectAccessible, openSignedIn, test } from './palisade.ts';
import { cleanPdf, eicarFile, nestedZip } from './samples.ts';

/** Presses of one task. Typing is not counted: it is the same whatever the screen. */
class Presses {
  count = 0;

  async press(control: Locator): Promise<void> {
    this.count += 1;
    await control.click();
  }
}

async function openAt(page: Page, path: string): Promise<Presses> {
  await openSignedIn(page, 'maria');
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  return new Presses();
}

test('scanning files takes 1 press, and the advice about an infected one 1 more', async ({ page }) => {
  const scan = await openAt(page, '/antivirus');
  const chooser = page.waitForEvent('filechooser');
  await scan.press(page.getByRole('button', { name: 'Choose files', exact: true }));
  await (await chooser).setFiles([eicarFile, cleanPdf]);
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await expect(uploads.getByRole('heading', { name: '1 clean, 1 harmless test file' })).toBeVisible();
  expect(scan.count).toBe(1);
  await expectAccessible(page);

  const advice = new Presses();
  await advice.press(uploads.getByRole('link', { name: 'See details' }));
  const dialog = page.getByRole('dialog', { name: 'Scan details' });
  await expect(dialog).toContainText('This is a harmless test file.');
  // The same answer as in the list.
  await expect(dialog.getByText('Infected (test)')).toBeVisible();
  expect(advice.count).toBe(1);
});

test('sixty files give one summary, and each result stands once, the infected one first', async ({ page }) => {
  test.slow();
  await openAt(page, '/antivirus');
  const files = Array.from({ length: 59 }, (_, index) => ({
    name: `letter-${index + 1}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`Letter number ${index + 1}`),
  }));
  await page.getByLabel('Choose files to scan').setInputFiles([...files, nestedZip]);
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await expect(uploads.getByRole('heading', { name: '59 clean, 1 harmless test file' })).toBeVisible({ timeout: 60_000 });
  await expect(uploads.getByRole('listitem')).toHaveCount(0);
  const results = page.getByRole('list', { name: 'Just scanned' });
  await expect(results.getByRole('listitem').first()).toContainText(nestedZip.name);
  await expect(page.getByText(nestedZip.name, { exact: true })).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'Show 52 more clean files' })).toBeVisible();
});

test('a preset rule takes 3 presses, and cleaning up conflicts 2, which Undo takes back', async ({ page }) => {
  const preset = await openAt(page, '/firewall');
  await preset.press(page.getByRole('button', { name: 'Add Rule' }));
  const dialog = page.getByRole('dialog', { name: 'Add Rule' });
  await preset.press(dialog.getByRole('button', { name: /^Block Remote Desktop/u }));
  await preset.press(dialog.getByRole('button', { name: 'Add Rule' }));
  await expect(page.getByRole('switch', { name: 'Status of Block Remote Desktop' })).toBeChecked();
  expect(preset.count).toBe(3);

  const headers = { authorization: `Bearer ${await page.evaluate(() => localStorage.getItem('palisade.access_token'))}` };
  for (const rule_name of ['Remote Desktop', 'Remote Desktop again'])
    await page.request.post('/api/firewall/rules', { headers, data: { rule_name, port: '3389' } });
  const clean = new Presses();
  await clean.press(page.getByRole('radio', { name: 'Conflicts 2' }).locator('..'));
  await expectAccessible(page);
  await clean.press(page.getByRole('button', { name: 'Delete all 2' }));
  await expect(page.getByText('No conflicts')).toBeVisible();
  expect(clean.count).toBe(2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('2 rules have no effect.')).toBeVisible();
});

test('the line that adds a device takes 1 press on Devices, and no system is a dead end', async ({ page }) => {
  const device = await openAt(page, '/devices');
  await device.press(page.getByRole('button', { name: /^Linux/u }));
  await expect(page.locator('[data-command]')).toContainText('/agent/install.sh');
  await expect(page.getByText(/^Waiting for the device to connect/u)).toBeVisible();
  expect(device.count).toBe(1);
  await expectAccessible(page);

  await page.getByRole('button', { name: /^Windows/u }).click();
  await page.getByRole('textbox').fill('Scan my downloads');
  await page.getByRole('button', { name: 'Request Windows support' }).click();
  await expect(page.getByText(/^You asked for Windows support/u)).toBeVisible();
  // The first account is the administrator, who sees what people ask for.
  await expect(page.getByRole('region', { name: 'Requested systems' })).toContainText('Windows: 1 person');
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Use your firewall rules' }).click();
  await expect(page.getByRole('dialog', { name: 'Export for another firewall' }).getByLabel('Firewall')).toHaveValue(
    'powershell',
  );
});

test('forty-one rules on a phone are short, and one opens to all that there is about it', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openSignedIn(page, 'maria');
  const headers = { authorization: `Bearer ${await page.evaluate(() => localStorage.getItem('palisade.access_token'))}` };
  const rules = Array.from({ length: 41 }, (_, index) => ({ rule_name: `Rule ${index + 1}`, port: String(1000 + index) }));
  expect((await page.request.post('/api/firewall/import', { headers, data: { rules } })).status()).toBe(200);
  await page.goto('/firewall');
  await page.getByRole('button', { name: 'Show more (11 left)' }).click();
  await expect(page.getByRole('switch')).toHaveCount(41);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  // They were 9,036 px.
  expect(height).toBeLessThan(4_800);
  const row = page.locator('.rule-row').filter({ has: page.getByText('Rule 7', { exact: true }) });
  await expect(row.getByRole('button', { name: 'Delete Rule 7' })).toBeHidden();
  await row.getByRole('button', { name: 'Details of Rule 7' }).click();
  await expect(row.getByRole('button', { name: 'Delete Rule 7' })).toBeVisible();
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('checkbox', { name: 'Select Rule 7' }).check();
  await expect(page.getByRole('group', { name: 'Selected rules' })).toContainText('1 of 41 selected');
  await expectAccessible(page);
});
