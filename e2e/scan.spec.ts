import { createHash } from 'node:crypto';
import { expect } from '@playwright/test';
import { expectAccessible, registerAndSignIn, signIn, test } from './palisade.ts';
import { cleanPdf, eicarFile, nestedZip, type SampleFile } from './samples.ts';

const hashPrefix = (file: SampleFile) => createHash('sha256').update(file.buffer).digest('hex').slice(0, 8);

test('a new person has files scanned and reads true verdicts', async ({ page }) => {
  await registerAndSignIn(page, 'maria');
  await page.getByRole('navigation').getByRole('link', { name: 'Antivirus' }).click();
  await expect(page.getByText('No scans yet')).toBeVisible();

  await page.getByLabel('Choose files to scan').setInputFiles([eicarFile, cleanPdf, nestedZip]);
  const history = page.getByRole('region', { name: 'Scan history' });
  const entry = (file: SampleFile) => history.getByRole('listitem').filter({ has: page.getByText(file.name, { exact: true }) });
  await expect(history.getByRole('listitem')).toHaveCount(3);

  await expect(entry(eicarFile)).toContainText('Infected');
  await expect(entry(eicarFile)).toContainText('EICAR-Test-File');
  await expect(entry(cleanPdf)).toContainText('Clean');
  await expect(entry(nestedZip)).toContainText('Infected');
  await expect(entry(nestedZip)).toContainText('EICAR-Test-File in inner.zip / eicar.com');
  for (const file of [eicarFile, cleanPdf, nestedZip]) await expect(entry(file)).toContainText(hashPrefix(file));
  await expectAccessible(page);

  await page.reload();
  await expect(entry(nestedZip)).toContainText('Infected');
  await expect(page.getByRole('heading', { level: 1, name: 'Antivirus' })).toBeVisible();
});

// proves: asvs-7.4.1, asvs-7.4.4
test('signing out ends the session on the server', async ({ page, request }) => {
  await registerAndSignIn(page, 'maria');
  const token = await page.evaluate(() => localStorage.getItem('palisade.access_token'));
  const headers = { authorization: `Bearer ${token}` };
  expect((await request.get('/api/auth/me', { headers })).status()).toBe(200);

  await page.getByRole('button', { name: /Security User/ }).click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
  // Signing out loads the page anew, which may cut off a script.
  await expect.poll(() => page.evaluate(() => localStorage.getItem('palisade.access_token')).catch(() => 'loading')).toBeNull();
  expect((await request.get('/api/auth/me', { headers })).status()).toBe(401);

  await page.reload();
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
  await signIn(page, 'maria');
});

test('the sign-in screen says what went wrong', async ({ page, server }) => {
  await page.goto('/antivirus');
  await expectAccessible(page);
  // Without any account Register opens.
  await page.getByRole('tab', { name: 'Login' }).click();
  await page.getByLabel('Email').fill('nobody@example.com');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Sign In' }).click();
  await expect(page.getByText('The email or password is wrong. Try again.')).toBeVisible();

  await page.getByRole('tab', { name: 'Register' }).click();
  await page.getByLabel('Email').fill('maria@example.com');
  await page.getByLabel('Username').fill('maria');
  await page.getByLabel('Password', { exact: true }).fill('a long enough password');
  await page.getByLabel('Confirm Password', { exact: true }).fill('another long password');
  const calls: string[] = [];
  page.on('request', (request) => calls.push(request.url()));
  await page.getByRole('button', { name: 'Create Account' }).click();
  await expect(page.getByText('Passwords do not match')).toBeVisible();
  expect(calls.filter((url) => url.startsWith(`${server.url}/api`))).toEqual([]);
  await expectAccessible(page);

  await page.getByRole('tab', { name: 'Login' }).click();
  await page.route('**/api/auth/login', (route) => route.abort());
  await page.getByLabel('Email').fill('maria@example.com');
  await page.getByLabel('Password', { exact: true }).fill('a long enough password');
  await page.getByRole('button', { name: 'Sign In' }).click();
  await expect(page.getByText('Network error. Please try again.')).toBeVisible();
});

test('an upload can be cancelled, and a failed one is said', async ({ page }) => {
  await registerAndSignIn(page, 'maria');
  await page.goto('/antivirus');
  // The connection is held until the person gives up.
  await page.route('**/api/antivirus/scan', () => {});
  await page.getByLabel('Choose files to scan').setInputFiles(cleanPdf);
  await page.getByRole('button', { name: `Cancel ${cleanPdf.name}` }).click();
  await expect(page.getByText('Cancelled', { exact: true })).toBeVisible();

  await page.unroute('**/api/antivirus/scan');
  await page.route('**/api/antivirus/scan', (route) => route.abort());
  const alert = page.waitForEvent('dialog');
  await page.getByLabel('Choose files to scan').setInputFiles(eicarFile);
  const dialog = await alert;
  expect(dialog.message()).toBe('Error scanning file. Please try again.');
  await dialog.accept();

  await page.unroute('**/api/antivirus/scan');
  await page.getByRole('button', { name: `Retry ${eicarFile.name}` }).click();
  await expect(page.getByRole('region', { name: 'Scan history' }).getByRole('listitem')).toContainText('EICAR-Test-File');
});

// proves: product-2.8-9
test('a finding explains itself, its file comes back, and an administrator decides about a false alarm', async ({
  page,
  browser,
  server,
}) => {
  // The first account is the administrator.
  await registerAndSignIn(page, 'admin');
  const context = await browser.newContext({ baseURL: server.url });
  const maria = await context.newPage();
  await registerAndSignIn(maria, 'maria');
  await maria.goto('/antivirus');
  await maria.getByLabel('Choose files to scan').setInputFiles([nestedZip]);
  await maria.getByRole('link', { name: nestedZip.name }).click();

  const dialog = maria.getByRole('dialog', { name: 'Scan details' });
  await expect(dialog).toContainText('This is a harmless test file.');
  await expect(dialog).toContainText('Our copy is quarantined until');
  await expect(dialog.getByText('inner.zip')).toBeVisible();
  await expectAccessible(maria);

  const download = maria.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download file' }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await download).createReadStream()) chunks.push(Buffer.from(chunk));
  expect(Buffer.concat(chunks).equals(nestedZip.buffer)).toBe(true);
  // A copy went out; the sealed one is where it was, and the log does not say otherwise.
  await expect(dialog).toContainText('Our copy is quarantined until');
  await expect(dialog.getByRole('button', { name: 'Delete our copy' })).toBeVisible();

  await dialog.getByRole('button', { name: 'Report a false alarm' }).click();
  await dialog.getByLabel(/^Why is this file harmless/).fill('I packed it myself.');
  await dialog.getByRole('button', { name: 'Send report' }).click();
  await expect(dialog).toContainText('An administrator will review it.');

  await page.getByRole('button', { name: /Security User/ }).click();
  await page.getByRole('menuitem', { name: 'False alarms' }).click();
  await expect(page.getByText('I packed it myself.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: `Confirm false alarm for ${nestedZip.name}` }).click();
  await expect(page.getByRole('button', { name: /Confirm threat/ })).toHaveCount(0);

  // The address of the dialog leads to it again.
  await maria.reload();
  await expect(dialog).toContainText('agrees: this is a false alarm');
  maria.once('dialog', (question) => void question.accept());
  await dialog.getByRole('button', { name: 'Remove from history' }).click();
  await expect(maria.getByText('No scans yet')).toBeVisible();
  await context.close();
});
