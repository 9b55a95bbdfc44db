import { expect, type Page } from '@playwright/test';
import axe from 'axe-core';
import { z } from 'zod';

/** Window widths that every screen supports, in CSS pixels: small phone, phone, tablet, desktop, 4K. */
const WIDTHS = [320, 390, 768, 1440, 3840];

/** Elements that reach past the sides of the window and cannot be scrolled into view. */
function cutOff(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement;
  const isScrolled = (element: Element): boolean => {
    const parent = element.parentElement;
    return parent !== null && (getComputedStyle(parent).overflowX !== 'visible' || isScrolled(parent));
  };
  const past = [...document.body.querySelectorAll('*')].filter((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 1 && (right > clientWidth + 0.5 || left < -0.5) && !isScrolled(element);
  });
  const names = past.map(({ localName, className }) => `${localName} "${className}"`);
  return scrollWidth > clientWidth ? [...names, `the page, by ${scrollWidth - clientWidth} px`] : names;
}

/** Expects every part of the page to be visible at each of `WIDTHS`. Restores the width of the window. */
export async function expectNothingCutOff(page: Page): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Scripts react to the width one frame later, and transitions end after that.
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await expect.poll(() => page.evaluate(cutOff), { message: `at ${width} px`, timeout: 3_000 }).toEqual([]);
  }
  if (before) await page.setViewportSize(before);
}

/** A tablet, and 1280 x 1024 at 400 % zoom. In CSS pixels. */
const NARROW = [
  { width: 768, height: 1024 },
  { width: 320, height: 256 },
];
/** Widths at which the floating button has different positions. */
const FLOATING = [390, 768, 1440];

/** Names of controls that another element covers: a click in the middle of the control hits the other element. With `isOfFloat`, the controls that the floating button overlaps. */
function covered(isOfFloat: boolean): string[] {
  const float = [...document.querySelectorAll('button, a')]
    .find((one) => one.textContent === 'Back to Dashboard' && getComputedStyle(one).position === 'fixed')
    ?.getBoundingClientRect();
  return [...document.querySelectorAll<HTMLElement>('main :is(a, button, input, select, textarea, summary)')]
    .filter((part) => {
      if (!part.checkVisibility({ visibilityProperty: true })) return false;
      const before = part.getBoundingClientRect();
      if (before.width <= 1 || before.height <= 1) return false;
      // A person scrolls to a control before pressing it.
      part.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      const { x, y, width, height, right, bottom } = part.getBoundingClientRect();
      if (isOfFloat) return float !== undefined && x < float.right && float.x < right && y < float.bottom && float.y < bottom;
      const hit = document.elementFromPoint(x + width / 2, y + height / 2);
      return hit === null || !(part.contains(hit) || hit.contains(part) || hit.closest('label')?.contains(part));
    })
    .map((part) => part.getAttribute('aria-label') ?? part.textContent ?? part.tagName);
}

/** Expects that no other element covers a control on a tablet and at 400 % zoom, and that the floating button covers none at any width. */
export async function expectNothingCovered(page: Page): Promise<void> {
  const before = page.viewportSize();
  for (const size of NARROW) {
    await page.setViewportSize(size);
    await expect.poll(() => page.evaluate(covered, false), { message: `at ${size.width} px`, timeout: 3_000 }).toEqual([]);
  }
  for (const width of FLOATING) {
    await page.setViewportSize({ width, height: 844 });
    await expect.poll(() => page.evaluate(covered, true), { message: `floating, ${width} px`, timeout: 3_000 }).toEqual([]);
  }
  if (before) await page.setViewportSize(before);
}

/** Links and buttons smaller than 24 x 24 CSS pixels, the minimum of WCAG 2.2 (2.5.8). Links inside a sentence are exempt. */
export function smallTargets(): string[] {
  return [...document.querySelectorAll('a[href^="tel:"], a[href^="mailto:"], button')].flatMap((target) => {
    const { width, height } = target.getBoundingClientRect();
    return width > 1 && (height < 24 || width < 24) ? [`${target.textContent} ${Math.round(width)}x${Math.round(height)}`] : [];
  });
}

/** Rules whose result depends on the colour scheme. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
const violationsSchema = z.array(
  z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string(), failureSummary: z.string() })) }),
);

/** Violations that axe finds on the page: by all its rules for WCAG 2.2 AA and best practices, or by `rules`. The pages have no frames. */
async function violationsOf(page: Page, rules?: readonly string[]) {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`);
  return violationsSchema.parse(found);
}

/** Expects no violation on the page in one colour scheme. `rules` limits the check to colours where the other rules have already run. */
async function expectNoViolation(
  page: Page,
  media: { colorScheme: 'dark' | 'light'; forcedColors?: 'active' | 'none' },
  rules?: readonly string[],
): Promise<void> {
  await page.emulateMedia({ ...media, reducedMotion: 'reduce' });
  await expect(page.locator(`html[data-mantine-color-scheme="${media.colorScheme}"]`)).toBeAttached();
  // The contrast of a colour in the middle of a transition is undefined.
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
  expect(await violationsOf(page, rules), JSON.stringify(media)).toEqual([]);
}

/** Expects no violation of WCAG 2.2 AA and of axe's best practices in both colour schemes. The schemes differ only in colours, so all other rules run once. */
export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolation(page, { colorScheme: 'light' }, OF_COLOURS);
  await expectNoViolation(page, { colorScheme: 'dark' });
}

/** A small phone in landscape, or a desktop at 400 % zoom (WCAG 2.2, 1.4.10). In CSS pixels. */
const AT_400_PERCENT = { width: 320, height: 256 };

/** Share of the window's height (0 to 1) that fixed parts cover while the page is scrolled. */
function fixedShare(): number {
  // A dialog covers everything and can be closed.
  if (document.querySelector('[role="dialog"]') !== null) return 0;
  const rows = new Set<number>();
  for (const element of document.body.querySelectorAll('*')) {
    const { position, visibility } = getComputedStyle(element);
    if ((position !== 'fixed' && position !== 'sticky') || visibility === 'hidden' || element.closest('[role="dialog"]'))
      continue;
    const { top, bottom, width } = element.getBoundingClientRect();
    if (width < innerWidth / 2) continue;
    for (let row = Math.max(0, Math.round(top)); row < Math.min(innerHeight, Math.round(bottom)); row += 1) rows.add(row);
  }
  return rows.size / innerHeight;
}

/** Like `expectAccessible`, and also in forced colours and at 400 % zoom, where no part may be cut off. Restores the window. */
export async function expectAccessibleInEveryMode(page: Page): Promise<void> {
  const before = page.viewportSize();
  await expectNoViolation(page, { colorScheme: 'light', forcedColors: 'active' }, OF_COLOURS);
  await page.emulateMedia({ forcedColors: 'none' });
  await expectAccessible(page);
  await page.setViewportSize(AT_400_PERCENT);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(await violationsOf(page), 'at 400 %').toEqual([]);
  await expect.poll(() => page.evaluate(cutOff), { message: 'at 400 %', timeout: 3_000 }).toEqual([]);
  expect(await page.evaluate(fixedShare), 'what stays in place at 400 %').toBeLessThanOrEqual(0.5);
  if (before) await page.setViewportSize(before);
}
