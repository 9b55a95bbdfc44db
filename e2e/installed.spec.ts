import { expect, type Page } from '@playwright/test';
import { z } from 'zod';
import { test } from './palisade.ts';

const manifestSchema = z.looseObject({ icons: z.array(z.looseObject({ src: z.string() })) });
const ALLOWED = { serviceWorkers: 'allow' } as const;

async function startWorker(page: Page): Promise<void> {
  const stateOf = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.active?.state);
  await expect.poll(stateOf, { timeout: 30_000 }).toBe('activated');
  await page.goto('/dashboard');
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
}

/** Sends the form that the device, or a page of another site, would send. */
async function share(page: Page, shared: { text: string; files: string[] }): Promise<void> {
  await page.evaluate(({ text, files }) => {
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', enctype: 'multipart/form-data', action: '/scam-check/shared' });
    const words = Object.assign(document.createElement('textarea'), { name: 'text', value: text });
    const picker = Object.assign(document.createElement('input'), { type: 'file', name: 'file', multiple: true });
    const given = new DataTransfer();
    for (const name of files) given.items.add(new File(['See you at eight, I have the tickets.'], name, { type: 'text/plain' }));
    picker.files = given.files;
    form.append(words, picker);
    document.body.append(form);
    form.submit();
  }, shared);
}

test('the application is installable, opens offline, caches its shell alone, and fills in what the device shares', async ({
  palisade,
}) => {
  const page = await palisade.open('maria', '/dashboard', ALLOWED);
  await startWorker(page);
  await page.locator('link[rel="manifest"]').waitFor({ state: 'attached' });
  const manifest = manifestSchema.parse(
    await page.evaluate(async (): Promise<unknown> => {
      const link = document.querySelector<HTMLLinkElement>('link[rel="manifest"]');
      return link === null ? null : await (await fetch(link.href)).json();
    }),
  );
  expect(manifest).toMatchObject({
    display: 'standalone',
    start_url: '/dashboard',
    share_target: { action: '/scam-check/shared' },
  });
  for (const { src } of manifest.icons) expect((await page.request.get(src)).headers()['content-type']).toBe('image/png');

  await page.goto('/antivirus');
  await expect(page.getByRole('heading', { level: 1, name: 'Antivirus' })).toBeVisible();
  const cached = await page.evaluate(async () => {
    const requests = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });
  expect(cached.filter((path) => path !== '/' && !path.startsWith('/assets/'))).toEqual([]);
  expect(cached).toContain('/');
  await page.context().setOffline(true);
  await page.goto('/antivirus');
  await expect(page.getByRole('heading', { level: 1, name: 'Antivirus' })).toBeVisible();
  await page.context().setOffline(false);

  // The device sends a form that has a text and no token.
  await share(page, {
    text: 'Your PayPal account is limited. Confirm at https://paypa1-secure.com/login within 24 hours.',
    files: [],
  });
  await expect(page.getByText('This came from another app or website.')).toBeVisible();
  await expect(page.getByLabel('Message, link, email, or phone number')).toHaveValue(/^Your PayPal account is limited/u);
  expect(new URL(page.url()).search).toBe('');
  await expect(page.getByRole('region', { name: 'This is very likely a scam.' })).toBeHidden();
  await page.getByRole('button', { name: 'Check it' }).click();
  await expect(page.getByRole('region', { name: 'This is very likely a scam.' })).toBeVisible();
  await share(page, { text: '', files: ['one.txt', 'two.txt'] });
  await page.getByRole('button', { name: 'Check it' }).click();
  for (const name of ['one.txt', 'two.txt']) await expect(page.getByRole('heading', { name })).toBeVisible();
  await page.goto('/scam-check?shared=01890a5d-ac96-774b-bcce-b302099a8057');
  await expect(page.getByText('The shared message is gone. Share it again.')).toBeVisible();
});
