import { expect, type Page } from '@playwright/test';
import { givePremium, openSignedIn, test } from './palisade.ts';
import { cleanPdf, eicarFile } from './samples.ts';
import { SCREENS } from './screens.ts';

/** Largest movement of drawn parts while a screen arrives (cumulative layout shift). */
const SHIFT_MAXIMUM = 0.02;

/** Moments as every screen writes them: the time today and yesterday, the day of this year and of another, an age, and a day in full. */
const MOMENTS = [
  /^(?:today|yesterday), \d{1,2}:\d\d(?: [AP]M)?$/u,
  /^(?:\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} \d{1,2}), \d{1,2}:\d\d(?: [AP]M)?$/u,
  // A plan's end has its time and zone where UTC has another day, as in the last hours before midnight.
  /^(?:\d{1,2} [A-Z][a-z]{2,8}|[A-Z][a-z]{2,8} \d{1,2},?) \d{4}(?: \(\d\d:\d\d \S+\))?$/u,
  /^(?:just now|(?:\d+ )?\w+ ago)$/u,
];

async function withRecords(page: Page): Promise<void> {
  await openSignedIn(page, 'maria');
  const headers = await givePremium(page, 'maria');
  for (const { name, mimeType, buffer } of [eicarFile, cleanPdf]) {
    await page.request.post('/api/antivirus/scan', { headers, multipart: { file: { name, mimeType, buffer } } });
  }
  await page.request.post('/api/firewall/rules', { headers, data: { rule_name: 'Web' } });
  await page.request.post('/api/remote/session', { headers });
  await page.request.post('/api/premium/anti-hacking/simulate-threat', { headers });
}

// proves: product-2.8-8, product-2.9-3
test('every screen writes its moments in one form, and draws its selects in one', async ({ page }) => {
  test.slow();
  await withRecords(page);
  const written: string[] = [];
  let selects = 0;
  for (const path of SCREENS) {
    await page.goto(path);
    await page.waitForLoadState('networkidle');
    const moments = await page.locator('time').allTextContents();
    written.push(...moments.map((text) => `${path}: ${text}`));
    for (const select of await page.locator('select').all()) {
      selects += 1;
      // The browser's own arrow is not there; ours stands beside it.
      await expect(select, path).toHaveCSS('appearance', 'none');
      await expect(select.locator('xpath=ancestor::*[.//*[local-name()="svg"]][1]'), path).toBeVisible();
    }
  }
  expect(written.length).toBeGreaterThan(10);
  expect(selects).toBeGreaterThan(6);
  expect(written.filter((line) => !MOMENTS.some((form) => form.test(line.replace(/^\S+: /u, ''))))).toEqual([]);
});

// proves: product-2.9-2
test('a chart of which nothing is known yet says so in a line, and draws no empty axes', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await givePremium(page, 'maria');
  await page.goto('/anti-hacking');
  const history = page.getByRole('region', { name: 'Score and threats' });
  await history.scrollIntoViewIfNeeded();
  await expect(history.getByText('Nothing to draw yet')).toBeVisible();
  await expect(history.getByRole('img')).toHaveCount(0);
  expect((await history.boundingBox())?.height).toBeLessThan(260);
  await history.getByRole('button', { name: 'Show as table' }).click();
  await expect(history.getByRole('row').nth(1)).toBeVisible();
});

// proves: product-2.8-6
test('a screen arrives on a phone without movement', async ({ page }) => {
  test.slow();
  await withRecords(page);
  await page.setViewportSize({ width: 412, height: 823 });
  await page.addInitScript(`window.moved = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries())
        if (!hadRecentInput) window.moved.push({ value, what: sources.map(({ node }) => node?.className ?? String(node)) });
    }).observe({ type: 'layout-shift', buffered: true });`);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  const restless: string[] = [];
  for (const path of SCREENS) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await page.waitForLoadState('networkidle');
    const moved = await page.evaluate<{ value: number; what: string[] }[]>('window.moved');
    const shift = moved.reduce((sum, { value }) => sum + value, 0);
    if (shift > SHIFT_MAXIMUM) restless.push(`${path}: ${JSON.stringify(moved)}`);
  }
  expect(restless).toEqual([]);
});
