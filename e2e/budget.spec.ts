import { expect, type Page } from '@playwright/test';
import { registerAndSignIn, test } from './palisade.ts';

// Compressed transfer of the sign-in screen, and what each further screen adds to it (docs/decisions/0081). Bytes on the wire as Chromium counts them, without API
// answers; brotli as served.
const SIGN_IN_MAXIMUM = 180_000;
const HOME_MAXIMUM = 65_000;
/** Who administers has their group of screens and the first steps beside it, which nobody else loads. */
const ADMINISTRATORS_MORE = 5_000;
const SCREEN_MAXIMUM = 60_000;
const HOME = '/dashboard';
const SCREENS = [
  HOME,
  '/antivirus',
  '/firewall',
  '/remote',
  '/portal',
  '/chat',
  '/live-chat',
  '/anti-hacking',
  '/subscription-manager',
  '/admin/setup',
  '/admin/users',
  '/admin/audit',
  '/admin/outbox',
  '/admin/false-alarms',
];

/** Bytes that the page at `path` transfers until it is idle. What the browser's cache holds costs nothing. */
async function transferOf(page: Page, path: string): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const api = new Set<string>();
  let bytes = 0;
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (new URL(request.url).pathname.startsWith('/api/')) api.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!api.has(requestId)) bytes += encodedDataLength;
  });
  await page.goto(path, { waitUntil: 'networkidle' });
  await devtools.detach();
  return bytes;
}

test('the sign-in screen and each further screen keep their transfer budget', async ({ page, browser, server }) => {
  test.slow();
  const signIn = await transferOf(page, '/');
  console.log(`sign-in: ${(signIn / 1000).toFixed(1)} kB`);
  expect(signIn).toBeLessThanOrEqual(SIGN_IN_MAXIMUM);

  await registerAndSignIn(page, 'maria');
  const { origins } = await page.context().storageState();
  for (const path of SCREENS) {
    // A browser that has seen the sign-in screen and, for the screens after it, the dashboard, to which sign-in leads.
    const context = await browser.newContext({ baseURL: server.url });
    const fresh = await context.newPage();
    await transferOf(fresh, '/');
    for (const { name, value } of origins.flatMap((origin) => origin.localStorage)) {
      await fresh.evaluate(([key, text]) => localStorage.setItem(key ?? '', text ?? ''), [name, value]);
    }
    if (path !== HOME) await transferOf(fresh, HOME);
    const bytes = await transferOf(fresh, path);
    console.log(`${path}: ${(bytes / 1000).toFixed(1)} kB more`);
    expect(bytes, path).toBeLessThanOrEqual(path === HOME ? HOME_MAXIMUM + ADMINISTRATORS_MORE : SCREEN_MAXIMUM);
    await context.close();
  }
});
