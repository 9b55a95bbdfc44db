import { expect, test } from 'vitest';
import { examined } from '#test/examined.ts';
import { grammarSamples, LANGUAGES } from '#test/script-grammar.ts';
import { scriptSamples, TABLES } from '#test/script-samples.ts';

const SEED = 269;
/** Of each language at least so many of either kind. */
const SAMPLES_LEAST = 60;

test.each(Object.keys(TABLES))('every script of %s that hides its commands is found, and no harmless one', async (language) => {
  const samples = scriptSamples(language, SEED);
  expect(samples.filter(({ harmful }) => harmful).length).toBeGreaterThanOrEqual(SAMPLES_LEAST);
  expect(samples.filter(({ harmful }) => !harmful).length).toBeGreaterThanOrEqual(SAMPLES_LEAST);
  const wrong: string[] = [];
  for (const { note, harmful, bytes } of samples) {
    const { threat } = await examined(bytes);
    if ((threat !== null) !== harmful) wrong.push(`${note}: ${threat}`);
  }
  expect(wrong).toEqual([]);
});

test.each(Object.keys(LANGUAGES))('so is %s with constant expressions by a grammar', async (language) => {
  const wrong: string[] = [];
  for (const { note, harmful, bytes } of grammarSamples(language, SEED + 1, SAMPLES_LEAST)) {
    const { threat } = await examined(bytes);
    if ((threat !== null) !== harmful) wrong.push(`${note}: ${bytes.toString('latin1')}`);
  }
  expect(wrong).toEqual([]);
});
