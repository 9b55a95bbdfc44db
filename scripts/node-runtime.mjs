// Plain JavaScript for any Node >= 18, because it runs before packages are installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const LEAST_NODE = 24;

/** Path of the packaged Node for this machine; undefined if there is none. */
function packagedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const path = join(
    ROOT,
    'node_modules',
    `node-${platform}-${process.arch}`,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  return existsSync(path) ? path : undefined;
}

/** @param {string} path */
function majorVersion(path) {
  const run = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return run.status === 0 ? Number(/^v(\d+)/.exec(run.stdout)?.[1] ?? 0) : 0;
}

/** Path of a Node that can run Palisade: the packaged one, otherwise the system's; undefined if there is none. */
export function findNode() {
  for (const path of [packagedNode(), process.execPath]) {
    if (path !== undefined && majorVersion(path) >= LEAST_NODE) return path;
  }
  return undefined;
}
