// The memory of the processes that read pictures, and the screenshot that they read.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const LOOK_MS = 5;

function fileOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

const childrenOf = () =>
  readdirSync('/proc/self/task').flatMap((thread) =>
    (fileOf(`/proc/self/task/${thread}/children`).match(/\d+/gu) ?? []).map(Number),
  );

/** Watches the processes that this one starts. The kernel keeps the most that each has held, so that no peak between two looks is lost while it runs. */
export function watchProcesses(): { end: () => { processes: number; largest_process_mib: number } } {
  const most = new Map<number, number>();
  const timer = setInterval(() => {
    for (const pid of childrenOf()) {
      const status = fileOf(`/proc/${pid}/status`);
      const peak = /^VmHWM:\s+(\d+) kB$/mu.exec(status)?.[1];
      if (peak !== undefined && /^Name:\s+(?:node|MainThread)/mu.test(status)) most.set(pid, Number(peak) / 1024);
    }
  }, LOOK_MS);
  return {
    end: () => {
      clearInterval(timer);
      return { processes: most.size, largest_process_mib: Math.round(Math.max(0, ...most.values())) };
    },
  };
}

/** A screenshot of a telephone, 1080 x 2400, with messages; undefined without Chromium. */
export function makeScreenshot(messages: readonly string[]): Uint8Array | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-screenshot-'));
  const [page, picture] = [join(folder, 'page.html'), join(folder, 'picture.png')];
  const shown = messages.map((message) => `<p>${message.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`).join('');
  writeFileSync(page, `<meta charset="utf-8"><body style="margin:40px;font:40px sans-serif">${shown}`);
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    `--user-data-dir=${join(folder, 'profile')}`,
  ];
  const run = spawnSync(
    '/usr/bin/chromium',
    [...flags, '--window-size=1080,2400', `--screenshot=${picture}`, pathToFileURL(page).href],
    { timeout: 60_000 },
  );
  try {
    return run.status === 0 ? new Uint8Array(readFileSync(picture)) : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
