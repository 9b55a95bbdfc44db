import { expect, type Locator, type Page } from '@playwright/test';
import { expectAccessible, headersOf, openSignedIn, test, textOf } from './palisade.ts';

/** Counts the presses of a task. */
function presses() {
  let count = 0;
  return {
    async press(part: Locator) {
      await part.click();
      count += 1;
    },
    count: () => count,
  };
}

async function writeToSupport(page: Page): Promise<void> {
  const data = { message: 'My computer is slow.', sender: 'user' };
  expect((await page.request.post('/api/chat/messages', { headers: await headersOf(page), data })).ok()).toBe(true);
}

test('an owner begins with what waits, a technician at the desk, and both answer within three presses', async ({
  page,
  browser,
  server,
}) => {
  test.slow();
  const visitor = async () => await (await browser.newContext({ baseURL: server.url })).newPage();
  await openSignedIn(page, 'boss');
  const [maria, tina] = [await visitor(), await visitor()];
  await openSignedIn(maria, 'maria');
  await openSignedIn(tina, 'tina');
  const headers = await headersOf(page);
  const user_id = await textOf(await page.request.get('/api/admin/users?search=tina', { headers }), 'id');
  expect((await page.request.patch('/api/admin/users', { headers, data: { user_id, role: 'support' } })).ok()).toBe(true);
  await writeToSupport(maria);

  await page.reload();
  const waiting = page.getByRole('region', { name: 'Waiting for you' });
  await expect(waiting).toContainText('1 chat has no answer');
  await expectAccessible(page);
  const owner = presses();
  await owner.press(waiting.getByRole('link', { name: /^Answer/ }));
  await owner.press(page.getByRole('link', { name: /maria/ }).first());
  await page.getByRole('textbox', { name: 'Answer', exact: true }).fill('Please restart it.');
  await owner.press(page.getByRole('button', { name: 'Send' }));
  await expect(page.getByRole('log')).toContainText('Please restart it.');
  expect(owner.count()).toBe(3);

  await writeToSupport(maria);
  await tina.goto('/');
  await expect(tina).toHaveURL(/\/support$/);
  // Devices are one press away on every screen.
  const customer = presses();
  await maria.goto('/antivirus');
  await customer.press(maria.getByRole('navigation', { name: 'More' }).getByRole('link', { name: 'Devices' }));
  await expect(maria.getByRole('heading', { level: 1, name: 'Devices' })).toBeVisible();
  expect(customer.count()).toBe(1);
});

test('the palette leads to a person, a screen and an action by the keyboard alone', async ({ page }) => {
  await openSignedIn(page, 'boss');
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search everything' });
  await expect(field).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.type('boss');
  await expect(page.getByRole('group', { name: 'People' }).getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/admin\/users\?search=boss%40example\.com$/);
  await expect(page.getByText('1 person')).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('two-factor');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Security Preferences' })).toBeVisible();
  // Over another dialog it stays closed.
  await page.keyboard.press('Control+k');
  await expect(field).toHaveCount(0);
});
