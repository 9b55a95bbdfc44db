import { expect, type Page } from '@playwright/test';
import { scanBeside, test } from './palisade.ts';
import { eicarFile } from './samples.ts';

const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const showMore = (page: Page) => page.getByRole('button', { name: /^Show more/ });

// proves: product-1.1-1, product-1.1-2, product-1.1-3, product-1.1-4
test('figures are of the account and lists show all of it, by mouse and by keyboard', async ({ palisade }) => {
  const page = await palisade.open('maria');
  await scanBeside(page, eicarFile);
  const letter = { mimeType: 'text/plain', buffer: Buffer.from('A letter.') };
  for (let index = 0; index < 210; index += 6)
    await Promise.all([0, 1, 2, 3, 4, 5].map((more) => scanBeside(page, { ...letter, name: `letter ${index + more}.txt` })));
  await page.goto('/antivirus');
  await expect(tile(page, 'Threats Detected').locator('.num')).toHaveText('1');
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
  await page.getByRole('radio', { name: 'Infected 1' }).click();
  await expect(scans).toHaveCount(1);
  await expect(scans).toContainText('EICAR-Test-File');
  await page.getByRole('radio', { name: 'All 211' }).click();
  await page.getByLabel('Order').selectOption('Oldest first');
  await expect(scans.first()).toContainText(eicarFile.name);
  await page.getByLabel('Search the scan history').fill('letter 117');
  await expect(scans).toHaveCount(1);
});
