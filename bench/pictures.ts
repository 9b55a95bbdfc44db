// Pictures of every screen: with nothing on the account, with a little, and with ten thousand records; 1440, 1024, 768 and 390 px wide, dark and light. For the
// eye alone: `node bench/pictures.ts <folder> [--fill=full] [--scheme=dark] [/firewall ...]`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCREENS_AND_SIGN_IN } from '@palisade/e2e/screens';
import { type BrowserContext, chromium } from '@playwright/test';
import { FLAGS, fillAccount, openAccount, startAccount } from './full-account.ts';
import { startServer } from './server.ts';

const WIDTHS = [1440, 1024, 768, 390];
const HEIGHTS: Record<number, number> = { 1440: 900, 1024: 768, 768: 1024, 390: 844 };
const FILLS = { none: openAccount, little: startAccount, full: fillAccount } as const;
const SCHEMES = ['dark', 'light'] as const;

const { values, positionals } = parseArgs({
  options: { fill: { type: 'string' }, scheme: { type: 'string' } },
  allowPositionals: true,
});
const [folder = join(tmpdir(), 'palisade-pictures'), ...wanted] = positionals;
const screens = wanted.length > 0 ? wanted : SCREENS_AND_SIGN_IN;

async function take(browser: BrowserContext, url: string, kind: string): Promise<void> {
  const page = await browser.newPage();
  for (const scheme of SCHEMES.filter((one) => values.scheme === undefined || one === values.scheme)) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const path of screens) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHTS[width] ?? 900 });
        await page.goto(`${url}${path}`);
        await page.waitForLoadState('networkidle');
        const name = `${path.slice(1).replaceAll('/', '-') || 'sign-in'}.${width}.${scheme}.${kind}.png`;
        await page.screenshot({ path: join(folder, name) });
      }
    }
  }
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
