// Measures small files with both builds of YARA-X in one run: contents that no rule can match, and contents that the engine must see. Bars: WebAssembly at most 3 ms for 4 KiB.
//
//   node bench/small-files.ts
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { loadNativeEngine } from '@palisade/scanner/native-engine';
import { compileRules } from '@palisade/scanner/rules';
import { loadWasmEngine } from '@palisade/scanner/wasm-engine';

const ROOT = join(import.meta.dirname, '..');
const RULES = join(ROOT, 'server/signatures/rules');
const BYTES = 4096;
const RUNS = 400;
const ROUNDS = 5;

const CONTENTS = {
  'a text': Buffer.alloc(BYTES, 'Dear Maria, thank you for your invitation. We are glad to come.\n'),
  'random bytes': Buffer.from(Array.from({ length: BYTES }, (_, at) => (at * 2_654_435_761) >>> 24)),
  'the EICAR file in a text': Buffer.concat([
    Buffer.alloc(BYTES - 68, 'x'),
    Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR', '-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')),
  ]),
};

function medianOf(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Milliseconds for one content: of the wall's clock and of the processor, the median of rounds. */
function measure(match: (bytes: Buffer) => unknown, bytes: Buffer): { wall_ms: number; cpu_ms: number } {
  for (let run = 0; run < RUNS / 4; run += 1) match(bytes);
  const rounds = Array.from({ length: ROUNDS }, () => {
    const cpu = process.cpuUsage();
    const walls: number[] = [];
    for (let run = 0; run < RUNS / ROUNDS; run += 1) {
      const began = performance.now();
      match(bytes);
      walls.push(performance.now() - began);
    }
    const { user, system } = process.cpuUsage(cpu);
    return { wall_ms: medianOf(walls), cpu_ms: (user + system) / 1000 / walls.length };
  });
  const rounded = (value: number) => Math.round(value * 1000) / 1000;
  return {
    wall_ms: rounded(medianOf(rounds.map(({ wall_ms }) => wall_ms))),
    cpu_ms: rounded(medianOf(rounds.map(({ cpu_ms }) => cpu_ms))),
  };
}

const engines = Object.fromEntries(
  await Promise.all(
    [loadNativeEngine(), loadWasmEngine()].map(async (engine) => {
      const began = performance.now();
      const rules = await compileRules(RULES, engine);
      const compile_ms = Math.round(performance.now() - began);
      const files = Object.fromEntries(
        Object.entries(CONTENTS).map(([name, bytes]) => [name, measure((content) => rules.match(content), bytes)]),
      );
      return [engine.kind, { version: engine.version, compile_ms, files }] as const;
    }),
  ),
);
const result = { measured_on: new Date().toISOString(), cores: availableParallelism(), load: loadavg(), bytes: BYTES, engines };
writeFileSync(join(ROOT, 'bench/results/small-files.json'), `${JSON.stringify(result, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
