import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

let made: string | undefined;

/** A folder as that of the rule pack, with its rules for test files alone and their samples: an engine compiles all of the pack for 0.6 s of a core at each start. */
export function fewSignatures(): string {
  if (made !== undefined) return made;
  made = mkdtempSync(join(tmpdir(), 'palisade-signatures-'));
  for (const file of ['rules/industry-test.yar', 'samples/industry-test.json'])
    cpSync(join(SIGNATURES_FOLDER, file), join(made, file), { recursive: true });
  return made;
}
