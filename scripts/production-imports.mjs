// Finds imports of packages that `npm start` does not install: imports in the server, the agent, the web application and the build of a package that is not in the
// `dependencies` of its workspace. Type imports do not count.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import { AGENT_ENGINES, AGENT_PROCESSES, AGENT_PROGRAM, BUILD_SCRIPTS, SERVER_PROGRAMS, WEB_PROGRAM } from './entry-points.mjs';
import { ICONS } from './icons.mjs';
import { ROOT } from './node-runtime.mjs';

/** @typedef {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, devDependencies?: Record<string, string> }} Manifest */

const inFolder = (/** @type {string} */ folder, /** @type {string[]} */ paths) => paths.map((path) => join(ROOT, folder, path));

/** Entry points of all programs that run or build in production. */
const ENTRIES = [
  ...inFolder('server', Object.values(SERVER_PROGRAMS)),
  ...inFolder('agent', Object.values({ ...AGENT_PROGRAM, ...AGENT_PROCESSES, ...AGENT_ENGINES })),
  ...inFolder('scripts', BUILD_SCRIPTS),
  join(ROOT, WEB_PROGRAM),
  join(ROOT, 'web/vite.config.ts'),
];

/** Package name of an import specifier; undefined for a file, a built-in module and a subpath import. @param {string} specifier */
export function packageOf(specifier) {
  if (/^([./#]|node:|data:)/.test(specifier)) return undefined;
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

/** @param {string} workspace @returns {Manifest} */
const readManifest = (workspace) => JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8'));

/** All package imports in production code, one entry per file and package. @returns {Promise<{ file: string, name: string }[]>} */
export async function productionImports() {
  /** @type {Map<string, { file: string, name: string }>} */
  const found = new Map();
  await build({
    entryPoints: ENTRIES,
    outdir: join(ROOT, 'node_modules/.cache/production-imports'),
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    loader: { '.css': 'empty', '.woff2': 'empty' },
    logLevel: 'error',
    plugins: [
      {
        name: 'palisade:production-imports',
        setup({ onResolve }) {
          onResolve({ filter: /./ }, ({ path, importer, kind }) => {
            const name = kind === 'entry-point' ? undefined : packageOf(path);
            if (name === undefined) return undefined;
            const file = relative(ROOT, importer);
            found.set(`${file} ${name}`, { file, name });
            // Imports of workspaces are followed.
            return name.startsWith('@palisade/') ? undefined : { path, external: true };
          });
        },
      },
    ],
  });
  return [...found.values()];
}

/**
 * All faults, as sentences that name the file and the package. Icons are allowed, because the build reads them from web/icons.json.
 * @param {{ file: string, name: string }[]} imports @param {(workspace: string) => Manifest} [manifestOf]
 */
export function importFaults(imports, manifestOf = readManifest) {
  return imports.flatMap(({ file, name }) => {
    if (name === ICONS) return [];
    const [workspace = ''] = file.split(sep);
    const { dependencies = {}, optionalDependencies = {}, devDependencies = {} } = manifestOf(workspace);
    if (name in dependencies || name in optionalDependencies) return [];
    const where = name in devDependencies ? 'has in devDependencies' : 'does not name';
    return `${file} imports ${name}, which ${workspace}/package.json ${where}. Move it to dependencies: npm start installs these alone.`;
  });
}
