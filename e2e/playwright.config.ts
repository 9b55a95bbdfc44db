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
  // Names under which strangers open a server that is on this machine; there is no such domain (RFC 2606).
  '--host-resolver-rules=MAP *.example 127.0.0.1',
];

export default defineConfig({
  testDir: '.',
  outputDir: 'results',
  // Each worker has a server with engine processes of its own.
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env['CI']),
  // Once more, with a trace: a journey that passes only then is named in the closing lines of `npm test`.
  retries: 1,
  // On a slow machine with two journeys at once. No journey waits for it to pass.
  timeout: 240_000,
  expect: { timeout: 15_000 },
  reporter: [['list'], ['json']],
  use: {
    browserName: 'chromium',
    headless: true,
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    // Of the journeys `installed.spec.ts` alone has it: files from its cache would make the figures of others.
    serviceWorkers: 'block',
    trace: 'on-first-retry',
    launchOptions: {
      executablePath: process.env['CHROMIUM_OF_PAGES'] ?? process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
      args: FLAGS,
    },
  },
});
