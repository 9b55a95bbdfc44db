import { expect, type Page } from '@playwright/test';
import { test } from './palisade.ts';

// The pseudo-locale (web/src/app/pseudo-locale.ts) stands for languages with longer words or right-to-left text.
const WINDOWS = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];

/** Texts that are clipped in boxes without scrolling. Boxes of one pixel hold text for screen readers. */
function cut(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('#root *:not(input, textarea)')]
      .filter((box) => {
        const { overflowX } = getComputedStyle(box);
        return ['hidden', 'clip'].includes(overflowX) && box.clientWidth > 1 && box.scrollWidth > box.clientWidth + 1;
      })
      .map((box) => `${box.className}: ${box.textContent}`),
  );
}

/** Titles and figures that overflow their tile. */
function outOfTiles(page: Page): Promise<(string | null)[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.stat-card')]
      .filter((tile) => tile.scrollWidth > tile.clientWidth)
      .map((tile) => tile.textContent),
  );
}

test('with longer words, and where the line runs to the left, every text is whole and every page fits its window', async ({
  palisade,
}) => {
  test.slow();
  const page = await palisade.open('maria', '/dashboard', { role: 'admin' });
  for (const mode of ['long', 'rtl']) {
    for (const size of WINDOWS) {
      await page.setViewportSize(size);
      for (const path of ['/dashboard', '/antivirus', '/firewall', '/remote', '/support', '/admin/setup']) {
        const where = `${mode}: ${path} at ${size.width}`;
        await page.goto(`${path}?pseudo=${mode}`);
        await page.waitForLoadState('networkidle');
        await expect(page.getByRole('heading', { level: 1 })).toContainText(/[áéíóú]/iu);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), where).toBeLessThanOrEqual(0);
        expect(await cut(page), where).toEqual([]);
        expect(await outOfTiles(page), where).toEqual([]);
      }
    }
  }

  // Figures and phone numbers keep their order.
  await page.goto('/dashboard?pseudo=rtl');
  const phone = page.locator('aside .support-block a[href^="tel:"]');
  await expect(phone).toContainText('+');
  const [plus, digit] = await phone.evaluate((link) => {
    const text = document.createTreeWalker(link, NodeFilter.SHOW_TEXT).nextNode();
    if (!text) throw new Error('The link has no text.');
    const leftOf = (at: number) => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect().left;
    };
    return [leftOf(0), leftOf((text.nodeValue ?? '').length - 1)];
  });
  expect(plus).toBeLessThan(digit ?? 0);
});
