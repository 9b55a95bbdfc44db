// Takes pictures of every screen with no, few and ten thousand records, in the windows of snap.ts, dark and light. For the eye; measures nothing.
// `node bench/pictures.ts <folder> [--fill=full] [--scheme=dark] [--width=390,320] [--pseudo=rtl] [--whole] [/firewall ...]`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCREENS_AND_SIGN_IN } from '@palisade/e2e/screens';
import { type BrowserContext, chromium } from '@playwright/test';
import { FLAGS, fillAccount, openAccount, startAccount } from './full-account.ts';
import { startServer } from './server.ts';
import { SNAP_OPTIONS, snap } from './snap.ts';

const FILLS = { none: openAccount, little: startAccount, full: fillAccount } as const;

const { values, positionals } = parseArgs({ options: SNAP_OPTIONS, allowPositionals: true });
const [folder = join(tmpdir(), 'palisade-pictures'), ...wanted] = positionals;
const screens = wanted.length > 0 ? wanted : SCREENS_AND_SIGN_IN;

async function take(browser: BrowserContext, url: string, kind: string): Promise<void> {
  const page = await browser.newPage();
  for (const path of screens)
    await snap(page, `${url}${path}`, folder, path.slice(1).replaceAll('/', '-') || 'sign-in', kind, values);
  await page.close();
}

mkdirSync(folder, { recursive: true });
for (const [kind, fill] of Object.entries(FILLS)) {
  if (values.fill !== undefined && values.fill !== kind) continue;
  const data_dir = mkdtempSync(join(tmpdir(), 'palisade-pictures-'));
  const server = await startServer(data_dir);
  const browser = await chromium.launchPersistentContext('', {
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  try {
    await (await fill(server, data_dir))(browser);
    await take(browser, server.url, kind);
  } finally {
    await browser.close();
    await server.stop();
    rmSync(data_dir, { recursive: true, force: true });
  }
}
