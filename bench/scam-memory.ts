// Measures the memory of the processes that read pictures, and makes the screenshot that they read.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { CHROMIUM, screenshotOf } from '@palisade/scam/test/pictures';

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

/** Monitors the child processes of this process. The kernel records the peak memory of each, so that no peak between two checks is missed while it runs. */
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

/** A screenshot of a phone with messages; undefined without Chromium. */
export function makeScreenshot(messages: readonly string[]): Uint8Array | undefined {
  const shown = messages.map((message) => `<p>${message.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`).join('');
  return existsSync(CHROMIUM) ? screenshotOf(shown, [1080, 2400]) : undefined;
}
