import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packRules } from '#test/pack-rules.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { HARMLESS_FILES, harmlessFiles } from './harmless.ts';

test("the kept set has its number of files of many kinds, the same each time, and the pack's own rules call none of them infected", async () => {
  const installation = join(SIGNATURES_FOLDER, '../..');
  const files = [...harmlessFiles(installation)];
  expect(files).toHaveLength(HARMLESS_FILES);
  const names = files.map(({ name }) => name);
  expect([...harmlessFiles(installation)].map(({ name }) => name)).toEqual(names);
  const packages = new Set(names.flatMap((name) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1] ?? []));
  expect(packages.size).toBeGreaterThan(100);
  const infected = files.filter(({ bytes }) => packRules.match(bytes).some(({ verdict }) => verdict === 'infected'));
  expect(infected.map(({ name }) => name)).toEqual([]);
});
