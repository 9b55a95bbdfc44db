// Completes package-lock.json after `npm install`: npm leaves out the optional packages of other platforms when the registry at hand does not have them, and
// `npm ci` then refuses the lock file everywhere. What is added names the exact version and the platform, so that it is fetched only there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

const PATH = join(ROOT, 'package-lock.json');
const SYSTEMS = ['linux', 'darwin', 'win32', 'android', 'freebsd', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'aix', 'wasm32'];
const PROCESSORS = ['x64', 'arm64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'mips64', 'wasm32'];

/** What a package's name says of its platform: `@biomejs/cli-linux-arm64-musl`. @param {string} name */
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
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(PATH, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added.length} added\n`);
