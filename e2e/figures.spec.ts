import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { expect, type Page } from '@playwright/test';
import type { Installation } from './installation.ts';
import { scanBeside, test } from './palisade.ts';
import { eicarFile } from './samples.ts';

const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const showMore = (page: Page) => page.getByRole('button', { name: /^Show more/ });

/** Copies the newest row of a table, so often: what would take a person years. Ids sort by their number, before what is there. */
function copy(
  { data_dir }: Installation,
  table: string,
  count: number,
  vary: (index: number) => Record<string, SQLInputValue>,
): void {
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
test('figures are of the account and lists show all of it, by mouse and by keyboard', async ({ palisade }) => {
  const page = await palisade.open('maria', '/dashboard');
  // What would take a person years is copied in the database, from one record.
  await scanBeside(page, { name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from('A letter.') });
  copy(palisade, 'scans', 209, (index) => ({ file_name: `letter ${index}.txt` }));
  await scanBeside(page, eicarFile);
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
});
