import { expect } from '@playwright/test';
import { openSignedIn, test } from './palisade.ts';

test('what one tab does, the other shows within two seconds', async ({ page, context }) => {
  await openSignedIn(page, 'maria');
  const other = await context.newPage();
  const soon = { timeout: 2_000 };

  await other.goto('/firewall');
  await expect(other.getByText('No firewall rules yet')).toBeVisible();
  await page.goto('/firewall');
  await page.getByRole('button', { name: 'Add First Rule' }).click();
  await page.getByRole('dialog').getByLabel('Rule Name').fill('From the first tab');
  await page.getByRole('dialog').getByRole('button', { name: 'Add Rule' }).click();
  await expect(page.getByRole('switch', { name: 'Status of From the first tab' })).toBeVisible();
  await expect(other.getByRole('switch', { name: 'Status of From the first tab' })).toBeVisible(soon);
  await other.getByText('On', { exact: true }).click();
  await expect(page.getByRole('switch', { name: 'Status of From the first tab' })).not.toBeChecked(soon);

  await other.goto('/chat');
  await expect(other.getByText('What can we help with?')).toBeVisible();
  await page.goto('/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('Is my computer slow?');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByRole('log').getByText('Is my computer slow?')).toBeVisible();
  await expect(other.getByRole('log').getByText('Is my computer slow?')).toBeVisible(soon);

  await other.goto('/remote');
  await expect(other.getByText('No session is open. Nobody can join you.')).toBeVisible();
  const token = await page.evaluate(() => localStorage.getItem('palisade.access_token'));
  const headers = { authorization: `Bearer ${token}` };
  expect((await page.request.post('/api/remote/session', { headers })).status()).toBe(201);
  await expect(other.getByText('Waiting for connection...')).toBeVisible(soon);
});
