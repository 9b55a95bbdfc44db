import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const found = (...paths: (string | undefined)[]) => paths.find((path) => path !== undefined && existsSync(path));
export const has = (...programs: string[]) =>
  programs.every(
    (name) => found(...['/usr/bin', '/usr/sbin', '/bin', '/sbin'].map((folder) => join(folder, name))) !== undefined,
  );
export const CHROMIUM = found(process.env['CHROMIUM_PATH'], '/usr/bin/chromium');
// No gate installs it: its package takes the names of the whole machine over.
export const RESOLVED = found(process.env['RESOLVED_PATH'], '/lib/systemd/systemd-resolved', '/usr/lib/systemd/systemd-resolved');

/** A new namespace in which a test may mount and listen as it likes. */
export const mayUnshare = (...flags: string[]) => {
  try {
    execFileSync('unshare', ['-U', ...flags, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
