// Reads tables that name what proves each of their rows (docs/attacks.md, docs/lines.md), and finds proofs that are not there.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

/** The rows `| point | what | shown by |` whose point looks like `point`. @param {string} text @param {RegExp} point */
export function rowsOf(text, point) {
  return [...text.matchAll(/^\| (\S+) \| (.*?) \| (.*) \|$/gmu)]
    .map(([, name = '', what = '', shown = '']) => ({ point: name, what, shown }))
    .filter((row) => point.test(row.point));
}

/** What a row names as its proof and is not there; "nothing" for a row without one. @param {{ shown: string }} row */
export function missing({ shown }) {
  const proofs = [...shown.matchAll(/\[[^\]]+\]\(\.\.\/([^)]+)\)|\*([^*]+)\*/gu)];
  if (!proofs.some(([, path = '', name]) => name !== undefined || path.startsWith('bench/results/'))) return ['nothing'];
  let file = '';
  return proofs.flatMap(([, path, name]) => {
    if (path !== undefined) {
      file = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '';
      return file === '' ? [path] : [];
    }
    return name !== undefined && hasTest(file, name) ? [] : [String(name)];
  });
}

/** Whether a file has a test, a group of them or a hostile file of this name: a word of a comment is none. @param {string} file @param {string} name */
function hasTest(file, name) {
  const at = file.indexOf(name);
  return (
    at >= 0 &&
    file
      .split('\n')
      .some((line) => line.includes(name) && /(?:\b(?:test|it|describe)\b.*\(|^\s*\]\)\(|^\s*\[|^\s*\b\w+\()\s*['"`]/u.test(line))
  );
}
