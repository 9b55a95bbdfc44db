import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compileRules, compileSource, readPack } from '#scanner/rules/rules.ts';
import { rulesFor } from '#scanner/rules/rules-by-content.ts';
import { readSamples } from '#scanner/rules/samples.ts';
import { parseYara } from '#scanner/rules/yara-source.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

const MIB = 1024 ** 2;
const RULES = join(SIGNATURES_FOLDER, 'rules');
const SAMPLES = join(SIGNATURES_FOLDER, 'samples');
const rules = await compileRules(RULES);
const samples = await readSamples(SAMPLES);
const names = readdirSync(RULES).flatMap((name) =>
  [...readFileSync(join(RULES, name), 'utf8').matchAll(/^(private )?rule (\w+)/gm)]
    .filter((match) => match[1] === undefined)
    .map((match) => match[2] ?? ''),
);

describe('the rule pack', () => {
  test('is compiled whole, with every rule counted', () => {
    expect(names.length).toBeGreaterThanOrEqual(20);
    expect(new Set(names).size).toBe(names.length);
    expect(rules.rules).toBeGreaterThanOrEqual(names.length);
  });

  test('has the day of its last change in pack.json, beside the version that it had then', () => {
    // Changed a rule? Write the day and the new version there: the screens tell people how old the signatures are.
    const pack = z.object({ released_on: z.iso.date(), version: z.string() });
    expect(pack.parse(JSON.parse(readFileSync(join(SIGNATURES_FOLDER, 'pack.json'), 'utf8'))).version).toBe(rules.version);
  });

  test.each(names)('%s has a sample that it must match and one that it must not', (rule) => {
    const kinds = samples.filter((sample) => sample.rule === rule).map((sample) => sample.kind);
    expect(kinds).toContain('hit');
    expect(kinds).toContain('near_miss');
  });

  test.each(samples.map((sample) => [sample.rule, sample.kind, sample.note, sample.bytes] as const))(
    '%s %s: %s',
    (rule, kind, _note, bytes) => {
      const found = rules.match(bytes);
      if (kind === 'hit') expect(found.map((match) => match.rule)).toContain(rule);
      else expect(found.filter((match) => match.verdict === 'infected' || match.rule === rule)).toEqual([]);
    },
  );

  test('says the same of large content as of small, except where a rule is for small files', () => {
    // Every sample behind and before so much filling that the smaller set of rules serves.
    const filling = Buffer.alloc(16 * 1024 ** 2, '\n');
    const found = samples
      .filter(
        (sample) => sample.kind === 'hit' && ['Implant_Metasploit_Shellcode_Linux', 'Test_EICAR_Embedded'].includes(sample.rule),
      )
      .flatMap((sample) => rules.match(Buffer.concat([filling, sample.bytes])).map((match) => match.rule));
    expect(new Set(found)).toEqual(new Set(['Implant_Metasploit_Shellcode_Linux', 'Test_EICAR_Embedded']));
  });

  test('compiles without what large files and the middle of files need not', async () => {
    const source = await readPack(RULES);
    const counts = [false, true].map((is_within) => {
      const kept = rulesFor(source, { least_bytes: 16 * MIB, is_within });
      compileSource(kept);
      return parseYara(kept).rules.length;
    });
    expect(counts[0]).toBeLessThan(names.length / 2);
    expect(counts[1]).toBeLessThan((counts[0] ?? 0) / 2);
    expect(counts[1]).toBeGreaterThan(0);
  });

  test('matches none of its own files, so that no antivirus takes the repository for malware', () => {
    for (const folder of [RULES, SAMPLES]) {
      for (const name of readdirSync(folder)) {
        const found = rules.match(readFileSync(join(folder, name))).filter((match) => match.verdict === 'infected');
        expect(found, name).toEqual([]);
      }
    }
  });
});
