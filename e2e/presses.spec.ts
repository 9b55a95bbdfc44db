import { expect, type Page } from '@playwright/test';
import { codeOfApp } from './authenticator.ts';
import { PASSWORD } from './installation.ts';
import { chooseInMenu, post, test } from './palisade.ts';
import { cleanPdf, eicarFile } from './samples.ts';

/** Counts the person's presses in the page, without typed text. The returned function gives the number since its last call. */
async function countPresses(page: Page): Promise<() => Promise<number>> {
  const count = () => {
    Object.assign(window, { presses: 0 });
    window.addEventListener(
      'click',
      (event) => {
        // A press on a label is followed by a synthetic one on its field.
        if (event.isTrusted && event.detail > 0) Object.assign(window, { presses: Number(Reflect.get(window, 'presses')) + 1 });
      },
      true,
    );
  };
  await page.addInitScript(count);
  await page.evaluate(count);
  return () =>
    page.evaluate(() => {
      const presses = Number(Reflect.get(window, 'presses'));
      Object.assign(window, { presses: 0 });
      return presses;
    });
}

test('a session code takes 2 presses, two-factor 5, a scan 1 and its advice 1, a preset rule 3, a device 1', async ({
  palisade,
}) => {
  const page = await palisade.open('maria', '/remote');
  const presses = await countPresses(page);
  await page.getByRole('button', { name: 'New Session' }).click();
  await page.getByRole('button', { name: 'Create Session' }).click();
  await expect(page.getByText('Waiting for connection...')).toBeVisible();
  expect(await presses()).toBeLessThanOrEqual(2);

  await chooseInMenu(page, 'Security Preferences');
  const security = page.getByRole('dialog', { name: 'Security Preferences' });
  await security.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await expect(security.getByLabel('Your password')).toBeFocused();
  await page.keyboard.type(PASSWORD);
  await security.getByRole('button', { name: 'Continue' }).click();
  await expect(security.getByLabel('Enter the code that the app shows')).toBeFocused();
  const secret = ((await security.locator('code').textContent()) ?? '').replaceAll(' ', '');
  await page.keyboard.type(codeOfApp(secret));
  await security.getByRole('button', { name: 'I’ve saved my codes' }).click();
  await expect(security.getByText('Your authenticator app is set up.')).toBeVisible();
  expect(await presses()).toBeLessThanOrEqual(5);

  await page.goto('/antivirus');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose files', exact: true }).click();
  await (await chooser).setFiles([eicarFile, cleanPdf]);
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await expect(uploads.getByRole('heading', { name: '1 clean, 1 harmless test file' })).toBeVisible();
  expect(await presses()).toBe(1);
  await uploads.getByRole('link', { name: 'See details' }).click();
  await expect(page.getByRole('dialog', { name: 'Scan details' })).toContainText('This is a harmless test file.');
  expect(await presses()).toBe(1);

  await page.goto('/firewall');
  await page.getByRole('button', { name: 'Add Rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add Rule' });
  await dialog.getByRole('button', { name: /^Block Remote Desktop/u }).click();
  await dialog.getByRole('button', { name: 'Add Rule' }).click();
  await expect(page.getByRole('switch', { name: 'Status of Block Remote Desktop' })).toBeChecked();
  expect(await presses()).toBe(3);

  // Devices are one press away on every screen.
  await page.getByRole('navigation', { name: 'Tools and help' }).getByRole('link', { name: 'Devices' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Devices' })).toBeVisible();
  expect(await presses()).toBe(1);
  await page.getByRole('button', { name: /^Linux/u }).click();
  await expect(page.locator('[data-command]')).toContainText('/agent/install.sh');
  expect(await presses()).toBe(1);
});

test('an administrator answers a waiting chat in 3 presses, and assigns a requested plan in 2', async ({ palisade }) => {
  const page = await palisade.open('ada', '/help', { role: 'admin' });
  const template_id = await palisade.addTemplate('Family Shield');
  const customer = await palisade.open('maria');
  await post(customer, '/subscription/requests', { template_id });
  await post(customer, '/chat/messages', { message: 'My computer is slow.', sender: 'user' });

  await page.goto('/dashboard');
  const presses = await countPresses(page);
  const waiting = page.getByRole('region', { name: 'Waiting for you' });
  await expect(waiting).toContainText('1 chat has no answer');
  await waiting.getByRole('link', { name: /^Answer/ }).click();
  await page.getByRole('link', { name: /maria/ }).first().click();
  await page.getByRole('textbox', { name: 'Answer', exact: true }).fill('Please restart it.');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('log')).toContainText('Please restart it.');
  expect(await presses()).toBe(3);

  await page.goto('/dashboard');
  await waiting.getByRole('link', { name: /^Decide/ }).click();
  await page.getByRole('region', { name: 'Plan requests' }).getByRole('button', { name: 'Assign plan' }).click();
  await expect(page.getByText('Subscription assigned successfully to maria@example.com')).toBeVisible();
  expect(await presses()).toBe(2);
});
