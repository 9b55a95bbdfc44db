// What must hold of the locked packages whether or not anybody knows an advisory for them; needs no network.

/** Whose licence lets everybody run, change and pass on what is built with them. */
const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'MIT OR Apache-2.0',
  '(MIT OR CC0-1.0)',
  '(MIT OR EUPL-1.1+)',
]);
/** Licences that were read, by package: 7-Zip's own (LGPL, with the restriction that nobody builds a RAR archiver of it), and one under another spelling. */
const READ_LICENCES = new Map([
  ['7z-wasm', 'SEE LICENSE IN License.txt'],
  ['incremental-encoder', 'MPL 2.0'],
]);
/** Packages that may run a program when they are installed. esbuild's looks whether its binary for the platform is there. */
const INSTALL_SCRIPTS = new Set(['esbuild']);
const REGISTRY = 'https://registry.npmjs.org/';
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** @typedef {{ version?: string, resolved?: string, integrity?: string, link?: boolean, optional?: boolean, os?: string[], cpu?: string[], license?: string,
 *   hasInstallScript?: boolean, dependencies?: Record<string, string>, devDependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked */

/** @param {string} place */
function nameOf(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Under several licences at once each of them has to be allowed. @param {string} license */
function isAllowed(license) {
  return LICENCES.has(license) || license.split(' AND ').every((part) => LICENCES.has(part));
}

/**
 * Every fault of a lock file, as a sentence that names the package.
 * @param {{ packages: Record<string, Locked> }} lock
 * @returns {string[]}
 */
export function lockFaults(lock) {
  /** @type {string[]} */
  const faults = [];
  // A package for another platform may be without a hash (docs/decisions/0008), if a package that has one names its version.
  const vouched = new Set(
    Object.values(lock.packages)
      .filter(({ integrity }) => integrity !== undefined)
      .flatMap(({ optionalDependencies = {} }) => Object.entries(optionalDependencies).map((pair) => pair.join('@'))),
  );
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (!place.includes('node_modules/')) {
      const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = entry;
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
        if (!EXACT.test(version)) faults.push(`${name} is asked for as ${version}, which is no exact version.`);
      continue;
    }
    const name = nameOf(place);
    if (entry.link) {
      if (!name.startsWith('@palisade/')) faults.push(`${name} is a link out of the packages.`);
      continue;
    }
    const { version = '', resolved, integrity, license } = entry;
    if (!EXACT.test(version)) faults.push(`${name} is locked to ${version}, which is no exact version.`);
    if (resolved !== undefined && !resolved.startsWith(REGISTRY))
      faults.push(`${name} comes from ${resolved}, not from the registry.`);
    if (entry.hasInstallScript && !INSTALL_SCRIPTS.has(name)) faults.push(`${name} runs a program when it is installed.`);
    if (integrity === undefined) {
      const isElsewhere = entry.optional === true && entry.os !== undefined && entry.cpu !== undefined;
      if (!isElsewhere || !vouched.has(`${name}@${version}`)) faults.push(`${name} has no hash.`);
      continue;
    }
    if (!/^sha512-[\w+/]{86}==$/.test(integrity)) faults.push(`${name} has a hash that is no SHA-512.`);
    if (license === undefined || (!isAllowed(license) && READ_LICENCES.get(name) !== license))
      faults.push(`${name} has the licence ${license ?? '(none)'}, which nobody has allowed.`);
  }
  return faults;
}
