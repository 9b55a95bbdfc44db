// Measures the length of functions in the workspaces. `node scripts/function-sizes.mjs` lists those over 120 lines, the longest first.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from 'vite';
import { ROOT } from './node-runtime.mjs';

const WORKSPACES = ['contract', 'scanner', 'server', 'agent', 'web'];
const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** @typedef {{ lines: number, path: string, line: number, name: string }} Size */

/**
 * The functions of a file with their lines, from the first of the signature to the closing brace. A function without a name has that of the variable, the property or the
 * method that it stands in.
 * @param {string} path for the extension and the answer @param {string} code @returns {Size[]}
 */
export function functionSizes(path, code) {
  const starts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineOf = (/** @type {number} */ place) => starts.findLastIndex((start) => start <= place) + 1;
  /** @type {Size[]} */
  const sizes = [];
  /** @param {any} node @param {string} name */
  function visit(node, name) {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const one of node) visit(one, name);
      return;
    }
    const own = node.id?.name ?? node.key?.name ?? name;
    if (FUNCTION.test(node.type)) {
      const line = lineOf(node.start);
      sizes.push({ lines: lineOf(node.end) - line + 1, path, line, name: own });
    }
    for (const value of Object.values(node)) visit(value, own);
  }
  visit(parseSync(path, code).program, '');
  return sizes;
}

/** The functions of all workspaces that are longer than so many lines, the longest first; tests are left out. @param {number} lines */
export function functionsOver(lines) {
  const files = WORKSPACES.flatMap((workspace) =>
    readdirSync(join(ROOT, workspace, 'src'), { withFileTypes: true, recursive: true }),
  )
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\./.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return files
    .flatMap((file) => functionSizes(relative(ROOT, file), readFileSync(file, 'utf8')))
    .filter((size) => size.lines > lines)
    .toSorted((one, other) => other.lines - one.lines);
}

if (import.meta.filename === process.argv[1])
  for (const { lines, path, line, name } of functionsOver(120)) process.stdout.write(`${lines} ${path}:${line} ${name}\n`);
