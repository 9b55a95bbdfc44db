// Finds circular imports. In a build, a value that a file in a circle reads while it loads may not be defined yet. In the sources
// type imports count as well, because files in a circle can only be understood together. `node scripts/circles.mjs` lists the circles of the sources.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { parseSync } from 'vite';
import { ROOT } from './node-runtime.mjs';
import { projectFiles } from './project-files.mjs';

/** An import specifier within the project: a path, a subpath import of the workspace, or another workspace. */
const OF_THE_PROJECT = /^(?:\.|#|@palisade\/)/;

/**
 * Maps each source file to the files that it imports statically, including type imports. Paths are relative to the root.
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

/** The specifiers of a file's static imports, including type imports, without dynamic imports. @param {string} path for the extension @param {string} code @returns {string[]} */
export function namesOfImports(path, code) {
  const { module } = parseSync(path, code);
  const from_exports = module.staticExports.flatMap(({ entries }) =>
    entries.map(({ moduleRequest }) => moduleRequest?.value ?? ''),
  );
  const named = [...module.staticImports.map(({ moduleRequest }) => moduleRequest.value), ...from_exports];
  return [...new Set(named)].filter((name) => name !== '');
}

/**
 * The shortest circle through each file that is in a circle, without duplicates. A circle is a list of file names that ends with the first name again.
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
  /** Maps each reached file to its predecessor. @type {Map<string, string>} */
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
