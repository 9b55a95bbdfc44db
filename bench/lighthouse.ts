// Measures Lighthouse scores of the built application, desktop and phone: the sign-in screen, and each screen behind it with a full account (full-account.ts).
// Bars: performance 98 on the desktop and 90 on a phone, accessibility 100, shift 0.02. Keeps results/lighthouse.json; with paths as arguments only those screens are measured and replaced.
// npm fetches Lighthouse when this runs; the browser is the system's Chromium.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SCREENS_AND_SIGN_IN } from '@palisade/e2e/screens';
import { chromium } from '@playwright/test';
import { z } from 'zod';
import { freePort } from './free-port.ts';
import { AMOUNTS, FLAGS, fillAccount } from './full-account.ts';
import { describeMachine, RESULTS, ROOT, startServer } from './server.ts';

const LIGHTHOUSE = 'lighthouse@13.5.0';
const SCREENS = process.argv.length > 2 ? process.argv.slice(2) : SCREENS_AND_SIGN_IN;
const CATEGORIES = ['performance', 'accessibility', 'best-practices'];
/** Parts of the performance score, in ms; kept to explain a low score. */
const METRICS = ['first-contentful-paint', 'largest-contentful-paint', 'speed-index', 'total-blocking-time'] as const;
/** Bars of each screen: scores of 100, and how far what is drawn may move (cumulative layout shift). */
const BARS = { desktop: 98, mobile: 90, accessibility: 100, shift: 0.02 } as const;
const RESULT = join(RESULTS, 'lighthouse.json');

const reportSchema = z.object({
  categories: z.record(z.string(), z.object({ score: z.number().nullable() })),
  audits: z.record(
    z.string(),
    z.object({
      title: z.string(),
      score: z.number().nullable(),
      scoreDisplayMode: z.string(),
      numericValue: z.number().optional(),
    }),
  ),
});

async function audit(url: string, port: number, form: 'desktop' | 'mobile') {
  const preset = form === 'desktop' ? ['--preset=desktop'] : [];
  const args = [
    'exec',
    '--yes',
    `--package=${LIGHTHOUSE}`,
    '--',
    'lighthouse',
    url,
    `--port=${port}`,
    '--output=json',
    '--quiet',
    '--disable-storage-reset',
  ];
  const { stdout } = await promisify(execFile)('npm', [...args, `--only-categories=${CATEGORIES.join(',')}`, ...preset], {
    maxBuffer: 256 * 1024 * 1024,
    cwd: ROOT,
  });
  const report = reportSchema.parse(JSON.parse(stdout));
  const scoreOf = (name: string) => Math.round((report.categories[name]?.score ?? 0) * 100);
  const scores = Object.fromEntries(CATEGORIES.map((name) => [name, scoreOf(name)]));
  const shift = Math.round((report.audits['cumulative-layout-shift']?.numericValue ?? Number.NaN) * 1_000) / 1_000;
  const reached = scoreOf('performance') >= BARS[form] && scoreOf('accessibility') >= BARS.accessibility && shift <= BARS.shift;
  const failed = Object.entries(report.audits)
    .filter(([, { score, scoreDisplayMode }]) => scoreDisplayMode === 'binary' && score === 0)
    .map(([id]) => id);
  const metrics = Object.fromEntries(METRICS.map((name) => [name, Math.round(report.audits[name]?.numericValue ?? Number.NaN)]));
  return { ...scores, shift, metrics, reached, failed, load: Math.round((loadavg()[0] ?? 0) * 10) / 10 };
}

const keptSchema = z.object({ results: z.array(z.looseObject({ screen: z.string(), form: z.string() })) });

/** Results of an earlier run for screens that this one leaves out. */
function resultsBefore(): z.infer<typeof keptSchema>['results'] {
  if (SCREENS === SCREENS_AND_SIGN_IN) return [];
  return keptSchema.parse(JSON.parse(readFileSync(RESULT, 'utf8'))).results.filter(({ screen }) => !SCREENS.includes(screen));
}

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-lighthouse-'));
const server = await startServer(data_dir);
const port = await freePort();
const browser = await chromium.launchPersistentContext('', {
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: [...FLAGS, `--remote-debugging-port=${port}`],
});
try {
  const signIn = await fillAccount(server, data_dir);
  const results = resultsBefore();
  // The sign-in screen first: behind it the browser is signed in.
  for (const path of SCREENS.toSorted((one, other) => Number(other === '/') - Number(one === '/'))) {
    for (const form of ['desktop', 'mobile'] as const) {
      if (path !== '/' && !(await isSignedIn())) await signIn(browser);
      const scores = await audit(`${server.url}${path}`, port, form);
      results.push({ screen: path, form, ...scores });
      console.log(path, form, JSON.stringify(scores));
    }
  }
  mkdirSync(RESULTS, { recursive: true });
  const kept = {
    what: `${LIGHTHOUSE} scores of the built application, signed in to a full account`,
    at: new Date().toISOString(),
    machine: describeMachine(),
    amounts: AMOUNTS,
    bars: BARS,
    results: results.toSorted(
      (one, other) => SCREENS_AND_SIGN_IN.indexOf(one.screen) - SCREENS_AND_SIGN_IN.indexOf(other.screen),
    ),
  };
  writeFileSync(RESULT, `${JSON.stringify(kept, null, 2)}\n`);
} finally {
  await browser.close();
  await server.stop();
}

async function isSignedIn(): Promise<boolean> {
  const { origins } = await browser.storageState();
  return origins.some(({ localStorage }) => localStorage.some(({ name }) => name === 'palisade.access_token'));
}
