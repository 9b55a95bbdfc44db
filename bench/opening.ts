// Measures how long the application takes to open when signed in, with a warm cache, on a phone (412 x 823, CPU slowed down four times, Lighthouse's slow 4G): from the navigation to the figures of
// the dashboard, with a breakdown of the time. Limit: p75 400 ms. Prints a table and writes opening.json. `node bench/opening.ts`. Needs npm start once (for the build).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from '@playwright/test';
import { z } from 'zod';
import { FLAGS, signInto, startAccount } from './full-account.ts';
import { keepResult, startServer } from './server.ts';

const RUNS = 20;
/** Time that the page stays open, in ms. Chromium stores the compiled code some seconds after a page has loaded. */
const STAY_MS = 6_000;
const PHONE = { width: 412, height: 823 } as const;
/** `rate` is the factor by which the CPU is slowed down; latency in ms, throughput in bytes per second. */
const PROFILES = {
  desktop: { rate: 1, line: undefined },
  'slow processor': { rate: 4, line: undefined },
  'slow processor, slow line': { rate: 4, line: { latency: 150, downloadThroughput: 204_800, uploadThroughput: 93_750 } },
} as const;

const WATCH = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('main .hero') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.figuresAt = performance.now(); }));
  }).observe(document, { subtree: true, childList: true });
`;
const seenSchema = z.object({ document_ms: z.number(), status_ms: z.number(), answered_ms: z.number(), figures_ms: z.number() });
type Seen = z.infer<typeof seenSchema>;

async function open(
  browser: BrowserContext,
  url: string,
  { rate, line }: (typeof PROFILES)[keyof typeof PROFILES],
  stay_ms: number,
): Promise<Seen> {
  const page = await browser.newPage();
  await page.setViewportSize(PHONE);
  await page.addInitScript(WATCH);
  const client = await page.context().newCDPSession(page);
  await client.send('Emulation.setCPUThrottlingRate', { rate });
  if (line !== undefined) await client.send('Network.emulateNetworkConditions', { offline: false, ...line });
  await page.goto(`${url}/dashboard`);
  await page.locator('main .hero').waitFor();
  // `evaluate` with a promise, because the page's content security policy blocks `waitForFunction`.
  await page.evaluate(
    'new Promise((done) => { const look = () => (window.figuresAt === undefined ? setTimeout(look, 5) : done()); look(); })',
  );
  const seen = seenSchema.parse(
    await page.evaluate(`(() => {
      const document_ms = performance.getEntriesByType('navigation')[0].responseEnd;
      const status = performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/api/dashboard/status'));
      return { document_ms, status_ms: status.startTime, answered_ms: status.responseEnd, figures_ms: window.figuresAt };
    })()`),
  );
  await page.waitForTimeout(stay_ms);
  await page.close();
  return seen;
}

const quantile = (values: readonly number[], part: number) =>
  Math.round(values.toSorted((one, other) => one - other)[Math.ceil(values.length * part) - 1] ?? 0);

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-opening-'));
const server = await startServer(data_dir);
const browser = await chromium.launchPersistentContext('', {
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: FLAGS,
});
try {
  await startAccount(server);
  // A customer, because an administrator's own figures are collapsed on a phone.
  await signInto(server.url, await server.signIn('maria'))(browser);
  const results = [];
  for (const [name, profile] of Object.entries(PROFILES)) {
    const seen: Seen[] = [];
    // The first two runs fill the caches of files and of compiled code.
    for (let run = -2; run < RUNS; run += 1) {
      const one = await open(browser, server.url, profile, run < 0 ? STAY_MS : 0);
      if (run >= 0) seen.push(one);
    }
    const medianOf = (key: keyof Seen) =>
      quantile(
        seen.map((one) => one[key]),
        0.5,
      );
    results.push({
      profile: name,
      p75_ms: quantile(
        seen.map(({ figures_ms }) => figures_ms),
        0.75,
      ),
      ...{ document_ms: medianOf('document_ms'), asked_ms: medianOf('status_ms') },
      ...{ answered_ms: medianOf('answered_ms'), figures_ms: medianOf('figures_ms') },
    });
  }
  console.table(results);
  keepResult('opening', {
    what: `From the navigation to the dashboard's figures, warm, ${RUNS} times; medians but p75`,
    bar_ms: 400,
    results,
  });
} finally {
  await browser.close();
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
