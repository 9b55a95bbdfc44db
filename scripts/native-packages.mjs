// Loads each package that has a binary, on the Node that runs Palisade. No package is compiled here: each one brings its binary from the registry.
// Ends with 1 and one sentence for each package without which Palisade cannot start.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

/**
 * The packages with a binary, by the workspace that imports them, and how each proves that its binary loads. A package without `needed` may be missing: another does its work.
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

/** The C library that binaries are chosen by, for the sentence. */
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
