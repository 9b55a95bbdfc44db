import { expect } from '@playwright/test';
import { expectAccessible, expectNothingCutOff } from './accessible.ts';
import { test } from './palisade.ts';
import { banner } from './session.ts';

test('a technician helps with a code that the message brings along, and an administrator sees and ends it', async ({
  palisade,
}) => {
  const page = await palisade.open('ada', '/admin/users', { role: 'admin' });
  await expect(page.getByText(`${palisade.url}/?mode=register`)).toBeVisible();
  const maria = await palisade.open('maria', '/chat');
  const tina = await palisade.open('tina', '/support', { role: 'support' });
  // A window with a number is no slow computer.
  await maria.getByRole('textbox', { name: 'Message', exact: true }).fill('It is slow, and a window says I must call a number');
  await maria.keyboard.press('Enter');
  await expect(maria.getByText(/^Don’t call that number/)).toBeVisible();

  const inbox = tina.getByRole('region', { name: 'Inbox' });
  await inbox.getByRole('link', { name: /maria/ }).click();
  const conversation = tina.getByRole('region', { name: 'Conversation with maria' });
  await conversation.getByRole('button', { name: 'Claim' }).click();
  await inbox.getByRole('button', { name: 'Show the one that is yours' }).click();
  await expect(inbox.getByRole('link', { name: /maria/ })).toBeVisible();
  await tina.getByRole('textbox', { name: 'Answer' }).pressSequentially('/he');
  await expect(tina.getByText(/^There are no saved replies yet\./)).toBeVisible();
  await tina.getByRole('textbox', { name: 'Answer' }).fill('');

  await conversation.getByRole('button', { name: 'Start a remote session' }).click();
  const code = (await tina.locator('.message-card code').last().textContent()) ?? '';
  await tina.getByRole('link', { name: 'Go to the portal with this code' }).click();
  await expect(tina.getByLabel('Session code')).toHaveValue(code);
  await tina.getByRole('button', { name: 'Join' }).click();
  await maria.goto('/remote');
  await maria.getByRole('button', { name: 'Approve without a screen' }).click();
  await expect(tina.getByText(/They chose to show no screen/)).toBeVisible();

  // On a phone the administrator reads first that nobody complains, then who helps whom.
  await page.goto('/admin/remote-sessions');
  await expect(page.getByRole('heading', { name: 'No customer has reported a session.' })).toBeVisible();
  await expect(page.getByText('One session runs right now.')).toBeVisible();
  const row = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: 'tina with maria' });
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(row).toHaveCSS('border-top-style', 'solid');
  await expectNothingCutOff(page);
  await expectAccessible(page);
  await row.getByRole('button', { name: 'End the session of tina with maria' }).click();
  await expect(row).toContainText('Ended by an administrator');
});

test('the keyboard alone writes to support, starts a session and ends it', async ({ palisade }) => {
  const page = await palisade.open('maria', '/chat');
  const field = page.getByRole('textbox', { name: 'Message' });
  await page.getByRole('button', { name: 'Firewall help' }).focus();
  await page.keyboard.press('Enter');
  await expect(field).toBeFocused();
  await page.keyboard.type('my printer');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('log', { name: 'Messages' }).getByText(/my printer/)).toBeVisible();
  await expect(field).toBeFocused();

  await page.goto('/remote');
  await page.getByRole('button', { name: 'New Session' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New Session' });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'New Session' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeFocused();
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Create Session' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Waiting for connection...')).toBeVisible();
  await banner(page).getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Session history' }).getByText('You cancelled it')).toBeVisible();
});
