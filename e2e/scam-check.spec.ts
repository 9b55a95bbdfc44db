import { expect } from '@playwright/test';
import { test } from './palisade.ts';

const QR_CODE =
  'iVBORw0KGgoAAAANSUhEUgAAAFcAAABXAQAAAABZs+TBAAAA40lEQVR42q3TsY3EIBAF0G85IKSBkWhjM1qCBuCuAW9LZLSB5AbuMoKR52Sf5cjDBrtEL5uZ/wXkehveMQPut7sfIOnO4qRzFB44GPflEQsNTbbwSydPY2dx30LXDrcGKFYK5y23PhLw85XJndn2eQFyGRmPBr9umHXLZhBLi70l1Tz1ZoWnzrrl2WHrf+aaOZeW/Lrso1XHTpMgYZ+rusjiGQ8aOPh5Q4Nxm2qRfauWq+jee0meYz27u3U+ys31uEVxMG4BYOYX9pikpaGlr89OA2eh4CkYHhggW88eFX/oL/8B6hBDW72hEskAAAAASUVORK5CYII=';

test('a picture and an email are checked, kept, shown to support and deleted', async ({ palisade }) => {
  const page = await palisade.open('ada');
  await page.getByRole('link', { name: /^Is this real\?/u }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Scam check' })).toBeVisible();
  const choose = page.getByLabel('Choose a picture or an email');
  await choose.setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer: Buffer.from(QR_CODE, 'base64') });
  await page.getByRole('button', { name: 'Check it' }).click();
  const parts = page.getByRole('region', { name: 'What’s in it' });
  await expect(parts.getByText('Code: Link')).toBeVisible();
  await expect(parts.getByText('Imitates PayPal')).toBeVisible();

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
  await page.getByRole('switch', { name: 'Keep the result in my list' }).check({ force: true });
  await page.getByRole('button', { name: 'Check it' }).click();
  await expect(page.getByRole('region', { name: 'Why' })).toBeVisible();
  await page.getByRole('radio', { name: 'I gave data' }).check({ force: true });

  const kept = page.getByRole('region', { name: 'Kept checks' });
  await expect(kept.getByText(/^letter\.eml/u)).toBeVisible();
  await page.getByRole('button', { name: 'Ask support' }).click();
  await page.getByRole('button', { name: 'Show it' }).click();
  await expect(page.getByText('Scam check, shown to support')).toBeVisible();
  await page.getByRole('link', { name: 'Open it' }).click();
  await expect(page.getByRole('dialog', { name: 'Kept check' })).toBeVisible();
  await page.keyboard.press('Escape');
  await kept.getByRole('button', { name: /^Delete: / }).click();
  await kept.getByRole('button', { name: /^Really delete: / }).click();
  await expect(kept).toBeHidden();
});
