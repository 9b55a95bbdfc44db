import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';
import { relayed as test } from './relayed.ts';
import {
  banner,
  drawClock,
  meet,
  picture,
  readClock,
  relayOnly,
  SHARES,
  shareOwnTab,
  sharing,
  startCustomer,
  workspace,
} from './session.ts';

/** A customer who approves and shares, and a technician: neither reaches the other but by the relay. */
async function shareByRelay(technician: Page, baseURL: string) {
  const browser = await startCustomer(SHARES);
  const { customer } = await meet(technician, browser, baseURL);
  for (const page of [technician, customer]) {
    await relayOnly(page);
    await page.reload();
  }
  await shareOwnTab(customer);
  await customer.reload();
  await expect(workspace(technician).getByText('Waiting for maria to approve')).toBeVisible();
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(sharing(customer)).toContainText('tina sees what you share.');
  return { browser, customer };
}

const mirror = (customer: Page) => customer.locator('.mirror').getByRole('status');

test.describe('where only a relay leads from one side to the other', () => {
  test.slow();

  // proves: remote-10
  test('the picture comes through it, both are told when it is gone, and the picture comes back with it', async ({
    page,
    server,
    relay,
  }) => {
    const { browser, customer } = await shareByRelay(page, server.url);
    await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
    await expect(workspace(page).locator('.workspace__quality')).toContainText(
      /frames?\/s, \d+ ms, through the relay, \d+ × \d+/,
    );

    await relay.stop();
    // Neither has heard of it: both notice that nothing comes any more, look for a way, and then say what is missing.
    const words = /The relay does not answer/;
    await expect(workspace(page).getByText('The connection was lost. Reconnecting…')).toBeVisible({
      timeout: 30_000,
    });
    await expect(workspace(page).getByText(words)).toBeVisible({ timeout: 40_000 });
    await expect(mirror(customer)).toHaveText(words, { timeout: 40_000 });

    await relay.start();
    await workspace(page).getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
    await expect(workspace(page).locator('.workspace__quality')).toContainText('through the relay');
    await browser.close();
  });
});

test.describe('where the relay has another secret than the server', () => {
  test.use({ relay_secret: 'a-secret-of-somebody-else' });
  test.slow();

  // proves: remote-9
  test('both sides say within 15 seconds that it refuses them, and why', async ({ page, server }) => {
    const { browser, customer } = await shareByRelay(page, server.url);
    const words = /The relay refused the session\. An administrator should check TURN_SECRET\./;
    // The page's own clock is the 15 seconds (LINK_PATIENCE); the rest is for a machine that is busy.
    await expect(workspace(page).getByText(words)).toBeVisible({ timeout: 30_000 });
    await expect(mirror(customer)).toHaveText(words, { timeout: 30_000 });
    await browser.close();
  });
});
