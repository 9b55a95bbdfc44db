import { expect } from '@playwright/test';
import { z } from 'zod';
import { openSignedIn, test } from './palisade.ts';

/** API requests before the dashboard shows its figures (docs/measured.md). */
const REQUESTS_MAXIMUM = 4;

/** Notes in the page when the figures are there first. */
const NOTE_FIGURES = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('main .dashboard__columns') === null) return;
    window.figuresAt = performance.now();
    observer.disconnect();
  }).observe(document, { subtree: true, childList: true });
`;
const seenSchema = z.object({ before: z.array(z.string()), all: z.array(z.string()) });

test('the dashboard of a signed-in administrator takes four requests, and what is beside it is asked for afterwards', async ({
  page,
}) => {
  await openSignedIn(page, 'maria');
  await page.addInitScript(NOTE_FIGURES);
  await page.goto('/dashboard');
  await page.locator('main .dashboard__columns').waitFor();
  await page.waitForLoadState('networkidle');
  const { before, all } = seenSchema.parse(
    await page.evaluate(`(() => {
      const calls = performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.startsWith('/api/'));
      const paths = (of) => of.map(({ name }) => new URL(name).pathname);
      return { before: paths(calls.filter(({ startTime }) => startTime < window.figuresAt)), all: paths(calls) };
    })()`),
  );
  console.log(`before the figures: ${before.join(' ')}; afterwards: ${all.length - before.length}`);
  expect(before).toContain('/api/dashboard/status');
  expect(before.length).toBeLessThanOrEqual(REQUESTS_MAXIMUM);
  expect(all).toEqual(expect.arrayContaining(['/api/chat', '/api/support/counts', '/api/admin/proxies']));
});
