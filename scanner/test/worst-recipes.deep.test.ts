import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { BARS, Reading } from './reader-search.ts';

// The worst files that searches have found (reader-search.deep.test.ts), as the lists of choices that build them. At 64 KB a file that grows as it should takes a small part of the bars.

const recipesSchema = z.record(z.string(), z.array(z.int()));
const recipes = recipesSchema.parse(JSON.parse(readFileSync(new URL('./worst-recipes.json', import.meta.url), 'utf8')));
const BYTES = 64 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'palisade-worst-'));
const reading = new Reading(folder);
afterAll(() => {
  reading.end();
  rmSync(folder, { recursive: true, force: true });
});

test.each(Object.entries(recipes))('the worst file that was found ends within the bars: %s', async (reader, numbers) => {
  const { ended, ms, memory } = await reading.cost(reader, numbers, BYTES);
  expect(ended).toBeUndefined();
  expect(ms).toBeLessThan(BARS.cpu_ms);
  expect(memory).toBeLessThan(BARS.memory_bytes);
});
