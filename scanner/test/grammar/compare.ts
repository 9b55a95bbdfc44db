// `node scanner/test/grammar/compare.ts [--seed N] [--count N] [--harmless N] [--all] [--keep FOLDER]`: reads generated files beside independent programs
// and prints what each found.
import { parseArgs } from 'node:util';
import { compareReaders } from './compare-readers.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '1000' },
    harmless: { type: 'string', default: '300' },
    all: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
});
const began = performance.now();
const seed = Number(values.seed);
const comparison = await compareReaders({
  seed,
  count: Number(values.count),
  harmless_count: Number(values.harmless),
  ask_all: values.all,
  keep: values.keep,
  onProgress: (done) => done % 100 === 0 && process.stderr.write(`${done} files\n`),
});
const seconds = Math.round((performance.now() - began) / 1000);
process.stdout.write(`${JSON.stringify({ seed, seconds, ...comparison }, null, 2)}\n`);
