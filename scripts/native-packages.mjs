// Checks that each native package loads on the Node that runs Palisade. Packages are not compiled here; they contain prebuilt binaries.
// Exits with 1 and prints one sentence for each required package that does not load.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

/**
 * Packages with a native binary, the workspace that imports each, and a function that uses the binary. If `needed` is false, the package may be missing, because it has a replacement.
 * @type {{ name: string, workspace: string, needed: boolean, prove: (loaded: any) => unknown }[]}
 */
const NATIVE_PACKAGES = [
  { name: 'better-sqlite3', workspace: 'server', needed: true, prove: (Database) => new Database(':memory:').close() },
  { name: '@node-rs/argon2', workspace: 'server', needed: true, prove: ({ hashSync }) => hashSync('proof') },
  { name: 'esbuild', workspace: '.', needed: true, prove: ({ transformSync }) => transformSync('let a = 1') },
  { name: 'rolldown', workspace: '.', needed: true, prove: ({ rolldown }) => rolldown },
  { name: 'lightningcss', workspace: '.', needed: true, prove: ({ transform }) => transform },
  {
    name: '@litko/yara-x',
    workspace: 'scanner',
    needed: false,
    prove: ({ compile }) => compile('rule proof { condition: true }'),
  },
  { name: '@virustotal/yara-x', workspace: 'scanner', needed: true, prove: ({ Compiler }) => Compiler.name },
];

/** Name of the platform including its C library, for the message. */
function platformName() {
  const { header } = /** @type {any} */ (process.report?.getReport() ?? {});
  const libc =
    process.platform !== 'linux'
      ? ''
      : header?.glibcVersionRuntime
        ? ` with glibc ${header.glibcVersionRuntime}`
        : ' without glibc';
  return `${process.platform} ${process.arch}${libc}, Node ${process.versions.node}`;
}

let is_complete = true;
for (const { name, workspace, needed, prove } of NATIVE_PACKAGES) {
  try {
    prove(createRequire(join(ROOT, workspace, 'package.json'))(name));
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    if (needed) is_complete = false;
    process.stderr.write(
      needed
        ? `palisade: The package ${name} does not load on this machine (${platformName()}): ${reason}. Remove the folder node_modules and run the command again; if that does not help, this platform has no binary of ${name}.\n`
        : `palisade: The scanning engine ${name} does not load on this machine (${platformName()}): ${reason}. The WebAssembly engine reads files instead.\n`,
    );
  }
}
process.exit(is_complete ? 0 : 1);
