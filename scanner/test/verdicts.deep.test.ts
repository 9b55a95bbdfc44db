import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { FORMATS } from '#scanner/formats/index.ts';
import { compileSource } from '#scanner/rules/rules.ts';
import { carvedBy, carvingSource } from '#scanner/walk/carving.ts';
import type { MatchRules } from '#scanner/walk/examination.ts';
import { EICAR } from './files.ts';
import { samplesOf } from './format-samples.ts';
import { mutant } from './structure-fuzz.ts';
import { SEEDS, verdictOf } from './verdicts.ts';

// Compares the verdicts of all formats' samples, and of files that are bent from them, with those in verdicts.json. An intended change writes it anew: VERDICTS_KEEP=1 vitest run
// --project=scanner scanner/test/verdicts.deep.test.ts

const KEPT = new URL('verdicts.json', import.meta.url);
const FILES_PER_SEED = 300;
const PLACES_MAXIMUM = 64;

const keptSchema = z.object({ samples: z.record(z.string(), z.string()), bent: z.record(z.string(), z.string()) });

const folder = mkdtempSync(join(tmpdir(), 'palisade-verdicts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const carving = compileSource(carvingSource());
const match: MatchRules = (bytes, onPlaces) => {
  for (const { rule, offsets } of carving.scan(bytes)) {
    const carved = carvedBy(rule);
    if (carved !== undefined) onPlaces?.(carved, offsets, offsets.length >= PLACES_MAXIMUM);
  }
  if (!bytes.includes(EICAR)) return [];
  return [{ rule: 'EICAR', threat: 'EICAR', description: 'EICAR', severity: 'high', reference: null, verdict: 'infected' }];
};

const verdict = async (bytes: Buffer) => await verdictOf({ bytes, size: bytes.length }, { match }, join(folder, 'unpacked'));

test('verdicts, coverage and members of the samples and of bent ones are as they were', { timeout: 900_000 }, async () => {
  const samples = new Map(FORMATS.flatMap(({ id }) => samplesOf(id).map(({ name, bytes }) => [`${id} ${name}`, bytes] as const)));
  const found: z.infer<typeof keptSchema> = { samples: {}, bent: {} };
  for (const [name, bytes] of samples) found.samples[name] = await verdict(bytes);
  for (const seed of SEEDS) {
    const digest = createHash('sha256');
    for (let index = 0; index < FILES_PER_SEED; index += 1)
      digest.update(`${await verdict(mutant(samples, seed, index).bytes)}\n`);
    found.bent[`seed ${seed}`] = digest.digest('hex').slice(0, 16);
  }
  if (process.env['VERDICTS_KEEP'] !== undefined) writeFileSync(KEPT, `${JSON.stringify(found, null, 2)}\n`);
  expect(found).toEqual(keptSchema.parse(JSON.parse(readFileSync(KEPT, 'utf8'))));
});
