import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from '@playwright/test';
import { expectAccessible, openSignedIn, test } from './palisade.ts';
import { cleanPdf, eicarFile } from './samples.ts';

/** Half a gigabyte in three megabytes, below the ratio of a bomb: it takes a while to read. */
function longRead(): Buffer {
  const piece = Buffer.concat([randomBytes(180 * 1024), Buffer.alloc(32 * 1024 ** 2)]);
  // Members of a gzip file follow one another (RFC 1952 section 2.2).
  return Buffer.concat(Array(16).fill(gzipSync(piece)));
}

test('an upload shows its stages, and can be taken back while it is read', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.goto('/antivirus');
  await page
    .getByLabel('Choose files to scan')
    .setInputFiles({ name: 'backup.gz', mimeType: 'application/gzip', buffer: longRead() });
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await expect(uploads.getByText('Unpacking one file')).toBeVisible();
  await expect(uploads.getByRole('progressbar', { name: 'Scan of backup.gz' })).toBeVisible();
  await uploads.getByRole('button', { name: 'Cancel backup.gz' }).click();
  await expect(uploads.getByText('Cancelled', { exact: true })).toBeVisible();
  await expect(page.getByText('No scans yet')).toBeVisible();
  await expectAccessible(page);

  await page.getByLabel('Choose files to scan').setInputFiles(cleanPdf);
  await expect(page.getByRole('region', { name: 'Scan history' }).getByRole('listitem')).toContainText(cleanPdf.name);
});

test('a change in one window shows in the other at once, and signing out there closes its socket', async ({ page, context }) => {
  await openSignedIn(page, 'maria');
  const other = await context.newPage();
  const opened = other.waitForEvent('websocket');
  await other.goto('/antivirus');
  const socket = await opened;
  expect(new URL(socket.url()).search).toBe('');
  await expect(other.getByText('No scans yet')).toBeVisible();
  await expect.poll(() => socket.isClosed()).toBe(false);

  await page.goto('/antivirus');
  await page.getByLabel('Choose files to scan').setInputFiles(eicarFile);
  await expect(other.getByRole('region', { name: 'Scan history' }).getByRole('listitem')).toContainText('EICAR-Test-File');

  await page.getByRole('button', { name: 'Security User menu' }).click();
  const closed = socket.waitForEvent('close');
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await closed;
  // Both load anew; a window that is closed in the middle of that may hang.
  for (const window of [page, other]) await expect(window.getByRole('button', { name: 'Sign In' })).toBeVisible();
});

// proves: product-3.4-1
test('Online follows the socket: lost, it says so, and it comes back without a press', async ({ page }) => {
  await openSignedIn(page, 'maria');
  let lose = async () => {};
  let reachable = true;
  await page.routeWebSocket('**/api/events', async (client) => {
    if (!reachable) return await client.close();
    const server = client.connectToServer();
    lose = async () => {
      await client.close();
      await server.close();
    };
  });
  await page.goto('/chat');
  const conversation = page.getByRole('region', { name: 'Conversation with support' });
  await expect(conversation.getByText('Online', { exact: true })).toBeVisible();
  reachable = false;
  await page.route('**/api/health', (route) => route.abort());
  await lose();
  await expect(conversation.getByText('Offline', { exact: true })).toBeVisible();
  reachable = true;
  await expect(conversation.getByText('Online', { exact: true })).toBeVisible();
});
