import { expect, type Page } from '@playwright/test';
import { expectAccessible, expectNothingCutOff } from './accessible.ts';
import { ask, nameServer } from './names.ts';
import { test } from './palisade.ts';

const PHONE = { width: 390, height: 844 };
const GAME = 'www.roblox.com';

const textOf = async (page: Page, pattern: RegExp) => (await page.getByText(pattern).first().textContent()) ?? '';
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Adds a child of nine: a name, an age, done. */
async function addChild(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add a person' }).click();
  await page.getByLabel('Name').fill('Mia');
  await page.getByRole('button', { name: /^8 to 12/u }).click();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(card(page, 'Mia')).toBeVisible();
  await expect(card(page, 'Add a person')).toHaveCount(0);
}

/** Gives Mia a new device through web protection. Answers the address that it asks. */
async function giveDevice(page: Page): Promise<string> {
  await card(page, 'Mia').getByRole('button', { name: 'Add a device' }).click();
  await card(page, 'Mia').getByRole('link', { name: 'Another device' }).click();
  await page.getByRole('button', { name: /^Browser/u }).click();
  await page.getByRole('button', { name: 'Add device' }).click();
  await expect(page.getByText('When the steps are done, open a website there.')).toBeVisible();
  const address = await textOf(page, /\/dns\/[a-z2-7]{26}$/u);
  await page.getByRole('button', { name: 'Finish later' }).click();
  await expect(card(page, 'Mia').getByText('Mia’s browser')).toBeVisible();
  return address;
}

test('a refused game is asked for, allowed for an hour on the dashboard, and refused again afterwards', async ({ startOwn }) => {
  const names = await nameServer();
  const palisade = await startOwn({ DNS_UPSTREAM: names.upstream });
  const page = await palisade.open('ada', '/household', { is_premium: true });
  await expectNothingCutOff(page);
  await addChild(page);
  const address = await giveDevice(page);
  await expectAccessible(page);
  await card(page, 'Mia').getByText('Allowed and blocked websites (0)').click();
  await card(page, 'Mia').getByRole('textbox', { name: 'Website' }).fill(GAME);
  await card(page, 'Mia').getByRole('button', { name: 'Save website' }).click();
  // Before it is saved, the game may be refused for the time of day, which is another reason.
  await expect(card(page, 'Mia').getByText('Allowed and blocked websites (1)')).toBeVisible();
  await expect.poll(() => ask(page, address, GAME)).toBe(3);

  await card(page, 'Mia').getByText('Mia’s page').click();
  const child = await palisade.window({ viewport: PHONE, hasTouch: true, isMobile: true });
  await child.goto(await textOf(page, /\/ask\/[a-z2-7]{26}$/u));
  await child.getByRole('button', { name: `May I open ${GAME}?` }).click();
  await expect(child.getByText('Sent. The answer will show here.')).toBeVisible();
  await expectNothingCutOff(child);
  await expectAccessible(child);

  await page.getByRole('link', { name: 'Dashboard', exact: true }).first().click();
  // The page before shows the question too.
  await expect(page.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
  const asked = card(page, 'May I?');
  await asked.getByLabel('Your words to Mia').fill('After homework');
  await asked.getByRole('button', { name: 'For one hour' }).click();
  await expect(asked).toBeHidden();
  await expect(child.getByText(/^Yes, until /u)).toBeVisible();
  await expect(child.getByText('After homework')).toBeVisible();
  await expect.poll(() => ask(page, address, GAME)).toBe(0);

  // Ended before the hour is over: journeys have no other clock.
  await page.goto('/household');
  await card(page, 'Mia').getByText('Allowed and blocked websites (2)').click();
  const hour = card(page, 'Mia')
    .getByRole('listitem')
    .filter({ hasText: /^www.roblox.comAllowed until/u });
  await hour.getByRole('button', { name: `Remove ${GAME}` }).click();
  await expect.poll(() => ask(page, address, GAME)).toBe(3);
  names.close();
});
