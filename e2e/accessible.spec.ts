import { expect, type Page } from '@playwright/test';
import { expectAccessibleInEveryMode, givePremium, openSignedIn, test } from './palisade.ts';
import { cleanPdf, eicarFile } from './samples.ts';
import { SCREENS } from './screens.ts';

// Every screen and every dialog: dark, light, in forced colours, and at 400 %.

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

/** So many are walked by one journey: each takes some seconds on a machine that is busy. */
const AT_ONCE = 5;

function groupsOf<One>(all: readonly One[]): One[][] {
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, index) => all.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
}

test('the sign-in screen is accessible in every mode', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Create Account' })).toBeVisible();
  await expectAccessibleInEveryMode(page);
});

for (const screens of groupsOf(SCREENS)) {
  // proves: product-2.8-2, product-2.8-3
  test(`accessible in every mode: ${screens.join(', ')}`, async ({ page }) => {
    test.slow();
    await openFull(page);
    for (const path of screens) {
      await test.step(path, async () => {
        await page.goto(path, { waitUntil: 'networkidle' });
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expectAccessibleInEveryMode(page);
      });
    }
  });
}

async function chooseInMenu(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Security User menu' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

const DIALOGS: { name: string; path: string; open: (page: Page) => Promise<void> }[] = [
  { name: 'profile', path: '/dashboard', open: (page) => chooseInMenu(page, 'Profile Settings') },
  { name: 'security', path: '/dashboard', open: (page) => chooseInMenu(page, 'Security Preferences') },
  { name: 'scan', path: '/antivirus', open: (page) => page.getByRole('link', { name: eicarFile.name }).click() },
  { name: 'rule', path: '/firewall', open: (page) => page.getByRole('button', { name: 'Add Rule' }).click() },
  { name: 'talk', path: '/chat', open: (page) => page.getByRole('button', { name: 'Video and live chat' }).click() },
  {
    name: 'alert',
    path: '/anti-hacking',
    open: (page) => page.getByRole('list', { name: 'Alerts' }).getByRole('link').first().click(),
  },
  {
    name: 'user',
    path: '/admin/users',
    open: (page) => page.getByRole('main').getByRole('button', { name: /maria/ }).first().click(),
  },
];

for (const dialogs of groupsOf(DIALOGS)) {
  test(`accessible in every mode, the dialogs ${dialogs.map(({ name }) => name).join(', ')}`, async ({ page }) => {
    test.slow();
    await openFull(page);
    for (const { name, path, open } of dialogs) {
      await test.step(name, async () => {
        await page.goto(path, { waitUntil: 'networkidle' });
        await open(page);
        await expect(page.getByRole('dialog')).toBeVisible();
        await expectAccessibleInEveryMode(page);
      });
    }
  });
}
