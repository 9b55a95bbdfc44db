// Completes package-lock.json after `npm install`: npm omits optional packages of other platforms if the configured registry does not have them, and
// `npm ci` then rejects the lock file everywhere. An added entry has the exact version and the platform, so that it is downloaded only there. Entries without a hash get
// the registry's hash and the licence. For a package that the registry does not have, the entry stays, and the command reports it and fails.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from './lock-faults.mjs';
import { ROOT } from './node-runtime.mjs';
import { run } from './run.mjs';

const PATH = join(ROOT, 'package-lock.json');
const SYSTEMS = ['linux', 'darwin', 'win32', 'android', 'freebsd', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'aix', 'wasm32'];
const PROCESSORS = ['x64', 'arm64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'mips64', 'wasm32'];

/** The platform in a package's name, such as `@biomejs/cli-linux-arm64-musl`. @param {string} name */
function platformOf(name) {
  const words = name.split(/[-/@.]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor) || words.includes(`${processor}le`));
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : os === 'linux' && words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  if (os === undefined || cpu === undefined) return undefined;
  return { cpu: [cpu], ...(libc ? { libc: [libc] } : {}), os: [os === 'wasm32' ? 'wasm' : os] };
}

const lock = JSON.parse(readFileSync(PATH, 'utf8'));
const added = [];
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const above = place
      .split('/node_modules/')
      .map((_, index, parts) => `${parts.slice(0, index + 1).join('/node_modules/')}/node_modules/${name}`.replace(/^\//, ''));
    if (lock.packages[`node_modules/${name}`] ?? above.some((path) => lock.packages[path])) continue;
    const platform = platformOf(name);
    if (platform === undefined || !/^\d/.test(String(version))) throw new Error(`cannot tell the platform of ${name}@${version}`);
    lock.packages[`node_modules/${name}`] = { version, ...platform, ...(entry.dev ? { dev: true } : {}), optional: true };
    added.push(`${name}@${version}`);
  }
}

/** Fields of a locked package in npm's order. */
const ORDER = ['version', 'resolved', 'integrity', 'cpu', 'dev', 'hasInstallScript', 'libc', 'license', 'optional', 'os'];
const QUESTION = ['dist.integrity', 'license', 'engines', 'os', 'cpu', 'libc', '--json', '--loglevel=silent'];

/** Reads the metadata of one version from the registry; undefined if the registry does not have it. @param {string} name @param {string} version */
async function published(name, version) {
  const { code, output } = await run('npm', ['view', `${name}@${version}`, ...QUESTION], { quiet: true, timeout_ms: 60_000 });
  if (code !== 0) return undefined;
  const { 'dist.integrity': integrity, ...rest } = JSON.parse(output);
  return integrity === undefined ? undefined : { integrity, ...rest };
}

const completed = [];
const unknown = [];
for (const [place, entry] of Object.entries(lock.packages)) {
  if (!place.includes('node_modules/') || entry.link || entry.integrity !== undefined) continue;
  const name = nameOf(place);
  const found = await published(name, entry.version);
  if (found === undefined) {
    unknown.push(`${name}@${entry.version}`);
    continue;
  }
  const whole = { ...entry, ...found };
  const rest = Object.keys(whole).filter((key) => !ORDER.includes(key));
  lock.packages[place] = Object.fromEntries(
    [...ORDER, ...rest].filter((key) => whole[key] !== undefined).map((key) => [key, whole[key]]),
  );
  completed.push(name);
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(PATH, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added.length} entries added, ${completed.length} completed with a hash\n`);
if (unknown.length > 0) {
  process.stdout.write(`The registry does not have: ${unknown.join(', ')}\n`);
  process.exitCode = 1;
}
