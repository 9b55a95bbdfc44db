// Style sheets only shrink: screens are made from web/src/ui/layout.tsx. A change that needs less lowers the limits.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

/** The bars are 7000, 3300 and 40. */
const LIMITS = { lines: 6760, declarations: 2970, repeated: 30 };

const SHEETS = globSync('web/src/**/*.css', { cwd: ROOT }).map((file) => ({
  file,
  text: readFileSync(join(ROOT, file), 'utf8'),
}));

/** @param {string} css */
function declarationsIn(css) {
  const declarations = css.replaceAll(/\/\*[\s\S]*?\*\//gu, '').matchAll(/([\w-]+)\s*:\s*([^;{}]+);/gu);
  return [...declarations].map(([, property = '', value = '']) => `${property}: ${value.replaceAll(/\s+/gu, ' ')}`);
}

test('the style sheets do not grow', () => {
  expect(SHEETS.length).toBeGreaterThan(20);
  const counts = new Map();
  for (const { file, text } of SHEETS)
    if (!file.startsWith(join('web', 'src', 'ui')))
      for (const declaration of declarationsIn(text)) counts.set(declaration, (counts.get(declaration) ?? 0) + 1);
  const often = [...counts].filter(([, count]) => count > LIMITS.repeated);
  expect(often, 'The kit has it: web/src/ui/layout.tsx.').toEqual([]);
  const lines = SHEETS.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  expect(lines).toBeLessThanOrEqual(LIMITS.lines);
  const declarations = SHEETS.reduce((sum, { text }) => sum + declarationsIn(text).length, 0);
  expect(declarations).toBeLessThanOrEqual(LIMITS.declarations);
});

test('a declaration is counted once', () => {
  expect(declarationsIn('/* a: b; */ .a:hover { display: grid; gap:\n var(--s1); }')).toEqual([
    'display: grid',
    'gap: var(--s1)',
  ]);
});
