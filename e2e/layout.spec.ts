import { expect } from '@playwright/test';
import { post, test } from './palisade.ts';

const TABLET = { width: 768, height: 1024 };

test('the desk takes the window and no more, so that its panes alone scroll', async ({ palisade }) => {
  const page = await palisade.open('tina', '/support', { role: 'support' });
  for (const size of [{ width: 1440, height: 900 }, { width: 1024, height: 768 }, TABLET]) {
    await page.setViewportSize(size);
    await page.goto('/support');
    await expect(page.getByText('No open conversations')).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), `at ${size.width}`).toBe(0);
  }
});

test('the ways of an administrator fit the window, and the way of this screen is in view where they need to scroll', async ({
  palisade,
}) => {
  const page = await palisade.open('ada', '/admin/setup', { role: 'admin', viewport: { width: 1024, height: 768 } });
  await expect(page.getByRole('link', { name: 'Setup' })).toBeInViewport({ ratio: 1 });
  // With a plan request the administrators' group has its most entries.
  await post(page, '/subscription/requests', { template_id: await palisade.addTemplate('Family') });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/antivirus');
  await expect(page.getByRole('link', { name: /Plan requests/ })).toBeVisible();
  const ways = page.locator('.sidebar__ways');
  expect(await ways.evaluate((box) => [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight])).toEqual([0, 0]);
});

test('the buttons of a tall dialog stay in sight while its fields are scrolled, and no field stops under them', async ({
  palisade,
}) => {
  const page = await palisade.open('maria');
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
    const instead = rule.getByRole('button', { name: 'Block instead' });
    await expect(instead).toBeInViewport({ ratio: 1 });
    const port = rule.getByLabel('Port');
    await port.focus();
    const [field, button] = [await port.boundingBox(), await add.boundingBox()];
    expect((field?.y ?? 0) + (field?.height ?? 0)).toBeLessThanOrEqual(button?.y ?? 0);
    if (size.width < 700) {
      // The sentence of the rule is above the fields that change it, so that its warning is in the first view.
      const [direction, sentence] = [
        await rule.getByLabel('Direction').boundingBox(),
        await rule.locator('.rule-fields__preview').boundingBox(),
      ];
      expect((sentence?.y ?? 0) + (sentence?.height ?? 0)).toBeLessThanOrEqual(direction?.y ?? 0);
    }
    await rule.getByRole('button', { name: 'Cancel' }).click();
    await page.goto('/remote');
    await page.getByRole('button', { name: 'New Session' }).click();
    await expect(page.getByRole('button', { name: 'Create Session' })).toBeInViewport({ ratio: 1 });
  }
});

// proves: product-2.8-2, product-2.8-13
test('the ring of the focus is drawn whole, and in forced colours what is on looks other than what is off', async ({
  palisade,
}) => {
  const page = await palisade.open('maria', '/firewall');
  // No element around the control clips the focus ring.
  await page.getByRole('button', { name: 'Add Rule' }).focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  const clipped = await page.getByRole('button', { name: 'Add Rule' }).evaluate((button) => {
    const { outlineWidth, outlineOffset } = getComputedStyle(button);
    const room = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
    const box = button.getBoundingClientRect();
    const around: string[] = [];
    for (let parent = button.parentElement; parent !== null && parent !== document.body; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflow === 'visible') continue;
      const edge = parent.getBoundingClientRect();
      if (
        box.left - room < edge.left ||
        box.right + room > edge.right ||
        box.top - room < edge.top ||
        box.bottom + room > edge.bottom
      )
        around.push(parent.className);
    }
    return { room, around };
  });
  expect(clipped.room).toBeGreaterThan(0);
  expect(clipped.around).toEqual([]);

  // In forced colours a bar also has a filled part.
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/dashboard');
  const toggle = page.getByRole('switch', { name: 'Real-time updates' });
  const look = () =>
    toggle.evaluate((input) =>
      JSON.stringify(
        [getComputedStyle(input), getComputedStyle(input, '::before')].map(({ backgroundColor, borderColor, transform }) => [
          backgroundColor,
          borderColor,
          transform,
        ]),
      ),
    );
  const on = await look();
  await toggle.uncheck();
  await expect.poll(look).not.toBe(on);
  const bar = page.getByRole('region', { name: 'System health' }).locator('.health__share').first();
  const colours = await bar.evaluate((share) =>
    [share, share.parentElement ?? share].map((part) => getComputedStyle(part).backgroundColor),
  );
  expect(colours[0]).not.toBe(colours[1]);
});
