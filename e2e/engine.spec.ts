import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, type Page } from '@playwright/test';
import { z } from 'zod';
import { test as base, expectAccessible, openSignedIn } from './palisade.ts';

const LISTED = Buffer.from('a file that is on the list of the feed');
const LIST = `${createHash('sha256').update(LISTED).digest('hex')}  Test.Listed.File\n`;

const statusSchema = z.looseObject({
  engines: z.array(z.looseObject({ name: z.string() })),
  signatures: z.looseObject({ hashes: z.int() }),
});

/** A server with a signed feed: a list of one file. */
const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern.
  environment: async ({}, use) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const feed = createServer((request, response) => {
      response.end(request.url?.endsWith('.sig') ? sign(null, Buffer.from(LIST), privateKey) : LIST);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => feed.once('listening', resolve));
    const address = feed.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
    await use({ SIGNATURE_FEEDS: `sha256+http://127.0.0.1:${port}/list.txt#ed25519=${key}` });
    feed.close();
  },
});

/** From now on the screen sees the server's true answer with a change to it. */
async function change(page: Page, altered: (status: z.infer<typeof statusSchema>) => object): Promise<void> {
  await page.unroute('**/api/antivirus/engine');
  await page.route('**/api/antivirus/engine', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: altered(statusSchema.parse(await response.json())) });
  });
  await page.reload();
}

test('a person sees what reads the files, how fresh its signatures are, and when it does not answer', async ({
  page,
  request,
}) => {
  await openSignedIn(page, 'maria');
  const token = await page.evaluate(() => localStorage.getItem('palisade.access_token'));
  const read = async () =>
    statusSchema.parse(
      await (await request.get('/api/antivirus/engine', { headers: { authorization: `Bearer ${token}` } })).json(),
    );
  await expect.poll(async () => (await read()).signatures.hashes).toBe(1);

  await page.getByRole('navigation').getByRole('link', { name: 'Antivirus' }).click();
  const card = page.getByRole('region', { name: 'Scanner' });
  await expect(card).toContainText(/\d+ rules and 1 known dangerous file/);
  await expect(card).toContainText('Threat definitions are less than an hour old.');
  await card.getByText('Details').click();
  await expect(card).toContainText('The last update succeeded.');
  await expect(card).toContainText('/list.txt In use: 1 hash.');
  await expectAccessible(page);

  await page.getByLabel('Choose files to scan').setInputFiles({ name: 'listed.bin', mimeType: 'text/plain', buffer: LISTED });
  await expect(page.getByRole('region', { name: 'Scan history' }).getByRole('listitem')).toContainText('Test.Listed.File');

  const three_days_ago = new Date(Date.now() - 73 * 3_600_000).toISOString();
  await change(page, (status) => ({ ...status, signatures: { ...status.signatures, as_of: three_days_ago } }));
  await expect(card).toContainText('Threat definitions are 3 days old');
  await expectAccessible(page);

  await change(page, (status) => ({ ...status, engines: status.engines.map((engine) => ({ ...engine, state: 'down' })) }));
  await expect(card).toContainText('The scanner isn’t responding');
  await expectAccessible(page);
});
