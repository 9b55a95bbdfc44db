// Takes pictures of a page in five windows, dark and light.
import { join } from 'node:path';
import type { Page } from '@playwright/test';

/** Windows that pictures are taken in, by their name: two desktops, a tablet, a phone, and what 400 % leaves of 1280 x 1024. */
export const WINDOWS: Readonly<Record<string, { width: number; height: number }>> = {
  1440: { width: 1440, height: 900 },
  1024: { width: 1024, height: 768 },
  768: { width: 768, height: 1024 },
  390: { width: 390, height: 844 },
  320: { width: 320, height: 256 },
};

const SCHEMES = ['dark', 'light'] as const;

/** Options of a command that takes pictures: one fill, one scheme, one window, whole pages instead of what a window shows, words of the pseudo-locale (`long`, `rtl`). */
export const SNAP_OPTIONS = {
  fill: { type: 'string' },
  scheme: { type: 'string' },
  width: { type: 'string' },
  pseudo: { type: 'string' },
  whole: { type: 'boolean', default: false },
} as const;

interface Wanted {
  scheme?: string | undefined;
  width?: string | undefined;
  pseudo?: string | undefined;
  whole: boolean;
}

/** Opens an address and keeps what it looks like in every window that is wanted, dark and light, as `<name>.<width>.<scheme>.<kind>.png`. */
export async function snap(page: Page, url: string, into: string, name: string, kind: string, wanted: Wanted): Promise<void> {
  const windows = Object.entries(WINDOWS).filter(
    ([width]) => wanted.width === undefined || wanted.width.split(',').includes(width),
  );
  const schemes = SCHEMES.filter((scheme) => wanted.scheme === undefined || wanted.scheme === scheme);
  await page.setViewportSize(windows[0]?.[1] ?? { width: 1440, height: 900 });
  const address = new URL(url);
  if (wanted.pseudo !== undefined) address.searchParams.set('pseudo', wanted.pseudo);
  await page.goto(address.href);
  await page.waitForLoadState('networkidle');
  for (const [width, size] of windows) {
    await page.setViewportSize(size);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      await page.screenshot({ path: join(into, `${name}.${width}.${colorScheme}.${kind}.png`), fullPage: wanted.whole });
    }
  }
}
