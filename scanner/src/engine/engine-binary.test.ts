import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { hasEngineBinary } from './engine-binary.ts';

test('the engine has a binary where its package lists one', () => {
  const path = createRequire(import.meta.url).resolve('@litko/yara-x/package.json');
  const { optionalDependencies } = z
    .object({ optionalDependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(path, 'utf8')));
  const installed = (name: string) => {
    if (!(name.replace('/package.json', '') in optionalDependencies)) throw new Error('Cannot find module');
    return name;
  };
  const platforms = [
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'arm64'],
    ['win32', 'x64'],
  ] as const;
  expect(platforms.map(([platform, cpu]) => hasEngineBinary(platform, cpu, installed))).toEqual([true, false, true, false]);
});

test.runIf(process.platform === 'linux' && process.arch === 'x64')('this machine has one, and none of another platform', () => {
  expect([hasEngineBinary(), hasEngineBinary('linux', 'arm64')]).toEqual([true, false]);
});
