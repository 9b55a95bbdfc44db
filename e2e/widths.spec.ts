import { expect, type Page } from '@playwright/test';
import { z } from 'zod';
import { headersOf, openSignedIn, test } from './palisade.ts';

const TABLET = { width: 768, height: 1024 };
/** What 400 % leaves of 1280 x 1024. */
const ENLARGED = { width: 320, height: 256 };

/** Names of controls that lie under another part: a press in their middle hits that. */
function covered(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('main :is(a, button, input, select, textarea)')]
      .filter((part) => {
        if (!part.checkVisibility({ visibilityProperty: true })) return false;
        const { width, height } = part.getBoundingClientRect();
        if (width <= 1 || height <= 1) return false;
        part.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
        const { x, y } = part.getBoundingClientRect();
        const hit = document.elementFromPoint(x + width / 2, y + height / 2);
        const label = hit?.closest('label');
        return hit === null || !(part.contains(hit) || hit.contains(part) || label?.contains(part));
      })
      .map((part) => part.getAttribute('aria-label') ?? part.textContent ?? part.tagName),
  );
}

test('no control lies under another on a tablet and at 400 %, and tables become cards there', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.goto('/chat');
  await page
    .getByRole('textbox', { name: 'Message' })
    .fill('My printer prints nothing since this morning, and I do not know why.');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByText('Automatic reply')).toBeVisible();
  for (const size of [TABLET, ENLARGED]) {
    await page.setViewportSize(size);
    for (const path of ['/support?view=all', '/support/reports', '/chat', '/live-chat', '/devices', '/firewall']) {
      await page.goto(path);
      await page.waitForLoadState('networkidle');
      await expect(page.getByRole('heading', { level: 1 })).toBeAttached();
      expect(await covered(page), `${path} at ${size.width}`).toEqual([]);
    }
    await page.goto('/live-chat');
    const log = await page.getByRole('log').boundingBox();
    const field = await page.getByRole('textbox', { name: 'Message' }).boundingBox();
    expect((log?.y ?? 0) + (log?.height ?? Infinity)).toBeLessThanOrEqual(field?.y ?? 0);
    await page.goto('/support/reports');
    const weeks = page.getByRole('region', { name: 'Weeks' });
    expect(await weeks.evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBe(0);
    await expect(weeks.getByRole('row').filter({ hasText: '1' }).first()).toBeVisible();
  }
});

test('the desk takes the window and no more, so that its panes alone scroll', async ({ page }) => {
  await openSignedIn(page, 'maria');
  for (const size of [{ width: 1440, height: 900 }, { width: 1024, height: 768 }, TABLET]) {
    await page.setViewportSize(size);
    await page.goto('/support');
    await expect(page.getByText('No open conversations')).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), `at ${size.width}`).toBe(0);
  }
});

test('the way of this screen is in view where the ways need to scroll', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.goto('/admin/setup');
  await expect(page.getByRole('link', { name: 'Setup' })).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/dashboard');
  await expect(page.getByRole('link', { name: 'Users' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Main Dashboard' })).toBeInViewport({ ratio: 1 });
  const ways = page.locator('.sidebar__ways');
  expect(await ways.evaluate((box) => box.scrollWidth - box.clientWidth), 'what is cut off at the side').toBe(0);
  // With a plan request the group of administrators has its most ways.
  const headers = await headersOf(page);
  const template = {
    template_name: 'Family',
    base_price: 5,
    duration_months: 12,
    max_devices: 1,
    is_premium: true,
    features: [],
  };
  const created = await page.request.post('/api/admin/subscription-templates', { headers, data: template });
  const { template: made } = z.object({ template: z.object({ id: z.string() }) }).parse(await created.json());
  await page.request.post('/api/subscription/requests', { headers, data: { template_id: made.id } });
  for (const path of ['/antivirus', '/support']) {
    await page.goto(path);
    await expect(page.getByRole('button', { name: 'Administration' })).toBeVisible();
    if (path === '/antivirus') await expect(page.getByRole('link', { name: /Plan requests/ })).toBeVisible();
    expect(await ways.evaluate((box) => box.scrollHeight - box.clientHeight), `what is cut off below on ${path}`).toBe(0);
  }
});

test('the buttons of a tall dialog stay in sight while its fields are scrolled, and no field stops under them', async ({
  page,
}) => {
  await openSignedIn(page, 'maria');
  for (const size of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    await page.goto('/firewall');
    await page.getByRole('button', { name: 'Add Rule' }).first().click();
    const rule = page.getByRole('dialog', { name: 'Add Rule' });
    const add = rule.getByRole('button', { name: 'Add Rule' });
    await expect(add).toBeInViewport({ ratio: 1 });
    const port = rule.getByLabel('Port');
    await port.focus();
    const [field, button] = [await port.boundingBox(), await add.boundingBox()];
    expect((field?.y ?? 0) + (field?.height ?? 0)).toBeLessThanOrEqual(button?.y ?? 0);
    if (size.width < 700) {
      // One column: the sentence of the rule is a bar above the buttons.
      const source = rule.getByLabel('Source IP');
      await source.focus();
      const [above, sentence] = [await source.boundingBox(), await rule.locator('.rule-fields__preview').boundingBox()];
      expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(sentence?.y ?? 0);
    }
    await rule.getByRole('button', { name: 'Cancel' }).click();
    await page.goto('/remote');
    await page.getByRole('button', { name: 'New Session' }).click();
    await expect(page.getByRole('button', { name: 'Create Session' })).toBeInViewport({ ratio: 1 });
  }
});
