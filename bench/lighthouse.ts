// Lighthouse over the built application, desktop and mobile: the sign-in screen, and each screen behind it in a browser that is signed in. Keeps the
// scores in results/lighthouse.json. Lighthouse is fetched by npm when this runs; the browser is the system's Chromium.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from '@playwright/test';
import { z } from 'zod';
import { describeMachine, RESULTS, ROOT, startServer } from './server.ts';

const LIGHTHOUSE = 'lighthouse@13.5.0';
const ALL_SCREENS = [
  '/',
  '/dashboard',
  '/antivirus',
  '/firewall',
  '/remote',
  '/portal',
  '/chat',
  '/live-chat',
  '/anti-hacking',
  '/subscription-manager',
  '/admin/setup',
  '/admin/outbox',
];
const SCREENS = process.argv.length > 2 ? process.argv.slice(2) : ALL_SCREENS;
const CATEGORIES = ['performance', 'accessibility', 'best-practices'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const reportSchema = z.object({
  categories: z.record(z.string(), z.object({ score: z.number().nullable() })),
  audits: z.record(z.string(), z.object({ title: z.string(), score: z.number().nullable(), scoreDisplayMode: z.string() })),
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0));
    });
  });
}

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
  const scores = Object.fromEntries(CATEGORIES.map((name) => [name, Math.round((report.categories[name]?.score ?? 0) * 100)]));
  const failed = Object.entries(report.audits)
    .filter(([, { score, scoreDisplayMode }]) => scoreDisplayMode === 'binary' && score === 0)
    .map(([id]) => id);
  return { ...scores, failed };
}

const server = await startServer();
const port = await freePort();
const browser = await chromium.launchPersistentContext('', {
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: [...FLAGS, `--remote-debugging-port=${port}`],
});
try {
  const account = await server.signIn();
  const results = [];
  let signedIn = false;
  for (const path of SCREENS) {
    if (path !== '/' && !signedIn) {
      signedIn = true;
      const page = await browser.newPage();
      await page.goto(server.url);
      await page.getByLabel('Email').fill(account.email);
      await page.getByLabel('Password', { exact: true }).fill(account.password);
      await page.getByRole('button', { name: 'Sign In' }).click();
      await page.getByRole('heading', { level: 1, name: /dashboard/i }).waitFor();
      await page.close();
    }
    for (const form of ['desktop', 'mobile'] as const) {
      const scores = await audit(`${server.url}${path}`, port, form);
      results.push({ screen: path, form, ...scores });
      console.log(path, form, JSON.stringify(scores));
    }
  }
  mkdirSync(RESULTS, { recursive: true });
  const kept = {
    what: `${LIGHTHOUSE} scores of the built application`,
    at: new Date().toISOString(),
    machine: describeMachine(),
    results,
  };
  writeFileSync(join(RESULTS, 'lighthouse.json'), `${JSON.stringify(kept, null, 2)}\n`);
} finally {
  await browser.close();
  await server.stop();
}
