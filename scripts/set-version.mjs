// Sets the version of this program: `npm run version:set -- 4.0.0` writes it into every workspace and the lock file, and sets the heading of the newest section in the changelog.
// It does not change the version of the specification, which screens show (contract/src/constants.ts). `--check 4.0.0` fails unless all files have this version; `--notes 4.0.0` prints its changes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './node-runtime.mjs';

const OURS = '@palisade/';
const UNRELEASED = '## Unreleased';
/** Semantic Versioning 2.0.0 without build metadata, which image tags do not allow. */
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

/** @typedef {{ version?: string, dependencies?: Record<string, string>, devDependencies?: Record<string, string>, workspaces?: string[] }} Package */

/** Whether a text is a valid version. @param {string} text */
export const isVersion = (text) => VERSION.test(text);

/** Sets the version of a package and of the workspaces that it depends on. @param {Package} entry @param {string} version */
function setIn(entry, version) {
  entry.version = version;
  for (const asked of [entry.dependencies, entry.devDependencies])
    for (const name of Object.keys(asked ?? {})) if (asked && name.startsWith(OURS)) asked[name] = version;
}

/** The versions in a package: its own, and those of the workspaces that it depends on. @param {Package} entry */
const versionsIn = (entry) => [
  entry.version,
  ...[entry.dependencies, entry.devDependencies].flatMap((asked) =>
    Object.entries(asked ?? {}).flatMap(([name, version]) => (name.startsWith(OURS) ? [version] : [])),
  ),
];

/** All files that contain the version, with their parsed content. @param {string} root */
function filesOf(root) {
  const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const top = read('package.json');
  const places = ['', ...top.workspaces];
  const packages = places.map((place) => ({ path: join(place, 'package.json'), content: read(join(place, 'package.json')) }));
  return { packages, lock: read('package-lock.json'), places };
}

/** The section of a version in the changelog; undefined if there is none. @param {string} changelog @param {string} version */
export function changesOf(changelog, version) {
  const parts = changelog.split(/^(?=## )/m);
  const part = parts.find((one) => one.startsWith(`## ${version} `) || one.startsWith(`## ${version}\n`));
  return part?.slice(part.indexOf('\n') + 1).trim();
}

/**
 * Writes a version into all files below `root` that contain it.
 * @param {string} root @param {string} version @param {string} day as YYYY-MM-DD
 */
export function setVersion(root, version, day) {
  const write = (/** @type {string} */ path, /** @type {unknown} */ content) =>
    writeFileSync(join(root, path), `${JSON.stringify(content, null, 2)}\n`);
  const { packages, lock, places } = filesOf(root);
  const path = join(root, 'CHANGELOG.md');
  const changelog = readFileSync(path, 'utf8');
  if (changesOf(changelog, version) === undefined && !changelog.includes(`${UNRELEASED}\n`))
    throw new Error(
      `CHANGELOG.md has neither a part "${UNRELEASED}" nor one for ${version}. Write there what operators should know.`,
    );
  for (const one of packages) {
    setIn(one.content, version);
    write(one.path, one.content);
  }
  lock.version = version;
  for (const place of places) setIn(lock.packages[place], version);
  write('package-lock.json', lock);
  if (changesOf(changelog, version) === undefined)
    writeFileSync(path, changelog.replace(`${UNRELEASED}\n`, `${UNRELEASED}\n\n## ${version} (${day})\n`));
}

/** Sentences about the files below `root` that do not have this version. @param {string} root @param {string} version */
export function versionFaults(root, version) {
  const { packages, lock, places } = filesOf(root);
  const faults = packages
    .filter(({ content }) => versionsIn(content).some((one) => one !== version))
    .map(({ path }) => `${path} does not have version ${version}.`);
  const locked = [lock.version, ...places.flatMap((place) => versionsIn(lock.packages[place]))];
  if (locked.some((one) => one !== version)) faults.push(`package-lock.json does not have version ${version}.`);
  if (!changesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version))
    faults.push(`CHANGELOG.md does not say what changed in ${version}.`);
  return faults;
}

/** @param {string} line @returns {never} */
function fail(line) {
  process.stderr.write(`palisade: ${line}\n`);
  process.exit(1);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const what = words.find((word) => word.startsWith('--'));
  const version = words.find((word) => !word.startsWith('--')) ?? '';
  if (!isVersion(version)) fail('Name a version: npm run version:set -- 4.0.0 (or 4.0.0-rc.1).');
  if (what === '--check') {
    const faults = versionFaults(ROOT, version);
    if (faults.length > 0) fail(`${faults.join(' ')} Run: npm run version:set -- ${version}`);
  } else if (what === '--notes') {
    process.stdout.write(
      `${changesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version) ?? fail(`No part for ${version}.`)}\n`,
    );
  } else if (what === undefined) {
    try {
      setVersion(ROOT, version, new Date().toISOString().slice(0, 10));
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
    process.stdout.write(`palisade: version ${version}. Next: commit, then git tag v${version}.\n`);
  } else fail(`${what} is not known: --check and --notes are.`);
}
