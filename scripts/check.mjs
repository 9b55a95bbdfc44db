// Format, lint, import rules, types, dead code, prose: everything that needs no test run. `--staged` looks at the files of the next commit alone where the tool can.
import { run } from './run.mjs';

const staged = process.argv.includes('--staged');
const CHECKS = [
  [
    'biome',
    staged ? ['check', '--staged', '--no-errors-on-unmatched', '--error-on-warnings'] : ['ci', '--error-on-warnings', '.'],
  ],
  // The compiler's errors too: it has the types in memory, and `tsc` beside it took half as much time again.
  ['oxlint', ['--type-aware', '--type-check', '--deny-warnings']],
  ['knip', []],
  // Hashes, origins and licences of all packages.
  ['node', ['scripts/lock-faults.mjs']],
  // Constructions of comments, test names and documents that have to be decoded.
  ['node', ['scripts/prose.mjs']],
  // Standard terms, length and nouns of the sentences that people read.
  ['node', ['scripts/words.mjs']],
];

let failed = 0;
for (const [command, args] of CHECKS) {
  const { code, output, ms } = await run(command, args, { quiet: true });
  process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${[command, ...args].join(' ')} (${(ms / 1000).toFixed(1)} s)\n`);
  if (code !== 0) {
    failed += 1;
    process.stdout.write(output);
  }
}
process.exit(failed === 0 ? 0 : 1);
