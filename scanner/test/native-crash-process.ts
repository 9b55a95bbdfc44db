import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createYaraPool } from '#scanner/engine/yara-pool.ts';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { engineEnvironment } from '#scanner/yara/choose-engine.ts';
import { EICAR } from './files.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

// A server's pool whose native engine kills its process, at its load, at its first rules or at a file: `node test/native-crash-process.ts load`. Prints what the pool said, and what came of two files. A process of its own, because the choice
// of the other engine is kept for a process.

const folder = mkdtempSync(join(tmpdir(), 'palisade-crash-'));
const warnings: string[] = [];
const deaths: number[] = [];
const pool = createYaraPool({
  signatures: { rules_folder: join(SIGNATURES_FOLDER, 'rules'), feeds: [] },
  size: 2,
  limits: SCAN_LIMITS,
  process_file: new URL(`./crashes-at-${process.argv[2]}.ts`, import.meta.url),
  logger: { debug: () => {}, info: () => {}, error: () => {}, warn: (_facts, sentence) => void warnings.push(sentence) },
});
const scan = async (id: string) => {
  const outcome = await pool.scan({
    id,
    path: '',
    bytes: EICAR,
    size: EICAR.length,
    name: 'file',
    sha256: '',
    folder: join(folder, id),
    onDeath: async ({ count }) => void deaths.push(count),
  });
  return outcome.kind === 'examined' ? outcome.examination.threat : outcome.detail;
};
const threats = [await scan('1'), await scan('2')];
const { kind, note, state } = pool.status();
await pool.close();
rmSync(folder, { recursive: true, force: true });
console.log(JSON.stringify({ threats, deaths, kind, note, state, warnings, environment: engineEnvironment() }));
