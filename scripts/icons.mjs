// Icons of the web application. The icon packages have 18,000 files, a third of an installation, for about 160 used icons. So the build reads the icons from
// web/icons.json, and only development and tests install the packages. `node scripts/icons.mjs` updates the file after an icon or the version of the package has changed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './node-runtime.mjs';

export const ICONS = '@tabler/icons-react';
const KEPT = join(ROOT, 'web/icons.json');
const PACKAGE = join(ROOT, 'node_modules', ICONS);
/** Prefix of the ids of icon modules in the build. It contains the package's name, which the chunk groups of web/vite.config.ts match. */
const PLACE = `\0kept/${ICONS}/`;
const INDEX = 'index.mjs';

/** @typedef {{ package: { name: string, version: string, license: string, homepage: string }, licence: string, icons: Record<string, string>, modules: Record<string, string> }} Kept */

/** @returns {Kept} */
export const readKept = () => JSON.parse(readFileSync(KEPT, 'utf8'));

/** Icon names that the web application imports, without types. */
function importedNames() {
  const files = readdirSync(join(ROOT, 'web/src'), { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
  const names = files.flatMap((path) =>
    [
      ...readFileSync(join(ROOT, 'web/src', path), 'utf8').matchAll(/^import \{([^}]*)\} from '@tabler\/icons-react';$/gm),
    ].flatMap(([, list = '']) =>
      list
        .split(',')
        .map((item) => item.trim().split(' as ')[0] ?? '')
        .filter((name) => name !== '' && !name.startsWith('type ')),
    ),
  );
  return [...new Set(names)].sort();
}

/** The source of an icon module without its licence comment; the licence is in `licence`. @param {string} path */
const moduleText = (path) =>
  readFileSync(join(PACKAGE, 'dist/esm', path), 'utf8')
    .replace(/^\/\*\*[\s\S]*?\*\/\s*/, '')
    .trim();

/** Reads the icons that the web application imports from the installed package. @returns {Kept} */
export function iconsOfPackage() {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const index = readFileSync(join(PACKAGE, 'dist/esm/tabler-icons-react.mjs'), 'utf8');
  /** @type {Map<string, string>} from names to modules: some icons have two names */
  const modules = new Map();
  for (const [, list = '', path = ''] of index.matchAll(/^export \{ (.*) \} from '\.\/(icons\/\w+\.mjs)';$/gm))
    for (const [, exported = ''] of list.matchAll(/default as (\w+)/g)) modules.set(exported, path);
  const icons = Object.fromEntries(
    importedNames().map((icon) => {
      const path = modules.get(icon);
      if (path === undefined) throw new Error(`${ICONS} has no icon with the name ${icon}.`);
      return [icon, path];
    }),
  );
  const paths = ['createReactComponent.mjs', 'defaultAttributes.mjs', ...new Set(Object.values(icons))];
  return {
    package: { name, version, license, homepage },
    licence: readFileSync(join(PACKAGE, 'LICENSE'), 'utf8').trim(),
    icons,
    modules: Object.fromEntries(paths.map((path) => [path, moduleText(path)])),
  };
}

/** Vite plugin that replaces the icon package by web/icons.json. @returns {import('vite').Plugin} */
export function keptIcons() {
  const { icons, modules } = readKept();
  const index = Object.entries(icons).map(([name, path]) => `export { default as ${name} } from './${path}';`);
  return {
    name: 'palisade:kept-icons',
    enforce: 'pre',
    resolveId(source, importer) {
      if (source === ICONS) return PLACE + INDEX;
      if (!importer?.startsWith(PLACE) || !source.startsWith('.')) return undefined;
      return PLACE + posix.join(posix.dirname(importer.slice(PLACE.length)), source);
    },
    load(id) {
      if (!id.startsWith(PLACE)) return undefined;
      const path = id.slice(PLACE.length);
      const code = path === INDEX ? index.join('\n') : modules[path];
      if (code === undefined) this.error(`web/icons.json has no ${path}: run node scripts/icons.mjs.`);
      return { code, moduleSideEffects: false };
    },
  };
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  writeFileSync(KEPT, `${JSON.stringify(iconsOfPackage(), null, 2)}\n`);
