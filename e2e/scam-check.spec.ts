import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { openSignedIn, test } from './palisade.ts';

// 30 checks on the page: 14 scams, 14 honest messages in eight languages, a QR code and an email's file. With PICTURES=<folder> it takes pictures of each kind of answer.

const SAMPLES = fileURLToPath(new URL('../scam/samples', import.meta.url));
const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'pl'] as const;
const PICTURES = process.env['PICTURES'];

/** The nth message of a label and kind, from the language of its turn. */
function sample(label: 'scam' | 'honest', at: number): string {
  const language = LANGUAGES[at % LANGUAGES.length] ?? 'en';
  const rows = readFileSync(join(SAMPLES, `${language}.tsv`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([set, one]) => set === 'tune' && one === label);
  return rows[(at * 3) % rows.length]?.[3] ?? '';
}

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  for (const scheme of ['dark', 'light'] as const) {
    await page.evaluate((one) => document.documentElement.setAttribute('data-mantine-color-scheme', one), scheme);
    for (const [size, width, height] of [
      ['desktop', 1440, 900],
      ['phone', 390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: join(PICTURES, `${name}-${size}-${scheme}.png`), fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

const FOUND = /likely a scam|signs of a scam/u;

async function check(page: Page, text: string): Promise<string> {
  await page.getByLabel('Message, link or email').fill(text);
  await page.getByRole('button', { name: 'Check it' }).click();
  const checked = page.getByRole('region', { name: 'What we checked' });
  await expect(checked).toBeVisible();
  return (await page.locator('.scam-answer .lead h2').first().textContent()) ?? '';
}

test('30 messages are checked on the page, and the answers say why', async ({ page, server }) => {
  test.slow();
  await page.goto(server.url);
  await openSignedIn(page, 'maria');
  await picture(page, 'dashboard');
  await page.getByRole('link', { name: /^Is this real\?/u }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Scam check' })).toBeVisible();
  await picture(page, 'empty');

  const wrong: string[] = [];
  for (let at = 0; at < 14; at += 1) {
    const [scam, honest] = [sample('scam', at), sample('honest', at)];
    const found = await check(page, scam);
    if (!FOUND.test(found)) wrong.push(`missed: ${scam}`);
    else await expect(page.getByRole('region', { name: 'Why' })).toBeVisible();
    if (at === 0) await picture(page, 'scam');
    const said = await check(page, honest);
    if (!said.startsWith('Nothing')) wrong.push(`false alarm (${said}): ${honest}`);
    if (at === 0) await picture(page, 'honest');
  }
  // The wordings are those that the lists were made with; one of 28 may differ.
  expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(1);
});

const QR_CODE =
  'iVBORw0KGgoAAAANSUhEUgAAAFcAAABXAQAAAABZs+TBAAAA40lEQVR42q3TsY3EIBAF0G85IKSBkWhjM1qCBuCuAW9LZLSB5AbuMoKR52Sf5cjDBrtEL5uZ/wXkehveMQPut7sfIOnO4qRzFB44GPflEQsNTbbwSydPY2dx30LXDrcGKFYK5y23PhLw85XJndn2eQFyGRmPBr9umHXLZhBLi70l1Tz1ZoWnzrrl2WHrf+aaOZeW/Lrso1XHTpMgYZ+rusjiGQ8aOPh5Q4Nxm2qRfauWq+jee0meYz27u3U+ys31uEVxMG4BYOYX9pikpaGlr89OA2eh4CkYHhggW88eFX/oL/8B6hBDW72hEskAAAAASUVORK5CYII=';

test('a picture and an email are checked, kept, shown to support and deleted', async ({ page, server }) => {
  await page.goto(server.url);
  await openSignedIn(page, 'ada');
  await page.goto('/scam-check');
  const choose = page.getByLabel('Choose a picture or an email');
  await choose.setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer: Buffer.from(QR_CODE, 'base64') });
  await page.getByRole('button', { name: 'Check it' }).click();
  const parts = page.getByRole('region', { name: 'What’s in it' });
  await expect(parts.getByText('Code: Link')).toBeVisible();
  await expect(parts.getByText('Imitates PayPal')).toBeVisible();
  await picture(page, 'code');

  await page.getByRole('button', { name: 'Remove' }).click();
  const letter = [
    'From: "PayPal" <service@paypa1-secure.com>',
    'Reply-To: <collect@example.net>',
    'To: <ada@example.com>',
    'Subject: Your account is limited',
    '',
    'Confirm your card at https://paypa1-secure.com/login within 24 hours.',
    '',
  ].join('\r\n');
  await choose.setInputFiles({ name: 'letter.eml', mimeType: 'message/rfc822', buffer: Buffer.from(letter) });
  await page.getByRole('switch', { name: 'Keep the answer' }).check({ force: true });
  await page.getByRole('button', { name: 'Check it' }).click();
  await expect(page.getByRole('region', { name: 'Why' })).toBeVisible();
  await page.getByRole('radio', { name: 'I gave data' }).check({ force: true });
  await picture(page, 'email');

  const kept = page.getByRole('region', { name: 'Kept checks' });
  await expect(kept.getByText(/^letter\.eml/u)).toBeVisible();
  await page.getByRole('button', { name: 'Ask support' }).click();
  await page.getByRole('button', { name: 'Show it' }).click();
  await expect(page.getByText('Scam check, shown to support')).toBeVisible();
  await picture(page, 'card');
  await page.getByRole('link', { name: 'Open it' }).click();
  await expect(page.getByRole('dialog', { name: 'Kept check' })).toBeVisible();
  await page.keyboard.press('Escape');
  await kept.getByRole('button', { name: /^Delete: / }).click();
  await kept.getByRole('button', { name: /^Really delete: / }).click();
  await expect(kept).toBeHidden();
});
