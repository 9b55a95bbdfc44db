// Finds files that import each other in a circle. In a build, a value that one of them reads while it loads may not be there yet, whichever file the browser begins with. Among the sources
// imports of types count as well: files in a circle can only be understood together. `node scripts/circles.mjs` lists the circles of the sources.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { parseSync } from 'vite';
import { ROOT } from './node-runtime.mjs';
import { projectFiles } from './project-files.mjs';

/** An import of a file of the project: a path, a name of the workspace or another workspace. */
const OF_THE_PROJECT = /^(?:\.|#|@palisade\/)/;

/**
 * By source file of the project, the files that it imports when it loads, those of which it takes only types among them. Both as paths from the root.
 * @returns {ReadonlyMap<string, readonly string[]>}
 */
export function importsOfSources() {
  const files = projectFiles('*.ts', '*.tsx', '*.mjs');
  return new Map(files.map((file) => [file, importsOf(join(ROOT, file))]));
}

/** @param {string} path */
function importsOf(path) {
  const { resolve } = createRequire(path);
  return namesOfImports(path, readFileSync(path, 'utf8'))
    .filter((name) => OF_THE_PROJECT.test(name))
    .map((name) => relative(ROOT, resolve(name.replace(/\?.*$/, ''))));
}

/** The names of a file's imports as they are written, also of types; not of those that it imports later. @param {string} path for the extension @param {string} code @returns {string[]} */
export function namesOfImports(path, code) {
  const { module } = parseSync(path, code);
  const from_exports = module.staticExports.flatMap(({ entries }) =>
    entries.map(({ moduleRequest }) => moduleRequest?.value ?? ''),
  );
  const named = [...module.staticImports.map(({ moduleRequest }) => moduleRequest.value), ...from_exports];
  return [...new Set(named)].filter((name) => name !== '');
}

/**
 * The shortest circle through each file that is in one, each circle once, by the names of its files with the first one again at the end.
 * @param {ReadonlyMap<string, readonly string[]>} imports by file, what it imports before it runs @returns {string[][]}
 */
export function circlesOf(imports) {
  /** @type {Map<string, string[]>} */
  const circles = new Map();
  for (const first of imports.keys()) {
    const circle = wayBack(imports, first);
    const name = circle?.toSorted().join('\n');
    if (circle !== undefined && name !== undefined && !circles.has(name)) circles.set(name, [...circle, first]);
  }
  return [...circles.values()];
}

/** @param {ReadonlyMap<string, readonly string[]>} imports @param {string} first @returns {string[] | undefined} */
function wayBack(imports, first) {
  /** For each file, the one from which it was reached. @type {Map<string, string>} */
  const from = new Map();
  const waiting = [first];
  for (const file of waiting) {
    for (const next of imports.get(file) ?? []) {
      if (next === first) {
        const way = [file];
        for (let at = from.get(file); at !== undefined; at = from.get(at)) way.unshift(at);
        return way;
      }
      if (from.has(next)) continue;
      from.set(next, file);
      waiting.push(next);
    }
  }
  return undefined;
}

if (import.meta.filename === process.argv[1])
  for (const circle of circlesOf(importsOfSources())) process.stdout.write(`${circle.join(' -> ')}\n`);
