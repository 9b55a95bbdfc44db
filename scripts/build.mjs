// Builds the server (bundles of the server, its processes and commands), the package for devices, and the web application, with compressed copies of the served files.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { build as buildWeb } from 'vite';
import { buildAgent } from './agent-package.mjs';
import { circlesOf } from './circles.mjs';
import { SERVER_PROGRAMS } from './entry-points.mjs';
import { keptIcons } from './icons.mjs';
import { ROOT } from './node-runtime.mjs';
import { allNotices, noticed, noticedInWeb } from './notices.mjs';

const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);

const COMPRESSIBLE = /\.(js|css|html|svg|json|txt)$/;
/** Smaller files are not compressed: the header content-encoding would cost more than the compression saves. In bytes. */
const LEAST_BYTES = 256;

/** Packages that are bundled into the server: JavaScript packages of many small files, each of which costs memory and time at every start. */
const BUNDLED = ['fastify-type-provider-zod', 'kysely', 'uuid', 'zod'];

/**
 * Reduces the memory of the server and its engines (docs/decisions/runtime.md).
 * @type {import('esbuild').Plugin}
 */
const forLittleMemory = {
  name: 'palisade:little-memory',
  setup(build) {
    // `import` of a built-in module reads every export; one of `node:http` loads a second HTTP client.
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node-builtin' }));
    build.onLoad({ filter: /^/, namespace: 'node-builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
    // Leaves out zod's messages in 50 languages, which are never shown.
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/**
 * Replaces server/migrations/folder.ts, which reads the folder at runtime, by a static list of migrations.
 * @type {import('esbuild').Plugin}
 */
const allMigrations = {
  name: 'palisade:migrations',
  setup(build) {
    build.onLoad({ filter: /server\/migrations\/folder\.ts$/ }, ({ path }) => {
      const names = readdirSync(dirname(path)).filter((file) => /^\d{4}-[a-z0-9-]+\.ts$/.test(file));
      const imports = names.map((name, at) => `import * as m${at} from './${name}';`);
      const entries = names.map((name, at) => `${JSON.stringify(name.slice(0, -'.ts'.length))}: m${at}`);
      return {
        contents: `${imports.join('\n')}\nexport const readFolder = () => ({ ${entries.join(', ')} });\n`,
        resolveDir: dirname(path),
      };
    });
  },
};

/** Writes the commit of the build, which the server reports (server/src/platform/build.ts). A build outside git can set PALISADE_COMMIT and PALISADE_COMMITTED_AT. */
function writeBuild() {
  const git = (/** @type {string[]} */ ...args) => {
    try {
      return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return undefined;
    }
  };
  const { PALISADE_COMMIT, PALISADE_COMMITTED_AT } = process.env;
  const isChanged = PALISADE_COMMIT === undefined && (git('status', '--porcelain', '--untracked-files=no') ?? '') !== '';
  const commit = PALISADE_COMMIT ?? git('rev-parse', 'HEAD') ?? 'unknown';
  const committed_at = PALISADE_COMMITTED_AT ?? git('log', '-1', '--format=%cI') ?? 'unknown';
  const build = { commit: isChanged ? `${commit} with changes` : commit, committed_at };
  writeFileSync(join(ROOT, 'server/dist/build.json'), `${JSON.stringify(build)}\n`);
}

async function buildServer() {
  const dependencies = ['scanner', 'scam', 'names', 'server'].flatMap((workspace) =>
    Object.keys(JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')).dependencies),
  );
  rmSync(join(ROOT, 'server/dist'), { recursive: true, force: true });
  const { metafile } = await bundle({
    absWorkingDir: join(ROOT, 'server'),
    metafile: true,
    entryPoints: SERVER_PROGRAMS,
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    legalComments: 'none',
    // Removes comments, because V8 keeps the source in memory. Lines stay, so that errors have line numbers.
    minifyWhitespace: true,
    lineLimit: 120,
    // Packages are not bundled; sources of this repository are.
    external: dependencies
      .filter((name) => !name.startsWith('@palisade/') && !BUNDLED.includes(name))
      .flatMap((name) => [name, `${name}/*`]),
    plugins: [forLittleMemory, allMigrations, noticed('server')],
    logLevel: 'warning',
  });
  // A single non-ASCII character makes V8 store the whole source with two bytes per character.
  for (const name of ['main.js', 'yara-process.js'])
    if (readFileSync(join(ROOT, 'server/dist', name)).some((byte) => byte > 127))
      throw new Error(`the bundle ${name} of the server has letters beyond ASCII`);
  // Readers of file formats would use about 10 MB in the server, and only engine processes need them.
  const readers = Object.keys(metafile.outputs['dist/main.js']?.inputs ?? {}).filter((path) =>
    /scanner\/src\/(?:decompression|formats)\//.test(path),
  );
  if (metafile.outputs['dist/main.js'] === undefined || readers.length > 0)
    throw new Error(`the bundle main.js of the server has readers of files: ${readers.slice(0, 3).join(', ')}`);
  writeBuild();
}

/** Writes compressed copies of files. It uses the thread pool, because maximum compression takes seconds. @param {string} folder */
async function compress(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  await Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || !COMPRESSIBLE.test(path)) return;
      const bytes = readFileSync(path);
      if (bytes.length < LEAST_BYTES) return;
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      const [brotli, zipped] = await Promise.all([brotliOf(bytes, { params }), gzipOf(bytes, { level: 9 })]);
      writeFileSync(`${path}.br`, brotli);
      writeFileSync(`${path}.gz`, zipped);
    }),
  );
}

/**
 * Fails the build on circular imports of the web application's output files, and lists the modules that cause them. In a circle, the file that runs
 * first depends on the screen that is opened first, so a value that a module reads while it loads may be undefined on some screens.
 * @returns {import('vite').Plugin}
 */
function noCircles() {
  return {
    name: 'palisade:no-circles',
    generateBundle(_options, bundle) {
      const chunks = new Map(Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one]] : [])));
      const circles = circlesOf(new Map([...chunks].map(([file, { imports }]) => [file, imports])));
      if (circles.length === 0) return;
      /** @param {string} from @param {string} to */
      const by = (from, to) => {
        const there = new Set(chunks.get(to)?.moduleIds);
        return (chunks.get(from)?.moduleIds ?? []).flatMap((id) =>
          (this.getModuleInfo(id)?.importedIds ?? [])
            .filter((imported) => there.has(imported))
            .map((imported) => `    ${relative(ROOT, id)} -> ${relative(ROOT, imported)}`),
        );
      };
      const told = circles.map((circle) =>
        circle
          .slice(1)
          .flatMap((to, at) => [`  ${circle[at]} -> ${to}`, ...by(circle[at] ?? '', to)])
          .join('\n'),
      );
      this.error(`files of the web application import each other in a circle:\n${told.join('\n\n')}`);
    },
  };
}

/** Processes files that the build only copies: removes comments from the page, and the script without a version. @param {string} folder */
function finishPage(folder) {
  const page = join(folder, 'index.html');
  writeFileSync(page, readFileSync(page, 'utf8').replaceAll(/^\s*<!--[\s\S]*?-->\n/gmu, ''));
  // The page uses the copy in assets (web/vite.config.ts).
  rmSync(join(folder, 'color-scheme.js'));
}

await Promise.all([
  buildServer(),
  buildAgent(),
  buildWeb({ root: join(ROOT, 'web'), logLevel: 'warn', plugins: [keptIcons(), noCircles(), noticedInWeb()] }),
]);
finishPage(join(ROOT, 'web/dist'));
writeFileSync(join(ROOT, 'web/dist/third-party-notices.txt'), allNotices());
await compress(join(ROOT, 'web/dist'));
