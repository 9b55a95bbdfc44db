import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { agentNotices, allNotices, noticed, noticedPackages, noticesText, packageFolder, productionPlaces } from './notices.mjs';

test('a file belongs to the innermost package above it', () => {
  expect(packageFolder('/a/node_modules/zod/v4/index.js')).toBe('/a/node_modules/zod');
  expect(packageFolder('/a/node_modules/@scope/name/x.js')).toBe('/a/node_modules/@scope/name');
  expect(packageFolder('/a/node_modules/outer/node_modules/inner/x.js')).toBe('/a/node_modules/outer/node_modules/inner');
  expect(packageFolder('/a/web/src/main.tsx')).toBeUndefined();
});

test('an installation for production has what its workspaces depend on, as Node finds it, and nothing for development', () => {
  const lock = {
    packages: {
      '': { dependencies: {}, optionalDependencies: { node: '1.0.0' } },
      server: { dependencies: { a: '1.0.0', '@palisade/scanner': '1.0.0' } },
      scanner: { dependencies: { b: '1.0.0' } },
      'node_modules/@palisade/scanner': { link: true, resolved: 'scanner' },
      'node_modules/node': { version: '1.0.0' },
      'node_modules/a': { version: '1.0.0', dependencies: { c: '2.0.0' }, peerDependencies: { planted: '1.0.0' } },
      'node_modules/a/node_modules/c': { version: '2.0.0', dependencies: { d: '1.0.0' } },
      'node_modules/b': { version: '1.0.0', dependencies: { c: '1.0.0' } },
      'node_modules/c': { version: '1.0.0' },
      'node_modules/d': { version: '1.0.0' },
      'node_modules/planted': { version: '1.0.0', dev: true },
      'node_modules/of-the-web': { version: '1.0.0' },
    },
  };
  expect(productionPlaces(lock, ['', 'server']).sort()).toEqual(
    ['a', 'a/node_modules/c', 'b', 'c', 'd', 'node'].map((name) => `node_modules/${name}`),
  );
});

test('equal texts stand once, under every package that they are of', () => {
  const notice = { licence: 'MIT', home: undefined, parts: new Set(/** @type {const} */ (['web'])) };
  const text = noticesText([
    { ...notice, name: 'a', version: '1.0.0', text: 'Permission is granted' },
    { ...notice, name: 'b', version: '2.0.0', text: 'Permission is granted' },
    { ...notice, name: 'c', version: '3.0.0', text: 'Permission is not granted' },
  ]);
  expect(text).toContain('a 1.0.0: MIT (web application)');
  expect(text).toContain('\na 1.0.0\nb 2.0.0\n\nPermission is granted\n');
  expect(text.split('Permission is granted')).toHaveLength(2);
});

test('a bundle has the notices of what is left in it, and of no more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-notices-'));
  await build({
    stdin: {
      contents: "import clsx from 'clsx';\nimport { isNumber } from 'es-toolkit';\nconsole.log(clsx('a'));\n",
      resolveDir: ROOT,
    },
    absWorkingDir: ROOT,
    outdir: folder,
    bundle: true,
    format: 'esm',
    plugins: [noticed('agent')],
    logLevel: 'error',
  });
  noticedPackages('agent', ['7z-wasm', 'not-installed']);
  const text = agentNotices();
  expect(text).toMatch(/^clsx \d+\.\d+\.\d+: MIT \(agent\)$/m);
  expect(text).toContain('Luke Edwards');
  expect(text).not.toContain('es-toolkit');
  // 7-Zip has its own text, and that of unRAR.
  expect(text).toContain('unRAR');
  expect(text).not.toContain('not-installed');
});

test('everything that the image installs has a licence that is allowed, and its text', () => {
  const text = allNotices();
  for (const name of ['better-sqlite3', 'fastify', 'pg', 'swagger-ui-dist', 'YARA-X', '@fontsource-variable/inter', 'zod'])
    expect(text).toMatch(new RegExp(`^${name} \\S.*: \\S+`, 'm'));
  expect(text).toContain('SIL OPEN FONT LICENSE');
  expect(text).toContain('The YARA-X Authors');
  expect(text).not.toMatch(/^(vitest|vite|typescript|@biomejs\/biome) \d/m);
});
