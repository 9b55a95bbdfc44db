/// <reference path="../scanner/src/formats/archives/webassembly.d.ts" />
// Measures one question to 7-Zip: its start, a file that is not an archive, by size, and one that opens.
// No bar. Keeps the medians in results/seven-zip.json. `node bench/seven-zip.ts`.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { describeMachine, median, RESULTS, ROOT } from './server.ts';

const RUNS = 15;
const KIB = 1024;
const packages = createRequire(join(ROOT, 'server/package.json'));
const createProgram = z
  .custom<
    (options: object) => Promise<{ FS: { writeFile(path: string, bytes: Uint8Array): void }; callMain(words: string[]): unknown }>
  >((value) => typeof value === 'function')
  .parse(packages('7z-wasm'));
const module = await WebAssembly.compile(readFileSync(join(dirname(packages.resolve('7z-wasm')), '7zz.wasm')));

/** A gzip stream is the smallest archive that is one: its checksum is not looked at here. */
const archive = Buffer.concat([Buffer.from('1f8b0800000000000003', 'hex'), deflateRawSync('a text'), Buffer.alloc(8)]);

/** Medians in ms: until 7-Zip stands ready, and until it has answered. */
async function ask(words: readonly string[], bytes: Buffer): Promise<{ start_ms: number; answer_ms: number }> {
  const starts: number[] = [];
  const answers: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const began = performance.now();
    const { FS, callMain } = await createProgram({
      print: () => {},
      printErr: () => {},
      instantiateWasm(imports: object, done: (instance: WebAssembly.Instance) => void) {
        void WebAssembly.instantiate(module, imports).then((instance) => done(instance));
        return {};
      },
    });
    const ready = performance.now();
    FS.writeFile('/input', bytes);
    callMain([...words, '/input']);
    starts.push(ready - began);
    answers.push(performance.now() - ready);
  }
  return { start_ms: median(starts), answer_ms: median(answers) };
}

const results: Record<string, Awaited<ReturnType<typeof ask>>> = {};
for (const [name, bytes] of [
  ['an archive of 30 bytes', archive],
  ['noise of 4 KiB', randomBytes(4 * KIB)],
  ['noise of 1 MiB', randomBytes(KIB * KIB)],
  ['noise of 16 MiB', randomBytes(16 * KIB * KIB)],
] as const) {
  results[name] = await ask(['l', '-slt'], bytes);
  results[`${name}, by its parser`] = await ask(['l', '-slt', '-t#'], bytes);
}
console.table(results);
writeFileSync(join(RESULTS, 'seven-zip.json'), `${JSON.stringify({ machine: describeMachine(), results }, undefined, 2)}\n`);
