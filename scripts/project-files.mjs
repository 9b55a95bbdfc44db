import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

/**
 * The committed and new files of the project, without ignored ones. `patterns` are git pathspecs; without them, all files. It also works in a clone of
 * another user, which git refuses by default.
 * @param {string[]} patterns @returns {string[]} paths from the root
 */
export function projectFiles(...patterns) {
  const listed = execFileSync(
    'git',
    [
      '-c',
      `safe.directory=${ROOT.replace(/\/$/, '')}`,
      'ls-files',
      '-z',
      '--cached',
      '--others',
      '--exclude-standard',
      ...patterns,
    ],
    { cwd: ROOT, encoding: 'utf8' },
  );
  // A file with a merge conflict is listed several times.
  return [...new Set(listed.split('\0'))].filter((path) => path !== '' && existsSync(join(ROOT, path)));
}
