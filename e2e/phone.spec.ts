import { expect, type Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { post, test } from './palisade.ts';

const PHONE = { width: 390, height: 844 };

/** Share of the window's width that the sentence below a heading takes. */
function shareOfSentence(page: Page): Promise<number> {
  return page
    .locator('.page__head .sub')
    .evaluate((sentence) => sentence.getBoundingClientRect().width / document.documentElement.clientWidth);
}

// proves: product-2.9-2
test('on a phone the answer comes first, no words are squeezed, and the way back is the phone’s own', async ({ palisade }) => {
  const page = await palisade.open('maria', '/dashboard', { role: 'admin', is_premium: true, viewport: PHONE });
  await post(page, '/premium/anti-hacking/simulate-threat');
  await page.goto('/dashboard');
  // An administrator's own part is folded below the installation.
  await page.getByText('Your own protection').click();
  await expect(page.locator('section.hero')).toBeVisible();
  const answer = await page.locator('section.hero').boundingBox();
  const tile = await page.getByRole('region', { name: 'Security Score', exact: true }).boundingBox();
  expect(answer?.y).toBeLessThan(tile?.y ?? 0);

  // The button that shows an alert to support stands next to its text, not below.
  await page.goto('/anti-hacking');
  const alert = page.getByRole('list', { name: 'Simulated threats' }).getByRole('listitem');
  const [row, sign] = [await alert.boundingBox(), await alert.getByRole('link', { name: /to support$/u }).boundingBox()];
  expect(sign?.y).toBeLessThan((row?.y ?? 0) + 40);
  for (const path of ['/admin/help', '/help', '/support/answers', '/support/reports']) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    expect(await shareOfSentence(page), path).toBeGreaterThan(0.85);
  }
  await expect(page.getByText(/Nothing was asked or closed/u)).toBeVisible();
  await expect(page.getByRole('table', { name: 'Weeks' })).toHaveCount(0);

  // A phone shows either the list of help pages or the form, with Back between them.
  await page.goto('/admin/help');
  await page.getByRole('button', { name: 'New page' }).click();
  await expect(page.getByRole('button', { name: 'All help pages' })).toBeFocused();
  await expect(page.getByLabel('Title')).toBeInViewport();
  await expectAccessible(page);
  await page.goBack();
  await expect(page.getByRole('button', { name: 'New page' })).toBeFocused();

  // Back closes open dialogs and menus, topmost first, before it leaves the page.
  await page.getByRole('button', { name: 'More' }).click();
  await expect(page.getByRole('dialog', { name: 'More' })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('dialog', { name: 'More' })).toBeHidden();
  await page.getByRole('button', { name: /^Security User/u }).click();
  await page.getByRole('menuitem', { name: 'Profile Settings' }).click();
  const profile = page.getByRole('dialog', { name: 'Profile Settings' });
  await expect(profile).toBeVisible();
  await page.goBack();
  await expect(profile).toBeHidden();
  await expect(page).toHaveURL(/\/admin\/help$/u);
  await page.goBack();
  await expect(page).toHaveURL(/\/support\/reports$/u);
});

test('on a phone a press on Send sends, though the chat has the whole window while the field has the focus', async ({
  palisade,
}) => {
  const page = await palisade.open('maria', '/chat', { viewport: PHONE });
  await page.getByRole('textbox', { name: 'Message' }).click();
  await page.keyboard.type('a man on the phone wants my card number');
  await expect(page.getByRole('link', { name: /^Someone called me/u })).toBeVisible();
  await page.getByRole('button', { name: 'Send' }).click();
  const own = page.getByRole('log').getByText('a man on the phone wants my card number');
  await expect(own).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('');

  // The own message stays in view above the long answer, also after the chat opens again.
  await expect(page.getByText('Automatic reply')).toBeVisible();
  await expect(own).toBeInViewport();
  await page.reload();
  await expect(page.getByText('Automatic reply')).toBeVisible();
  await expect(own).toBeInViewport();
});
