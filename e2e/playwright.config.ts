import { defineConfig } from '@playwright/test';

/** Flags for a Chromium that stays offline and runs in a container. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Domain names of a reverse proxy in front of the server; .example is reserved (RFC 2606).
  '--host-resolver-rules=MAP *.example 127.0.0.1',
];

export default defineConfig({
  testDir: '.',
  outputDir: 'results',
  // Each worker starts a server with its own engine processes.
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env['CI']),
  // Retries once with a trace; the last lines of `npm test` name journeys that passed only then.
  retries: 1,
  // Generous for a slow machine with two journeys at once; no journey waits for it.
  timeout: 240_000,
  expect: { timeout: 15_000 },
  reporter: [['list'], ['json']],
  use: {
    browserName: 'chromium',
    headless: true,
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    // Only `installed.spec.ts` allows it: cached files would falsify the measurements of other journeys.
    serviceWorkers: 'block',
    trace: 'on-first-retry',
    launchOptions: {
      executablePath: process.env['CHROMIUM_OF_PAGES'] ?? process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
      args: FLAGS,
    },
  },
});
