import { expect, type Page } from '@playwright/test';
import { z } from 'zod';
import { test } from './palisade.ts';
import { SCREENS } from './screens.ts';

// Compressed transfer of the sign-in screen, and the bytes that each further screen adds (docs/decisions/web.md). Bytes on the wire as Chromium counts them, without API replies; brotli as served.
const SIGN_IN_MAXIMUM = 178_000;
const HOME_MAXIMUM = 65_000;
/** Additional files of an administrator: their notices and their home. */
const OWNER_MAXIMUM = 4_000;
const SCREEN_MAXIMUM = 60_000;
const HOME = '/dashboard';
/** API requests before the dashboard shows its figures (docs/measured.md). */
const REQUESTS_MAXIMUM = 4;

/** Bytes by address that the page at `path` transfers until it is idle, with an empty cache. */
async function transferOf(page: Page, path: string): Promise<Map<string, number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const addresses = new Map<string, string>();
  const bytes = new Map<string, number>();
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!new URL(request.url).pathname.startsWith('/api/')) addresses.set(requestId, request.url);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const address = addresses.get(requestId);
    if (address !== undefined) bytes.set(address, encodedDataLength);
  });
  await page.goto(path, { waitUntil: 'networkidle' });
  await devtools.detach();
  return bytes;
}

/** Bytes of files that no earlier page has loaded. */
function moreThan(before: readonly Map<string, number>[], page: Map<string, number>): number {
  let sum = 0;
  for (const [address, bytes] of page) if (!before.some((seen) => seen.has(address))) sum += bytes;
  return sum;
}

test('the sign-in screen and each further screen keep their transfer budget', async ({ palisade }) => {
  // About thirty pages are loaded completely.
  test.setTimeout(600_000);
  const signIn = await transferOf(await palisade.window(), '/');
  console.log(`sign-in: ${(moreThan([], signIn) / 1000).toFixed(2)} kB`);
  expect(moreThan([], signIn)).toBeLessThanOrEqual(SIGN_IN_MAXIMUM);

  // An administrator can see every screen completely.
  const page = await palisade.open('maria', HOME, { role: 'admin' });
  const customer = await palisade.open('clara');
  const home = await transferOf(page, HOME);
  const technician = await palisade.open('tina', HOME, { role: 'support' });
  const more = [
    { path: HOME, bytes: moreThan([signIn], await transferOf(customer, HOME)), maximum: HOME_MAXIMUM },
    { path: HOME, bytes: moreThan([signIn], await transferOf(technician, HOME)), maximum: HOME_MAXIMUM },
    { path: HOME, bytes: moreThan([signIn], home), maximum: HOME_MAXIMUM + OWNER_MAXIMUM },
  ];
  // Measured after the dashboard, to which signing in leads.
  for (const path of SCREENS.filter((one) => one !== HOME))
    more.push({ path, bytes: moreThan([signIn, home], await transferOf(page, path)), maximum: SCREEN_MAXIMUM });
  for (const { path, bytes, maximum } of more) {
    console.log(`${path}: ${(bytes / 1000).toFixed(2)} kB more`);
    expect(bytes, path).toBeLessThanOrEqual(maximum);
  }
});

/** Records whether the figures appeared first. */
const NOTE_FIGURES = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('main .hero') === null) return;
    window.figuresAt = performance.now();
    observer.disconnect();
  }).observe(document, { subtree: true, childList: true });
`;
const seenSchema = z.object({ before: z.array(z.string()), all: z.array(z.string()) });

test('the dashboard of an administrator takes four requests, and what is beside it is asked for afterwards', async ({
  palisade,
}) => {
  const page = await palisade.open('maria', '/help', { role: 'admin' });
  await page.addInitScript(NOTE_FIGURES);
  await page.goto('/dashboard');
  await page.locator('main .hero').waitFor();
  await page.waitForLoadState('networkidle');
  const { before, all } = seenSchema.parse(
    await page.evaluate(`(() => {
      const calls = performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.startsWith('/api/'));
      const paths = (of) => of.map(({ name }) => new URL(name).pathname);
      return { before: paths(calls.filter(({ startTime }) => startTime < window.figuresAt)), all: paths(calls) };
    })()`),
  );
  expect(before).toContain('/api/dashboard/status');
  expect(before.length, before.join(' ')).toBeLessThanOrEqual(REQUESTS_MAXIMUM);
  expect(all).toEqual(expect.arrayContaining(['/api/chat', '/api/support/counts', '/api/admin/proxies']));
});

test('the page at a screen’s path names every file before the figures, so that they come together', async ({ palisade }) => {
  const page = await palisade.open('clara', '/help');
  await page.addInitScript(NOTE_FIGURES);
  await page.goto('/dashboard');
  await page.locator('main .hero').waitFor();
  const files = z.array(z.string()).parse(
    await page.evaluate(`performance.getEntriesByType('resource')
      .filter(({ startTime }) => startTime < window.figuresAt)
      .map(({ name }) => new URL(name).pathname)
      .filter((path) => path.startsWith('/assets/'))`),
  );
  const text = await (await page.request.get('/dashboard')).text();
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((path) => !text.includes(path))).toEqual([]);
});
