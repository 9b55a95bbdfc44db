import { type BrowserContext, expect, type Page } from '@playwright/test';
import { openSignedIn, registerAndSignIn, test } from './palisade.ts';
import { SCREENS } from './screens.ts';

// Compressed transfer of the sign-in screen, and what each further screen adds to it (docs/decisions/web.md). Bytes on the wire as Chromium counts them, without API
// answers; brotli as served.
const SIGN_IN_MAXIMUM = 180_000;
const HOME_MAXIMUM = 65_000;
/** Files of administrators on top: their groups of the sidebar, what waits for them, and the first steps of a new installation. */
const ADMINISTRATION_MAXIMUM = 5_000;
const SCREEN_MAXIMUM = 60_000;
const HOME = '/dashboard';

/** Bytes that the page at `path` transfers until it is idle. Cached files cost nothing. */
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
  // Each screen is opened by a browser that has seen the two before it: some seventy pages.
  test.setTimeout(600_000);
  const signIn = await transferOf(page, '/');
  console.log(`sign-in: ${(signIn / 1000).toFixed(2)} kB`);
  expect(signIn).toBeLessThanOrEqual(SIGN_IN_MAXIMUM);

  await registerAndSignIn(page, 'maria');
  const customer = await browser.newContext({ baseURL: server.url });
  await openSignedIn(await customer.newPage(), 'clara');
  const storageOf = async (context: BrowserContext) =>
    (await context.storageState()).origins.flatMap((origin) => origin.localStorage);
  // The first account administers the installation, so that it sees all of every screen.
  const administrator = await storageOf(page.context());
  const homes = [
    { path: HOME, storage: await storageOf(customer), maximum: HOME_MAXIMUM },
    { path: HOME, storage: administrator, maximum: HOME_MAXIMUM + ADMINISTRATION_MAXIMUM },
  ];
  const others = SCREENS.filter((path) => path !== HOME);
  const screens = others.map((path) => ({ path, storage: administrator, maximum: SCREEN_MAXIMUM }));
  for (const { path, storage, maximum } of [...homes, ...screens]) {
    // A browser that has seen the sign-in screen and, for the screens after it, the dashboard, to which sign-in leads.
    const context = await browser.newContext({ baseURL: server.url });
    const fresh = await context.newPage();
    await transferOf(fresh, '/');
    for (const { name, value } of storage) {
      await fresh.evaluate(([key, text]) => localStorage.setItem(key ?? '', text ?? ''), [name, value]);
    }
    if (path !== HOME) await transferOf(fresh, HOME);
    const bytes = await transferOf(fresh, path);
    console.log(`${path}: ${(bytes / 1000).toFixed(2)} kB more`);
    expect(bytes, path).toBeLessThanOrEqual(maximum);
    await context.close();
  }
});
