import { expect, type Page } from '@playwright/test';
import axe from 'axe-core';
import { z } from 'zod';

/** The widths that every screen is made for: a small phone, a phone, a tablet, a desktop, 4K. In CSS pixels. */
const WIDTHS = [320, 390, 768, 1440, 3840];

/** Parts of the page that are drawn past the sides of its window, where nothing scrolls to it. */
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

/** Expects every part of the page to be visible at any width that screens are made for. The window is left as wide as it was. */
export async function expectNothingCutOff(page: Page): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Scripts follow the width one frame later, and transitions end after that.
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await expect.poll(() => page.evaluate(cutOff), { message: `at ${width} px`, timeout: 3_000 }).toEqual([]);
  }
  if (before) await page.setViewportSize(before);
}

/** A tablet, and what 400 % leaves of 1280 x 1024. In CSS pixels. */
const NARROW = [
  { width: 768, height: 1024 },
  { width: 320, height: 256 },
];
/** Widths at which the floating button has other places. */
const FLOATING = [390, 768, 1440];

/** Names of controls of the screen that lie under another part: a press in their middle hits that, or `float` is over a part of them. */
function covered(isOfFloat: boolean): string[] {
  const float = [...document.querySelectorAll('button, a')]
    .find((one) => one.textContent === 'Back to Dashboard' && getComputedStyle(one).position === 'fixed')
    ?.getBoundingClientRect();
  return [...document.querySelectorAll<HTMLElement>('main :is(a, button, input, select, textarea, summary)')]
    .filter((part) => {
      if (!part.checkVisibility({ visibilityProperty: true })) return false;
      const before = part.getBoundingClientRect();
      if (before.width <= 1 || before.height <= 1) return false;
      // As one scrolls to press it.
      part.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      const { x, y, width, height, right, bottom } = part.getBoundingClientRect();
      if (isOfFloat) return float !== undefined && x < float.right && float.x < right && y < float.bottom && float.y < bottom;
      const hit = document.elementFromPoint(x + width / 2, y + height / 2);
      return hit === null || !(part.contains(hit) || hit.contains(part) || hit.closest('label')?.contains(part));
    })
    .map((part) => part.getAttribute('aria-label') ?? part.textContent ?? part.tagName);
}

/** Expects no control of the screen to lie under another part, on a tablet and at 400 %, nor under the floating button at any width. */
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

/** Links and buttons that are smaller than WCAG 2.2 (2.5.8) asks for: 24 CSS px each way. Links in a sentence are as high as their line. */
export function smallTargets(): string[] {
  return [...document.querySelectorAll('a[href^="tel:"], a[href^="mailto:"], button')].flatMap((target) => {
    const { width, height } = target.getBoundingClientRect();
    return width > 1 && (height < 24 || width < 24) ? [`${target.textContent} ${Math.round(width)}x${Math.round(height)}`] : [];
  });
}

/** Rules whose outcome is another one in another scheme. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
const violationsSchema = z.array(
  z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string(), failureSummary: z.string() })) }),
);

/** The violations that axe finds on the page in its present state, by all its rules of WCAG 2.2 AA and of good practice, or by some. There are no frames to look into. */
async function violationsOf(page: Page, rules?: readonly string[]) {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`);
  return violationsSchema.parse(found);
}

/** Expects no violation on the page as it stands, in a scheme: by the rules of colours alone where all others were asked before. */
async function expectNoViolation(
  page: Page,
  media: { colorScheme: 'dark' | 'light'; forcedColors?: 'active' | 'none' },
  rules?: readonly string[],
): Promise<void> {
  await page.emulateMedia({ ...media, reducedMotion: 'reduce' });
  await expect(page.locator(`html[data-mantine-color-scheme="${media.colorScheme}"]`)).toBeAttached();
  // A colour in the middle of a transition has no contrast to check.
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
  expect(await violationsOf(page, rules), JSON.stringify(media)).toEqual([]);
}

/** No violation of WCAG 2.2 AA and of axe's best practices on the page as it stands, in both schemes, between which nothing but colours differs. */
export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolation(page, { colorScheme: 'light' }, OF_COLOURS);
  await expectNoViolation(page, { colorScheme: 'dark' });
}

/** A small phone held across, or a desktop at 400 % (WCAG 2.2, 1.4.10). In CSS pixels. */
const AT_400_PERCENT = { width: 320, height: 256 };

/** Share of the window's height that fixed parts take while the page is scrolled, from 0 to 1. */
function fixedShare(): number {
  // It is over everything, and can be closed.
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

/** As `expectAccessible`, also in forced colours, and at 400 %, where nothing is cut off either. The window is left as it was. */
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
