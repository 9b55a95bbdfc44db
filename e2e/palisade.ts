import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type APIResponse, test as base, expect, type Page } from '@playwright/test';
import axe from 'axe-core';
import { z } from 'zod';
import { type Product, startProduct } from './product.ts';
import { startSideBySide } from './side-by-side.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const READ_OUTBOX = join(ROOT, 'server/dist/read-outbox.js');
const PASSWORD = 'a long enough password';
const recordSchema = z.record(z.string(), z.unknown());
const signedInSchema = z.object({ access_token: z.string(), user_info: z.unknown() });

/** The moment after which no journey begins any more, in ms since 1970; the gate sets it where it has a limit (scripts/test-deep.mjs). */
const LAST_BEGIN = Number(process.env['JOURNEYS_BEGIN_UNTIL'] ?? Number.POSITIVE_INFINITY);

/** A journey has a server of its own, fresh and empty, or with `servers: 2` two of them behind a proxy. Its address is the base of every page. */
export const test = base.extend<{ environment: Record<string, string>; servers: 1 | 2; server: Product }>({
  environment: [{}, { option: true }],
  servers: [1, { option: true }],
  server: async ({ environment, servers }, use, { retry, skip }) => {
    // A second attempt is made in any case: a failed journey does not end as a skipped one.
    skip(retry === 0 && Date.now() > LAST_BEGIN, '[needs more time than --minutes gives]');
    if (servers === 2) {
      const both = await startSideBySide(environment);
      await use(both);
      return await both.stop();
    }
    const data_dir = mkdtempSync(join(tmpdir(), 'palisade-journey-'));
    const server = await startProduct(data_dir, environment);
    await use(server);
    await server.stop();
    rmSync(data_dir, { recursive: true, force: true });
  },
  baseURL: async ({ server }, use) => {
    await use(server.url);
  },
});

/** Output of `npm run outbox`. */
export function readOutbox(DATA_DIR: string): string {
  return execFileSync(process.execPath, [READ_OUTBOX], { env: { DATA_DIR }, encoding: 'utf8' });
}

/** Registers on the screen that is open. */
export async function register(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name: 'Register' }).click();
  await page.getByLabel('Email').fill(`${name}@example.com`);
  await page.getByLabel('Username').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create Account' }).click();
  await expect(page.getByText(/^Registration successful! /)).toBeVisible();
}

/** The dashboard of a new account, signed in as by this browser: for journeys that begin behind the sign-in, at half of what the screens take. */
export async function openSignedIn(page: Page, name: string): Promise<void> {
  const headers = { 'user-agent': await page.evaluate(() => navigator.userAgent) };
  const [email, browser_id] = [`${name}@example.com`, randomUUID()];
  const registered = await page.request.post('/api/auth/register', {
    headers,
    data: { email, username: name, password: PASSWORD },
  });
  expect(registered.status()).toBe(201);
  const answer = await page.request.post('/api/auth/login', { headers, data: { email, password: PASSWORD, browser_id } });
  const { access_token, user_info } = signedInSchema.parse(await answer.json());
  await page.goto('/favicon.svg');
  await page.evaluate(
    (kept) => {
      for (const [key, value] of Object.entries(kept)) localStorage.setItem(key, value);
    },
    {
      'palisade.access_token': access_token,
      'palisade.user_info': JSON.stringify(user_info),
      'palisade.browser_id': browser_id,
    },
  );
  await page.goto('/dashboard');
  await expect(page.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
}

/** Registers through the screen at `address`, then signs in. */
export async function registerAndSignIn(page: Page, name: string, address = '/'): Promise<void> {
  await page.goto(address);
  await register(page, name);
  await signIn(page, name);
}

/** Signs in on the login tab. */
export async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(`${name}@example.com`);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign In' }).click();
  await expect(page.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
}

/** Token of calls beside the page. */
export async function headersOf(page: Page): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await page.evaluate(() => localStorage.getItem('palisade.access_token'))}` };
}

/** The first account of an installation administers it, so it can give itself a plan. Answers the session's headers. */
export async function givePremium(page: Page, name: string): Promise<Record<string, string>> {
  const headers = await headersOf(page);
  const plan = {
    user_email: `${name}@example.com`,
    plan_name: 'Family Shield',
    price: 19.99,
    duration_months: 12,
    max_devices: 5,
    is_premium: true,
    features: ['Anti-hacking monitor', 'Five devices', 'Remote support', 'Two scanning engines', 'Priority support'],
  };
  expect((await page.request.post('/api/admin/assign-subscription', { headers, data: plan })).status()).toBe(200);
  return headers;
}

/** A text of the record that a call answers; where it answers a list, of its first. */
export async function textOf(answer: APIResponse, field: string): Promise<string> {
  const found = z.union([recordSchema, z.array(recordSchema)]).parse(await answer.json());
  return z.string().parse((Array.isArray(found) ? found[0] : found)?.[field]);
}

/** A tab beside `page` that hears nothing of what others do, as one whose network has just come back. It says yes to every question. */
export async function openDeaf(page: Page, path: string): Promise<Page> {
  const deaf = await page.context().newPage();
  await deaf.routeWebSocket('**/api/events', () => undefined);
  deaf.on('dialog', (question) => void question.accept());
  await deaf.goto(path);
  return deaf;
}

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

/** As `expectAccessible`, on a small phone. The window is left as wide as it was. */
export async function expectAccessibleOnPhone(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 700 });
  await expectAccessible(page);
  if (before) await page.setViewportSize(before);
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

/** No violation of WCAG 2.2 AA and of axe's best practices on the page as it stands, in both schemes. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`)).toBeAttached();
    // A colour in the middle of a transition has no contrast to check.
    await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
    // Between the schemes nothing but colours differs.
    const found = await violationsOf(page, colorScheme === 'dark' ? undefined : OF_COLOURS);
    expect(found, colorScheme).toEqual([]);
  }
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

/** No violation on the page as it stands: its colours in dark, light and forced colours, all else at 400 %, where nothing is cut off either. The window is left as it was. */
export async function expectAccessibleInEveryMode(page: Page): Promise<void> {
  const before = page.viewportSize();
  for (const [colorScheme, forcedColors] of [
    ['light', 'none'],
    ['light', 'active'],
    ['dark', 'none'],
  ] as const) {
    await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: 'reduce' });
    await expect(page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`)).toBeAttached();
    await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
    expect(await violationsOf(page, OF_COLOURS), `${colorScheme}, forced colours ${forcedColors}`).toEqual([]);
  }
  await page.setViewportSize(AT_400_PERCENT);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(await violationsOf(page), 'at 400 %').toEqual([]);
  await expect.poll(() => page.evaluate(cutOff), { message: 'at 400 %', timeout: 3_000 }).toEqual([]);
  expect(await page.evaluate(fixedShare), 'what stays in place at 400 %').toBeLessThanOrEqual(0.5);
  if (before) await page.setViewportSize(before);
}
