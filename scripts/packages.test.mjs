import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { READERS } from './packages.mjs';

const GRAMMAR = join(ROOT, 'scanner/test/grammar');
/** Essential packages of Debian (its policy, section 3.8): there before anything is installed. */
const ALWAYS_THERE = ['sh', 'tar', 'gzip', 'dpkg-deb'];

/** Programs beside our readers, by the files that run them. */
function programsOfTests() {
  const opener = readFileSync(join(GRAMMAR, 'independent-opener.py'), 'utf8');
  const opened = /^PROGRAMS = .* for name in \((.*?)\)\}$/m.exec(opener)?.[1] ?? '';
  const written = readFileSync(join(GRAMMAR, 'written.ts'), 'utf8');
  return {
    opened: [...opened.matchAll(/'([^']+)'/g)].map(([, name = '']) => name),
    written: [
      ...[...written.matchAll(/\bneeds: \['([^']+)'\]/g)].map(([, name = '']) => name),
      ...[...written.matchAll(/\brun\(\s*'([^']+)'/g)].map(([, name = '']) => name),
      ...[...written.matchAll(/^\s*program\(\s*'[^']*',\s*'(\S+) /gm)].map(([, name = '']) => name),
    ],
  };
}

test('every program that the readers are compared with is installed on a clean Debian, or always there', () => {
  const { opened, written } = programsOfTests();
  expect(opened.length).toBeGreaterThan(10);
  expect(written.length).toBeGreaterThan(5);
  const known = [...Object.values(READERS), ...ALWAYS_THERE];
  expect([...new Set([...opened, ...written])].filter((name) => !known.includes(name))).toEqual([]);
});
