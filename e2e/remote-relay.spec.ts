import { expect, type Page } from '@playwright/test';
// biome-ignore-start lint/style/noRestrictedImports: the relay of the server's tests.
import { HAS_COTURN, NO_COTURN, startRelay } from '../server/test/coturn-process.ts';
import { freePort } from '../server/test/free-port.ts';
// biome-ignore-end lint/style/noRestrictedImports: end of the relay imports.
import { test } from './palisade.ts';
import {
  banner,
  drawClock,
  openSession,
  picture,
  readClock,
  relayOnly,
  SHARES,
  shareOwnTab,
  sharing,
  workspace,
} from './session.ts';

const TURN_SECRET = 'a-secret-that-both-have';

const mirror = (customer: Page) => customer.locator('.mirror').getByRole('status');

// proves: remote-10
test('sends the picture through a relay if no direct route exists, and tells both sides when the relay is gone', async ({
  startOwn,
}) => {
  test.skip(!HAS_COTURN, NO_COTURN);
  test.slow();
  const port = await freePort();
  const relay = await startRelay(TURN_SECRET, port);
  const palisade = await startOwn({ TURN_URL: `turn:127.0.0.1:${port}`, TURN_SECRET });
  const { technician: page, customer, browser } = await openSession(palisade, { flags: SHARES });
  for (const side of [page, customer]) await relayOnly(side);
  await page.reload();
  await shareOwnTab(customer);
  await customer.reload();
  await expect(workspace(page).getByText('Waiting for maria to approve')).toBeVisible();
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(sharing(customer)).toContainText('tina sees what you share.');
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  await expect(workspace(page).locator('.workspace__quality')).toContainText(/frames?\/s, \d+ ms, through the relay, \d+ × \d+/);

  await relay.stop();
  // Neither side is notified: each detects the silence, tries to reconnect, and then names the missing relay.
  const words = /The relay does not answer/;
  await expect(workspace(page).getByText('The connection was lost. Reconnecting…')).toBeVisible({ timeout: 30_000 });
  await expect(workspace(page).getByText(words)).toBeVisible({ timeout: 40_000 });
  await expect(mirror(customer)).toHaveText(words, { timeout: 40_000 });

  const again = await startRelay(TURN_SECRET, port);
  await workspace(page).getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  await expect(workspace(page).locator('.workspace__quality')).toContainText('through the relay');
  await browser.close();
  await again.stop();
});
