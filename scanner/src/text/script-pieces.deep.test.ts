import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { examine } from '#scanner/walk/examine.ts';
import { packRules } from '#test/pack-rules.ts';
import { scriptSamples, TABLES } from '#test/script-samples.ts';

const SEED = 269;
/** Of each language at least so many of either kind. */
const SAMPLES_LEAST = 60;
const folder = mkdtempSync(join(tmpdir(), 'palisade-scripts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(Object.keys(TABLES))('every script of %s that hides its commands is found, and no harmless one', async (language) => {
  const samples = scriptSamples(language, SEED);
  expect(samples.filter(({ harmful }) => harmful).length).toBeGreaterThanOrEqual(SAMPLES_LEAST);
  expect(samples.filter(({ harmful }) => !harmful).length).toBeGreaterThanOrEqual(SAMPLES_LEAST);
  const wrong: string[] = [];
  for (const { note, harmful, bytes } of samples) {
    const parts = { match: packRules.match, limits: SCAN_LIMITS, folder: join(folder, 'unpacked') };
    const { threat } = await examine({ bytes, size: bytes.length, name: 'file' }, parts);
    if ((threat !== null) !== harmful) wrong.push(`${note}: ${threat}`);
  }
  expect(wrong).toEqual([]);
});
