// Pictures for tests and benches.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';

export const CHROMIUM = '/usr/bin/chromium';
/** Of a busy machine. ms. */
const PATIENCE_MS = 120_000;

/** A picture as PNG (ISO/IEC 15948), gray or of so many channels. */
export function pngOf(pixels: Uint8Array, width: number, height: number, channels: 1 | 3 | 4 = 1): Uint8Array {
  const chunk = (name: string, content: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, { 1: 0, 3: 2, 4: 6 }[channels], 0, 0, 0], 8);
  const row = width * channels;
  const rows = Buffer.alloc(height * (row + 1));
  for (let y = 0; y < height; y += 1) rows.set(pixels.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', new Uint8Array()),
  ]);
}

/** A picture of a page with this HTML in its body, by Chromium. @throws where Chromium makes none */
export function screenshotOf(body: string, [width, height]: readonly [number, number]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-screenshot-'));
  const [page, picture] = [join(folder, 'page.html'), join(folder, 'picture.png')];
  writeFileSync(page, `<meta charset="utf-8"><body style="margin:40px;font:40px sans-serif">${body}`);
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'];
  try {
    const run = spawnSync(
      CHROMIUM,
      [
        ...flags,
        `--user-data-dir=${join(folder, 'profile')}`,
        `--window-size=${width},${height}`,
        `--screenshot=${picture}`,
        pathToFileURL(page).href,
      ],
      { timeout: PATIENCE_MS },
    );
    if (run.status !== 0) throw new Error(`no picture was made: ${run.stderr?.toString().slice(-500)}`);
    return new Uint8Array(readFileSync(picture));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
