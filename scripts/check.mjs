// Format, lint, import rules, types, dead code, prose: all checks without a test run. `--staged` checks only the files of the next commit where the tool supports it.
import { run } from './run.mjs';

const staged = process.argv.includes('--staged');
const CHECKS = [
  [
    'biome',
    staged ? ['check', '--staged', '--no-errors-on-unmatched', '--error-on-warnings'] : ['ci', '--error-on-warnings', '.'],
  ],
  // Includes type errors: oxlint has the types in memory, and a separate `tsc` took half as much time again.
  ['oxlint', ['--type-aware', '--type-check', '--deny-warnings']],
  ['knip', []],
  // Hashes, origins and licences of all packages.
  ['node', ['scripts/lock-faults.mjs']],
  // Unclear constructions in comments, test names and documents.
  ['node', ['scripts/prose.mjs']],
  // Terms, length and constructions of sentences on screens.
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
