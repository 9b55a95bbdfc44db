// Checks the locked packages without a network: hashes, origins, licences, install scripts, exact versions. `node scripts/lock-faults.mjs` prints the faults.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAllowed } from './licences.mjs';
import { ROOT } from './node-runtime.mjs';

/**
 * Packages of other platforms that may have no hash: the registry used by `scripts/complete-lock.mjs` does not have them, and their hashes are not known otherwise. They are
 * optional and only for macOS. An entry here that is no longer needed is a fault.
 */
const WITHOUT_HASH = new Set(['@litko/yara-x-darwin-arm64@0.3.0', '@litko/yara-x-darwin-x64@0.3.0']);
/** Packages that may have an install script. esbuild's script checks its platform binary. */
const INSTALL_SCRIPTS = new Set(['esbuild']);
const REGISTRY = 'https://registry.npmjs.org/';
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** @typedef {{ version?: string, resolved?: string, integrity?: string, link?: boolean, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[], license?: string,
 *   hasInstallScript?: boolean, dependencies?: Record<string, string>, peerDependencies?: Record<string, string>, devDependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked */

/** Package name of a path in the lock file. @param {string} place */
export function nameOf(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/**
 * All faults of a lock file, as sentences that name the package.
 * @param {{ packages: Record<string, Locked> }} lock
 * @returns {string[]}
 */
export function lockFaults(lock) {
  /** @type {string[]} */
  const faults = [];
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
      const isElsewhere = entry.optional === true && entry.os?.join() === 'darwin';
      if (!isElsewhere || !WITHOUT_HASH.has(`${name}@${version}`)) faults.push(`${name} has no hash.`);
      continue;
    }
    if (WITHOUT_HASH.has(`${name}@${version}`)) faults.push(`${name} has a hash, and is still listed as without one.`);
    if (!/^sha512-[\w+/]{86}==$/.test(integrity)) faults.push(`${name} has a hash that is no SHA-512.`);
    if (!isAllowed(name, license)) faults.push(`${name} has the licence ${license ?? '(none)'}, which is not allowed.`);
  }
  return faults;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const faults = lockFaults(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
  for (const fault of faults) process.stdout.write(`palisade: ${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
