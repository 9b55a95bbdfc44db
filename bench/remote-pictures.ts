// Takes pictures of a remote session from both sides in each state, and of the administrators' list; 1440, 1024, 768 and 390 px wide, dark and light, whole pages. For the eye; measures nothing.
// `node bench/remote-pictures.ts <folder> [--only=technician]`. Needs npm run build once, Chromium, Xvfb, xterm and x11vnc.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { banner, meet, picture, SHARES, shareOwnTab, sharing, workspace } from '@palisade/e2e/session';
import { chromium, expect, type Page } from '@playwright/test';
import { z } from 'zod';
import { FLAGS } from './full-account.ts';
import { startAgent, startDesktop } from './remote-control.ts';
import { startServer } from './server.ts';

const { values, positionals } = parseArgs({ options: { only: { type: 'string', default: '' } }, allowPositionals: true });
const [into = join(tmpdir(), 'palisade-remote-pictures')] = positionals;
mkdirSync(into, { recursive: true });

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
] as const;

async function snap(page: Page, name: string): Promise<void> {
  if (!name.includes(values.only)) return;
  const before = page.viewportSize() ?? SIZES[0];
  for (const size of SIZES)
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Fixed parts are at the top of the picture.
      await page.evaluate(() => {
        scrollTo(0, 0);
        return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      });
      await page.screenshot({ path: join(into, `${name}-${size.width}-${colorScheme}.png`), fullPage: true });
    }
  await page.setViewportSize(before);
}

const folder = mkdtempSync(join(tmpdir(), 'palisade-pictures-'));
const data_dir = join(folder, 'data');
mkdirSync(data_dir);
const server = await startServer(data_dir);
const desktop = await startDesktop(folder);
const launch = (more: readonly string[]) =>
  chromium.launch({ executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium', args: [...FLAGS, ...more] });
const MICROPHONE = '--use-fake-device-for-media-stream';
const [one, other] = [await launch([MICROPHONE]), await launch([...SHARES, MICROPHONE])];
let agent: { stop(): void } | undefined;
try {
  const permissions = ['microphone'];
  const page = await (await one.newContext({ baseURL: server.url, viewport: SIZES[0], locale: 'en-GB', permissions })).newPage();
  const { customer } = await meet(page, other, server.url, { viewport: SIZES[0], locale: 'en-GB', permissions });
  await shareOwnTab(customer);
  await customer.reload();
  await expect(banner(customer).getByRole('button', { name: 'Approve', exact: true })).toBeVisible();
  await snap(customer, 'customer-asked');
  await snap(page, 'technician-waiting');

  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(picture(page)).toBeVisible({ timeout: 30_000 });
  await expect(sharing(customer)).toBeVisible();
  await snap(customer, 'customer-sharing');
  await snap(page, 'technician-picture');

  const voiceOf = (side: Page) => side.getByRole('region', { name: 'Talk by voice' });
  await voiceOf(page).getByRole('button', { name: 'Turn my voice on' }).click();
  await expect(voiceOf(customer).getByRole('alert')).toBeVisible();
  await workspace(page).getByRole('button', { name: 'Ask to record' }).click();
  await snap(customer, 'customer-voice-asked');
  await voiceOf(customer).getByRole('button', { name: 'Turn my voice on' }).click();
  await voiceOf(customer).getByRole('button', { name: 'Unmute' }).click();
  await expect(voiceOf(page)).toContainText('You hear maria.');
  await snap(customer, 'customer-voice');
  await snap(page, 'technician-voice');

  await customer.keyboard.press('Alt+Shift+P');
  await expect(sharing(customer)).toContainText('tina sees black.');
  await snap(customer, 'customer-paused');
  await snap(page, 'technician-paused');
  await sharing(customer).getByRole('button', { name: 'Show again' }).click();

  // A computer of hers, through its agent.
  const token = await customer.evaluate(() => localStorage.getItem('palisade.access_token'));
  agent = await startAgent(
    folder,
    server.url,
    {
      async code() {
        const made = await fetch(`${server.url}/api/devices/enrolment-code`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
        });
        return z.object({ code: z.string() }).parse(await made.json()).code;
      },
    },
    desktop,
  );
  const grants = customer.getByRole('region', { name: 'What tina may do' });
  await workspace(page).getByRole('button', { name: 'Ask for control' }).click();
  await expect(grants.getByRole('alert')).toBeVisible();
  await expect(grants.getByRole('switch', { name: /^See the screen of/u })).toBeVisible({ timeout: 30_000 });
  await snap(customer, 'customer-control-asked');
  const screen = page.getByRole('region', { name: /^Screen of/u });
  await grants.getByRole('switch', { name: /^See the screen of/u }).click();
  await expect(screen.locator('canvas')).toBeVisible({ timeout: 30_000 });
  await expect(screen.getByText(/^You see/u)).toBeVisible({ timeout: 30_000 });
  await snap(page, 'technician-view-only');
  await grants.getByRole('switch', { name: /^Control mouse/u }).click();
  await expect(screen.getByText(/^You control/u)).toBeVisible({ timeout: 30_000 });
  await snap(page, 'technician-control');
  await snap(customer, 'customer-controlled');
  await grants.getByRole('button', { name: 'Stop control' }).click();
  await expect(screen).toHaveCount(0);
  for (const part of ['Files', 'Notes', 'Customer']) {
    await workspace(page).getByRole('button', { name: part, exact: true }).click();
    await snap(page, `technician-${part.toLowerCase()}`);
  }

  await customer.goto('/firewall');
  await customer.reload();
  await expect(customer.getByRole('region', { name: 'Remote session' })).toBeVisible();
  await snap(customer, 'customer-elsewhere');
  await customer.goto('/remote');
  await expect(customer.getByRole('button', { name: 'Share again' })).toBeVisible();
  await snap(customer, 'customer-share-again');
  await snap(page, 'technician-no-picture');

  await workspace(page).getByRole('button', { name: 'End session' }).click();
  await expect(customer.getByText('Your session with tina is over')).toBeVisible();
  await snap(customer, 'customer-ended');
  await snap(page, 'technician-ended');
  await page.goto('/admin/remote-sessions');
  await expect(page.getByText('maria').first()).toBeVisible();
  await snap(page, 'administrator');
} finally {
  agent?.stop();
  for (const browser of [one, other]) await browser.close();
  desktop.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
