// The Rust crates that a compiled program contains. Packages such as @litko/yara-x ship no list of them, but Rust keeps the path of each source file whose code can
// panic: .cargo/registry/src/index.crates.io-HASH/NAME-VERSION/src/file.rs. A crate without such code leaves no path and is not found.

const SOURCE = /index\.crates\.io-[0-9a-f]{16}[/\\]([A-Za-z][\w-]*?)-(\d+\.\d+\.\d+[\w.+-]*)[/\\]/g;
const RUST = /\/rustc\/([0-9a-f]{40})[/\\]library[/\\]/;

/** @typedef {{ name: string, version: string }} Crate */

/** The crates in a program, without duplicates, sorted by name. @param {Uint8Array} program @returns {Crate[]} */
export function cratesIn(program) {
  const text = Buffer.from(program.buffer, program.byteOffset, program.byteLength).toString('latin1');
  const found = new Map(
    [...text.matchAll(SOURCE)].map(([, name = '', version = '']) => [`${name} ${version}`, { name, version }]),
  );
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, crate]) => crate);
}

/** Whether a program was compiled from Rust. @param {Uint8Array} program */
export const isRust = (program) =>
  RUST.test(Buffer.from(program.buffer, program.byteOffset, program.byteLength).toString('latin1'));
