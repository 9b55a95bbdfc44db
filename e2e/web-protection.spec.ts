import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
// biome-ignore lint/style/noRestrictedImports: a free port, found as in the API tests.
import { freePort } from '../server/test/free-port.ts';
import { expectAccessible, expectNothingCovered, expectNothingCutOff } from './accessible.ts';
import { Installation } from './installation.ts';
import { ask, nameServer } from './names.ts';
import { test } from './palisade.ts';
import { startProduct } from './product.ts';

const PHONE = { width: 390, height: 844 };

/** Adds a device in three presses: its kind, its name, done. */
async function add(page: Page, kind: RegExp): Promise<void> {
  await page.getByRole('button', { name: kind }).click();
  await page.getByRole('button', { name: 'Add device' }).click();
  await expect(page.getByText('When the steps are done, open a website there.')).toBeVisible();
}

const addressOf = async (page: Page) =>
  (await page
    .getByText(/\/dns\/[a-z2-7]{26}$/u)
    .first()
    .textContent()) ?? '';
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const deviceRow = (page: Page, name: string) =>
  region(page, 'Your devices').getByRole('listitem').filter({ hasText: name }).first();

test('devices are added by their kind, seen at the first question, and listed with the others', async ({ palisade }) => {
  const page = await palisade.open('ada', '/web-protection');
  await expect(page.getByRole('heading', { name: 'No device is protected yet.' })).toBeVisible();
  await expectNothingCutOff(page);
  for (const [kind, own] of [
    [/^iPhone/u, page.getByRole('link', { name: 'Download profile' })],
    [/^Android/u, page.getByText(/no Private DNS yet/u)],
    [/^Windows/u, page.getByText(/no fixed address/u)],
  ] as const) {
    await add(page, kind);
    await expect(own).toBeVisible();
    await page.getByRole('button', { name: 'Finish later' }).click();
    await page.getByRole('button', { name: 'Add a device' }).click();
  }
  await add(page, /^Browser/u);
  // The page hears of the first question, and nobody reloads it.
  await ask(page, await addressOf(page), 'localhost');
  await expect(page.getByText('We see this device')).toBeVisible();
  await expect(page.getByRole('heading', { name: '1 of 4 devices are protected.' })).toBeVisible();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Devices', exact: true }).first().click();
  const all = region(page, 'All devices').getByRole('listitem');
  await expect(all).toHaveCount(4);
  await expect(all.filter({ hasText: 'My browser' }).getByText('Web protection: on')).toBeVisible();
  await page.getByRole('link', { name: 'My Android phone' }).click();
  await expect(deviceRow(page, 'My Android phone')).toBeFocused();
});

test('a refused website has its reason, is allowed and blocked again, and a renewed address ends the old one', async ({
  startOwn,
}) => {
  const names = await nameServer();
  const palisade = await startOwn({ DNS_UPSTREAM: names.upstream });
  const page = await palisade.open('ben', '/web-protection?add=browser');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Add device' }).click();
  const address = await addressOf(page);
  await ask(page, address, 'localhost');
  await expect(page.getByText('We see this device')).toBeVisible();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Ads and trackers', { exact: true }).click();
  await expect(page.getByRole('switch', { name: /^Ads and trackers/u })).toBeChecked();
  await expect.poll(() => ask(page, address, 'www.doubleclick.net')).toBe(3);
  await page.getByRole('button', { name: 'Why was www.doubleclick.net refused?' }).click();
  await expect(page.getByText(/belongs to “Ads and trackers”, which you block\.$/u)).toBeVisible();
  await page.getByRole('button', { name: 'Allow www.doubleclick.net' }).click();
  await expect(page.getByRole('button', { name: 'Block www.doubleclick.net again' })).toBeVisible();
  expect(await ask(page, address, 'www.doubleclick.net')).toBe(0);
  await page.getByRole('button', { name: 'Block www.doubleclick.net again' }).click();
  await expect(page.getByRole('button', { name: 'Allow www.doubleclick.net' })).toBeVisible();
  expect(await ask(page, address, 'www.doubleclick.net')).toBe(3);

  const row = deviceRow(page, 'My browser');
  await row.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'New address' }).click();
  await expect(row.getByText('Waiting for this device')).toBeVisible();
  const renewed = await addressOf(page);
  expect(renewed).not.toBe(address);
  expect((await page.request.get(`${address}?dns=AAABAAABAAAAAAAAAAABAAE`)).status()).toBe(404);
  await ask(page, renewed, 'localhost');
  await expect(row.getByText('Connected')).toBeVisible();
  names.close();
});

test('on a phone a device waits while the server is away, and is protected when it is back', async ({ browser }) => {
  const data_dir = mkdtempSync(join(tmpdir(), 'palisade-journey-'));
  const PORT = `${await freePort()}`;
  const first = await startProduct(data_dir, { PORT });
  const palisade = await Installation.of(first, browser);
  const page = await palisade.open('cleo', '/web-protection', { viewport: PHONE, hasTouch: true, isMobile: true });
  try {
    await add(page, /^Router/u);
    await expectNothingCutOff(page);
    await expectNothingCovered(page);
    const address = await addressOf(page);
    await page.getByRole('button', { name: 'Finish later' }).click();
    await first.crash();
    await expect(ask(page, address, 'localhost')).rejects.toThrow();
    await expect(page.getByText('Offline', { exact: true })).toBeVisible();
    const again = await startProduct(data_dir, { PORT });
    try {
      await ask(page, address, 'localhost');
      await expect(page.getByText('Online', { exact: true })).toBeVisible();
      await expect(deviceRow(page, 'My router').getByText('Connected')).toBeVisible();
      await expect(page.getByRole('heading', { name: 'My router is connected.' })).toBeVisible();
    } finally {
      await palisade.closeWindows();
      await palisade.rows.close();
      await again.stop();
    }
  } finally {
    rmSync(data_dir, { recursive: true, force: true });
  }
});
