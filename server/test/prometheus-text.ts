import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

// The text that Prometheus reads, in tests.

const PROMTOOL = ['/usr/bin/promtool', '/usr/local/bin/promtool', '/opt/homebrew/bin/promtool'].find((path) => existsSync(path));
// In CI, where `npm test` installs it, it is never left out.
export const lacksPromtool = PROMTOOL === undefined && !process.env['CI'];
if (lacksPromtool) process.stdout.write('skipped: no promtool on this machine (install the package prometheus)\n');

/** What Prometheus' own program says of a text; empty when there is nothing wrong. */
export function lint(text: string): string {
  const { status, stdout, stderr } = spawnSync(PROMTOOL ?? 'promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

/** The samples of a text, by their line without the number. */
export function samplesOf(text: string): Map<string, number> {
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}
