// Spacing, type and radius come from the tokens of web/src/app/tokens.css. Any other length belongs there, with a name.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

const FILES = globSync('web/src/**/*.css', { cwd: ROOT }).filter((file) => !file.endsWith('tokens.css'));
const DECLARATION =
  /(?:^|[{;\s])((?:padding|margin|gap|row-gap|column-gap|font-size|border-radius|border-[a-z-]+-radius)(?:-[a-z-]+)?)\s*:\s*([^;{}]+)/gu;
const RAW = /(?<!\w)-?\d*\.?\d+(?:px|rem)\b/u;

/** @param {string} css */
function rawIn(css) {
  return [...css.replaceAll(/\/\*[\s\S]*?\*\//gu, '').matchAll(DECLARATION)]
    .filter(([, , value = '']) => RAW.test(value))
    .map(([, property = '', value = '']) => `${property}: ${value.trim()}`);
}

test('spacing, type and radius are tokens', () => {
  const raw = FILES.flatMap((file) =>
    rawIn(readFileSync(join(ROOT, file), 'utf8')).map((declaration) => `${file} ${declaration}`),
  );
  expect(FILES.length).toBeGreaterThan(50);
  expect(raw).toEqual([]);
});

test('a raw length is found', () => {
  expect(rawIn('.a { padding: 7px var(--s2); margin: -1rem; gap: var(--s1); font-size:13px }')).toEqual([
    'padding: 7px var(--s2)',
    'margin: -1rem',
    'font-size: 13px',
  ]);
});
