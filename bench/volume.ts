// Measures the screens of a full account (10,000 scans, 1,000 alerts, 500 rules) and of an administrator of 5,000 people: time to the rows, press to paint, elements, shift. p75 of 20 visits.
// Bars: press to paint 100 ms, 2,500 elements, shift 0.02. Keeps results/volume.json. `node bench/volume.ts`. Needs npm start once (for the build).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from '@playwright/test';
import { z } from 'zod';
import { AMOUNTS, FLAGS, fillAccount } from './full-account.ts';
import { describeMachine, RESULTS, startServer } from './server.ts';

const VISITS = 20;
const BARS = { press_to_paint_ms: 100, elements: 2_500, shift: 0.02 } as const;

/** Each screen, what shows that its rows are there, and something to press. */
const SCREENS = [
  { path: '/dashboard', there: 'main h1', press: undefined },
  { path: '/antivirus', there: '[aria-label="Scans"] li', press: 'Infected' },
  { path: '/firewall', there: '.rule-row', press: 'Off' },
  { path: '/remote', there: '.remote-session', press: 'Completed' },
  { path: '/chat', there: '[role="log"] li, [role="log"] article, [role="log"] p', press: undefined },
  { path: '/anti-hacking', there: '[aria-label="Alerts"] li', press: 'Resolved' },
  { path: '/admin/users', there: '.records tbody tr, .record-card', press: undefined },
  { path: '/admin/audit', there: 'main li, main tbody tr', press: undefined },
] as const;

/** Paints as the page itself sees them. */
const WATCH = `
  window.measured = { shift: 0, press: 0 };
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.measured.shift += entry.value; })
    .observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.measured.press = Math.max(window.measured.press, entry.duration); })
    .observe({ type: 'event', durationThreshold: 16, buffered: true });
`;
const measuredSchema = z.object({ shift: z.number(), press: z.number() });

interface Visit {
  rows_ms: number;
  press_ms: number;
  elements: number;
  shift: number;
  height: number;
}

async function visit(page: Page, url: string, { there, press }: (typeof SCREENS)[number]): Promise<Visit> {
  const began = performance.now();
  await page.goto(url);
  await page.locator(there).first().waitFor();
  const rows_ms = performance.now() - began;
  await page.waitForLoadState('networkidle');
  const { elements, height } = z
    .object({ elements: z.int(), height: z.int() })
    .parse(
      await page.evaluate(
        '({ elements: document.querySelectorAll("*").length, height: document.scrollingElement.scrollHeight })',
      ),
    );
  if (press !== undefined) {
    await page.getByRole('radio', { name: new RegExp(`^${press}`, 'u') }).click({ force: true });
    await page.waitForLoadState('networkidle');
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))');
  }
  const { shift, press: press_ms } = measuredSchema.parse(await page.evaluate('window.measured'));
  return { rows_ms, press_ms, elements, shift, height };
}

function p75(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.75) - 1] ?? Number.NaN;
}

async function measure(browser: BrowserContext, url: string) {
  const results = [];
  for (const screen of SCREENS) {
    const visits: Visit[] = [];
    const page = await browser.newPage();
    await page.addInitScript(WATCH);
    for (let count = 0; count < VISITS; count += 1) visits.push(await visit(page, `${url}${screen.path}`, screen));
    await page.close();
    const of = (key: keyof Visit) => Math.round(p75(visits.map((one) => one[key])) * 1_000) / 1_000;
    const result = {
      screen: screen.path,
      rows_ms: Math.round(of('rows_ms')),
      press_to_paint_ms: screen.press === undefined ? null : of('press_ms'),
      elements: of('elements'),
      shift: of('shift'),
      height_px: of('height'),
    };
    results.push({
      ...result,
      reached:
        (result.press_to_paint_ms ?? 0) <= BARS.press_to_paint_ms &&
        result.elements <= BARS.elements &&
        result.shift <= BARS.shift,
    });
    console.log(JSON.stringify(results.at(-1)));
  }
  return results;
}

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-volume-'));
const server = await startServer(data_dir);
const browser = await chromium.launchPersistentContext('', {
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: FLAGS,
  viewport: { width: 1440, height: 900 },
});
try {
  const signIn = await fillAccount(server, data_dir);
  await signIn(browser);
  const results = await measure(browser, server.url);
  const kept = {
    what: `p75 of ${VISITS} visits to each screen of a full account, Chromium at 1440 px`,
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 },
    amounts: AMOUNTS,
    bars: BARS,
    results,
  };
  writeFileSync(join(RESULTS, 'volume.json'), `${JSON.stringify(kept, null, 2)}\n`);
} finally {
  await browser.close();
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
