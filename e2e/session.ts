import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  expect,
  type Locator,
  type Page,
  test as plain,
} from '@playwright/test';
import { z } from 'zod';
import type { Installation, WindowOptions } from './installation.ts';

/** Makes Chromium answer its own screen picker with the current tab. */
export const SHARES = ['--auto-accept-this-tab-capture'];
export const REFUSES = ['--use-fake-ui-for-media-stream=deny'];

/** Parts of the pages: the customer's questions, the banner on each screen during sharing, the technician's workspace, and its picture. */
export const banner = (page: Page) => page.getByRole('region', { name: 'Open session' });
export const sharing = (page: Page) => page.getByRole('region', { name: 'Screen sharing' });
export const workspace = (page: Page) => page.getByRole('region', { name: /^Session with / });
export const picture = (page: Page) => page.getByLabel('The screen of maria');

/** A separate browser for the customer, with a picker that answers as the flags say. */
export async function startCustomer(flags: readonly string[]): Promise<Browser> {
  const { launchOptions } = plain.info().project.use;
  return await chromium.launch({
    ...launchOptions,
    // The full Chromium, because the headless shell cannot share a screen.
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: [...(launchOptions?.args ?? []), ...flags],
  });
}

/** The customer gets a code, and the technician joins with it in the portal. */
async function meet(technician: Page, customer: Page): Promise<string> {
  const authorization = `Bearer ${await customer.evaluate(() => localStorage.getItem('palisade.access_token'))}`;
  const created = await customer.request.post('/api/remote/session', { headers: { authorization } });
  const { session_code } = z.object({ session_code: z.string() }).parse(await created.json());
  await customer.goto('/remote');
  await expect(banner(customer).getByText(session_code)).toBeVisible();
  await technician.goto('/portal');
  await technician.getByLabel('Session code').fill(session_code);
  await technician.getByRole('button', { name: 'Join' }).click();
  await expect(customer.getByRole('heading', { name: / has joined your session$/ })).toBeVisible();
  return session_code;
}

/** Opens a session of a technician and a customer that is not approved yet, each in their own browser. `flags` decide how the customer's picker answers. */
export async function openSession(
  palisade: Installation,
  { flags, technician: theirs = {}, ...hers }: BrowserContextOptions & { flags: readonly string[]; technician?: WindowOptions },
): Promise<{ technician: Page; customer: Page; code: string; browser: Browser }> {
  const browser = await startCustomer(flags);
  const technician = await palisade.open('tina', '/dashboard', { role: 'support', ...theirs });
  const customer = await palisade.open('maria', '/dashboard', { browser, viewport: { width: 1280, height: 800 }, ...hers });
  return { technician, customer, browser, code: await meet(technician, customer) };
}

/** Shares the customer's own tab, because Chromium can share it without asking. */
export async function shareOwnTab(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { mediaDevices } = navigator;
    const real = mediaDevices.getDisplayMedia.bind(mediaDevices);
    mediaDevices.getDisplayMedia = (options) =>
      real({ ...options, ...{ selfBrowserSurface: 'include', preferCurrentTab: true } });
  });
}

/** Draws the lowest 16 bits of the time in ms as 16 blocks (white is 1) between two frame blocks, and updates them in each frame. */
export async function drawClock(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.evaluate(() => {
    const clock = Object.assign(document.createElement('canvas'), { width: 18, height: 1 });
    Object.assign(clock.style, {
      position: 'fixed',
      inset: '0 0 auto 0',
      width: '100vw',
      height: '60px',
      zIndex: '99',
      imageRendering: 'pixelated',
      pointerEvents: 'none',
    });
    document.querySelector('main')?.append(clock);
    const context = clock.getContext('2d');
    const draw = () => {
      const now = Date.now() & 0xffff;
      for (let bit = 0; bit < 18; bit += 1) {
        const isOn = bit === 0 || (bit < 17 && ((now >> (bit - 1)) & 1) === 1);
        if (!context) return;
        context.fillStyle = isOn ? '#fff' : '#000';
        context.fillRect(bit, 0, 1, 1);
      }
      requestAnimationFrame(draw);
    };
    draw();
  });
}

/** Content of the technician's picture: the age of the clock in its pixels in ms, or the reason why there is none. */
export async function readClock(video: Locator): Promise<number | 'no clock' | 'black' | 'nothing'> {
  return await video.evaluate((element) => {
    if (!(element instanceof HTMLVideoElement) || element.videoWidth === 0) return 'nothing';
    const now = Date.now() & 0xffff;
    const { videoWidth: width, videoHeight: height } = element;
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
    if (!context) return 'nothing';
    context.drawImage(element, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    if (data.every((value, index) => index % 4 === 3 || value < 20)) return 'black';
    const y = Math.round((30 / 800) * height);
    const bits = Array.from(
      { length: 18 },
      (_, bit) => (data[(y * width + Math.round(((bit + 0.5) / 18) * width)) * 4] ?? 0) > 127,
    );
    if (bits[0] !== true || bits[17] !== false) return 'no clock';
    const shown = bits.slice(1, 17).reduce((sum, isOn, bit) => sum + (isOn ? 2 ** bit : 0), 0);
    return (now - shown + 0x10000) & 0xffff;
  });
}

/** Forces every connection of this page through a relay, as if a firewall blocked all other routes. */
export async function relayOnly(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const Real = window.RTCPeerConnection;
    window.RTCPeerConnection = class extends Real {
      constructor(configuration?: RTCConfiguration) {
        super({ ...configuration, iceTransportPolicy: 'relay' });
      }
    };
  });
}
