// Copies the server's runtime packages into a folder, without build packages: `node scripts/image-packages.mjs /image`. They are the packages listed in the notices.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './node-runtime.mjs';
import { SERVER_WORKSPACES, serverPlaces } from './notices.mjs';

/** Folders of Node's package that are not needed at runtime: headers and manual. */
const UNUSED_OF_NODE = new Set(['include', 'share']);

/** @param {string} target @param {string} [root] the folder of the repository */
export function copyServerPackages(target, root = ROOT) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const place of serverPlaces(lock)) {
    const from = join(root, place);
    // Optional packages of other platforms are not installed.
    if (!existsSync(join(from, 'package.json'))) continue;
    const is_node = basename(place).startsWith('node-linux-');
    cpSync(from, join(target, place), {
      recursive: true,
      // Nested packages are copied separately.
      filter: (path) =>
        path === from ||
        dirname(path) !== from ||
        !(basename(path) === 'node_modules' || (is_node && UNUSED_OF_NODE.has(basename(path)))),
    });
  }
  mkdirSync(join(target, 'node_modules/@palisade'), { recursive: true });
  for (const workspace of SERVER_WORKSPACES)
    symlinkSync(join('..', '..', workspace), join(target, 'node_modules/@palisade', workspace));
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [target] = process.argv.slice(2);
  if (target === undefined) throw new Error('Name the folder: node scripts/image-packages.mjs /image');
  copyServerPackages(target);
}
