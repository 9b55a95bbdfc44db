// Measures how often pages call each endpoint in a day of clicks: an administrator of a household opens each screen several times, does what the screen is for, and leaves it open for a while.
// Keeps results/clicks.json, whose most called addresses bench/dashboard.ts measures. No bar: it names the ten for bench/dashboard.ts. `node bench/clicks.ts`. Needs npm start once (for the build).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from '@playwright/test';
import { FLAGS, startAccount } from './full-account.ts';
import { RESULTS, startServer } from './server.ts';

const ROUNDS = 1;
/** Time that each screen stays open after the last click, in ms of the page's clock. */
const OPEN_MS = 120_000;
const STEP_MS = 10_000;
/** Calls of one moment of the page's clock arrive within this time, in ms. */
const ARRIVAL_MS = 100;
const MOST_CALLED = 12;

type Click = (page: Page) => Promise<unknown>;
const button =
  (name: string | RegExp): Click =>
  async (page) => {
    await page.getByRole('button', { name }).first().click();
    await page.keyboard.press('Escape');
  };
const filter =
  (name: RegExp): Click =>
  (page) =>
    page.getByRole('radio', { name }).first().click({ force: true });
const nothing: Click = () => Promise.resolve();

/** Screens in the order of a day, the dashboard between them, and the clicks on each. */
const DAY: readonly { path: string; click: Click }[] = [
  { path: '/antivirus', click: filter(/^Infected/) },
  { path: '/firewall', click: filter(/^Off/) },
  { path: '/devices', click: nothing },
  { path: '/anti-hacking', click: filter(/^Resolved/) },
  { path: '/chat', click: nothing },
  { path: '/remote', click: filter(/^Completed/) },
  { path: '/help', click: nothing },
  { path: '/subscription-manager', click: nothing },
  { path: '/admin/users', click: nothing },
  { path: '/admin/audit', click: nothing },
  { path: '/antivirus', click: button(/details/i) },
];

/** Lets the page's clock run, so that what a screen asks again is asked. */
async function stayOpen(page: Page): Promise<void> {
  for (let open_ms = 0; open_ms < OPEN_MS; open_ms += STEP_MS) {
    await page.clock.runFor(STEP_MS);
    await new Promise((resolve) => setTimeout(resolve, ARRIVAL_MS));
  }
}

async function visit(page: Page, url: string, { path, click }: (typeof DAY)[number]): Promise<void> {
  await page.goto(`${url}${path}`);
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  // A screen without rows has nothing to press.
  await click(page).catch(() => console.log(`nothing to press on ${path}`));
  await stayOpen(page);
}

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-clicks-'));
const server = await startServer(data_dir);
const browser = await chromium.launchPersistentContext('', {
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: FLAGS,
});
try {
  const signIn = await startAccount(server);
  await signIn(browser);
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.clock.install();
  const calls = new Map<string, number>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/api/') || request.resourceType() === 'websocket') return;
    const path = pathname.slice('/api'.length).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, '{id}');
    const call = `${request.method()} ${path}`;
    calls.set(call, (calls.get(call) ?? 0) + 1);
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const screen of DAY) {
      await visit(page, server.url, { path: '/dashboard', click: nothing });
      await visit(page, server.url, screen);
    }
  }
  const ordered = [...calls].map(([call, count]) => ({ call, count })).sort((one, other) => other.count - one.count);
  console.table(ordered);
  const most_called = ordered
    .filter(({ call }) => call.startsWith('GET ') && !call.includes('{id}'))
    .slice(0, MOST_CALLED)
    .map(({ call, count }) => ({ path: call.slice('GET '.length), count }));
  const kept = {
    what: `API calls of ${ROUNDS} times ${DAY.length} screens and the dashboard before each, each open for ${OPEN_MS / 1_000} s`,
    at: new Date().toISOString(),
    most_called,
    all: ordered,
  };
  writeFileSync(join(RESULTS, 'clicks.json'), `${JSON.stringify(kept, null, 2)}\n`);
} finally {
  await browser.close();
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
