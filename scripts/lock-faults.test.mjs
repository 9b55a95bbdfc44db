// proves: security-46
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockFaults } from './lock-faults.mjs';
import { ROOT } from './node-runtime.mjs';

// proves: asvs-15.1.2
describe('the lock file', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

  test('has only packages of the registry, with their hashes, allowed licences and known install scripts', () => {
    expect(Object.keys(lock.packages).length).toBeGreaterThan(200);
    expect(lockFaults(lock)).toEqual([]);
  });

  const good = { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==`, license: 'MIT' };
  const platform = { version: '1.0.0', optional: true, os: ['darwin'], cpu: ['arm64'] };
  const faultsOf = (/** @type {object} */ entry) =>
    lockFaults({
      packages: { 'node_modules/maker': { ...good, optionalDependencies: { planted: '1.0.0' } }, 'node_modules/planted': entry },
    });

  test('of good packages has no fault', () => {
    expect(faultsOf(good)).toEqual([]);
    expect(faultsOf({ ...good, resolved: 'https://registry.npmjs.org/planted/-/planted-1.0.0.tgz' })).toEqual([]);
    const unpublished = { version: '0.3.0', optional: true, os: ['darwin'], cpu: ['x64'] };
    expect(lockFaults({ packages: { 'node_modules/@litko/yara-x-darwin-x64': unpublished } })).toEqual([]);
  });

  test.each([
    ['without a hash', { ...good, integrity: undefined }, 'has no hash'],
    ['without a hash, for another platform', platform, 'has no hash'],
    ['with a weak hash', { ...good, integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'no SHA-512'],
    ['from a repository', { ...good, resolved: 'git+ssh://git@example.com/planted.git#abc' }, 'not from the registry'],
    ['from another host', { ...good, resolved: 'https://registry.npmjs.org.example.com/planted.tgz' }, 'not from the registry'],
    ['from a folder', { link: true, resolved: '../planted' }, 'a link out of'],
    ['that runs a program', { ...good, hasInstallScript: true }, 'runs a program'],
    ['of a licence that is not allowed', { ...good, license: 'GPL-3.0' }, 'the licence GPL-3.0'],
    ['of several licences, one of which is not allowed', { ...good, license: 'MIT AND GPL-3.0' }, 'the licence MIT AND GPL-3.0'],
    ['of no licence', { ...good, license: undefined }, 'the licence (none)'],
    ['of a range of versions', { ...good, version: '^1.0.0' }, 'no exact version'],
  ])('of a package %s has a fault', (_name, entry, sentence) => {
    expect(faultsOf(entry)).toEqual([expect.stringContaining(sentence)]);
  });

  test('without a hash that is known by now has a fault', () => {
    const entry = { ...good, version: '0.3.0' };
    expect(lockFaults({ packages: { 'node_modules/@litko/yara-x-darwin-x64': entry } })).toEqual([
      expect.stringContaining('still listed as without one'),
    ]);
  });

  test('of a workspace that asks for a range has a fault', () => {
    expect(lockFaults({ packages: { server: { dependencies: { planted: 'latest' } } } })).toEqual([
      expect.stringContaining('no exact version'),
    ]);
  });
});
