import { expect, type Page } from '@playwright/test';
import { expectAccessibleInEveryMode, expectNothingCovered, expectNothingCutOff, smallTargets } from './accessible.ts';
import type { Installation } from './installation.ts';
import { chooseInMenu, post, scanBeside, test } from './palisade.ts';
import { cleanPdf, eicarFile } from './samples.ts';
import { SCREENS } from './screens.ts';

// Checks of every screen and dialog that need a browser, also with texts of maximum length.

/** Largest layout shift while a screen loads (cumulative layout shift). */
const SHIFT_MAXIMUM = 0.02;
const PHONE = { width: 412, height: 823 };
const DESKTOP = { width: 1440, height: 900 };

/** Formats of times on all screens: time of today and yesterday, date of this year and of another year, age, and full date. */
const MOMENTS = [
  /^(?:today|yesterday), \d{1,2}:\d\d(?: [AP]M)?$/u,
  /^(?:\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} \d{1,2}), \d{1,2}:\d\d(?: [AP]M)?$/u,
  // A plan's end includes time and zone if UTC has another date, as in the last hours before midnight.
  /^(?:\d{1,2} [A-Z][a-z]{2,8}|[A-Z][a-z]{2,8} \d{1,2},?) \d{4}(?: \(\d\d:\d\d \S+\))?$/u,
  /^(?:just now|(?:\d+ )?\w+ ago)$/u,
];

/** Records layout shifts, and violations of the Content-Security-Policy. */
const NOTES = `
  window.moved = [];
  window.refused = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) window.moved.push({ value, what: sources.map(({ node }) => node?.className ?? String(node)) });
  }).observe({ type: 'layout-shift', buffered: true });
  addEventListener('securitypolicyviolation', (event) => window.refused.push(event.violatedDirective));
`;

/** An administrator's window with a record of each kind. */
async function openFull(palisade: Installation): Promise<Page> {
  const page = await palisade.open('maria', '/dashboard', { role: 'admin', is_premium: true });
  await page.addInitScript(NOTES);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const file of [eicarFile, cleanPdf]) await scanBeside(page, file);
  await post(page, '/firewall/rules', { rule_name: 'Web', port: '443' });
  await post(page, '/remote/session');
  await post(page, '/premium/anti-hacking/simulate-threat');
  const client = await page.context().newCDPSession(page);
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  return page;
}

/** Adds records with texts of maximum length. */
async function addLong(palisade: Installation, page: Page): Promise<void> {
  await palisade.addTemplate('A plan of the longest name that anybody would think of, and then some more');
  await scanBeside(page, { ...cleanPdf, name: `${'the accounts of a very long year '.repeat(4)}.pdf.exe` });
  const source_ip = Array(20).fill('2001:db8:1234:5678:9abc:def0:1234:5678').join(',');
  await post(page, '/firewall/rules', { rule_name: 'A'.repeat(100), source_ip, port: '1-65535' });
  await post(page, '/chat/messages', { message: `Hello ${'W'.repeat(300)}`, sender: 'user' });
}

/** Names of animations and transitions that take longer than a frame. They are expected to be none under reduced motion. */
const runningAnimations = `document.getAnimations()
  .filter((one) => one.playState === 'running' && one.effect.getComputedTiming().activeDuration > 20)
  .map((one) => one.animationName ?? one.transitionProperty)`;

/** Loads a screen on a phone without layout shifts, motion or refused content. */
async function arrive(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' });
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const moved = await page.evaluate<{ value: number; what: string[] }[]>('window.moved');
  const shift = moved.reduce((sum, { value }) => sum + value, 0);
  expect(shift, JSON.stringify(moved)).toBeLessThanOrEqual(SHIFT_MAXIMUM);
  expect(await page.evaluate('window.refused')).toEqual([]);
  expect(await page.evaluate(runningAnimations), 'Motion stops where a person asks for less of it.').toEqual([]);
}

/** Expects times and selects to have the same form on all screens. */
async function expectOneForm(page: Page): Promise<void> {
  const moments = await page.locator('time').allTextContents();
  expect(moments.filter((text) => !MOMENTS.some((form) => form.test(text)))).toEqual([]);
  for (const select of await page.locator('select').all()) {
    // The icon of the project replaces the browser's own arrow.
    await expect(select).toHaveCSS('appearance', 'none');
    await expect(select.locator('xpath=ancestor::*[.//*[local-name()="svg"]][1]')).toBeVisible();
  }
}

const half = Math.ceil(SCREENS.length / 2);
for (const screens of [SCREENS.slice(0, half), SCREENS.slice(half)]) {
  // proves: product-2.5-1, product-2.8-2, product-2.8-3, product-2.8-6, product-2.8-8, product-2.8-15, product-2.9-3, asvs-1.3.2, asvs-3.4.3, asvs-14.2.3
  test(`the screens from ${screens[0]} to ${screens.at(-1)} are whole and accessible in every mode and at every width`, async ({
    palisade,
  }) => {
    test.setTimeout(600_000);
    const page = await openFull(palisade);
    await page.setViewportSize(PHONE);
    for (const path of screens) {
      await test.step(`${path} arrives`, async () => {
        await arrive(page, path);
        await expectOneForm(page);
      });
    }
    await addLong(palisade, page);
    await page.setViewportSize(DESKTOP);
    for (const path of screens) {
      await test.step(path, async () => {
        await page.goto(path, { waitUntil: 'networkidle' });
        expect(await page.evaluate(smallTargets)).toEqual([]);
        await expectNothingCovered(page);
        await expectNothingCutOff(page);
        await expectAccessibleInEveryMode(page);
      });
    }
  });
}

const DIALOGS: { name: string; path: string; open: (page: Page) => Promise<void> }[] = [
  { name: 'profile', path: '/dashboard', open: (page) => chooseInMenu(page, 'Profile Settings') },
  { name: 'security', path: '/dashboard', open: (page) => chooseInMenu(page, 'Security Preferences') },
  { name: 'scan', path: '/antivirus', open: (page) => page.getByRole('link', { name: eicarFile.name }).click() },
  { name: 'rule', path: '/firewall', open: (page) => page.getByRole('button', { name: 'Add Rule' }).click() },
  { name: 'talk', path: '/chat', open: (page) => page.getByRole('button', { name: 'Video and live chat' }).click() },
  {
    name: 'alert',
    path: '/anti-hacking',
    open: (page) => page.getByRole('list', { name: 'Simulated threats' }).getByRole('link').first().click(),
  },
  {
    name: 'user',
    path: '/admin/users',
    open: (page) => page.getByRole('main').getByRole('button', { name: /maria/ }).first().click(),
  },
];

test('the sign-in screen, its ways and every dialog are accessible in every mode', async ({ palisade }) => {
  test.setTimeout(300_000);
  const stranger = await palisade.window();
  for (const mode of ['login', 'register', 'forgot-password', 'reset-password', 'recover-username']) {
    await test.step(mode, async () => {
      await stranger.goto(`/?mode=${mode}`);
      await expect(stranger.locator('button[type="submit"]')).toBeVisible();
      await expectNothingCutOff(stranger);
      await expectAccessibleInEveryMode(stranger);
    });
  }
  const page = await openFull(palisade);
  for (const { name, path, open } of DIALOGS) {
    await test.step(name, async () => {
      await page.goto(path, { waitUntil: 'networkidle' });
      await open(page);
      await expect(page.getByRole('dialog')).toBeVisible();
      await expectNothingCutOff(page);
      await expectAccessibleInEveryMode(page);
    });
  }
});
