import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileRules, compileSource, readPack } from '#scanner/rules/rules.ts';
import { rulesFor } from '#scanner/rules/rules-by-content.ts';
import { readSamples } from '#scanner/rules/samples.ts';
import { parseYara } from '#scanner/rules/yara-source.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

const MIB = 1024 ** 2;
const RULES = join(SIGNATURES_FOLDER, 'rules');
const rules = await compileRules(RULES);
const samples = await readSamples(join(SIGNATURES_FOLDER, 'samples'));

test('the rule pack matches a large file that begins as a sample as all rules do', async () => {
  const source = await readPack(RULES);
  const all = compileSource(source);
  const kept = new Set(parseYara(rulesFor(source, { least_bytes: 16 * MIB, is_within: false })).rules.map(({ name }) => name));
  const filling = Buffer.alloc(16 * MIB, '\n');
  const firsts = new Map(
    samples.filter(({ rule, kind }) => kind === 'hit' && kept.has(rule)).map((sample) => [sample.rule, sample]),
  );
  const differ: string[] = [];
  let found = 0;
  for (const { rule, bytes } of firsts.values()) {
    const large = Buffer.concat([bytes, filling]);
    const expected = all.scan(large).map((found) => found.rule);
    const names = rules.match(large).map((match) => match.rule);
    found += names.length;
    if (expected.toSorted().join() !== names.toSorted().join()) differ.push(`${rule}: ${expected} / ${names}`);
  }
  expect(differ).toEqual([]);
  expect(found).toBeGreaterThan(20);
});
