import { generateKeyPairSync } from 'node:crypto';
import { expect, type Page } from '@playwright/test';
import { codeOfApp } from './authenticator.ts';
import { expectAccessible, givePremium, openDeaf, openSignedIn, test, textOf } from './palisade.ts';

/** Without an event a list is read anew after five seconds at the earliest, so two seconds prove the event. */
const SOON = { timeout: 2_000 };
const PASSWORD = 'a long enough password';

test('devices: one that is added, named, ended and taken away shows in the other tab, and who has not heard of it is told', async ({
  page,
}) => {
  test.slow();
  await openSignedIn(page, 'maria');
  const headers = await givePremium(page, 'maria');
  const other = await page.context().newPage();
  await other.goto('/devices');
  await expect(other.getByRole('heading', { name: 'No device is connected.' })).toBeVisible();
  const code = await textOf(await page.request.post('/api/devices/enrolment-code', { headers }), 'code');
  const { publicKey } = generateKeyPairSync('ed25519');
  const computer = {
    ...{ code, hostname: 'kitchen', os: { platform: 'linux', name: 'Debian GNU/Linux 12 (bookworm)', arch: 'x64' } },
    ...{ public_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'), agent_version: '1.0.0' },
  };
  expect((await page.request.post('/api/agent/enrol', { data: computer })).status()).toBe(201);
  const card = (tab: Page, name: string) => tab.getByRole('region', { name, exact: true });
  await expect(card(other, 'kitchen')).toBeVisible(SOON);

  await page.goto('/devices');
  await page.getByRole('button', { name: 'Rename kitchen' }).click();
  await page.getByLabel('Device name').fill('Kitchen laptop');
  await page.keyboard.press('Enter');
  await expect(card(other, 'Kitchen laptop')).toBeVisible(SOON);

  // Ended in one tab while the other has not heard of it: it is ended, whoever did it.
  const deaf = await openDeaf(page, '/devices');
  page.on('dialog', (question) => void question.accept());
  await expect(card(deaf, 'Kitchen laptop')).toBeVisible();
  await card(page, 'Kitchen laptop').getByRole('button', { name: 'Revoke device' }).click();
  await expect(card(other, 'Kitchen laptop').getByRole('button', { name: 'Remove' })).toBeVisible(SOON);
  await expectAccessible(other);
  await card(deaf, 'Kitchen laptop').getByRole('button', { name: 'Revoke device' }).click();
  await expect(card(deaf, 'Kitchen laptop').getByRole('button', { name: 'Remove' })).toBeVisible();
  await card(page, 'Kitchen laptop').getByRole('button', { name: 'Remove' }).click();
  await expect(other.getByRole('heading', { name: 'No device is connected.' })).toBeVisible(SOON);
  await card(deaf, 'Kitchen laptop').getByRole('button', { name: 'Remove' }).click();
  await expect(deaf.getByRole('heading', { name: 'No device is connected.' })).toBeVisible();
});

test('second factors: what one tab turns on the other shows, and one that is set up in both at once ends in one', async ({
  page,
}) => {
  test.slow();
  await openSignedIn(page, 'maria');
  const other = await page.context().newPage();
  for (const tab of [page, other]) await tab.goto('/dashboard?open=security');
  const dialog = (tab: Page) => tab.getByRole('dialog', { name: 'Security Preferences' });
  await expect(dialog(other).getByText('Your password alone signs you in.')).toBeVisible();

  const begin = async (tab: Page) => {
    await dialog(tab).getByRole('button', { name: 'Set up an authenticator app' }).click();
    const password = dialog(tab).getByLabel('Your password');
    const shown = dialog(tab).locator('code');
    await expect(password.or(shown)).toBeVisible();
    if (await password.isVisible()) {
      await password.fill(PASSWORD);
      await dialog(tab).getByRole('button', { name: 'Continue' }).click();
    }
    return ((await shown.textContent()) ?? '').replaceAll(' ', '');
  };
  const secret = await begin(page);
  await dialog(page).getByLabel('Enter the code that the app shows').fill(codeOfApp(secret));
  await expect(dialog(page).getByRole('list', { name: 'Recovery codes' })).toBeVisible();
  await expect(dialog(other).getByText('You sign in with your password and two-factor')).toBeVisible(SOON);
  await expect(dialog(other).getByRole('button', { name: 'Change the authenticator app' })).toBeVisible(SOON);
  await expectAccessible(other);
});

test('canned answers and remote sessions show in every tab, and who saves an answer that is gone loses no word of it', async ({
  page,
}) => {
  test.slow();
  await openSignedIn(page, 'ada');
  const headers = await givePremium(page, 'ada');
  const other = await page.context().newPage();
  await other.goto('/support/answers');
  await expect(other.getByText('No saved replies yet')).toBeVisible();
  const answer = { shortcut: 'jam', title: 'Paper jam', text: 'Pull gently.' };
  const id = await textOf(await page.request.post('/api/admin/canned-answers', { headers, data: answer }), 'id');
  await expect(other.getByRole('button', { name: /\/jam/u })).toBeVisible(SOON);
  await page.request.put(`/api/admin/canned-answers/${id}`, { headers, data: { ...answer, title: 'Stuck paper' } });
  await expect(other.getByText('Stuck paper')).toBeVisible(SOON);

  const deaf = await openDeaf(page, '/support/answers');
  await deaf.getByRole('button', { name: /\/jam/u }).click();
  await deaf.getByRole('dialog').getByLabel('Text').fill('Open the lid, then pull gently.');
  await page.request.delete(`/api/admin/canned-answers/${id}`, { headers });
  await expect(other.getByText('No saved replies yet')).toBeVisible(SOON);
  await deaf.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(deaf.getByRole('dialog').getByRole('alert')).toBeVisible();
  await expect(deaf.getByRole('dialog').getByLabel('Text')).toHaveValue('Open the lid, then pull gently.');
  await expectAccessible(deaf);

  // A session that begins and ends, on its person's screens.
  await other.goto('/remote');
  await expect(other.getByText('No session is open. No one can join you.')).toBeVisible();
  const session = await textOf(await page.request.post('/api/remote/session', { headers }), 'id');
  await expect(other.getByText('Waiting for connection...')).toBeVisible(SOON);
  const ended = await page.request.post(`/api/remote/sessions/${session}/cancel`, { headers });
  expect(ended.ok(), await ended.text()).toBe(true);
  await expect(other.getByText('No session is open. No one can join you.')).toBeVisible(SOON);
});
