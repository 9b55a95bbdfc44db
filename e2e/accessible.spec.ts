import { expect, type Page } from '@playwright/test';
import { expectAccessibleInEveryMode, givePremium, openSignedIn, test } from './palisade.ts';
import { cleanPdf, eicarFile } from './samples.ts';

// Every screen and every dialog: dark, light, in forced colours, and at 400 %.

const SCREENS = [
  '/dashboard',
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

async function openFull(page: Page): Promise<void> {
  await page.addInitScript('Math.random = () => 0.9');
  await openSignedIn(page, 'maria');
  const headers = await givePremium(page, 'maria');
  for (const { name, mimeType, buffer } of [eicarFile, cleanPdf])
    await page.request.post('/api/antivirus/scan', { headers, multipart: { file: { name, mimeType, buffer } } });
  await page.request.post('/api/firewall/rules', { headers, data: { rule_name: 'Web', port: '443' } });
  await page.request.post('/api/remote/session', { headers });
  await page.request.post('/api/chat/messages', { headers, data: { message: 'Hello', sender: 'user' } });
  await page.request.post('/api/premium/anti-hacking/simulate-threat', { headers });
}

test('every screen is accessible in every mode', async ({ page }) => {
  test.setTimeout(180_000);
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Create Account' })).toBeVisible();
  await expectAccessibleInEveryMode(page);
  await openFull(page);
  for (const path of SCREENS) {
    await test.step(path, async () => {
      await page.goto(path, { waitUntil: 'networkidle' });
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expectAccessibleInEveryMode(page);
    });
  }
});

test('every dialog is accessible in every mode', async ({ page }) => {
  test.setTimeout(180_000);
  await openFull(page);
  const menu = async (item: string) => {
    await page.getByRole('button', { name: 'Security User menu' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const DIALOGS: [string, () => Promise<void>][] = [
    ['/dashboard', () => menu('Profile Settings')],
    ['/dashboard', () => menu('Security Preferences')],
    ['/antivirus', () => page.getByRole('link', { name: eicarFile.name }).click()],
    ['/firewall', () => page.getByRole('button', { name: 'Add Rule' }).click()],
    ['/remote', () => page.getByRole('button', { name: 'New Session' }).click()],
    ['/chat', () => page.getByRole('button', { name: 'Video and live chat' }).click()],
    ['/anti-hacking', () => page.getByRole('list', { name: 'Alerts' }).getByRole('link').first().click()],
    ['/admin/users', () => page.getByRole('main').getByRole('button', { name: /maria/ }).first().click()],
  ];
  for (const [path, open] of DIALOGS) {
    await test.step(path, async () => {
      await page.goto(path, { waitUntil: 'networkidle' });
      await open();
      await expect(page.getByRole('dialog')).toBeVisible();
      await expectAccessibleInEveryMode(page);
    });
  }
});
