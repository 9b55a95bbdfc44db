import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { importFaults, packageOf, productionImports } from './production-imports.mjs';

/** @param {string} workspace */
const manifest = (workspace) => JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8'));

const imports = await productionImports();

/** The faults when a workspace has a package among those of its tests. @param {string} workspace @param {string} name */
function faultsWith(workspace, name) {
  return importFaults(imports, (asked) => {
    const { dependencies, devDependencies, ...rest } = manifest(asked);
    if (asked !== workspace) return { ...rest, dependencies, devDependencies };
    const { [name]: version, ...others } = dependencies;
    expect(version, `${workspace} depends on ${name}`).toBeDefined();
    return { ...rest, dependencies: others, devDependencies: { ...devDependencies, [name]: version } };
  });
}

describe('imports of production', () => {
  test('name packages that npm start installs', () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(importFaults(imports)).toEqual([]);
  });

  test.each([
    { workspace: 'server', name: 'fastify', importer: 'server/src/' },
    // Loaded with its setting.
    { workspace: 'server', name: '@redis/client', importer: 'server/src/' },
    { workspace: 'scanner', name: '7z-wasm', importer: 'scanner/src/' },
    { workspace: 'scam', name: 'htmlparser2', importer: 'scam/src/' },
    { workspace: 'contract', name: 'zod', importer: 'contract/src/' },
    { workspace: 'agent', name: 'ws', importer: 'agent/src/' },
    { workspace: 'web', name: '@mantine/core', importer: 'web/src/' },
    { workspace: 'web', name: '@vitejs/plugin-react', importer: 'web/vite.config.ts' },
    { workspace: 'scripts', name: 'esbuild', importer: 'scripts/build.mjs' },
    { workspace: 'scripts', name: 'tar-stream', importer: 'scripts/agent-package.mjs' },
  ])('are faults where $workspace has $name in devDependencies', ({ workspace, name, importer }) => {
    const faults = faultsWith(workspace, name);
    expect(faults.length).toBeGreaterThan(0);
    for (const fault of faults)
      expect(fault).toContain(` imports ${name}, which ${workspace}/package.json has in devDependencies.`);
    expect(faults.some((fault) => fault.startsWith(importer))).toBe(true);
  });

  test.each([
    ['zod', 'zod'],
    ['react/jsx-runtime', 'react'],
    ['@mantine/core/styles.css', '@mantine/core'],
    ['./app.ts', undefined],
    ['#ui/page.tsx', undefined],
    ['node:fs', undefined],
  ])('of %s name the package %s', (specifier, name) => expect(packageOf(specifier)).toBe(name));
});

test('packages that lie in a workspace whose code the server bundles lie in the server too', () => {
  /** @type {Record<string, { version: string, dev?: boolean }>} */
  const packages = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const own = Object.entries(packages).filter(
    ([path, { dev }]) => /^(?:scanner|scam|names|contract)\/node_modules\//.test(path) && !dev,
  );
  expect(own.length).toBeGreaterThan(0);
  for (const [path, { version }] of own)
    expect(packages[path.replace(/^\w+/, 'server')]?.version, `${path} in server/node_modules`).toBe(version);
});
