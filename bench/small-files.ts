// Measures small files with both builds of YARA-X in one run: content that no rule can match, and content that the engine must scan. Limit: WebAssembly at most 3 ms for 4 KiB. `node bench/small-files.ts` writes small-files.json.
import { join } from 'node:path';
import { loadNativeEngine } from '@palisade/scanner/native-engine';
import { compileRules } from '@palisade/scanner/rules';
import { loadWasmEngine } from '@palisade/scanner/wasm-engine';
import { EICAR } from './files.ts';
import { keepResult, median, ROOT } from './server.ts';

const RULES = join(ROOT, 'server/signatures/rules');
const BYTES = 4096;
const RUNS = 400;
const ROUNDS = 5;

const CONTENTS = {
  'a text': Buffer.alloc(BYTES, 'Dear Maria, thank you for your invitation. We are glad to come.\n'),
  'random bytes': Buffer.from(Array.from({ length: BYTES }, (_, at) => (at * 2_654_435_761) >>> 24)),
  'the EICAR file in a text': Buffer.concat([Buffer.alloc(BYTES - EICAR.length, 'x'), EICAR]),
};

/** Wall-clock and CPU time for one content, in ms; medians of several rounds. */
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
    return { wall_ms: median(walls), cpu_ms: (user + system) / 1000 / walls.length };
  });
  const rounded = (value: number) => Math.round(value * 1000) / 1000;
  return {
    wall_ms: rounded(median(rounds.map(({ wall_ms }) => wall_ms))),
    cpu_ms: rounded(median(rounds.map(({ cpu_ms }) => cpu_ms))),
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
keepResult('small-files', { bytes: BYTES, engines });
