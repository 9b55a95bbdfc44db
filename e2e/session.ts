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

/** Chromium answers its own picker: with this very tab, which is a picture like any other. */
export const SHARES = ['--auto-accept-this-tab-capture'];
export const REFUSES = ['--use-fake-ui-for-media-stream=deny'];

/** The customer’s questions, the banner on each of their screens while something is shown, the technician’s side, and the picture there. */
export const banner = (page: Page) => page.getByRole('region', { name: 'Open session' });
export const sharing = (page: Page) => page.getByRole('region', { name: 'Screen sharing' });
export const workspace = (page: Page) => page.getByRole('region', { name: /^Session with / });
export const picture = (page: Page) => page.getByLabel('The screen of maria');

/** A browser of the customer's own, whose picker answers as its flags say. */
export async function startCustomer(flags: readonly string[]): Promise<Browser> {
  const { launchOptions } = plain.info().project.use;
  return await chromium.launch({
    ...launchOptions,
    // The one that shares a screen.
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

/** A technician and a customer in a session that is not approved yet, each in a browser: of the customer one whose picker answers as its flags say. */
export async function openSession(
  palisade: Installation,
  { flags, technician: theirs = {}, ...hers }: BrowserContextOptions & { flags: readonly string[]; technician?: WindowOptions },
): Promise<{ technician: Page; customer: Page; code: string; browser: Browser }> {
  const browser = await startCustomer(flags);
  const technician = await palisade.open('tina', '/dashboard', { role: 'support', ...theirs });
  const customer = await palisade.open('maria', '/dashboard', { browser, viewport: { width: 1280, height: 800 }, ...hers });
  return { technician, customer, browser, code: await meet(technician, customer) };
}

/** Our own page stands in for whatever a customer shows: the one that Chromium gives without asking is the tab itself. */
export async function shareOwnTab(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { mediaDevices } = navigator;
    const real = mediaDevices.getDisplayMedia.bind(mediaDevices);
    mediaDevices.getDisplayMedia = (options) =>
      real({ ...options, ...{ selfBrowserSurface: 'include', preferCurrentTab: true } });
  });
}

/** Sixteen blocks and two that frame them, white for 1, drawn anew with each frame: the time in ms, its lowest 16 bits. */
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

/** Current content of the technician's page: the age of the clock in its pixels, in ms, or what else is there. */
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

/** Every connection of this page goes through a relay or not at all, as if a firewall dropped all others. All else is as the page asks for it. */
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
