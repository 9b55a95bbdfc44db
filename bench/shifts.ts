// Measures what moves on each screen of a full account while it arrives: layout shifts with their elements, the largest paint, the time in which the page cannot answer. Desktop and phone, fast and slow line.
// No bar of its own (e2e/alike.spec.ts holds 0.02). `node bench/shifts.ts [/firewall ...]` prints; nothing is kept.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCREENS_AND_SIGN_IN } from '@palisade/e2e/screens';
import { type BrowserContext, chromium } from '@playwright/test';
import { z } from 'zod';
import { FLAGS, fillAccount } from './full-account.ts';
import { startServer } from './server.ts';

const FORMS = [
  { form: 'desktop', viewport: { width: 1350, height: 940 }, slow: false },
  { form: 'phone', viewport: { width: 412, height: 823 }, slow: false },
  { form: 'slow phone', viewport: { width: 412, height: 823 }, slow: true },
] as const;

/** A phone's processor, and the line that Lighthouse calls slow 4G. */
const SLOW = { rate: 4, latency: 150, download: 1_600_000 / 8, upload: 750_000 / 8 };

const WATCH = `
  window.moved = []; window.paint = undefined; window.blocked = 0;
  const nameOf = (node) => node && node.nodeType === 1 ? node.tagName.toLowerCase() + (node.className && node.className.baseVal === undefined ? '.' + String(node.className).split(' ').join('.') : '') : String(node && node.parentElement && nameOf(node.parentElement));
  const rect = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved.push({
    at: Math.round(entry.startTime), shift: entry.value,
    sources: entry.sources.map((one) => nameOf(one.node) + ' [' + rect(one.previousRect) + '] -> [' + rect(one.currentRect) + ']'),
  }); }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.paint = Math.round(entry.startTime) + ' ' + nameOf(entry.element); })
    .observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.blocked += Math.max(0, entry.duration - 50); })
    .observe({ type: 'longtask', buffered: true });
`;

const seenSchema = z.object({
  moved: z.array(z.object({ at: z.number(), shift: z.number(), sources: z.array(z.string()) })),
  paint: z.string().optional(),
  blocked: z.number(),
});

async function watch(browser: BrowserContext, url: string, { form, viewport, slow }: (typeof FORMS)[number]): Promise<void> {
  const page = await browser.newPage();
  await page.setViewportSize(viewport);
  await page.addInitScript(WATCH);
  const client = await page.context().newCDPSession(page);
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  if (slow) {
    await client.send('Emulation.setCPUThrottlingRate', { rate: SLOW.rate });
    await client.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: SLOW.latency,
      downloadThroughput: SLOW.download,
      uploadThroughput: SLOW.upload,
    });
  }
  await page.goto(url);
  await page.waitForLoadState('networkidle');
  await page.evaluate('new Promise((done) => setTimeout(done, 1500))');
  const { moved, paint, blocked } = seenSchema.parse(
    await page.evaluate('({ moved: window.moved, paint: window.paint, blocked: window.blocked })'),
  );
  const total = moved.reduce((sum, { shift }) => sum + shift, 0);
  console.log(
    `${new URL(url).pathname} ${form}: shift ${total.toFixed(3)}, largest paint ${paint}, blocked ${Math.round(blocked)} ms`,
  );
  for (const { at, shift, sources } of moved) {
    if (shift >= 0.001) console.log(`  ${shift.toFixed(4)} at ${at} ms\n    ${sources.join('\n    ')}`);
  }
  await page.close();
}

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-shifts-'));
const server = await startServer(data_dir);
const browser = await chromium.launchPersistentContext('', {
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: FLAGS,
});
try {
  const signIn = await fillAccount(server, data_dir);
  const screens = process.argv.length > 2 ? process.argv.slice(2) : SCREENS_AND_SIGN_IN;
  // The sign-in screen first: behind it the browser is signed in.
  if (screens.includes('/')) for (const form of FORMS) await watch(browser, server.url, form);
  await signIn(browser);
  for (const path of screens.filter((one) => one !== '/'))
    for (const form of FORMS) await watch(browser, `${server.url}${path}`, form);
} finally {
  await browser.close();
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
